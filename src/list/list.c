#include "list/list.h"

#include "base/error.h"
#include "base/json.h"
#include "base/sink.h"
#include "base/text.h"
#include "host/host.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>

struct rk_list_entry entry_new(const char *group, const char *name, const char *about)
{
    return (struct rk_list_entry){
        .size = sizeof(struct rk_list_entry),
        .able = RK_ABLE_UNTRIED,
        .scale = 1.0,
        .name = name,
        .group = group,
        .about = about,
        .encoding = "",
        .unit = "",
        .what = "",
        .remedy = "",
    };
}

void entry_encode(struct rk_list_entry *entry, uint32_t type, uint64_t config)
{
    entry->type = type;
    entry->config = config;
    entry->encoded = 1;
}

static char folded(char c)
{
    return c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] && folded(text[i]) == folded(word[i]))
            i++;
        if (!word[i])
            return true;
    }
    return !*word;
}

bool gather_wanted(const struct gather *g, const struct rk_list_entry *entry)
{
    for (size_t i = 0; i < g->options.words_n; i++) {
        const char *word = g->options.words[i];
        if (!has(entry->name, word) && !has(entry->about, word) && !has(entry->group, word) &&
            !has(entry->encoding, word))
            return false;
    }
    return true;
}

bool gather_pmu(const struct gather *g, const char *pmu)
{
    return !g->options.pmu || fnmatch(g->options.pmu, pmu, 0) == 0;
}

/* A text in the list's memory; the last entry's where it is the same, as reasons often are. */
static int keep(struct gather *g, const char **text, const char *last)
{
    if (!**text) {
        *text = "";
        return 0;
    }
    if (last && strcmp(*text, last) == 0) {
        *text = last;
        return 0;
    }
    *text = arena_text(&g->list->arena, *text, strlen(*text));
    return *text ? 0 : -ENOMEM;
}

int gather_add(struct gather *g, const struct rk_list_entry *entry)
{
    struct rk_list *list = g->list;
    struct rk_list_entry kept = *entry;
    const struct rk_list_entry *last = list->entries.n ? &list->entries.items[list->entries.n - 1] : NULL;

    if (keep(g, &kept.name, NULL) < 0 || keep(g, &kept.group, last ? last->group : NULL) < 0 ||
        keep(g, &kept.about, NULL) < 0 || keep(g, &kept.encoding, NULL) < 0 ||
        keep(g, &kept.unit, last ? last->unit : NULL) < 0 ||
        keep(g, &kept.what, last ? last->what : NULL) < 0 ||
        keep(g, &kept.remedy, last ? last->remedy : NULL) < 0)
        return -ENOMEM;
    struct rk_list_entry *new = vector_push(&list->entries);
    if (!new)
        return -ENOMEM;
    *new = kept;
    return 0;
}

static int check(const struct rk_list_options *o, struct rk_error *e)
{
    if (o->flags & ~(RK_LIST_ALL | RK_LIST_LONG | RK_LIST_UNTRIED))
        return fail_argument(e, RK_STAGE_EVENT, "rk_list_options: an unknown flag, %#x", o->flags);
    if (o->words_n && !o->words)
        return fail_argument(e, RK_STAGE_EVENT, "rk_list_open: words_n is %zu and words is NULL", o->words_n);
    for (size_t i = 0; i < o->words_n; i++)
        if (!o->words[i])
            return fail_argument(e, RK_STAGE_EVENT, "rk_list_open: a word is NULL");
    return 0;
}

/* There must be a PMU of that name, where one was said. */
static int check_pmu(struct gather *g, struct rk_error *e)
{
    struct rk_pmu pmu = {.size = sizeof pmu};
    int matches = 0;

    if (!g->options.pmu)
        return 0;
    int n = host_pmus(g->host);
    for (int i = 0; i < n; i++)
        matches += rk_host_pmu_get(g->host, (size_t)i, &pmu) == 0 && gather_pmu(g, pmu.name);
    if (matches)
        return 0;
    if (n < 0)
        return fail(e, n, RK_STAGE_HOST, RK_CAUSE_NO_FILE, NULL,
                    "cannot list the PMUs of this machine: /sys/bus/event_source/devices: %s", strerror(-n));
    char shown[104];
    return fail(e, -ENOENT, RK_STAGE_HOST, RK_CAUSE_NO_PMU, "ls /sys/bus/event_source/devices",
                "this machine has no PMU '%s'",
                text_show(shown, sizeof shown, g->options.pmu, strlen(g->options.pmu)));
}

static int gather_all(struct gather *g)
{
    static int (*const sources[])(struct gather *) = {gather_hardware, gather_cache,       gather_software,
                                                      gather_pmus,     gather_tracepoints, gather_probes,
                                                      gather_vendor};

    /* Reasons ask for the PMUs: without memory for these they would be wrong. */
    int n = host_pmus(g->host);
    if (host_transient(n))
        return n;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        int rc = sources[i](g);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int rk_list_open(struct rk_host *host, const struct rk_list_options *options, struct rk_list **ret,
                 struct rk_error *e)
{
    struct gather g = {.host = host, .why = {.size = sizeof g.why}};

    if (!host || !ret)
        return fail_argument(e, RK_STAGE_EVENT, "rk_list_open: no host, or ret is NULL");
    int rc = options_check(&g.options, sizeof g.options, options, "rk_list_options", RK_STAGE_EVENT, e);
    if (rc >= 0)
        rc = check(&g.options, e);
    if (rc >= 0)
        rc = check_pmu(&g, e);
    if (rc < 0)
        return rc;
    g.all = g.options.flags & RK_LIST_ALL;
    g.searching = g.options.words_n > 0;
    g.list = calloc(1, sizeof *g.list);
    if (!g.list)
        return fail_memory(e, RK_STAGE_EVENT);
    snprintf(g.list->kernel, sizeof g.list->kernel, "%s", rk_host_kernel(host));
    rc = gather_all(&g);
    if (rc < 0) {
        rk_list_free(g.list);
        if (rc == -ENOMEM)
            return fail_memory(e, RK_STAGE_EVENT);
        return fail(e, rc, RK_STAGE_EVENT,
                    rc == -EMFILE || rc == -ENFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_UNKNOWN, NULL,
                    "listing events failed: %s", strerror(-rc));
    }
    *ret = g.list;
    return 0;
}

struct rk_list *rk_list_free(struct rk_list *list)
{
    if (!list)
        return NULL;
    vector_free(&list->entries);
    arena_free(&list->arena);
    free(list);
    return NULL;
}

size_t rk_list_count(const struct rk_list *list)
{
    return list ? list->entries.n : 0;
}

int rk_list_get(const struct rk_list *list, size_t index, struct rk_list_entry *ret)
{
    if (!list || !ret)
        return -EINVAL;
    if (index >= list->entries.n)
        return -ERANGE;
    return result_give(ret, &list->entries.items[index], sizeof list->entries.items[index]);
}

static void write_entry(struct json *j, const struct rk_list_entry *entry)
{
    const uint64_t more[] = {entry->config1, entry->config2, entry->config3, entry->config4};
    static const char *const keys[] = {"config1", "config2", "config3", "config4"};

    json_open(j, NULL, '{');
    json_text(j, "name", entry->name);
    json_text(j, "group", entry->group);
    json_text(j, "description", entry->about);
    if (entry->able == RK_ABLE_UNTRIED)
        json_null(j, "openable");
    else
        json_bool(j, "openable", entry->able == RK_ABLE_YES);
    if (entry->able == RK_ABLE_NO)
        json_text(j, "cause", rk_cause_name(entry->cause));
    if (entry->what[0])
        json_text(j, "reason", entry->what);
    if (entry->remedy[0])
        json_text(j, "remedy", entry->remedy);
    json_bool(j, "form", entry->form);
    if (entry->encoded) {
        json_u64(j, "type", entry->type);
        json_hex(j, "config", entry->config);
        for (size_t i = 0; i < 4; i++)
            if (more[i])
                json_hex(j, keys[i], more[i]);
    }
    if (entry->encoding[0])
        json_text(j, "encoding", entry->encoding);
    if (entry->unit[0])
        json_text(j, "unit", entry->unit);
    if (entry->scale != 1.0)
        json_real(j, "scale", entry->scale);
    json_close(j, '}');
}

int rk_list_export(const struct rk_list *list, const char *format, const struct rk_sink *sink,
                   struct rk_error *e)
{
    if (!list || !sink || sink->size < sizeof *sink || !sink->write)
        return fail_argument(e, RK_STAGE_EXPORT, "no list, or a sink without a write function or its size");
    if (!format || strcmp(format, "json") != 0)
        return fail_argument(e, RK_STAGE_EXPORT, "no format '%.40s' for a list; there is: json",
                             format ? format : "(null)");

    struct output out = output_to(sink);
    struct json j = json_to(&out);
    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    json_text(&j, "kernel", list->kernel);
    json_open(&j, "events", '[');
    for (size_t i = 0; i < list->entries.n; i++)
        write_entry(&j, &list->entries.items[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    output_bytes(&out, "\n", 1);
    return output_fail(output_end(&out), e);
}

int rk_list_export_fd(const struct rk_list *list, const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_list_export(list, format, &sink, e);
}

int rk_list_export_path(const struct rk_list *list, const char *format, const char *path, struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc : sink_file_close(&file, rk_list_export(list, format, &file.sink, e), e);
}

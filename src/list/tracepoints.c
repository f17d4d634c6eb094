/*
 * Tracepoints, as tracefs has them: events/SYSTEM/NAME/{id,format}.
 *
 * A kernel has some thousand, so that what is read goes by what is shown: the names of the systems; with words or all
 * of them the names of the tracepoints too; number and fields (`format`) only where asked for.
 *
 * Closing a tracepoint costs the kernel some 40 ms: it waits until no CPU can be in the probe any more. So none is
 * opened here. What is asked for is a number that no tracepoint has: a user without the right to count is refused before
 * the number is looked for (EACCES), one with it after (EINVAL).
 */
#include "base/abi.h"
#include "base/cleanup.h"
#include "host/host.h"
#include "list/list.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>

#define FORMAT_MOST (1 << 16)

struct names {
    struct arena *arena;
    VECTOR(const char *) list;
};

/* Directories alone: files like `enable` and `filter` lie beside them. */
static int take(void *context, const char *name)
{
    static const char *const files[] = {"enable", "filter", "header_page", "header_event",
                                        "format", "id",     "trigger"};
    struct names *names = context;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(name, files[i]) == 0)
            return 0;
    const char **at = vector_push(&names->list);
    if (at)
        *at = arena_text(names->arena, name, strlen(name));
    return at && *at ? 0 : -ENOMEM;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in a directory, sorted; 0 or -errno. */
static int read_names(struct gather *g, const char *path, struct names *ret)
{
    *ret = (struct names){.arena = &g->list->arena};
    int rc = sys_dir_each(g->host->root, path, take, ret);
    if (rc < 0)
        vector_free(&ret->list);
    else if (ret->list.n > 1)
        qsort(ret->list.items, ret->list.n, sizeof *ret->list.items, by_text);
    return rc;
}

struct tracing {
    struct gather *g;
    const char *path;              /* of tracefs */
    struct rk_list_entry answered; /* whether this user may count them */
};

/* "prev_comm, prev_pid": the fields of a format's text, behind those that all have. */
static void name_fields(const char *text, char *to, size_t size)
{
    size_t at = 0;

    to[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *field = line + strspn(line, " \t");
        if (strncmp(field, "field:", 6) != 0)
            continue;
        size_t end = strcspn(field, ";\n"), begin = end;
        size_t bracket = strcspn(field, "[");
        if (bracket < end) /* char comm[16] */
            end = begin = bracket;
        while (begin > 6 && field[begin - 1] != ' ' && field[begin - 1] != '*')
            begin--;
        if (strncmp(field + begin, "common_", 7) == 0)
            continue;
        int n = snprintf(to + at, size - at, "%s%.*s", at ? ", " : "", (int)(end - begin), field + begin);
        if (n < 0 || at + (size_t)n >= size) {
            snprintf(to + (at ? at : 0), size - at, "…");
            return;
        }
        at += (size_t)n;
    }
}

/* Number and fields from `format`: 0 or -errno. */
static int read_format(const struct tracing *t, const char *system, const char *name, int64_t *ret_id,
                       char *fields, size_t size)
{
    _cleanup_free_ char *text = NULL;
    char path[4600];
    size_t n;

    snprintf(path, sizeof path, "%s/events/%s/%s/format", t->path, system, name);
    int rc = sys_file_load(t->g->host->root, path, FORMAT_MOST, &text, &n);
    if (rc < 0)
        return rc;
    const char *id = strstr(text, "\nID:");
    char *end;
    *ret_id = id ? strtoll(id + 4, &end, 10) : 0;
    if (!id || end == id + 4 || *ret_id < 0)
        return -EBADMSG;
    name_fields(text, fields, size);
    return 0;
}

static void ask(struct tracing *t)
{
    t->answered = entry_new("", "", "");
    entry_encode(&t->answered, PERF_TRACEPOINT, UINT32_MAX);
    trial_run(t->g, &t->answered, &(struct trial_place){.cpu = -1, .also = EINVAL});
}

static int add_tracepoint(struct tracing *t, const char *system, const char *name)
{
    struct gather *g = t->g;
    char full[300], fields[600], encoding[64];
    int64_t id = 0;

    snprintf(full, sizeof full, "%s:%s", system, name);
    struct rk_list_entry entry = entry_new("tracepoint", full, "");
    if (!gather_wanted(g, &entry))
        return 0;
    if (g->options.flags & RK_LIST_LONG) {
        int rc = read_format(t, system, name, &id, fields, sizeof fields);
        if (host_transient(rc))
            return rc;
        if (rc == 0) {
            snprintf(encoding, sizeof encoding, "tracepoint/config=%#jx/", (uintmax_t)id);
            entry_encode(&entry, PERF_TRACEPOINT, (uint64_t)id);
            entry.encoding = encoding;
            entry.about = fields;
        }
    }
    trial_copy(&entry, &t->answered);
    return gather_add(g, &entry);
}

static int add_system(struct tracing *t, const char *system)
{
    struct gather *g = t->g;
    struct names names;
    char path[4600], name[200], about[64];

    snprintf(path, sizeof path, "%s/events/%s", t->path, system);
    int rc = read_names(g, path, &names);
    if (rc < 0)
        return host_transient(rc) ? rc : 0;
    if (!g->all && !g->searching) {
        snprintf(name, sizeof name, "%s:*", system);
        snprintf(about, sizeof about, "%zu tracepoint%s", names.list.n, names.list.n == 1 ? "" : "s");
        struct rk_list_entry entry = entry_new("tracepoint", name, about);
        trial_copy(&entry, &t->answered);
        rc = names.list.n ? gather_add(g, &entry) : 0;
    } else {
        for (size_t i = 0; rc >= 0 && i < names.list.n; i++)
            rc = add_tracepoint(t, system, names.list.items[i]);
    }
    vector_free(&names.list);
    return rc;
}

/* Tracepoints can't be named: one form stands for them, with the reason. */
static int add_none(struct gather *g, int rc, const char *path)
{
    struct rk_list_entry entry = entry_new("tracepoint", "SYSTEM:NAME", "tracepoints of the kernel");
    char what[300], remedy[400];

    entry.able = RK_ABLE_NO;
    entry.cause = RK_CAUSE_NO_FILE;
    entry.form = 1;
    if (rc == -EACCES) {
        int64_t level;
        bool lower = rk_host_limit(g->host, RK_LIMIT_PARANOID, &level) == 0 && level > 1 &&
                     rk_host_fact(g->host, RK_FACT_CAP_PERFMON) != 1;
        snprintf(what, sizeof what, "this user can't read %.200s", path);
        snprintf(remedy, sizeof remedy, "sudo mount -o remount,mode=755,gid=$(id -g) %.200s%s", path,
                 lower ? " && sudo sysctl -w kernel.perf_event_paranoid=1" : "");
    } else {
        snprintf(what, sizeof what, "tracefs is not mounted here");
        snprintf(remedy, sizeof remedy, "sudo mount -t tracefs tracefs /sys/kernel/tracing");
    }
    entry.what = what;
    entry.remedy = remedy;
    return gather_wanted(g, &entry) ? gather_add(g, &entry) : 0;
}

int gather_tracepoints(struct gather *g)
{
    struct tracing t = {.g = g};
    struct names systems;
    char path[4200];

    if (!gather_pmu(g, "tracepoint"))
        return 0;
    int rc = rk_host_mount(g->host, RK_MOUNT_TRACEFS, &t.path);
    if (rc < 0)
        return host_transient(rc) ? rc : add_none(g, rc, t.path);
    snprintf(path, sizeof path, "%s/events", t.path);
    rc = read_names(g, path, &systems);
    if (rc < 0)
        return host_transient(rc) ? rc : add_none(g, rc, t.path);
    ask(&t);
    for (size_t i = 0; rc >= 0 && i < systems.list.n; i++)
        rc = add_system(&t, systems.list.items[i]);
    vector_free(&systems.list);
    return rc;
}

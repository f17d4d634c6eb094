/*
 * What sysfs offers: the aliases of each PMU, and the form in which its other events are said.
 *
 * A server has dozens of instances of each PMU outside its cores, all alike: uncore_cha_0 … uncore_cha_59. They are
 * one here, "uncore_cha_*", unless all are asked for; the first stands for the others.
 */
#include "base/abi.h"
#include "base/cleanup.h"
#include "host/host.h"
#include "list/list.h"

#include <errno.h>
#include <reckon/event.h>
#include <stdio.h>

#define NAME_BYTES 400

/* Some PMUs that are one in the list, or one. */
struct kind {
    struct host_pmu *pmu; /* the first */
    char shown[160];      /* its name, or "uncore_cha_*" */
    size_t n;
    uint32_t type;
    struct trial_place place;
};

/* Bytes of "uncore_cha_" in "uncore_cha_12"; 0 where it has no number behind a '_'. */
static size_t stem(const char *name)
{
    size_t n = strlen(name), digits = n;

    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
        digits--;
    return digits < n && digits > 1 && name[digits - 1] == '_' ? digits : 0;
}

/* How many PMUs from the first on are instances of it. */
static size_t instances(struct gather *g, size_t first, size_t n)
{
    struct host_pmu *pmu = host_pmu_at(g->host, first);
    size_t length = stem(pmu->name), count = 1;

    if (g->all || g->options.pmu || !length || host_pmu_core(g->host, pmu) != 0)
        return 1;
    for (; first + count < n; count++) {
        const char *next = host_pmu_at(g->host, first + count)->name;
        if (stem(next) != length || memcmp(next, pmu->name, length) != 0)
            break;
    }
    return count;
}

static void describe(const struct kind *kind, struct rk_list_entry *entry, char *about, size_t size)
{
    const char *known = alias_about(entry->name);
    char several[48] = "";

    if (kind->n > 1)
        snprintf(several, sizeof several, " (%zu instances)", kind->n);
    snprintf(about, size, "%s%s", *known ? known : entry->encoding, several);
    entry->about = about;
}

/* Type and configuration, as the grammar has them: 0, also where it has none and says why, or -errno. */
static int encode(struct gather *g, const char *text, struct rk_list_entry *entry)
{
    struct rk_event event = {.size = sizeof event};
    struct rk_events *events = NULL;

    g->why = (struct rk_error){.size = sizeof g->why};
    int rc = rk_events_parse(g->host, text, &events, &g->why);
    if (rc < 0) {
        entry->what = g->why.what;
        return host_transient(rc) ? rc : 0;
    }
    if (rk_events_get(events, 0, &event) == 0) {
        entry_encode(entry, event.type, event.config);
        entry->config1 = event.config1;
        entry->config2 = event.config2;
        entry->config3 = event.config3;
        entry->config4 = event.config4;
    }
    rk_events_free(events);
    return 0;
}

static int add_alias(struct gather *g, const struct kind *kind, const struct pmu_alias *alias)
{
    char name[NAME_BYTES], group[200], encoding[NAME_BYTES], about[NAME_BYTES + 64];

    snprintf(group, sizeof group, "pmu %s", kind->shown);
    snprintf(name, sizeof name, "%s/%s/", kind->shown, alias->name);
    struct rk_list_entry entry = entry_new(group, alias->name, "");
    if (host_transient(alias->read.rc))
        return alias->read.rc;
    if (alias->read.rc == 0) {
        snprintf(encoding, sizeof encoding, "%s/%s/", kind->shown, alias->terms);
        entry.encoding = encoding;
        entry.unit = alias->unit;
        entry.scale = alias->scale;
    }
    describe(kind, &entry, about, sizeof about);
    entry.name = name;
    if (!gather_wanted(g, &entry))
        return 0;
    char first[NAME_BYTES];
    snprintf(first, sizeof first, "%s/%s/", kind->pmu->name, alias->name);
    int rc = encode(g, first, &entry);
    if (rc < 0)
        return rc;
    if (entry.encoded)
        trial_run(g, &entry, &kind->place);
    return gather_add(g, &entry);
}

/* "msr/event=…/": its fields, for what has no name. */
static int add_form(struct gather *g, const struct kind *kind, int n)
{
    char name[NAME_BYTES], group[200], about[NAME_BYTES + 64];
    size_t at = (size_t)snprintf(name, sizeof name, "%s/", kind->shown);

    snprintf(group, sizeof group, "pmu %s", kind->shown);
    for (int i = 0; i < n && at < sizeof name; i++)
        at += (size_t)snprintf(name + at, sizeof name - at, "%s%s=…", i ? "," : "",
                               host_pmu_format_at(g->host, kind->pmu, (size_t)i)->name);
    if (at + 2 >= sizeof name)
        snprintf(name, sizeof name, "%s/FIELD=…/", kind->shown);
    else
        snprintf(name + at, sizeof name - at, "/");
    snprintf(about, sizeof about, "any event of %s by its fields", kind->shown);
    struct rk_list_entry entry = entry_new(group, name, about);
    entry.form = 1;
    entry.what = "a form to be filled in";
    return gather_wanted(g, &entry) ? gather_add(g, &entry) : 0;
}

static int add_kind(struct gather *g, const struct kind *kind)
{
    int n = host_pmu_aliases(g->host, kind->pmu), rc = host_transient(n) ? n : 0;

    for (int i = 0; i < n && rc >= 0; i++)
        rc = add_alias(g, kind, host_pmu_alias_at(g->host, kind->pmu, (size_t)i));
    n = rc < 0 ? rc : host_pmu_formats(g->host, kind->pmu);
    if (n > 0)
        rc = add_form(g, kind, n);
    return rc < 0 ? rc : host_transient(n) ? n : 0;
}

/* Listed apart: software and tracepoint by name, breakpoints and probes as forms. */
static bool is_apart(const char *name)
{
    return strcmp(name, "software") == 0 || strcmp(name, "tracepoint") == 0 ||
           strcmp(name, "breakpoint") == 0 || strcmp(name, "kprobe") == 0 || strcmp(name, "uprobe") == 0;
}

int gather_pmus(struct gather *g)
{
    int n = host_pmus(g->host), rc = host_transient(n) ? n : 0;
    const int32_t *cpus;
    size_t n_cpus;

    for (size_t i = 0; rc >= 0 && (int)i < n;) {
        struct kind kind = {
            .pmu = host_pmu_at(g->host, i), .n = instances(g, i, (size_t)n), .place = {.cpu = -1}};
        const char *name = kind.pmu->name;
        i += kind.n;
        if (is_apart(name) || !gather_pmu(g, name) || host_pmu_type(g->host, kind.pmu, &kind.type) < 0)
            continue;
        if (kind.n > 1)
            snprintf(kind.shown, sizeof kind.shown, "%.*s*", (int)stem(name), name);
        else
            snprintf(kind.shown, sizeof kind.shown, "%s", name);
        if (host_pmu_core(g->host, kind.pmu) == 0) {
            rc = host_pmu_cpus(g->host, kind.pmu, &cpus, &n_cpus);
            if (host_transient(rc))
                return rc;
            if (rc == 0 && n_cpus > 0)
                kind.place.cpu = cpus[0];
        }
        rc = add_kind(g, &kind);
    }
    return rc;
}

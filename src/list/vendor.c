/*
 * The vendors' names, out of libpfm4's tables: searched with words or where all is wanted, since loading them takes some
 * milliseconds. One entry for each umask of an event, or for the event where it has none.
 *
 * libpfm4 goes by the processor's model; whether the kernel has a PMU for the name is what the grammar then asks. That
 * takes libpfm4 some 40 us for each name, so that it is not asked where the answer is known: events of a core, on a
 * machine that shows no core PMU.
 */
#include "event/vendor.h"
#include "event/libpfm.h"
#include "host/host.h"
#include "list/list.h"

#include <errno.h>
#include <inttypes.h>
#include <reckon/event.h>
#include <stdio.h>

#define NAME_BYTES 256

/* "cpu/config=0x1c0/": what is the same for the grammar. */
static void write_encoding(struct gather *g, const struct rk_event *event, char *to, size_t size)
{
    const uint64_t configs[] = {event->config, event->config1, event->config2};
    struct host_pmu *const *cores;
    const char *pmu = event->pmu;

    if (!pmu || !*pmu) /* raw, which is the first core PMU's */
        pmu = host_cores(g->host, &cores) > 0 ? cores[0]->name : "cpu";
    size_t at = (size_t)snprintf(to, size, "%.200s/config=%#" PRIx64, pmu, configs[0]);
    for (size_t i = 1; i < 3; i++)
        if (configs[i])
            at += (size_t)snprintf(to + at, size - at, ",config%zu=%#" PRIx64, i, configs[i]);
    snprintf(to + at, size - at, "/");
}

/* Type and configuration as the grammar has them, or why it has none: 0 or -errno. */
static int encode(struct gather *g, struct rk_list_entry *entry, char *encoding, size_t size)
{
    struct rk_event event = {.size = sizeof event};
    struct rk_events *events = NULL;
    size_t n = strlen(entry->name);

    g->why = (struct rk_error){.size = sizeof g->why};
    int rc = rk_events_parse(g->host, entry->name, &events, &g->why);
    if (rc < 0) {
        entry->able = RK_ABLE_NO;
        entry->cause = g->why.cause;
        entry->what = g->why.what; /* "NAME: …", of which the reason is the same for all */
        if (strncmp(entry->what, entry->name, n) == 0 && strncmp(entry->what + n, ": ", 2) == 0)
            entry->what += n + 2;
        entry->remedy = g->why.remedy;
        return host_transient(rc) ? rc : 0;
    }
    if (rk_events_get(events, 0, &event) == 0) {
        entry_encode(entry, event.type, event.config);
        entry->config1 = event.config1;
        entry->config2 = event.config2;
        write_encoding(g, &event, encoding, size);
        entry->encoding = encoding;
    }
    rk_events_free(events);
    return 0;
}

static bool no_pmu(struct gather *g, const struct libpfm_event *event, struct rk_list_entry *entry)
{
    struct host_pmu *const *cores;

    if (!event->core || host_cores(g->host, &cores) > 0)
        return false;
    entry->able = RK_ABLE_NO;
    entry->cause = RK_CAUSE_NO_PMU;
    entry->what = VENDOR_NO_PMU;
    entry->remedy = VENDOR_NO_PMU_FIX;
    return true;
}

static int add(struct gather *g, const struct libpfm_event *event, const struct libpfm_umask *umask)
{
    char group[100], name[NAME_BYTES], about[600], encoding[300];

    snprintf(group, sizeof group, "libpfm4 %s", event->pmu);
    snprintf(name, sizeof name, "%s::%s%s%s", event->pmu, event->name, umask ? ":" : "",
             umask ? umask->name : "");
    const char *of_event = strcmp(event->description, "TBD") == 0 && umask ? "" : event->description;
    snprintf(about, sizeof about, "%s%s%s", of_event, umask && *of_event ? ": " : "",
             umask ? umask->description : "");
    struct rk_list_entry entry = entry_new(group, name, about);
    if (!gather_wanted(g, &entry))
        return 0;
    int rc = no_pmu(g, event, &entry) ? 0 : encode(g, &entry, encoding, sizeof encoding);
    if (rc < 0)
        return rc;
    if (entry.encoded)
        trial_run(g, &entry, &(struct trial_place){.cpu = -1});
    return gather_add(g, &entry);
}

/* Its tables of the kernel's own events are listed already. */
static bool is_kernels(const char *pmu)
{
    return strcmp(pmu, "perf") == 0 || strcmp(pmu, "perf_raw") == 0;
}

static int take(void *context, const struct libpfm_event *event)
{
    struct gather *g = context;
    struct libpfm_umask umask;
    int rc = 0, umasks = 0;

    if (is_kernels(event->pmu))
        return 0;
    for (; rc == 0 && umasks < event->attributes && libpfm_umask(event, umasks, &umask); umasks++)
        rc = add(g, event, &umask);
    return rc == 0 && !umasks ? add(g, event, NULL) : rc;
}

int gather_vendor(struct gather *g)
{
    if ((!g->searching && !g->all) || g->options.pmu)
        return 0;
    struct rk_list_entry entry = entry_new("libpfm4", "VENDOR_EVENT:UMASK", "the vendors' own names");
    struct host_pmu *const *cores;
    entry.form = 1;
    entry.able = RK_ABLE_NO;
    /* None of them could be opened: not worth the time that libpfm4 takes to find out what processor this is, which in
     * a virtual machine is much. */
    if (!g->searching && !(g->options.flags & RK_LIST_LONG) && host_cores(g->host, &cores) == 0) {
        entry.cause = RK_CAUSE_NO_PMU;
        entry.what = "this machine shows no PMU for them";
        entry.remedy = "reckon list --all --long, or reckon list WORD, to see them nevertheless";
        return gather_add(g, &entry);
    }
    int rc = libpfm_each(take, g);
    if (rc != -ENOENT)
        return rc;
    entry.cause = RK_CAUSE_MISSING_LIBRARY;
    entry.what = "libpfm4, which has them, is not installed";
    entry.remedy = "sudo apt install libpfm4";
    return gather_add(g, &entry); /* whatever the words: what could not be searched is said */
}

/*
 * reckon/list.h: lists what can be counted here.
 *
 * It lists every event that this machine's kernel, PMUs and tables name, with a line of description, its
 * encoding, and whether this user can open it: each is opened on the calling thread and closed again.
 *
 *     const char *words[] = {"cache", "miss"};
 *     struct rk_list_options options = RK_INIT(options, .words = words, .words_n = 2);
 *     rk_list_open(host, &options, &list, &e);
 *     for (size_t i = 0; i < rk_list_count(list); i++) {
 *         struct rk_list_entry entry = RK_INIT(entry);
 *         rk_list_get(list, i, &entry);
 *         printf("%-30s %s\n", entry.name, entry.able == RK_ABLE_NO ? entry.what : entry.about);
 *     }
 *     rk_list_free(list);
 *
 * Two kinds are judged many at a time:
 *   - Tracepoints. Closing one takes the kernel some 40 ms, so none is opened: whether this user may open
 *     them is tried once, with a number that no tracepoint has. Without words and RK_LIST_ALL a system of
 *     tracepoints is one entry, "sched:*".
 *   - Instances of a PMU outside the cores (uncore_cha_0 … uncore_cha_59). Only the first is opened.
 *     Without RK_LIST_ALL they are one entry, "uncore_cha_*".
 */
#ifndef RECKON_LIST_H
#define RECKON_LIST_H

#include <reckon/error.h>
#include <reckon/host.h>
#include <reckon/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_list;

/*
 * For rk_list_options.flags.
 *
 * ALL lists each tracepoint, each instance of a PMU and the vendors' tables (libpfm4). Without a core PMU
 * and without LONG the tables are one entry that says so. LONG adds the number and fields of tracepoints,
 * and reads a file for each. So do words that few tracepoints have. UNTRIED opens nothing. It is for a host
 * whose root is not this machine's.
 */
#define RK_LIST_ALL 0x01u
#define RK_LIST_LONG 0x02u
#define RK_LIST_UNTRIED 0x04u

struct rk_list_options {
    uint32_t size;  /* set by the caller */
    uint32_t flags; /* RK_LIST_… */
    /* Only entries that contain each word in name, description, group or encoding, in any case, '_' like
     * '-'. With words every source is searched, vendors' tables (libpfm4) too. An unreadable source is
     * always listed, as a form with the cause RK_CAUSE_NO_FILE or RK_CAUSE_MISSING_LIBRARY. */
    const char *const *words;
    size_t words_n;
    const char *pmu; /* only what this PMU counts; a name or a pattern with * and ?; NULL: all */
};

enum rk_able {
    RK_ABLE_YES,     /* it was opened */
    RK_ABLE_NO,      /* `what` says why not */
    RK_ABLE_UNTRIED, /* a form with parts to fill in, or something untried: `what` says why */
};

/* Strings live as long as the list, none is NULL. */
struct rk_list_entry {
    uint32_t size;  /* set by the caller */
    uint32_t able;  /* enum rk_able */
    uint32_t cause; /* enum rk_cause, where it is RK_ABLE_NO */
    uint32_t type;  /* perf_event_attr.type … */
    uint64_t config, config1, config2, config3, config4;
    uint32_t encoded; /* 1: … and they are known */
    uint32_t form;    /* 1: a form, as "rHEX": to be filled in before it is an event */
    double scale;     /* a count times this is in `unit`; 1.0 where there is none */
    const char *name; /* to be given to rk_events_parse() or -e */
    /* "hardware", "cache", "software", "pmu cpu", "tracepoint", "probe", "libpfm4 skl" … */
    const char *group;
    const char *about;    /* one line of description */
    const char *encoding; /* "cpu/event=0x3c/", or "" */
    const char *unit;     /* "", "ns", "Joules" … */
    const char *what;     /* why it does not open, or was not tried; "" for RK_ABLE_YES */
    const char *remedy;   /* the smallest fix, or "" */
};

/* Gathers and tries. Returns 0, -ENOENT if there is no such PMU, or another -errno. If nothing is found, the
 * list has only the unreadable sources, or nothing. */
RK_API int rk_list_open(struct rk_host *host, const struct rk_list_options *options, struct rk_list **ret,
                        struct rk_error *e);
RK_API struct rk_list *rk_list_free(struct rk_list *list);

/* Entries are grouped: hardware, cache, software, PMUs by name, tracepoints, probes, tables. */
RK_API size_t rk_list_count(const struct rk_list *list);
RK_API int rk_list_get(const struct rk_list *list, size_t index, struct rk_list_entry *ret);

/* Writes the list as "json", to a sink, a descriptor or a file (reckon/sink.h). Returns 0 or -errno. */
RK_API int rk_list_export(const struct rk_list *list, const char *format, const struct rk_sink *sink,
                          struct rk_error *e);
RK_API int rk_list_export_fd(const struct rk_list *list, const char *format, int fd, struct rk_error *e);
RK_API int rk_list_export_path(const struct rk_list *list, const char *format, const char *path,
                               struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

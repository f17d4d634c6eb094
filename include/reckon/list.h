/*
 * reckon/list.h: what can be counted here.
 *
 * Every event that this machine's kernel, PMUs and tables have a name for, each with one line of description, how it
 * is encoded, and whether it can be opened by this user: found by opening it on this very thread and closing it.
 *
 *     const char *words[] = {"cache", "miss"};
 *     struct rk_list_options options = {.size = sizeof options, .words = words, .words_n = 2};
 *     rk_list_open(host, &options, &list, &e);
 *     for (size_t i = 0; i < rk_list_count(list); i++) {
 *         struct rk_list_entry entry = {.size = sizeof entry};
 *         rk_list_get(list, i, &entry);
 *         printf("%-30s %s\n", entry.name, entry.able == RK_ABLE_NO ? entry.what : entry.about);
 *     }
 *     rk_list_free(list);
 *
 * Two things are said for many at a time. Tracepoints: closing one takes the kernel some 40 ms, so that none is opened;
 * whether this user may is asked once, with a number that no tracepoint has. Without words and RK_LIST_ALL a system of
 * them is one entry, "sched:*". Instances of a PMU outside the cores (uncore_cha_0 … uncore_cha_59): the first is
 * opened, and without RK_LIST_ALL they are one, "uncore_cha_*".
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

/* For rk_list_options.flags.
 *
 * ALL lists each tracepoint, each instance of a PMU and the vendors' tables (libpfm4). Without a core PMU and without
 * LONG the tables are one entry that says so.
 * LONG adds the number and fields of tracepoints: it reads a file for each. So do words that few tracepoints have.
 * UNTRIED opens nothing: for a host whose root is not this machine's. */
#define RK_LIST_ALL 0x01u
#define RK_LIST_LONG 0x02u
#define RK_LIST_UNTRIED 0x04u

struct rk_list_options {
    uint32_t size;  /* set by the caller */
    uint32_t flags; /* RK_LIST_… */
    /* Only entries that have each word somewhere in name, description, group or encoding; case and '_' for '-' make
     * no difference. With words every source is searched, vendors' tables (libpfm4) included; a source that can't be
     * read is listed whatever they are, as a form of cause RK_CAUSE_NO_FILE or RK_CAUSE_MISSING_LIBRARY. */
    const char *const *words;
    size_t words_n;
    const char *pmu; /* only what this PMU counts; a name or a pattern with * and ?; NULL: all */
};

enum rk_able {
    RK_ABLE_YES,     /* it was opened */
    RK_ABLE_NO,      /* `what` says why not */
    RK_ABLE_UNTRIED, /* a form with parts to fill in, or what could not be tried: `what` says why */
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
    const char
        *group; /* "hardware", "cache", "software", "pmu cpu", "tracepoint", "probe", "libpfm4 skl" … */
    const char *about;    /* one line of description */
    const char *encoding; /* "cpu/event=0x3c/", or "" */
    const char *unit;     /* "", "ns", "Joules" … */
    const char *what;     /* why it can't be opened, or was not tried; "" for RK_ABLE_YES */
    const char *remedy;   /* the smallest fix, or "" */
};

/* Gathers and tries. -ENOENT: no such PMU. Nothing found is an empty list (but for sources that can't be read), not a
 * failure. */
RK_API int rk_list_open(struct rk_host *host, const struct rk_list_options *options, struct rk_list **ret,
                        struct rk_error *e);
RK_API struct rk_list *rk_list_free(struct rk_list *list);

/* Entries come by group, in the order: hardware, cache, software, PMUs by name, tracepoints, probes, tables. */
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

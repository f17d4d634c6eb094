/*
 * What the parts of `reckon dump` share: which records are shown, what their threads and addresses are called, and the
 * sums of --stat.
 */
#ifndef COMMAND_DUMP_H
#define COMMAND_DUMP_H

#include <reckon/reckon.h>

#include <stdbool.h>
#include <stdio.h>

/* Which records: all lists are as they stand on the command line; NULL: any. */
struct dump_filter {
    const char *types, *pids, *tids, *comms, *cpus;
    const char *const *events; /* patterns, event_n of them; 0: any */
    size_t event_n;
    uint64_t from, to; /* nanoseconds; `to` UINT64_MAX: no end */
    bool timed;        /* from and to hold: a record without a time is not shown */
    bool samples;      /* only samples, where types does not say otherwise */
};

/* 0, or what is wrong with a list is put into `wrong`. */
int dump_filter_check(const struct dump_filter *filter, char *wrong, size_t n);
/* "1.5,2.25" in seconds, either side may be missing. 0 or -1. */
int dump_filter_time(struct dump_filter *filter, const char *text);
/* The first of its events that the recording, read to its end, does not have; NULL: it has them all. */
const char *dump_filter_no_event(const struct dump_filter *filter, const struct rk_stream *stream);

/* comm: the name of the record's thread, "" where it is not known. */
bool dump_filter_passes(const struct dump_filter *filter, const struct rk_stream *stream,
                        const struct rk_record *record, const char *comm);
/* Whose record it is: by its body, else by what the kernel attached. False: nobody's. */
bool dump_owner(const struct rk_record *record, int32_t *pid, int32_t *tid);

/* Names of threads and addresses, as of the last record. */
struct dump_names;
/* `where`: symfs, vmlinux, kallsyms. */
int dump_names_open(const struct rk_stream *stream, const struct rk_symbolizer_options *where, bool lines,
                    struct dump_names **ret, struct rk_error *e);
void dump_names_close(struct dump_names **names);
int dump_names_feed(struct dump_names *d, const struct rk_record *record);
const char *dump_names_comm(const struct dump_names *d, const struct rk_record *record);
/* rk_record_options.name; context is the names. */
void dump_names_address(void *context, const struct rk_record *record, uint64_t address, uint32_t caller,
                        struct rk_address_name *ret);

/* --stat */
struct dump_stat;
struct dump_stat *dump_stat_new(void);
void dump_stat_free(struct dump_stat **stat);
int dump_stat_add(struct dump_stat *stat, const struct rk_record *record); /* 0 or -ENOMEM */
void dump_stat_print(const struct dump_stat *stat, const struct rk_stream *stream, bool json, FILE *to);

#endif

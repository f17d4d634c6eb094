/*
 * reckon record, in parts:
 *
 *     record.c         the options, and what does not go together
 *     record_words.c   what their values mean: 8K, user:ip,sp, any,u, 30s
 *     record_open.c    who is sampled, which events, how: a set and a file
 *     record_names.c   names, stored with the file
 *     record_run.c     from the first sample to the last, whatever happens meanwhile
 */
#ifndef COMMAND_RECORD_H
#define COMMAND_RECORD_H

#include "callgraph.h"
#include "options.h"
#include "page.h"

#include <reckon/reckon.h>

#include <stdbool.h>

/* A --filter, and the events before it that it is for: those of the -e at text[from, to) of the joined text. */
struct record_filter {
    const char *text;
    size_t from, to;
};

struct record_options {
    char *events; /* joined; NULL: cycles, else cpu-clock */
    size_t last_event;
    struct record_filter *filters;
    size_t n_filters;

    const char *processes, *threads, *cpus, *cgroups;
    bool all, no_inherit;
    char **command; /* NULL: none */

    uint64_t period, frequency;
    bool frequency_max, off_cpu, all_cgroups;
    bool each; /* neither -F nor -c: what happens one by one is sampled each time */
    struct callgraph callgraph;
    uint64_t sample; /* RK_SAMPLE_… beside what call chains need */
    uint32_t exclude, records;
    uint64_t max_stack, stack_bytes, branches, regs_user, regs_intr;
    uint64_t ring_bytes;
    bool clock_set, overwrite;
    int32_t clock;

    int64_t delay_ms;     /* -1: when --control says so */
    uint64_t duration_ms; /* 0: until the command, or what is sampled, ends */
    const char *control;
    bool switches; /* --switch-output */
    uint64_t switch_bytes, switch_ms;

    const char *path;
    uint64_t compression;
    struct page_options page;
    bool quiet, progress, no_names;
};

/* What a value means; each 0, or OPTIONS_BAD with the message printed. */
int record_take_registers(const struct options *o, struct record_options *r);
int record_take_branches(const struct options *o, struct record_options *r);
int record_take_clock(const struct options *o, struct record_options *r);
int record_take_ring(const struct options *o, struct record_options *r);
int record_take_switch(const struct options *o, struct record_options *r);
/* Seconds, with a fraction if need be, as milliseconds. */
int record_take_seconds(const struct options *o, const char *what, uint64_t *ret_ms);
/* "-1" or milliseconds. */
int record_take_delay(const struct options *o, int64_t *ret_ms);

/* What is being recorded. */
struct recorded {
    struct rk_host *host;
    struct rk_target *command; /* NULL: none was given */
    struct rk_target *target;  /* who is sampled; NULL: the command, from its first instruction on */
    struct rk_set *set;
    struct rk_capture *capture;
    bool complete; /* the file is written to its end */
};

/* 0, or an exit status with the message printed. */
int record_open(const struct record_options *o, struct recorded *ret);
void record_close(struct recorded *recorded);

/* Runs it to the end and tells what came of it; an exit status. The capture is closed then. */
int record_run(const struct record_options *o, struct recorded *recorded);

#endif

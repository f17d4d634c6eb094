/*
 * The grammar from inside: where the readers of the several kinds of names meet.
 */
#ifndef EVENT_PARSE_H
#define EVENT_PARSE_H

#include "event/event.h"
#include "host/pmu.h"

struct parser {
    struct rk_host *host;
    const char *text, *at;
    struct rk_events *events;
    struct rk_error *e;
    uint32_t group;   /* of the next event */
    uint32_t n_texts; /* that became events */
    bool keep;        /* unknown names become RK_EVENT_ABSENT */
};

/*
 * A reader looks at p->at. 1: what is there is of its kind; its events were added and p->at is at their modifiers.
 * 0: it is not, and nothing has changed. -errno: it is, and wrong, with p->e filled.
 */
int read_pmu(struct parser *p);        /* cpu/event=0x3c/, uncore_imc_?/cas_count_read/ */
int read_probe(struct parser *p);      /* kprobe:vfs_read, uretprobe:/bin/bash:readline */
int read_breakpoint(struct parser *p); /* mem:0x1000/8:w */
int read_builtin(struct parser *p);    /* cycles, L1-dcache-load-misses */
int read_raw(struct parser *p);        /* r1a8 */
int read_alias(struct parser *p);      /* mem-loads: what sysfs offers for the core */
int read_tracepoint(struct parser *p); /* sched:sched_switch */
int read_vendor(struct parser *p);     /* INST_RETIRED:ANY_P, by libpfm4 */

/* Adds a generic or raw event, `length` bytes at p->at: one, or one for each core PMU. As a reader. */
int generic_add(struct parser *p, size_t length, uint32_t type, uint64_t config);

/* Bytes of a name at `at`: up to what ends one. */
size_t name_bytes(const char *at);

/* A new event, with its defaults; NULL: p->e is filled, and *ret_rc has the -errno. */
struct event_item *parse_add(struct parser *p, int *ret_rc);

/* The event of n bytes of text is there on several PMUs: this item on `pmu`. 0 or -ENOMEM with p->e filled. */
int parse_spread(struct parser *p, struct event_item *item, const struct host_pmu *pmu, const char *shown);

/* A text of the arena; NULL: p->e is filled. */
char *parse_text(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Where in the text p->e has gone wrong. */
void parse_position(const struct parser *p, const char *at);

/* -EINVAL and p->e filled for a mistake at `at`, a place in p->text. */
int parse_fail(struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for any other reason. `remedy` may be NULL. */
int parse_refuse(struct parser *p, const char *at, int code, uint32_t cause, const char *remedy,
                 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* A PMU's file that is there and can't be read or understood: fills p->e, returns rc. */
int parse_unreadable(struct parser *p, const char *at, const struct host_pmu *pmu, const char *file, int rc);

#endif

/*
 * The grammar from inside: where the readers of the several kinds of names meet.
 */
#ifndef EVENT_PARSE_H
#define EVENT_PARSE_H

#include "event/event.h"

struct parser {
    const char *text, *at;
    struct rk_events *events;
    struct rk_error *e;
    uint32_t group; /* of the next event */
};

/*
 * An event's text without modifiers, `n` bytes, → what to ask of the kernel, in the zeroed *ret. 1 it is one,
 * 0 it is not of this kind, -errno it is of this kind and wrong, with p->e filled.
 */
int parse_builtin(struct parser *p, const char *text, size_t n, struct rk_event *ret);
int parse_raw(struct parser *p, const char *text, size_t n, struct rk_event *ret);

/* -EINVAL and p->e filled for a mistake at `at`, a place in p->text. */
int parse_fail(struct parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/*
 * The names nearest to one that is not there: offer all that exist, take the best three.
 *
 *     struct nearest n;
 *     nearest_start(&n, text, length);
 *     for (…) nearest_offer(&n, name);
 *     nearest_remedy(&n, buffer, sizeof buffer);    // "did you mean cycles or bus-cycles? …"
 */
#ifndef EVENT_NEAREST_H
#define EVENT_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX 64 /* a longer text, or name, is near to nothing */

struct nearest {
    char wanted[NEAREST_MAX]; /* folded */
    size_t length;            /* 0: nothing is near */
    size_t n;
    struct {
        const char *name, *of; /* of: its PMU, or NULL */
        unsigned distance;
    } best[3]; /* the nearest first */
};

void nearest_start(struct nearest *nearest, const char *text, size_t n);

/* `name` must outlive the nearest. */
void nearest_offer(struct nearest *nearest, const char *name);

/* The same for a name that is to be proposed as of/name/; an equal one of another PMU is not proposed twice. */
void nearest_offer_of(struct nearest *nearest, const char *name, const char *of);

/* A sentence that names them, and where else to look: "`reckon list` shows what there is". Returns `buffer`. */
char *nearest_remedy(const struct nearest *nearest, char *buffer, size_t size);

/* The same, where that is something else. */
char *nearest_or(const struct nearest *nearest, const char *list, char *buffer, size_t size);

#endif

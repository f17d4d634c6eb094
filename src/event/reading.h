/*
 * Terms from inside: the text of one, and an event whose terms are being read.
 *
 *     term_text.c    where a term ends, what its value is
 *     term_any.c     those that any event may have: period, freq, name, filter
 *     term_pmu.c     those of a PMU: fields, whole words, aliases, generic events
 *     term.c         all of them, in turn, and the canonical body
 */
#ifndef EVENT_READING_H
#define EVENT_READING_H

#include "event/term.h"

struct term {
    const char *name, *value; /* value NULL: none is written */
    size_t n, n_value;
};

#define OPEN_MAX 16

struct reading {
    struct parser *p;
    struct host_pmu *pmu;
    struct event_item *item;
    const struct pmu_alias *alias;
    bool generic; /* the event is HARDWARE or HW_CACHE: it has no fields */
    bool fields;  /* some field or word was set */
    uint64_t words[PMU_WORDS], of_alias[PMU_WORDS];
    struct { /* fields of the alias for which the user must give the value: "core=?" */
        const char *name;
        size_t n;
        uint32_t word;
    } open[OPEN_MAX];
    size_t n_open;
    uint32_t open_words;  /* bit by bit: words that they lie in */
    const char *alias_at; /* in the text */
};

/* The next term of [*at, end): 1, or 0 at the end, or -EINVAL where there is a comma and no term. */
int term_next(const char **at, const char *end, struct term *ret);

bool term_is(const struct term *term, const char *name);
bool term_is_quote(char c);

/* The value as a number: 0 or -errno with r->p->e filled. */
int term_value(struct reading *r, const struct term *term, uint64_t *ret);

/* The value's bits to the mask's, from the lowest on: 0, or -ERANGE where it has more. */
int term_deposit(uint64_t value, uint64_t mask, uint64_t *word);

/* "config" … "config4" */
extern const char *const term_words[PMU_WORDS];

/* A term of that kind: 1 it was and is read, 0 it is not of that kind, -errno with r->p->e filled. */
int term_any(struct reading *r, const struct term *term);
int term_word(struct reading *r, const struct term *term);
int term_alias(struct reading *r, const struct term *term);
int term_field(struct reading *r, const struct term *term, const char *at); /* blamed at `at` in the text */
int term_generic(struct reading *r, const struct term *term);

/* A generic event on r->pmu, which is one of several core PMUs: 1 or -errno. */
int term_on_core(struct reading *r, const char *at, uint32_t type, uint64_t config);

#endif

/*
 * reckon symbolize, in three parts: symbolize.c takes addresses in, some at a time; symbolize_answer.c finds what they
 * are; symbolize_print.c writes it.
 */
#ifndef COMMAND_SYMBOLIZE_H
#define COMMAND_SYMBOLIZE_H

#include <reckon/reckon.h>

#include <stdbool.h>
#include <stdio.h>

/* Most addresses at once: what bounds memory, and what makes each compilation unit's reading worth it. */
#define SYMBOLIZE_BATCH 262144

struct symbolize {
    struct rk_symbolizer *symbolizer;
    struct rk_image *image;   /* where addresses are a process's, or the kernel's */
    int32_t pid;              /* 0: the kernel alone */
    const char *exe;          /* NULL: by image */
    struct rk_module program; /* exe */
    struct rk_sources_options sources;
    bool no_inline, with_address, pretty, base_names, json;
};

/* What was found for a batch: for each module that its addresses lie in, the sources of those. */
struct answers {
    const uint64_t *addresses; /* the caller's, n */
    size_t n;
    struct rk_place *places;    /* by address */
    struct rk_symbol *symbols;  /* by address */
    struct rk_sources **groups; /* group_n of them */
    struct rk_module *modules;  /* by group */
    uint32_t *group, *index;    /* by address: its group (group_n: none) and place there */
    size_t group_n;
};

/* Looks the addresses up: 0, or -errno with the error filled. */
int symbolize_answer(const struct symbolize *s, const uint64_t *addresses, size_t n, struct answers *ret,
                     struct rk_error *e);
void answers_free(struct answers *answers);

void symbolize_print(const struct symbolize *s, const struct answers *answers, FILE *to);

#endif

/*
 * reckon symbolize, in two parts: symbolize.c takes addresses in, some at a time, and asks what they are;
 * symbolize_print.c writes it.
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
    struct rk_image *image;  /* a process's; NULL: addresses are those of `module` */
    int32_t pid;             /* 0: none */
    const char *exe;         /* NULL: none */
    struct rk_module module; /* exe's, or the kernel */
    bool no_inline, with_address, pretty, base_names, json;
};

/* Answers to the addresses asked for, s->n of them. */
void symbolize_print(const struct symbolize *how, const uint64_t *addresses, const struct rk_sources *s,
                     FILE *to);

#endif

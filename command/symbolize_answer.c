#include "symbolize.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most modules of one batch; a process maps some hundreds, and the rest goes without lines. */
enum { GROUPS_MAX = 65536 };

void answers_free(struct answers *a)
{
    for (size_t i = 0; a->groups && i < a->group_n; i++)
        rk_sources_free(a->groups[i]);
    free(a->places);
    free(a->symbols);
    free(a->groups);
    free(a->modules);
    free(a->group);
    free(a->index);
    *a = (struct answers){0};
}

/* The modules among the places, each once, numbered from 0: *ret_n of them; groups by address. -ENOMEM. */
static int number_groups(const struct symbolize *s, struct answers *a, uint32_t **ret_modules)
{
    size_t modules = s->exe ? 1 : rk_image_module_count(s->image);
    uint32_t *number = malloc((modules + 1) * sizeof *number), *list = NULL;

    if (number) {
        memset(number, 0xff, (modules + 1) * sizeof *number);
        list = malloc((modules + 1) * sizeof *list);
    }
    if (!list) {
        free(number);
        return -ENOMEM;
    }
    for (size_t i = 0; i < a->n; i++) {
        uint32_t module = a->places[i].module;
        a->group[i] = UINT32_MAX;
        if (module == RK_NO_MODULE || (number[module] == UINT32_MAX && a->group_n == GROUPS_MAX))
            continue;
        if (number[module] == UINT32_MAX) {
            list[a->group_n] = module;
            number[module] = (uint32_t)a->group_n++;
        }
        a->group[i] = number[module];
    }
    free(number);
    *ret_modules = list;
    return 0;
}

/* One module's addresses. */
static int answer_group(const struct symbolize *s, struct answers *a, uint32_t group, uint64_t *offsets,
                        struct rk_symbol *symbols, struct rk_error *e)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        if (a->group[i] == group) {
            a->index[i] = (uint32_t)n;
            offsets[n++] = a->places[i].offset;
        }
    int rc = rk_symbolizer_resolve(s->symbolizer, &a->modules[group], offsets, n, symbols);
    if (rc < 0) {
        snprintf(e->what, sizeof e->what, "%s: %s", a->modules[group].path, strerror(-rc));
        return rc;
    }
    for (size_t i = 0; i < a->n; i++)
        if (a->group[i] == group)
            a->symbols[i] = symbols[a->index[i]];
    return rk_symbolizer_sources(s->symbolizer, &a->modules[group], offsets, n, &s->sources,
                                 &a->groups[group], e);
}

static int place(const struct symbolize *s, struct answers *a)
{
    if (!s->exe)
        return rk_image_find(s->image, s->pid, a->addresses, a->n, a->places);
    for (size_t i = 0; i < a->n; i++)
        a->places[i] = (struct rk_place){.module = 0, .offset = a->addresses[i]};
    return 0;
}

static int answer(const struct symbolize *s, struct answers *a, struct rk_error *e)
{
    uint32_t *modules = NULL;
    uint64_t *offsets = malloc((a->n + 1) * sizeof *offsets);
    struct rk_symbol *symbols = malloc((a->n + 1) * sizeof *symbols);
    int rc = offsets && symbols ? place(s, a) : -ENOMEM;

    for (size_t i = 0; i < a->n; i++)
        a->symbols[i] = (struct rk_symbol){.miss = RK_MISS_NO_MODULE};
    if (rc == 0)
        rc = number_groups(s, a, &modules);
    if (rc == 0) {
        a->groups = calloc(a->group_n + 1, sizeof *a->groups);
        a->modules = calloc(a->group_n + 1, sizeof *a->modules);
        rc = a->groups && a->modules ? 0 : -ENOMEM;
    }
    for (uint32_t g = 0; rc == 0 && g < a->group_n; g++) {
        a->modules[g] = s->program;
        a->modules[g].size = sizeof a->modules[g];
        if (!s->exe)
            rc = rk_image_module_get(s->image, modules[g], &a->modules[g]);
        if (rc == 0)
            rc = answer_group(s, a, g, offsets, symbols, e);
    }
    free(modules);
    free(offsets);
    free(symbols);
    return rc;
}

int symbolize_answer(const struct symbolize *s, const uint64_t *addresses, size_t n, struct answers *ret,
                     struct rk_error *e)
{
    struct answers a = {.addresses = addresses, .n = n};

    a.places = calloc(n + 1, sizeof *a.places);
    a.symbols = calloc(n + 1, sizeof *a.symbols);
    a.group = calloc(n + 1, sizeof *a.group);
    a.index = calloc(n + 1, sizeof *a.index);
    e->code = 0;
    int rc = a.places && a.symbols && a.group && a.index ? answer(s, &a, e) : -ENOMEM;
    if (rc < 0) {
        answers_free(&a);
        if (!e->what[0])
            snprintf(e->what, sizeof e->what, "%s", strerror(-rc));
        e->code = rc;
        return rc;
    }
    *ret = a;
    return 0;
}

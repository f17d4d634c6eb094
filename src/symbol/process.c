/*
 * Addresses of a process: placed by its image, sorted by module, named a module at a time, and put back into the order that
 * was asked for.
 */
#include "image/process.h"
#include "base/error.h"
#include "symbol/answer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct group {
    size_t begin, n; /* in `order` */
    struct rk_module module;
    struct rk_sources *part;
};

struct asking {
    struct rk_symbolizer *symbolizer;
    struct rk_image *image;
    size_t n;
    struct rk_place *places;
    uint32_t *order;    /* indexes of addresses, by module; those in none come last */
    size_t placed;      /* so many are in a module */
    uint64_t *offsets;  /* in that order */
    uint32_t *index;    /* by address: its place in the part of its group */
    uint32_t *group_of; /* by address; UINT32_MAX: in no module */
    struct group *groups;
    size_t group_n;
};

static int by_module(struct asking *a)
{
    size_t modules = rk_image_module_count(a->image);
    _cleanup_free_ size_t *begin = calloc(modules + 2, sizeof *begin);

    a->groups = calloc((a->n < modules ? a->n : modules) + 1, sizeof *a->groups);
    if (!begin || !a->groups)
        return -ENOMEM;
    for (size_t i = 0; i < a->n; i++)
        begin[(a->places[i].module == RK_NO_MODULE ? modules : a->places[i].module) + 1]++;
    for (size_t m = 0; m < modules; m++) {
        if (begin[m + 1]) {
            struct group *group = &a->groups[a->group_n++];
            *group =
                (struct group){.begin = begin[m], .n = begin[m + 1], .module.size = sizeof group->module};
            int rc = rk_image_module_get(a->image, (uint32_t)m, &group->module);
            if (rc < 0)
                return rc;
        }
        begin[m + 1] += begin[m];
    }
    a->placed = begin[modules];
    for (size_t i = 0; i < a->n; i++) {
        uint32_t m = a->places[i].module;
        size_t at = begin[m == RK_NO_MODULE ? modules : m]++;
        a->order[at] = (uint32_t)i;
        a->offsets[at] = a->places[i].offset;
    }
    return 0;
}

/* Returns how many frames all have, or -errno. */
static int64_t name_groups(struct asking *a, const struct rk_sources_options *how, struct rk_error *e)
{
    size_t frames = a->n - a->placed;

    for (size_t i = a->placed; i < a->n; i++)
        a->group_of[a->order[i]] = UINT32_MAX;
    for (size_t g = 0; g < a->group_n; g++) {
        struct group *group = &a->groups[g];
        int rc = rk_symbolizer_sources(a->symbolizer, &group->module, a->offsets + group->begin, group->n,
                                       how, &group->part, e);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < group->n; i++) {
            uint32_t address = a->order[group->begin + i];
            a->group_of[address] = (uint32_t)g;
            a->index[address] = (uint32_t)i;
        }
        frames += group->part->frame_n;
    }
    return frames > UINT32_MAX ? -EOVERFLOW : (int64_t)frames;
}

static void copy_frames(const struct rk_sources *from, size_t i, struct answer *to, size_t *at)
{
    for (uint32_t f = from->first[i]; f < from->first[i + 1]; f++, ++*at) {
        to->function[*at] = from->function[f];
        to->file[*at] = from->file[f];
        to->line[*at] = from->line[f];
        to->column[*at] = from->column[f];
        to->declared_file[*at] = from->declared_file[f];
        to->declared_line[*at] = from->declared_line[f];
    }
}

static void fill(const struct asking *a, struct answer *to)
{
    size_t at = 0;

    for (size_t i = 0; i < a->n; i++) {
        to->first[i] = (uint32_t)at;
        to->offset[i] = a->places[i].offset;
        if (a->group_of[i] == UINT32_MAX) {
            to->module[i] = NULL;
            to->symbol[i] = (struct rk_symbol){.miss = RK_MISS_NO_MODULE};
            to->miss[i] = RK_MISS_NO_MODULE;
            answer_no_frame(to, at++);
            continue;
        }
        const struct rk_sources *part = a->groups[a->group_of[i]].part;
        uint32_t k = a->index[i];
        to->module[i] = part->module[k];
        to->symbol[i] = part->symbol[k];
        to->miss[i] = part->miss[k];
        copy_frames(part, k, to, &at);
    }
    to->first[a->n] = (uint32_t)at;
}

/* The parts go to the answer. */
static int put_together(struct asking *a, size_t frames, struct answer **ret)
{
    struct answer *answer;
    struct rk_sources **parts = calloc(a->group_n + 1, sizeof *parts);
    int rc = parts ? answer_make(a->n, frames, 0, 0, &answer) : -ENOMEM;

    if (rc < 0) {
        free(parts);
        return rc;
    }
    fill(a, answer);
    for (size_t g = 0; g < a->group_n; g++)
        parts[g] = TAKE_PTR(a->groups[g].part);
    answer->parts = parts;
    answer->part_n = a->group_n;
    *ret = answer;
    return 0;
}

static int ask(struct asking *a, int32_t pid, const uint64_t *addresses, const struct rk_sources_options *how,
               struct rk_sources **ret, struct rk_error *e)
{
    struct answer *answer = NULL;
    int64_t frames = 0;

    a->places = calloc(a->n + 1, sizeof *a->places);
    a->order = calloc(a->n + 1, sizeof *a->order);
    a->offsets = calloc(a->n + 1, sizeof *a->offsets);
    a->index = calloc(a->n + 1, sizeof *a->index);
    a->group_of = calloc(a->n + 1, sizeof *a->group_of);
    int rc = a->places && a->order && a->offsets && a->index && a->group_of ? 0 : -ENOMEM;
    if (rc == 0)
        rc = rk_image_find(a->image, pid, addresses, a->n, a->places);
    if (rc == 0)
        rc = by_module(a);
    if (rc == 0) {
        frames = name_groups(a, how, e);
        if (frames < 0 && frames != -EOVERFLOW)
            return (int)frames; /* the error is filled */
        rc = frames < 0 ? (int)frames : put_together(a, (size_t)frames, &answer);
    }
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    if (rc < 0 || !answer)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_UNKNOWN, NULL, "process %d: %s", pid, strerror(-rc));
    answer->symbolizer = symbolizer_share(a->symbolizer);
    answer->image = image_share(a->image);
    *ret = &answer->shown;
    return 0;
}

int rk_symbolizer_image(struct rk_symbolizer *symbolizer, struct rk_image *image, int32_t pid,
                        const uint64_t *addresses, size_t n, const struct rk_sources_options *options,
                        struct rk_sources **ret, struct rk_error *e)
{
    struct rk_sources_options o;

    if (!symbolizer || !image || !ret || (n && !addresses))
        return fail_null(e, RK_STAGE_SYMBOL, "rk_symbolizer_image",
                         !symbolizer ? "symbolizer"
                         : !image    ? "image"
                         : !ret      ? "ret"
                                     : "addresses");
    int rc = sources_options(&o, options, e);
    if (rc < 0)
        return rc;
    if (symbolizer->flags & RK_SYMBOLIZER_ADDRESSES)
        return fail_argument(e, RK_STAGE_SYMBOL,
                             "RK_SYMBOLIZER_ADDRESSES is for files: a process's addresses are its own");
    if (n > UINT32_MAX - 1)
        return fail_argument(e, RK_STAGE_SYMBOL, "more than 2^32 addresses at once");
    struct asking a = {.symbolizer = symbolizer, .image = image, .n = n};
    rc = ask(&a, pid, addresses, &o, ret, e);
    for (size_t g = 0; g < a.group_n; g++)
        rk_sources_free(a.groups[g].part);
    free(a.groups);
    free(a.places);
    free(a.order);
    free(a.offsets);
    free(a.index);
    free(a.group_of);
    return rc;
}

/* Why a process's mappings can't be read. */
static int fail_process(struct rk_error *e, int rc, int32_t pid)
{
    bool denied = rc == -EACCES || rc == -EPERM;

    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    fail(e, rc, RK_STAGE_SYMBOL,
         rc == -ESRCH ? RK_CAUSE_NO_PROCESS
         : denied     ? RK_CAUSE_NOT_YOURS
                      : RK_CAUSE_UNKNOWN,
         denied ? "ask as its user, or as root" : NULL, "process %d: %s", pid,
         rc == -ESRCH ? "there is none" : strerror(-rc));
    fail_slot(e, pid, -1);
    return rc;
}

int rk_symbolizer_process(struct rk_symbolizer *symbolizer, int32_t pid, const uint64_t *addresses, size_t n,
                          const struct rk_sources_options *options, struct rk_sources **ret,
                          struct rk_error *e)
{
    struct rk_symbolizer *own = NULL;
    struct rk_image *image = NULL;

    if (!ret || (n && !addresses))
        return fail_null(e, RK_STAGE_SYMBOL, "rk_symbolizer_process", ret ? "addresses" : "ret");
    if (pid < 0)
        return fail_argument(e, RK_STAGE_SYMBOL, "no process has the number %d", pid);
    if (pid == 0)
        pid = (int32_t)getpid();
    int rc = symbolizer ? 0 : rk_symbolizer_open(NULL, &own, e);
    if (rc == 0)
        rc = rk_image_open(&image, e);
    if (rc == 0) {
        symbolizer = symbolizer ? symbolizer : own;
        rc = image_feed_process(image, symbolizer->root, pid);
        rc = rc < 0 ? fail_process(e, rc, pid)
                    : rk_symbolizer_image(symbolizer, image, pid, addresses, n, options, ret, e);
    }
    rk_image_free(image);
    rk_symbolizer_free(own);
    return rc;
}

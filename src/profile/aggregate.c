/*
 * Sums by function, line, module, thread … . What a stack's frames are asked for (function, line, module) has totals: every
 * stack is gone through once, a key counted where it is met first. That takes no memory by node, and no longer than it took to
 * read the stacks. What a sample is asked for (thread, CPU …) has none.
 *
 * The result is one allocation: the struct, then its columns.
 */
#include "profile/aggregate.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

int groups_frames(const struct rk_profile *p, uint32_t per, struct groups *ret)
{
    const struct rk_profile_columns *c = &p->columns;
    struct unique keys = {.words = 3};
    int rc = 0;

    ret->of = zeroed(c->frame_n, sizeof *ret->of);
    if (!ret->of)
        return -ENOMEM;
    for (size_t i = 0; i < c->frame_n && rc == 0; i++) {
        bool line = per == RK_PER_LINE, module = per == RK_PER_MODULE;
        int64_t number =
            unique_add(&keys, (uint64_t[]){module ? c->frame_path[i] : c->frame_function[i],
                                           line ? c->frame_file[i] : 0, line ? c->frame_line[i] : 0});
        uint32_t *first = number >= 0 && (size_t)number == ret->first.n ? vector_push(&ret->first) : NULL;
        if (first)
            *first = (uint32_t)i;
        rc = number < 0 ? (int)number : (size_t)number >= ret->first.n ? -ENOMEM : 0;
        ret->of[i] = (uint32_t)number;
    }
    unique_free(&keys);
    return rc;
}

/* What a thread is grouped by. */
static void thread_key(const struct rk_profile_columns *c, uint32_t thread, uint32_t per, uint64_t key[3])
{
    bool named = per == RK_PER_NAME;

    key[0] = named ? c->thread_name[thread] : c->thread_source[thread];
    key[1] = named ? 0 : (uint32_t)c->thread_pid[thread];
    key[2] = per == RK_PER_THREAD ? (uint32_t)c->thread_tid[thread] : 0;
}

int groups_threads(const struct rk_profile *p, uint32_t per, struct groups *ret)
{
    const struct rk_profile_columns *c = &p->columns;
    struct unique keys = {.words = 3};
    int rc = 0;

    ret->of = zeroed(c->thread_n, sizeof *ret->of);
    if (!ret->of)
        return -ENOMEM;
    for (size_t i = 0; i < c->thread_n && rc == 0; i++) {
        uint64_t key[3];
        thread_key(c, (uint32_t)i, per, key);
        int64_t number = unique_add(&keys, key);
        uint32_t *first = number >= 0 && (size_t)number == ret->first.n ? vector_push(&ret->first) : NULL;
        rc = number < 0 ? (int)number : (size_t)number >= ret->first.n ? -ENOMEM : 0;
        /* A thread's last name, and a process's: that of the thread which began it, since an exec changes it. */
        bool main = per == RK_PER_PROCESS && c->thread_pid[i] == c->thread_tid[i];
        if (rc == 0 && (first || main || per == RK_PER_THREAD))
            ret->first.items[number] = (uint32_t)i;
        ret->of[i] = (uint32_t)number;
    }
    unique_free(&keys);
    return rc;
}

void groups_free(struct groups *groups)
{
    free(groups->of);
    vector_free(&groups->first);
}

/* What was sampled in each stack, whenever and wherever: a row for each of those that a sample ends in. */
struct ends {
    struct pairs nodes; /* (node, 0) */
    VECTOR(struct amount) amounts;
};

static void ends_free(struct ends *ends)
{
    pairs_free(&ends->nodes);
    vector_free(&ends->amounts);
}

static int ends_sum(const struct rk_profile_columns *c, struct ends *ret)
{
    for (size_t i = 0; i < c->sample_n; i++) {
        int64_t row = pairs_add(&ret->nodes, c->sample_node[i], 0);
        if (row < 0 || ((size_t)row == ret->amounts.n && !vector_push(&ret->amounts)))
            return row < 0 ? (int)row : -ENOMEM;
        ret->amounts.items[row].weight += c->sample_weight[i];
        ret->amounts.items[row].samples += c->sample_count[i];
    }
    return 0;
}

int sums_frames(const struct rk_profile *p, const struct groups *groups, struct sums *ret)
{
    const struct rk_profile_columns *c = &p->columns;
    _cleanup_free_ uint32_t *met = zeroed(groups->first.n, sizeof *met); /* by group: the stack, + 1 */
    struct ends ends = {0};
    int rc = met ? ends_sum(c, &ends) : -ENOMEM;

    for (size_t i = 0; rc == 0 && i < ends.amounts.n; i++) {
        uint32_t node = ends.nodes.items.items[i].a;
        struct amount amount = ends.amounts.items[i], *self = &ret[groups->of[c->node_frame[node]]].self;
        self->weight += amount.weight;
        self->samples += amount.samples;
        for (uint32_t at = node; at != RK_NO_NODE; at = c->node_parent[at]) {
            uint32_t group = groups->of[c->node_frame[at]];
            if (met[group] == (uint32_t)i + 1)
                continue;
            met[group] = (uint32_t)i + 1;
            ret[group].total.weight += amount.weight;
            ret[group].total.samples += amount.samples;
        }
    }
    ends_free(&ends);
    return rc;
}

/* Which column of samples tells the group, or of threads. */
static const uint32_t *sample_column(const struct rk_profile_columns *c, uint32_t per)
{
    return per == RK_PER_CGROUP  ? c->sample_cgroup
           : per == RK_PER_CPU   ? c->sample_cpu
           : per == RK_PER_EVENT ? c->sample_event
                                 : c->sample_thread;
}

/* Groups by a column of the samples themselves, and their sums. */
static int by_samples(const struct rk_profile *p, uint32_t per, struct groups *groups, struct sums **ret)
{
    const struct rk_profile_columns *c = &p->columns;
    const uint32_t *column = sample_column(c, per);
    bool threads = column == c->sample_thread && per != RK_PER_SOURCE;
    VECTOR(struct sums) sums = {0};
    struct table seen = {0};
    int rc = threads ? groups_threads(p, per, groups) : 0;

    if (threads && rc == 0 && vector_reserve(&sums, groups->first.n + 1) < 0)
        rc = -ENOMEM;
    for (size_t i = 0; threads && rc == 0 && i < groups->first.n; i++)
        sums.items[sums.n++] = (struct sums){0};
    for (size_t i = 0; i < c->sample_n && rc == 0; i++) {
        uint32_t key = per == RK_PER_SOURCE ? c->thread_source[column[i]] : column[i];
        uint32_t number = threads ? groups->of[key] : table_get(&seen, key);
        if (!threads && number == TABLE_NONE) {
            uint32_t *first = vector_push(&groups->first);
            number = (uint32_t)sums.n;
            if (!first || !vector_push(&sums) || table_put(&seen, key, number) < 0) {
                rc = -ENOMEM;
                break;
            }
            *first = key;
        }
        assert(sums.items); /* number is of one of them */
        sums.items[number].self.weight += c->sample_weight[i];
        sums.items[number].self.samples += c->sample_count[i];
        sums.items[number].total = sums.items[number].self;
    }
    table_free(&seen);
    *ret = sums.items;
    return rc;
}

const char *group_name(const struct rk_profile *p, uint32_t per, uint32_t key, char number[16])
{
    const struct rk_profile_columns *c = &p->columns;

    switch (per) {
    case RK_PER_FUNCTION:
    case RK_PER_LINE:
        return c->text[c->frame_symbol[key]];
    case RK_PER_MODULE:
        return c->text[c->frame_module[key]];
    case RK_PER_CGROUP:
        return c->text[c->cgroup_path[key]];
    case RK_PER_EVENT:
        return c->text[c->event_name[key]];
    case RK_PER_SOURCE:
        return c->text[c->source_name[key]];
    case RK_PER_CPU:
        if (key == RK_NO_CPU)
            return "";
        snprintf(number, 16, "%u", key);
        return number;
    default:
        return c->text[c->thread_name[key]];
    }
}

#define DESCENDING(a, b) ((a) < (b) ? 1 : (a) > (b) ? -1 : 0)

struct ordering {
    const struct rk_profile *profile;
    const struct sums *sums;
    const uint32_t *keys;
    uint32_t per;
};

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct ordering *o = context;
    uint32_t i = *(const uint32_t *)left, k = *(const uint32_t *)right;
    const struct sums *a = &o->sums[i], *b = &o->sums[k];
    const struct rk_profile_columns *c = &o->profile->columns;
    uint32_t x = o->keys[i], y = o->keys[k];
    int order = DESCENDING(a->self.weight, b->self.weight);

    order = order ? order : DESCENDING(a->total.weight, b->total.weight);
    if (!order && o->per <= RK_PER_MODULE) {
        order = strcmp(c->text[c->frame_symbol[x]], c->text[c->frame_symbol[y]]);
        order = order ? order : strcmp(c->text[c->frame_path[x]], c->text[c->frame_path[y]]);
        order = order ? order : strcmp(c->text[c->frame_file[x]], c->text[c->frame_file[y]]);
        order = order ? order : DESCENDING(c->frame_line[y], c->frame_line[x]);
        return order ? order : DESCENDING(c->frame_miss[y], c->frame_miss[x]);
    }
    return order ? order : DESCENDING(y, x);
}

static size_t rows_named(uint32_t per, size_t n)
{
    return per == RK_PER_CPU ? n * 16 : 0;
}

/* The rows in their order, in one allocation. Groups without a sample are left out. */
static int lay_out(struct ordering *o, size_t n, struct rk_aggregate **ret)
{
    _cleanup_free_ uint32_t *order = zeroed(n, sizeof *order);
    size_t kept = 0;

    if (!order)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (o->sums[i].total.samples || o->sums[i].self.samples)
            order[kept++] = (uint32_t)i;
    qsort_r(order, kept, sizeof *order, compare_rows, o);
    struct rk_aggregate *a =
        calloc(1, sizeof *a + kept * (4 * sizeof(uint64_t) + sizeof(char *) + sizeof(uint32_t)) +
                      rows_named(o->per, kept));
    if (!a)
        return -ENOMEM;
    uint64_t *self = (uint64_t *)(a + 1), *total = self + kept, *self_samples = total + kept;
    uint64_t *total_samples = self_samples + kept;
    const char **name = (const char **)(total_samples + kept);
    uint32_t *key = (uint32_t *)(name + kept);
    char(*number)[16] = (char(*)[16])(key + kept);
    for (size_t i = 0; i < kept; i++) {
        const struct sums *sums = &o->sums[order[i]];
        self[i] = sums->self.weight;
        total[i] = sums->total.weight;
        self_samples[i] = sums->self.samples;
        total_samples[i] = sums->total.samples;
        key[i] = o->keys[order[i]];
        name[i] = group_name(o->profile, o->per, key[i], o->per == RK_PER_CPU ? number[i] : NULL);
    }
    *a = (struct rk_aggregate){
        .size = sizeof *a,
        .n = kept,
        .per = o->per,
        .weight = o->profile->summary.weight,
        .samples = o->profile->summary.samples,
        .self = self,
        .total = total,
        .self_samples = self_samples,
        .total_samples = total_samples,
        .key = key,
        .name = name,
    };
    *ret = a;
    return 0;
}

int rk_profile_aggregate(const struct rk_profile *profile, uint32_t per, struct rk_aggregate **ret,
                         struct rk_error *e)
{
    struct groups groups = {0};
    struct sums *sums = NULL;
    int rc;

    if (!profile || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_aggregate", profile ? "ret" : "profile");
    if (per > RK_PER_SOURCE)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_aggregate: %u is no enum rk_per", per);
    if (per <= RK_PER_MODULE) {
        rc = groups_frames(profile, per, &groups);
        sums = rc < 0 ? NULL : zeroed(groups.first.n, sizeof *sums);
        rc = rc < 0 ? rc : sums ? sums_frames(profile, &groups, sums) : -ENOMEM;
    } else {
        rc = by_samples(profile, per, &groups, &sums);
    }
    struct ordering o = {profile, sums, groups.first.items, per};
    if (rc == 0)
        rc = lay_out(&o, groups.first.n, ret);
    groups_free(&groups);
    free(sums);
    return rc == 0         ? 0
           : rc == -ENOMEM ? fail_memory(e, RK_STAGE_PROFILE)
                           : fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "rk_profile_aggregate: %s",
                                  strerror(-rc));
}

struct rk_aggregate *rk_aggregate_free(struct rk_aggregate *aggregate)
{
    free(aggregate);
    return NULL;
}

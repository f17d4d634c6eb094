/*
 * Two profiles side by side: each is summed, and rows are paired that say the same in words. Threads and processes are told
 * apart by name alone: no two runs share their ids. match.h says which functions are the same; lines are by the last part of
 * their file's path, since two builds lie in two folders.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "profile/aggregate.h"
#include "profile/match.h"

#include <errno.h>
#include <math.h>

struct difference {
    uint64_t self[2], total[2], samples[2];
    double change, change_total, noise;
    uint32_t sides; /* bit n: side n has it */
    uint32_t key;   /* of the row in sides[with] */
    uint32_t with;
};

struct pairing {
    struct rk_aggregate *sides[2];
    struct match match;
    struct unique keys; /* what the sides' rows have in common */
    VECTOR(struct difference) rows;
    size_t both, only[2];
};

static void pairing_free(struct pairing *p)
{
    rk_aggregate_free(p->sides[0]);
    rk_aggregate_free(p->sides[1]);
    match_free(&p->match);
    unique_free(&p->keys);
    vector_free(&p->rows);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static uint64_t text_key(struct maker *texts, const char *text)
{
    int64_t number = maker_text(texts, text);
    return number < 0 ? UINT64_MAX : (uint64_t)number;
}

/* What a row is of: of `before`, the frame of the same function in `after`, if there is one. */
struct subject {
    const struct rk_profile *profile;
    uint32_t key;
};

static struct subject subject_of(const struct pairing *p, const struct rk_profile *const profiles[2],
                                 uint32_t per, uint32_t side, uint32_t key)
{
    uint32_t other = side == 0 && per <= RK_PER_LINE ? p->match.of[key] : MATCH_NONE;

    return other == MATCH_NONE ? (struct subject){profiles[side], key} : (struct subject){profiles[1], other};
}

/* A row's identity, in words of texts that both sides share. False: out of memory. */
static bool identity(struct maker *texts, const struct pairing *pairing,
                     const struct rk_profile *const profiles[2], uint32_t side, uint32_t key, uint64_t ret[4])
{
    uint32_t per = pairing->sides[side]->per;
    struct subject s = subject_of(pairing, profiles, per, side, key);
    const struct rk_profile_columns *c = &s.profile->columns, *own = &profiles[side]->columns;
    char number[16];

    memset(ret, 0, 4 * sizeof *ret);
    ret[0] = text_key(texts, group_name(s.profile, per, s.key, number));
    if (per <= RK_PER_MODULE) {
        ret[1] = text_key(texts, c->text[c->frame_module[s.key]]);
        if (per == RK_PER_LINE) {
            ret[2] = text_key(texts, last_part(own->text[own->frame_file[key]]));
            ret[3] = (uint64_t)own->frame_line[key] << 32;
        }
        ret[0] = per == RK_PER_MODULE ? 0 : ret[0];
        ret[3] |= per == RK_PER_MODULE ? 0 : c->frame_miss[s.key];
    }
    return ret[0] != UINT64_MAX && ret[1] != UINT64_MAX && ret[2] != UINT64_MAX;
}

static int pair_up(struct pairing *p, const struct rk_profile *const profiles[2], struct maker *texts)
{
    for (uint32_t side = 0; side < 2; side++) {
        const struct rk_aggregate *a = p->sides[side];
        for (size_t i = 0; i < a->n; i++) {
            uint64_t key[4];
            int64_t row =
                identity(texts, p, profiles, side, a->key[i], key) ? unique_add(&p->keys, key) : -ENOMEM;
            if (row >= 0 && (size_t)row == p->rows.n && !vector_push(&p->rows))
                row = -ENOMEM;
            if (row < 0)
                return (int)row;
            struct difference *d = &p->rows.items[row];
            d->self[side] += a->self[i];
            d->total[side] += a->total[i];
            d->samples[side] += a->self_samples[i];
            d->sides |= 1u << side;
            d->key = a->key[i];
            d->with = side;
        }
    }
    return 0;
}

double profile_scale(const struct rk_profile_summary *before, const struct rk_profile_summary *after,
                     uint32_t how)
{
    double a = (double)before->weight, b = (double)after->weight;

    if (how == RK_NORMALISE_TIME) {
        a = (double)before->duration;
        b = (double)after->duration;
    }
    return how == RK_NORMALISE_NONE || a <= 0 || b <= 0 ? 1 : b / a;
}

static int compare(const void *left, const void *right)
{
    const struct difference *a = left, *b = right;
    double x = fabs(a->change), y = fabs(b->change);

    if (x == y) {
        x = fabs(a->change_total);
        y = fabs(b->change_total);
    }
    if (x != y)
        return x > y ? -1 : 1;
    return a->with != b->with ? (a->with > b->with) - (a->with < b->with)
                              : (a->key > b->key) - (a->key < b->key);
}

/* The standard error of a sum of n samples, if they weigh about the same. */
static double error_of(uint64_t weight, uint64_t n)
{
    return n ? (double)weight / sqrt((double)n) : 0;
}

/* Rows that differ, greatest first. */
static void settle(struct pairing *p, double scale)
{
    size_t kept = 0;

    for (size_t i = 0; i < p->rows.n; i++) {
        struct difference *d = &p->rows.items[i];
        d->change = (double)d->self[1] - (double)d->self[0] * scale;
        d->change_total = (double)d->total[1] - (double)d->total[0] * scale;
        d->noise = hypot(error_of(d->self[0], d->samples[0]) * scale, error_of(d->self[1], d->samples[1]));
        p->both += d->sides == 3;
        p->only[0] += d->sides == 1;
        p->only[1] += d->sides == 2;
        if (d->change != 0 || d->change_total != 0)
            p->rows.items[kept++] = *d;
    }
    p->rows.n = kept;
    if (kept)
        qsort(p->rows.items, kept, sizeof *p->rows.items, compare);
}

/* A text's copy at the end of the allocation. */
static const char *keep(char **at, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = memcpy(*at, text, n);

    *at += n;
    return copy;
}

struct row_texts {
    const char *name, *module, *file;
    uint32_t line;
    char number[16];
};

static void row_texts(const struct rk_profile *p, uint32_t per, uint32_t key, struct row_texts *ret)
{
    const struct rk_profile_columns *c = &p->columns;

    *ret = (struct row_texts){.name = ""};
    ret->name = group_name(p, per, key, ret->number);
    if (per <= RK_PER_LINE)
        ret->module = c->text[c->frame_module[key]];
    if (per == RK_PER_LINE && c->frame_file[key]) {
        ret->file = c->text[c->frame_file[key]];
        ret->line = c->frame_line[key];
    }
}

static size_t texts_bytes(const struct row_texts *t)
{
    return strlen(t->name) + 1 + (t->module ? strlen(t->module) + 1 : 0) +
           (t->file ? strlen(t->file) + 1 : 0);
}

/* One allocation: struct, columns of 8 bytes, lines, texts. */
static int lay_out(const struct pairing *p, const struct rk_profile *const profiles[2], uint32_t per,
                   double scale, struct rk_profile_diff **ret)
{
    size_t n = p->rows.n, bytes = sizeof **ret + n * (12 * sizeof(uint64_t) + sizeof(uint32_t));
    struct row_texts t;

    for (size_t i = 0; i < n; i++) {
        row_texts(profiles[p->rows.items[i].with], per, p->rows.items[i].key, &t);
        bytes += texts_bytes(&t);
    }
    struct rk_profile_diff *d = calloc(1, bytes);
    if (!d)
        return -ENOMEM;
    double *change = (double *)(d + 1), *change_total = change + n, *noise = change_total + n;
    uint64_t *before = (uint64_t *)(void *)(noise + n), *after = before + n, *before_total = after + n;
    uint64_t *after_total = before_total + n, *before_samples = after_total + n;
    uint64_t *after_samples = before_samples + n;
    const char **name = (const char **)(after_samples + n), **module = name + n, **file = module + n;
    uint32_t *line = (uint32_t *)(file + n);
    char *at = (char *)(line + n);
    for (size_t i = 0; i < n; i++) {
        const struct difference *row = &p->rows.items[i];
        row_texts(profiles[row->with], per, row->key, &t);
        change[i] = row->change;
        change_total[i] = row->change_total;
        noise[i] = row->noise;
        before_samples[i] = row->samples[0];
        after_samples[i] = row->samples[1];
        before[i] = row->self[0];
        after[i] = row->self[1];
        before_total[i] = row->total[0];
        after_total[i] = row->total[1];
        name[i] = keep(&at, t.name);
        module[i] = t.module ? keep(&at, t.module) : NULL;
        file[i] = t.file ? keep(&at, t.file) : NULL;
        line[i] = t.line;
    }
    *d = (struct rk_profile_diff){
        .size = sizeof *d,
        .n = n,
        .per = per,
        .scale = scale,
        .change = change,
        .change_total = change_total,
        .before = before,
        .after = after,
        .before_total = before_total,
        .after_total = after_total,
        .name = name,
        .module = module,
        .file = file,
        .line = line,
        .before_weight = profiles[0]->summary.weight,
        .after_weight = profiles[1]->summary.weight,
        .noise = noise,
        .before_samples = before_samples,
        .after_samples = after_samples,
        .matched = p->both,
        .before_only = p->only[0],
        .after_only = p->only[1],
    };
    *ret = d;
    return 0;
}

int rk_profile_diff(const struct rk_profile *before, const struct rk_profile *after, uint32_t per,
                    uint32_t normalise, struct rk_profile_diff **ret, struct rk_error *e)
{
    const struct rk_profile *const profiles[2] = {before, after};
    struct pairing p = {.keys.words = 4};
    struct maker texts;

    if (!before || !after || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_diff",
                         !before ? "before"
                         : after ? "ret"
                                 : "after");
    if (normalise > RK_NORMALISE_TIME)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_diff: %u is no enum rk_normalise", normalise);
    per = per == RK_PER_THREAD || per == RK_PER_PROCESS ? RK_PER_NAME : per;
    int rc = rk_profile_aggregate(before, per, &p.sides[0], e);
    if (rc == 0)
        rc = rk_profile_aggregate(after, per, &p.sides[1], e);
    if (rc < 0) {
        pairing_free(&p);
        return rc;
    }
    rc = maker_begin(&texts);
    if (rc == 0 && per <= RK_PER_LINE)
        rc = match_make(before, after, &p.match);
    if (rc == 0)
        rc = pair_up(&p, profiles, &texts);
    maker_free(&texts);
    double scale = profile_scale(&before->summary, &after->summary, normalise);
    if (rc == 0) {
        settle(&p, scale);
        rc = lay_out(&p, profiles, per, scale, ret);
    }
    pairing_free(&p);
    return rc == 0 ? 0
           : rc == -ENOMEM
               ? fail_memory(e, RK_STAGE_PROFILE)
               : fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "rk_profile_diff: %s", strerror(-rc));
}

struct rk_profile_diff *rk_profile_diff_free(struct rk_profile_diff *diff)
{
    free(diff);
    return NULL;
}

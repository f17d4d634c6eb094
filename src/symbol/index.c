#include "symbol/index.h"

#include "base/radix.h"
#include "base/unset.h"

#include <string.h>

enum {
    INDEX_SPARE = 4, /* entries behind the last one that cover nothing: what find_in() reads at a time */
};

RADIX_SORT(sort_by_start, struct candidate, start)

/* See the header. */
static bool better(const struct candidate *a, const struct candidate *b, const char *names)
{
    if (a->rank != b->rank)
        return a->rank > b->rank;
    const char *x = names + (a->name & ~NAME_MANGLED), *y = names + (b->name & ~NAME_MANGLED);
    size_t underscores_x = strspn(x, "_"), underscores_y = strspn(y, "_");
    if (underscores_x != underscores_y)
        return underscores_x < underscores_y;
    size_t n_x = strlen(x), n_y = strlen(y);
    if (n_x != n_y)
        return n_x > n_y;
    return strcmp(x, y) < 0;
}

static void emit(struct index *index, const struct candidate *c, uint64_t end)
{
    uint64_t bytes = end - c->start;

    index->entries[index->n++] = (struct index_entry){
        .start = c->start, .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX, .name = c->name};
}

/* Sorted candidates → entries, two at most for one start: the widest, and behind it the best, where the widest
 * reaches further. */
static void choose(struct index *index, const struct candidate *c, uint32_t n, const char *names)
{
    uint64_t covered = 0; /* up to here by sized ones */

    for (uint32_t i = 0, next; i < n; i = next) {
        const struct candidate *best = &c[i], *widest = NULL;
        for (next = i; next < n && c[next].start == c[i].start; next++) {
            if (next > i && better(&c[next], best, names))
                best = &c[next];
            if (c[next].rank & RANK_SIZED && (!widest || c[next].end > widest->end))
                widest = &c[next];
        }
        if (best->rank == RANK_BOUNDARY)
            continue;
        if (best->rank & RANK_SIZED) {
            if (widest->end > best->end)
                emit(index, widest, widest->end);
            emit(index, best, best->end);
            covered = widest->end > covered ? widest->end : covered;
        } else if (best->start >= covered) {
            emit(index, best, next < n && c[next].start < best->end ? c[next].start : best->end);
        }
    }
}

/* Links each entry to the nearest one before it that reaches further than itself. `open` is the chain of those that
 * are not over yet, by the links themselves. */
static int link_outer(struct index *index)
{
    uint64_t end = 0;
    bool overlap = false;

    for (uint32_t i = 0; i < index->n; i++) {
        const struct index_entry *e = &index->entries[i];
        overlap = overlap || e->start < end;
        if (e->start + e->bytes > end)
            end = e->start + e->bytes;
    }
    index->span = end - index->base;
    if (!overlap)
        return 0;
    index->outer = calloc((size_t)index->n + INDEX_SPARE, sizeof *index->outer);
    if (!index->outer)
        return -ENOMEM;
    for (uint32_t i = 0, open = 0; i < index->n; i++) {
        const struct index_entry *e = &index->entries[i];
        while (open && index->entries[open - 1].start + index->entries[open - 1].bytes <= e->start + e->bytes)
            open = index->outer[open - 1];
        index->outer[i] = open;
        open = i + 1;
    }
    return 0;
}

static int make_room_for_plain(struct index *index)
{
    uint32_t names = 0;

    for (uint32_t i = 0; i < index->n; i++)
        names |= index->entries[i].name;
    if (!(names & NAME_MANGLED))
        return 0;
    index->plain = calloc(index->n, sizeof *index->plain);
    return index->plain ? 0 : -ENOMEM;
}

static int make_buckets(struct index *index)
{
    uint64_t span = index->entries[index->n - 1].start - index->base;

    while (span >> index->shift >= 2 * (uint64_t)index->n)
        index->shift++;
    index->bucket_n = (uint32_t)(span >> index->shift) + 1;
    index->buckets = reallocarray(NULL, (size_t)index->bucket_n + 1, sizeof *index->buckets);
    if (!index->buckets)
        return -ENOMEM;
    uint32_t bucket = 0;
    for (uint32_t i = 0; i < index->n; i++)
        for (; bucket <= (index->entries[i].start - index->base) >> index->shift; bucket++)
            index->buckets[bucket] = i;
    index->buckets[bucket] = index->n;
    return 0;
}

int index_build(struct index *index, struct candidate *candidates, uint32_t n, const char *names)
{
    struct index built = {0};
    int rc = sort_by_start(candidates, n);

    if (rc < 0)
        return rc;
    /* Two entries for one start need two candidates there, so that n suffice. */
    built.entries = reallocarray(NULL, (size_t)n + INDEX_SPARE, sizeof *built.entries);
    if (!built.entries)
        return -ENOMEM;
    choose(&built, candidates, n, names);
    for (uint32_t i = 0; i < INDEX_SPARE; i++)
        built.entries[built.n + i] = (struct index_entry){.start = UINT64_MAX};
    if (built.n) {
        built.base = built.entries[0].start;
        rc = make_buckets(&built);
        if (rc == 0)
            rc = link_outer(&built);
        if (rc == 0)
            rc = make_room_for_plain(&built);
    }
    if (rc < 0)
        index_free(&built);
    else
        *index = built;
    return rc;
}

void index_free(struct index *index)
{
    free(index->entries);
    free(index->buckets);
    free(index->outer);
    free(index->plain);
    *index = (struct index){0};
}

/* How many entries from `from` on, of one bucket with many, start at or before the address. */
static uint32_t search(const struct index *index, uint32_t from, uint32_t to, uint64_t address)
{
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (index->entries[middle].start <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static const struct index_entry *find_outer(const struct index *index, uint32_t i, uint64_t address)
{
    /* No function has others nested so deep; a file made to be slow has. */
    for (unsigned depth = 0; depth < 32 && index->outer[i]; depth++) {
        i = index->outer[i] - 1;
        if (address - index->entries[i].start < index->entries[i].bytes)
            return &index->entries[i];
    }
    return NULL;
}

/*
 * The bucket says that the entry is the one before `from`, or one of from … to - 1. Those behind start behind the
 * address, so that four can be counted without looking at `to`, and without a branch that nobody could foretell: a
 * processor that guesses wrong forgets the lookups that it had begun meanwhile.
 */
static const struct index_entry *find_in(const struct index *index, uint32_t from, uint32_t to,
                                         uint64_t address)
{
    const struct index_entry *e = index->entries + from;

    if (to - from > INDEX_SPARE)
        from = search(index, from, to, address);
    else
        from += (uint32_t)(e[0].start <= address) + (e[1].start <= address) + (e[2].start <= address) +
                (e[3].start <= address);
    from -=
        from > 0; /* before the first one: then its start is behind the address, and it does not cover it */
    e = index->entries + from;
    if (address - e->start < e->bytes)
        return e;
    return index->outer ? find_outer(index, from, address) : NULL;
}

void index_find_all(const struct index *index, const uint64_t *addresses, size_t n,
                    const struct index_entry **ret)
{
    struct index in = *index; /* a copy: what is written can't alias it */
    UNSET uint32_t from[INDEX_BATCH];
    UNSET uint32_t to[INDEX_BATCH];

    if (in.n == 0) {
        memset(ret, 0, n * sizeof *ret);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t bucket = (addresses[i] - in.base) >> in.shift;
        if (bucket >= in.bucket_n) /* behind the last start, or before the first */
            bucket = in.bucket_n - 1;
        from[i] = in.buckets[bucket];
        to[i] = in.buckets[bucket + 1];
        __builtin_prefetch(in.entries + from[i]);
    }
    for (size_t i = 0; i < n; i++)
        ret[i] = find_in(&in, from[i], to[i], addresses[i]);
}

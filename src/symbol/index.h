/*
 * Address → function, for one module: built once, then read-only.
 *
 *     struct candidate *c = …;          what a symbol table has, in any order
 *     index_build(&index, c, n, names);
 *     const struct index_entry *f = index_find(&index, address);
 *
 * Layout. Entries of 16 bytes lie sorted by start, so that four share a cache line; names are offsets into one block
 * of texts. The span from the first start to the last is cut into equal buckets, some two per entry; a bucket says
 * which entry is the first that starts in it or behind it. A lookup reads its bucket and the next one, and searches
 * the entries between, of which there is mostly one:
 *
 *     buckets   0   0   1   3   3   4 …
 *     entries   |main    |f|g      |h …
 *
 * That waits for memory twice where the index is larger than the caches, so many are looked up side by side
 * (index_find_all), and nothing branches on what is read before all of it is under way.
 *
 * Functions may lie inside others (a second entry point, hot code inside cold): the innermost wins. Behind its end
 * the search goes on with `outer`, the nearest entry before that reaches further. Few modules need that array.
 *
 * Which of several names. At one address the best candidate stays: sized before sizeless, function before label,
 * global before weak before local, then the one with the fewest leading underscores, the longest, the first in
 * the order of bytes. So `perf` does it, which people will compare with; the last rule makes it hold for any order
 * of the table. A candidate without a size reaches to the next symbol, never beyond its limit (its section's end),
 * and is dropped where a sized one covers it.
 */
#ifndef SYMBOL_INDEX_H
#define SYMBOL_INDEX_H

#include <stddef.h>
#include <stdint.h>

/* rank: the sum of one binding and what else is true; a boundary is 0, and only ends the sizeless one before it */
enum {
    RANK_BOUNDARY = 0,
    RANK_LOCAL = 1,
    RANK_WEAK = 2,
    RANK_GLOBAL = 3,
    RANK_FUNCTION = 4,
    RANK_SIZED = 8,
};

/* In a name's place: it looks mangled. Tables of names are smaller than that. */
#define NAME_MANGLED (UINT32_C(1) << 31)

struct candidate {
    uint64_t start;
    uint64_t end;  /* > start; without RANK_SIZED the limit */
    uint32_t name; /* offset in the names, perhaps with NAME_MANGLED */
    uint32_t rank;
};

struct index_entry {
    uint64_t start;
    uint32_t bytes;
    uint32_t name; /* as the candidate's */
};

struct index {
    struct index_entry *entries;
    uint32_t *buckets;          /* bucket_n + 1; the last one is n */
    uint32_t *outer;            /* index + 1, 0: none; NULL: no two entries overlap */
    const char *_Atomic *plain; /* demangled names, by entry, as they were asked for; NULL: none is mangled */
    uint32_t n, bucket_n;
    uint32_t shift; /* of a bucket's size */
    uint64_t base;  /* entries[0].start */
    uint64_t span;  /* behind base + span nothing is covered */
};

/* Takes the candidates' order apart (sorts them in place). Every name ends with a NUL in `names`. n may be 0.
 * 0, or -ENOMEM with nothing to free. */
int index_build(struct index *index, struct candidate *candidates, uint32_t n, const char *names);
void index_free(struct index *index);

/* How many addresses index_find_all() takes at a time. */
enum { INDEX_BATCH = 32 };

/* The entries that cover n ≤ INDEX_BATCH addresses, NULL where there is none. */
void index_find_all(const struct index *index, const uint64_t *addresses, size_t n,
                    const struct index_entry **ret);

/* The entry that covers the address, or NULL. */
static inline const struct index_entry *index_find(const struct index *index, uint64_t address)
{
    const struct index_entry *entry;

    index_find_all(index, &address, 1, &entry);
    return entry;
}

#endif

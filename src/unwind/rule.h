/*
 * What a table says of one address, in 8 bytes, and the cache of it: sets of four slots of 16 bytes, a set being a
 * cache line of the machine's.
 *
 *     slot:  key 64 (module 20, offset in the file 44) │ rule 64 (cfa 16, fp 16, ra 16, kind 8, flags 8)
 *
 * Offsets are in units of 8 bytes, so that frames up to 256 KB have a rule; what does not fit is RULE_RUN, and its row
 * is made each time. A new rule pushes out the oldest of its set.
 */
#ifndef UNWIND_RULE_H
#define UNWIND_RULE_H

#include "unwind/frame.h"

enum rule_kind {
    RULE_NONE, /* a free slot */
    RULE_SP,   /* the frame's address is sp + cfa */
    RULE_FP,   /* … fp + cfa */
    RULE_FP_AT, /* … what lies at fp + cfa, as gcc has it where it aligns the stack; the caller's fp is at fp + fp */
    RULE_SIMPLE = RULE_FP_AT, /* up to here */
    RULE_RUN,                 /* not as simple as that: the row is made and applied */
    RULE_GUESS, /* no table: follow the frame pointer. cfa: enum rk_unwind_reason, if it leads nowhere */
    RULE_END,   /* the outermost function */
    RULE_BAD,   /* cfa: enum rk_unwind_reason */
};

enum {
    RULE_FP_SAVED = 1,   /* the caller's fp is at CFA + fp (RULE_FP_AT: fp + fp); else it is the same */
    RULE_RA_IN_LINK = 2, /* the return address is still in its register; else at CFA + ra */
    RULE_FP_LOST = 4,    /* its value can't be had */
    RULE_ENTRY = 8,      /* of RULE_GUESS: the program begins there */
};

struct rule {
    int16_t cfa, fp, ra;
    uint8_t kind, flags;
};

/* A row, as a rule if it can be one. */
struct rule rule_of(const struct machine *machine, const struct cfi_section *section,
                    const struct cfi_entry *entry, const struct cfi_row *row);

/* A linkage stub without a table, `offset` bytes into its section. */
struct rule rule_of_plt(const struct machine *machine, uint64_t offset);

struct rule_slot {
    uint64_t key; /* + 1; 0: free */
    struct rule rule;
};

#define RULE_WAYS 4u

struct rule_cache {
    struct rule_slot *slots; /* aligned to their sets */
    uint32_t shift;          /* of the hash, to a set's number */
};

#define RULE_OFFSET_BITS 44
#define RULE_MODULES (1u << (64 - RULE_OFFSET_BITS))

static inline struct rule_slot *rule_set(const struct rule_cache *cache, uint64_t key)
{
    return cache->slots + RULE_WAYS * (key * UINT64_C(0x9e3779b97f4a7c15) >> cache->shift);
}

/* The one slot that the key can be in, if it is there at all. No branch: which it is can't be foreseen. */
static inline uint32_t rule_way(const struct rule_slot *set, uint64_t key)
{
    return (set[1].key == key) + 2u * (set[2].key == key) + 3u * (set[3].key == key);
}

/* NULL: not there. */
static inline const struct rule *rule_find(const struct rule_cache *cache, uint64_t key)
{
    const struct rule_slot *set = rule_set(cache, key);

    set += rule_way(set, key);
    return set->key == key ? &set->rule : NULL;
}

static inline void rule_keep(const struct rule_cache *cache, uint64_t key, struct rule rule)
{
    struct rule_slot *set = rule_set(cache, key);

    memmove(set + 1, set, (RULE_WAYS - 1) * sizeof *set);
    set[0] = (struct rule_slot){key, rule};
}

#endif

#include "profile/stacks.h"

#include "base/table.h"

#include <errno.h>

/* Where a run of that outer one and first word is, or would be: free then, but for its tag. */
static struct stacks_slot *slot_of(const struct stacks *s, uint32_t outer, uint32_t word)
{
    uint64_t hash = hash_mix((uint64_t)outer << 32 | word);
    uint32_t tag = (uint32_t)(hash >> 32);
    size_t at = hash & (s->room - 1);

    for (; s->slots[at].run; at = (at + 1) & (s->room - 1)) {
        if (s->slots[at].tag != tag)
            continue;
        const struct stacks_run *run = &s->runs.items[s->slots[at].run - 1];
        if (run->outer == outer && run->word == word)
            return &s->slots[at];
    }
    s->slots[at].tag = tag;
    return &s->slots[at];
}

/* Twice the room. The old slots go first: runs tell all that they did. */
static int grow(struct stacks *s)
{
    size_t room = 64;

    while (room * 2 <= (s->runs.n + 2) * 3)
        room *= 2;
    stacks_settle(s);
    s->slots = calloc(room, sizeof *s->slots);
    if (!s->slots)
        return -ENOMEM;
    s->room = room;
    for (size_t i = 0; i < s->runs.n; i++) {
        const struct stacks_run *run = &s->runs.items[i];
        slot_of(s, run->outer, run->word)->run = (uint32_t)i + 1;
    }
    return 0;
}

static uint32_t run_add(struct stacks *s, struct stacks_run run)
{
    s->runs.items[s->runs.n++] = run;
    return (uint32_t)s->runs.n - 1;
}

/* The run in that slot ends after n words now, and is another: the one that it was follows inside of it. */
static uint32_t split(struct stacks *s, struct stacks_slot *slot, uint32_t n)
{
    uint32_t number = slot->run - 1;
    struct stacks_run *inner = &s->runs.items[number];
    uint32_t outer = run_add(s, (struct stacks_run){inner->outer, inner->word, inner->first, n});

    slot->run = outer + 1;
    inner->outer = outer;
    inner->first += n;
    inner->n -= n;
    inner->word = s->words.items[inner->first];
    slot_of(s, outer, inner->word)->run = number + 1;
    return outer;
}

/* How many words the two begin with in common: the first, at least. */
static uint32_t common(const uint32_t *a, const uint32_t *b, size_t n)
{
    uint32_t same = 1;

    while (same < n && a[same] == b[same])
        same++;
    return same;
}

static uint32_t append(struct stacks *s, uint32_t outer, struct stacks_slot *slot, const uint32_t *words,
                       uint32_t n)
{
    uint32_t number = run_add(s, (struct stacks_run){outer, words[0], (uint32_t)s->words.n, n});

    memcpy(s->words.items + s->words.n, words, n * sizeof *words);
    s->words.n += n;
    slot->run = number + 1;
    return number;
}

int64_t stacks_add(struct stacks *s, const uint32_t *words, size_t n)
{
    if (n == 0)
        return -EINVAL;
    if (n >= STACKS_NONE || s->words.n + n >= STACKS_NONE)
        return -EOVERFLOW;
    if (vector_reserve(&s->words, n) < 0 || vector_reserve(&s->runs, 2) < 0)
        return -ENOMEM;
    if ((s->runs.n + 2) * 3 >= s->room * 2 && grow(s) < 0)
        return -ENOMEM;
    s->deepest = n > s->deepest ? (uint32_t)n : s->deepest;

    uint32_t outer = STACKS_NONE;
    for (size_t at = 0;;) {
        struct stacks_slot *slot = slot_of(s, outer, words[at]);
        if (!slot->run)
            return append(s, outer, slot, words + at, (uint32_t)(n - at));
        uint32_t number = slot->run - 1;
        struct stacks_run run = s->runs.items[number];
        uint32_t same = common(s->words.items + run.first, words + at, run.n < n - at ? run.n : n - at);
        outer = same < run.n ? split(s, slot, same) : number;
        at += same;
        if (at == n)
            return outer;
    }
}

int stacks_path(const struct stacks *s, uint32_t stack, struct stacks_words *to)
{
    size_t n = 0;

    for (uint32_t at = stack; at != STACKS_NONE; at = s->runs.items[at].outer)
        n += s->runs.items[at].n;
    if (vector_reserve(to, n) < 0)
        return -ENOMEM;
    to->n += n;
    uint32_t *end = to->items + to->n;
    for (uint32_t at = stack; at != STACKS_NONE; at = s->runs.items[at].outer) {
        const struct stacks_run *run = &s->runs.items[at];
        end -= run->n;
        memcpy(end, s->words.items + run->first, run->n * sizeof *end);
    }
    return 0;
}

void stacks_settle(struct stacks *s)
{
    free(s->slots);
    s->slots = NULL;
    s->room = 0;
}

void stacks_free(struct stacks *s)
{
    stacks_settle(s);
    vector_free(&s->words);
    vector_free(&s->runs);
}

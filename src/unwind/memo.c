#include "unwind/memo.h"

#include "base/table.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    LEAF_SETS = 4096, /* powers of two */
    LEAF_WAYS = 4,
    STACKS = 1024,
    ONCE = 4096,
};

struct leaf {
    uint64_t pc;
    int32_t pid;
    uint32_t era; /* 0: free */
    struct rule rule;
};

struct known {
    struct memo_caller caller;
    uint32_t era;            /* 0: free */
    bool fp_needed;          /* caller.fp has to be the same */
    uint64_t reach;          /* bytes above caller.sp that all reads lie in */
    uint32_t reads, n;       /* n: frames */
    uint32_t at[MEMO_READS]; /* above caller.sp */
    uint64_t value[MEMO_READS], pcs[MEMO_FRAMES];
};

struct memo {
    const struct machine *machine;
    uint32_t sp, fp;                          /* the kernel's numbers of these */
    pthread_mutex_t lock;                     /* of what follows */
    uint32_t seen, done;                      /* changes; what is known has the era `done` + 1 */
    uint64_t once[ONCE];                      /* hashes of callers whose stack came, but was not kept */
    struct leaf leaves[LEAF_SETS][LEAF_WAYS]; /* of a set the newest first */
    struct known stacks[STACKS];
};

static uint32_t kernel_number(const struct machine *machine, uint8_t column)
{
    uint32_t number = 0;

    while (machine->from_kernel[number] != (int8_t)column)
        number++;
    return number;
}

struct memo *memo_open(const struct machine *machine)
{
    struct memo *memo = calloc(1, sizeof *memo);

    if (!memo)
        return NULL;
    memo->machine = machine;
    memo->sp = kernel_number(machine, machine->sp);
    memo->fp = kernel_number(machine, machine->fp);
    pthread_mutex_init(&memo->lock, NULL);
    return memo;
}

struct memo *memo_close(struct memo *memo)
{
    if (memo)
        pthread_mutex_destroy(&memo->lock);
    free(memo);
    return NULL;
}

static struct leaf *leaf_set(struct memo *memo, int32_t pid, uint64_t pc)
{
    return memo->leaves[hash_mix(pc ^ (uint64_t)(uint32_t)pid << 40) % LEAF_SETS];
}

/* NULL: not there. */
static const struct leaf *find_leaf(struct memo *memo, int32_t pid, uint64_t pc)
{
    const struct leaf *set = leaf_set(memo, pid, pc);

    for (uint32_t i = 0; i < LEAF_WAYS; i++)
        if (set[i].pc == pc && set[i].pid == pid && set[i].era == memo->done + 1)
            return &set[i];
    return NULL;
}

static void keep_leaf(struct memo *memo, int32_t pid, uint64_t pc, struct rule rule)
{
    struct leaf *set = leaf_set(memo, pid, pc);

    if (find_leaf(memo, pid, pc))
        return;
    memmove(set + 1, set, (LEAF_WAYS - 1) * sizeof *set);
    set[0] = (struct leaf){.pc = pc, .pid = pid, .era = memo->done + 1, .rule = rule};
}

static uint64_t caller_hash(const struct memo_caller *c)
{
    return hash_mix(hash_mix(c->pc ^ (uint64_t)(uint32_t)c->pid << 40) ^ c->sp);
}

static struct known *stack_of(struct memo *memo, const struct memo_caller *c)
{
    return &memo->stacks[caller_hash(c) % STACKS];
}

static bool same_caller(const struct known *k, const struct memo_caller *c)
{
    return k->caller.pc == c->pc && k->caller.sp == c->sp && k->caller.pid == c->pid &&
           (k->caller.fp == c->fp || !k->fp_needed);
}

/* Whether every word that was read has the value that it had. All are looked at: they lie in other cache lines each, and
 * none need wait for another. */
static bool same_words(const struct known *k, const struct stack *stack)
{
    uint64_t above = k->caller.sp - stack->base, differ = 0, word;

    if (above > stack->n || k->reach > stack->n - above)
        return false;
    const unsigned char *from = stack->bytes + above;
    for (uint32_t i = 0; i < k->reads; i++) {
        memcpy(&word, from + k->at[i], sizeof word);
        differ |= word ^ k->value[i];
    }
    return differ == 0;
}

/* The frame that runs, left by its rule. */
static bool leave_leaf(const struct memo *memo, struct rule rule, const struct stack *stack, uint64_t fp,
                       struct memo_caller *ret)
{
    uint64_t sp = stack->base;
    uint64_t cfa = (rule.kind == RULE_FP ? fp : sp) + (uint64_t)((int64_t)rule.cfa * 8);
    uint64_t fp_at = cfa + (uint64_t)((int64_t)rule.fp * 8);

    ret->sp = cfa;
    ret->fp = fp;
    if (cfa <= sp || stack_read(stack, cfa + (uint64_t)((int64_t)rule.ra * 8), &ret->pc))
        return false;
    ret->pc &= memo->machine->address_mask;
    /* Below sp: it has been taken from there already. */
    return !(rule.flags & RULE_FP_SAVED) || fp_at < sp || stack_read(stack, fp_at, &ret->fp) == 0;
}

/* What is kept of the caller's stack, if it is this very one. */
static const struct known *find_stack(struct memo *memo, const struct memo_caller *caller,
                                      const struct stack *stack)
{
    const struct known *k = stack_of(memo, caller);

    return k->era == memo->done + 1 && same_caller(k, caller) && same_words(k, stack) ? k : NULL;
}

static size_t find(struct memo *memo, int32_t pid, uint64_t pc, uint64_t fp, const struct stack *stack,
                   uint64_t *pcs, size_t max)
{
    const struct leaf *leaf = memo->seen == memo->done ? find_leaf(memo, pid, pc) : NULL;
    struct memo_caller caller = {.pid = pid};

    if (!leaf || !leave_leaf(memo, leaf->rule, stack, fp, &caller))
        return 0;
    const struct known *k = find_stack(memo, &caller, stack);
    if (!k || max < k->n + (size_t)1)
        return 0;
    pcs[0] = pc;
    memcpy(pcs + 1, k->pcs, k->n * sizeof *pcs);
    return k->n + (size_t)1;
}

size_t memo_find(struct memo *memo, const struct rk_sample *sample, uint64_t *pcs, size_t max)
{
    uint64_t pc, sp, fp;

    if (sample->regs_user_abi != 2 || !sample->stack ||
        rk_sample_register(sample, 0, memo->machine->kernel_pc, &pc) < 0 ||
        rk_sample_register(sample, 0, memo->sp, &sp) < 0 || rk_sample_register(sample, 0, memo->fp, &fp) < 0)
        return 0;
    const struct stack stack = {.bytes = sample->stack, .base = sp, .n = sample->stack_used};
    pthread_mutex_lock(&memo->lock);
    size_t n = find(memo, sample->pid, pc, fp, &stack, pcs, max);
    pthread_mutex_unlock(&memo->lock);
    return n;
}

void memo_change_seen(struct memo *memo)
{
    pthread_mutex_lock(&memo->lock);
    memo->seen++;
    pthread_mutex_unlock(&memo->lock);
}

void memo_change_done(struct memo *memo)
{
    pthread_mutex_lock(&memo->lock);
    memo->done++;
    pthread_mutex_unlock(&memo->lock);
}

bool memo_keep_leaf(struct memo *memo, uint64_t pc, struct rule rule, const struct memo_caller *caller,
                    const struct stack *stack)
{
    uint64_t hash = caller_hash(caller), *once = &memo->once[hash % ONCE];

    pthread_mutex_lock(&memo->lock);
    keep_leaf(memo, caller->pid, pc, rule);
    bool again = *once == hash && !find_stack(memo, caller, stack);
    *once = hash;
    pthread_mutex_unlock(&memo->lock);
    return again;
}

void memo_keep_stack(struct memo *memo, const struct memo_caller *caller, const struct memo_reads *reads,
                     const uint64_t *pcs, size_t n)
{
    struct known *k = stack_of(memo, caller);

    if (reads->failed || n > MEMO_FRAMES)
        return;
    for (uint32_t i = 0; i < reads->n; i++)
        if (reads->address[i] - caller->sp > UINT32_MAX - 8)
            return;
    pthread_mutex_lock(&memo->lock);
    k->caller = *caller;
    k->era = memo->done + 1;
    k->fp_needed = reads->fp_needed;
    k->n = (uint32_t)n;
    k->reads = 0;
    k->reach = 0;
    for (uint32_t i = 0; i < reads->n; i++) {
        uint64_t at = reads->address[i] - caller->sp;
        k->reach = at + 8 > k->reach ? at + 8 : k->reach;
        if (!reads->needed[i])
            continue;
        k->at[k->reads] = (uint32_t)at;
        k->value[k->reads++] = reads->value[i];
    }
    memcpy(k->pcs, pcs, n * sizeof *pcs);
    pthread_mutex_unlock(&memo->lock);
}

void stack_note(struct memo_reads *reads, uint64_t address, const uint64_t *value)
{
    if (reads->n == MEMO_READS || !value) {
        reads->failed = true;
        return;
    }
    reads->needed[reads->n] = true;
    reads->address[reads->n] = address;
    reads->value[reads->n++] = *value;
}

/*
 * One stack. The way of nearly every frame, hurry(): the mapping is that of the frame before, the cache knows the address,
 * its rule is simple, and two words are read from the stack. All others: leave(), one frame at a time.
 *
 * Simple rules keep three registers only: pc, sp, fp. Where a frame asks for another one, behind a simple step, all is
 * begun anew with every row made and every register kept (`full`): rare, slow, and right.
 */
#include "unwind/walk.h"

#include "image/process.h"

#include <errno.h>

/* The mapping of an address: 0, or RK_UNWIND_NO_MAPPING. */
static int enter(struct walk *w, uint64_t address)
{
    const struct mapping *m = is_kernel_address(address) ? NULL : space_find(w->space, address);

    w->tables = NULL;
    w->bytes = 0;
    w->module = RK_NO_MODULE;
    if (!m)
        return RK_UNWIND_NO_MAPPING;
    w->start = m->start;
    w->bytes = m->end - m->start;
    w->offset = m->offset;
    w->module = m->module;
    w->key = w->module < RULE_MODULES - 1 && (w->offset + w->bytes) >> RULE_OFFSET_BITS == 0 &&
                     w->offset + w->bytes >= w->offset
                 ? ((uint64_t)w->module << RULE_OFFSET_BITS | w->offset) + 1
                 : 0;
    return 0;
}

static int need_tables(struct walk *w)
{
    return w->tables ? 0 : unwinder_tables(w->unwinder, w->image, w->module, &w->tables);
}

/* By its rule, made now or remembered. 0 or -errno. */
static int find_rule(struct walk *w, uint64_t offset, struct rule *ret)
{
    uint64_t key = w->key + (offset - w->offset);
    const struct rule *known = w->key ? rule_find(&w->unwinder->cache, key) : NULL;

    if (known) {
        *ret = *known;
        return 0;
    }
    int rc = need_tables(w);
    if (rc == 0)
        rc = unwinder_rule(w->unwinder, w->tables, offset, ret);
    if (rc == 0 && w->key)
        rule_keep(&w->unwinder->cache, key, *ret);
    return rc;
}

/* A simple rule. 0, or what is wrong. */
static inline int step(struct walk *w, const struct machine *machine, struct rule rule)
{
    struct frame *f = &w->frame;
    uint64_t sp = f->reg[machine->sp], fp = f->reg[machine->fp], cfa, pc = 0;
    bool fp_known = f->known >> machine->fp & 1;
    uint64_t fp_base;
    int trouble = 0;

    if (rule.kind == RULE_SP) {
        cfa = sp;
    } else {
        if (__builtin_expect(w->stack.reads != NULL, 0))
            memo_fp_used(w->stack.reads);
        if (!fp_known)
            return RK_UNWIND_NO_VALUE;
        cfa = fp;
    }
    cfa += (uint64_t)((int64_t)rule.cfa * 8);
    fp_base = cfa;
    if (__builtin_expect(rule.kind == RULE_FP_AT, 0)) {
        fp_base = fp;
        trouble = stack_read(&w->stack, cfa, &cfa);
        if (trouble)
            return trouble;
    }
    if (__builtin_expect(rule.flags & RULE_RA_IN_LINK, 0)) {
        if (!(f->known >> machine->link & 1))
            return RK_UNWIND_NO_VALUE;
        pc = f->reg[machine->link];
        if (cfa < sp)
            return RK_UNWIND_BACKWARD;
    } else {
        if (cfa <= sp)
            return RK_UNWIND_BACKWARD;
        trouble = stack_read(&w->stack, cfa + (uint64_t)((int64_t)rule.ra * 8), &pc);
    }
    if (__builtin_expect(trouble, 0))
        return trouble;
    if (rule.flags & RULE_FP_SAVED) {
        uint64_t at = fp_base + (uint64_t)((int64_t)rule.fp * 8);
        /* Below: it has been taken from there already, at a function's end. */
        if (__builtin_expect(at >= sp, 1)) {
            fp_known = stack_read(&w->stack, at, &fp) == 0;
            if (__builtin_expect(w->stack.reads != NULL, 0))
                memo_fp_read(w->stack.reads);
        }
    }
    fp_known &= !(rule.flags & RULE_FP_LOST);
    f->pc = pc & machine->address_mask;
    f->reg[machine->sp] = cfa;
    f->reg[machine->fp] = fp;
    f->known = UINT32_C(1) << machine->sp | (uint32_t)fp_known << machine->fp;
    f->exact = false;
    return 0;
}

/* A linkage stub has a rule and no row; where all registers are kept, it changes none of them. */
static int step_stub(struct walk *w, const struct machine *machine, struct rule rule)
{
    uint32_t known = w->frame.known;
    int trouble = step(w, machine, rule);

    if (trouble == 0) {
        if (machine->link < CFI_COLUMNS)
            known &= ~(UINT32_C(1) << machine->link);
        w->frame.known |= known;
    }
    return trouble;
}

/* Code made at run time that only calls on and returns, as the trampolines do that CPython (3.12) puts around each of its
 * functions so that profilers see them: sub $8,%rsp; call; add; ret. It keeps no frame pointer, and all registers as they
 * are; its caller's address lies 8 above where it called, on a stack that is aligned there, and is in a file's code. */
static bool pass(struct walk *w, const struct machine *machine)
{
    struct frame *f = &w->frame;
    uint64_t sp = f->reg[machine->sp], pc;

    if (machine != &machine_x86_64 || f->exact || sp % 16 || stack_read(&w->stack, sp + 8, &pc) || pc == 0)
        return false;
    const struct mapping *m = is_kernel_address(pc) ? NULL : space_find(w->space, pc - 1);
    struct rk_module module = {.size = sizeof module};
    if (!m || rk_image_module_get(w->image, m->module, &module) < 0 || module.kind != RK_MODULE_FILE)
        return false;
    w->guessed++;
    f->pc = pc;
    f->reg[machine->sp] = sp + 16;
    return true;
}

/* Without a table: where the frame pointer leads, if that leads up the stack and into code; rule.cfa is why there is no
 * table. A frame pointer of 0 is the ABI's mark of the outermost frame, but also what any function without a frame of
 * its own leaves there, or happens to keep in that register: it ends the stack only where the program begins. Nor does
 * a return address of 0 at its end prove anything, since it may point to any zeros. */
static int follow(struct walk *w, const struct machine *machine, struct rule rule)
{
    struct frame *f = &w->frame;
    uint64_t sp = f->reg[machine->sp], fp = f->reg[machine->fp], at = fp - machine->fp_above, saved, pc;
    int reason = rule.cfa;

    if (!(f->known >> machine->fp & 1))
        return RK_UNWIND_NO_VALUE;
    if (fp == 0 && rule.flags & RULE_ENTRY && !f->exact) {
        w->end = RK_UNWIND_WHOLE;
        return -EAGAIN;
    }
    if (at < sp || at % 8)
        return reason;
    int trouble = stack_read(&w->stack, at, &saved);
    if (trouble == 0)
        trouble = stack_read(&w->stack, at + 8, &pc);
    if (trouble)
        return trouble == TROUBLE_CUT ? trouble : reason;
    pc &= machine->address_mask;
    if (pc == 0 || !space_find(w->space, pc - 1))
        return reason;
    w->guessed++;
    *f = (struct frame){.pc = pc, .known = UINT32_C(1) << machine->sp | UINT32_C(1) << machine->fp};
    f->reg[machine->sp] = at + 16;
    f->reg[machine->fp] = saved;
    return 0;
}

static int guess(struct walk *w, const struct machine *machine, struct rule rule)
{
    int trouble = follow(w, machine, rule);

    if (trouble && trouble != TROUBLE_CUT && rule.cfa == RK_UNWIND_ANONYMOUS && pass(w, machine))
        return 0;
    return trouble;
}

/* The row itself. */
static int run(struct walk *w, uint64_t offset, uint64_t lookup, const struct machine *machine)
{
    bool outermost = false;
    uint64_t sp = w->frame.reg[machine->sp], pc = w->frame.pc;
    int rc = need_tables(w);

    if (rc == 0)
        rc = unwinder_run(w->unwinder, w->tables, offset, lookup, &w->frame, &w->stack, &outermost);
    if (rc)
        return rc;
    if (outermost) {
        w->end = RK_UNWIND_WHOLE;
        return -EAGAIN;
    }
    /* A signal may have come on another stack; a call can't. */
    if (!w->frame.exact &&
        (w->frame.reg[machine->sp] < sp || (w->frame.reg[machine->sp] == sp && w->frame.pc == pc)))
        return RK_UNWIND_BACKWARD;
    return 0;
}

/* Leaves the frame. 0; -EAGAIN: w->end is set; another -errno; or what is wrong. */
static int leave(struct walk *w, uint64_t lookup, const struct machine *machine)
{
    struct rule rule = {0};
    uint64_t offset = w->offset + (lookup - w->start);
    int rc = find_rule(w, offset, &rule);

    if (rc < 0)
        return rc;
    if (__builtin_expect(rule.kind <= RULE_SIMPLE && !w->full, 1))
        return step(w, machine, rule);
    if (w->stack.reads && rule.kind != RULE_END)
        memo_fp_used(w->stack.reads); /* perhaps; what a row reads counts all */
    switch (rule.kind) {
    case RULE_GUESS:
        return guess(w, machine, rule);
    case RULE_END:
        w->end = RK_UNWIND_WHOLE;
        return -EAGAIN;
    case RULE_BAD:
        return rule.cfa;
    default:
        rc = run(w, offset, lookup, machine);
        return rc == RK_UNWIND_NO_CFI && rule.kind <= RULE_SIMPLE ? step_stub(w, machine, rule) : rc;
    }
}

/* The way of nearly every frame, with all that changes in the machine's registers: leaves frames as long as each lies in
 * the same mapping and has a rule in the cache that says no more than "sp or fp plus so much". Where it stops, that
 * frame is left to leave(). What is decided per frame at random (which slot, which register, whether fp was saved)
 * is computed, not branched on: a wrong guess would cost more than the rest. */
static size_t hurry(struct walk *w, const struct machine *machine, uint64_t *pcs, size_t n, size_t max)
{
    struct frame *f = &w->frame;
    const unsigned char *bytes = w->stack.bytes;
    const uint64_t base = w->stack.base, start = w->start, mapped = w->bytes;
    const uint64_t key_base = w->key - start, mask = machine->address_mask;
    const struct rule_cache cache = w->unwinder->cache;
    uint64_t pc = f->pc, sp = f->reg[machine->sp], fp = f->reg[machine->fp];
    uint64_t lookup = pc - !f->exact;
    size_t first = n;

    if (!w->key || w->full || w->stack.reads || w->stack.n < 8 || !(f->known >> machine->fp & 1))
        return n;
    const uint64_t limit = w->stack.n - 8;
    while (n < max && lookup - start < mapped) {
        const struct rule_slot *set = rule_set(&cache, key_base + lookup);
        const struct rule_slot *slot = set + rule_way(set, key_base + lookup);
        struct rule rule = slot->rule;
        if (slot->key != key_base + lookup || rule.kind > RULE_FP || rule.flags & ~RULE_FP_SAVED)
            break;
        uint64_t cfa = (rule.kind == RULE_FP ? fp : sp) + (uint64_t)((int64_t)rule.cfa * 8);
        uint64_t ra_at = cfa + (uint64_t)((int64_t)rule.ra * 8) - base;
        uint64_t fp_at = cfa + (uint64_t)((int64_t)rule.fp * 8) - base;
        uint64_t ra, saved;
        fp_at = rule.flags ? fp_at : ra_at; /* FP_SAVED is the only one left */
        if (cfa <= sp || ra_at > limit || fp_at > limit || fp_at + base < sp)
            break;
        memcpy(&ra, bytes + ra_at, sizeof ra);
        memcpy(&saved, bytes + fp_at, sizeof saved);
        pcs[n++] = lookup;
        fp = rule.flags ? saved : fp;
        sp = cfa;
        pc = ra & mask;
        lookup = pc - 1;
        if (pc == 0)
            break;
    }
    if (n > first) {
        f->pc = pc;
        f->reg[machine->sp] = sp;
        f->reg[machine->fp] = fp;
        f->known = UINT32_C(1) << machine->sp | UINT32_C(1) << machine->fp;
        f->exact = false;
    }
    return n;
}

/* Whether a return address, `lookup` + 1, is one that nobody called from: where a handler returns to, which leaving it has
 * shown, or a function's first byte with no other's code before it, as makecontext(3) has it. Such a frame is named by
 * the address itself. */
static bool is_made_up(struct walk *w, uint64_t lookup, int rc)
{
    struct rule rule;

    if (rc == 0)
        return w->frame.exact;
    return rc == RK_UNWIND_NO_CFI && lookup + 1 - w->start < w->bytes &&
           find_rule(w, w->offset + (lookup + 1 - w->start), &rule) == 0 && rule.kind != RULE_GUESS;
}

int walk_up(struct walk *w, const struct machine *machine, uint64_t *pcs, size_t max, int *ret_trouble)
{
    size_t n = 0;
    int rc = 0;

    w->end = RK_UNWIND_BROKEN;
    while (n < max) {
        uint64_t lookup = w->frame.pc - !w->frame.exact;
        if (lookup - w->start >= w->bytes) {
            rc = enter(w, lookup);
            if (rc) {
                pcs[n++] = lookup;
                break;
            }
        }
        n = hurry(w, machine, pcs, n, max);
        if (w->frame.pc && n < max) {
            lookup = w->frame.pc - !w->frame.exact;
            if (lookup - w->start >= w->bytes)
                continue; /* another mapping */
            pcs[n++] = lookup;
            bool called = !w->frame.exact;
            rc = leave(w, lookup, machine);
            if (__builtin_expect(called && (rc || w->frame.exact), 0) && is_made_up(w, lookup, rc))
                pcs[n - 1]++;
            if (rc)
                break;
        }
        if (w->frame.pc == 0) {
            w->end = RK_UNWIND_WHOLE;
            rc = -EAGAIN;
            break;
        }
    }
    if (rc < 0 && rc != -EAGAIN)
        return rc;
    if (rc == 0)
        w->end = RK_UNWIND_FULL;
    if (rc == TROUBLE_CUT)
        w->end = RK_UNWIND_CUT;
    *ret_trouble = w->end == RK_UNWIND_BROKEN ? rc : RK_UNWIND_FINE;
    return (int)n;
}

bool walk_leaf(struct walk *w, const struct machine *machine, struct rule *ret)
{
    uint64_t lookup = w->frame.pc - !w->frame.exact;

    return enter(w, lookup) == 0 && find_rule(w, w->offset + (lookup - w->start), ret) == 0 &&
           memo_takes(*ret) && step(w, machine, *ret) == 0;
}

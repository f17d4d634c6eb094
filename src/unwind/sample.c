/*
 * A sample's stack: registers and bytes to frames, and what of it is kept for the next time.
 */
#include "unwind/walk.h"

#include "base/error.h"
#include "base/unset.h"
#include "image/process.h"

#include <errno.h>

/* The registers, from the kernel's order. 0, or why not. */
static int take_registers(const struct machine *machine, const struct rk_sample *sample, struct frame *ret)
{
    uint64_t mask = sample->regs_user_mask, left = mask;

    if (!(sample->present & RK_SAMPLE_REGS_USER) || sample->regs_user_abi == 0 || !sample->regs_user)
        return RK_UNWIND_NO_REGISTERS;
    if (sample->regs_user_abi == 1)
        return RK_UNWIND_32_BIT;
    ret->known = 0;
    ret->exact = true;
    for (uint32_t i = 0; left; i++, left &= left - 1) {
        uint32_t number = (uint32_t)__builtin_ctzll(left);
        if (number == machine->kernel_pc) {
            ret->pc = sample->regs_user[i];
        } else if (number < 33 && machine->from_kernel[number] >= 0) {
            ret->reg[machine->from_kernel[number]] = sample->regs_user[i];
            ret->known |= UINT32_C(1) << machine->from_kernel[number];
        }
    }
    if (machine->pc < CFI_COLUMNS) {
        ret->reg[machine->pc] = ret->pc;
        ret->known |= UINT32_C(1) << machine->pc;
    }
    return mask >> machine->kernel_pc & 1 && ret->known >> machine->sp & 1 ? 0 : RK_UNWIND_NO_REGISTERS;
}

static int give(struct rk_unwind_status *status, const struct walk *w, int trouble, int n,
                const uint64_t *pcs)
{
    if (status) {
        struct rk_unwind_status s = {
            .size = sizeof s,
            .end = w->end,
            .reason = (uint32_t)trouble,
            .guessed = w->guessed,
            .module = w->bytes ? w->module : RK_NO_MODULE,
            .offset = w->bytes && n ? w->offset + (pcs[n - 1] - w->start) : 0,
        };
        int rc = result_give(status, &s, sizeof s);
        if (rc < 0)
            return rc;
    }
    return n;
}

/* Keeps the stack that `done` has walked up, if it is plain: its first frame's rule, and where that is wanted the rest,
 * walked once more with every read noted. */
static void remember(const struct walk *done, const struct machine *machine, const struct frame *first,
                     int32_t pid)
{
    struct memo *memo = done->unwinder->memo;
    struct walk w = {.unwinder = done->unwinder,
                     .image = done->image,
                     .space = done->space,
                     .stack = done->stack,
                     .frame = *first};
    const uint32_t both = UINT32_C(1) << machine->sp | UINT32_C(1) << machine->fp;
    struct rule rule = {0};
    UNSET uint64_t pcs[MEMO_FRAMES];
    UNSET struct memo_reads reads;
    int trouble;

    if (!walk_leaf(&w, machine, &rule) || w.frame.pc == 0 || w.frame.known != both)
        return;
    struct memo_caller caller = {pid, w.frame.pc, w.frame.reg[machine->sp], w.frame.reg[machine->fp]};
    if (!memo_keep_leaf(memo, first->pc, rule, &caller, &w.stack))
        return;
    reads.n = reads.fp = 0;
    reads.failed = reads.fp_needed = false;
    w.stack.reads = &reads;
    int n = walk_up(&w, machine, pcs, MEMO_FRAMES, &trouble);
    if (n > 0 && w.end == RK_UNWIND_WHOLE && w.guessed == 0)
        memo_keep_stack(memo, &caller, &reads, pcs, (size_t)n);
}

int rk_unwinder_sample(struct rk_unwinder *unwinder, const struct rk_image *image,
                       const struct rk_sample *sample, uint64_t *pcs, size_t max,
                       struct rk_unwind_status *status)
{
    struct walk w = {.unwinder = unwinder, .image = image, .end = RK_UNWIND_BROKEN};
    const struct machine *machine = unwinder->machine;
    int trouble = take_registers(machine, sample, &w.frame);

    unwinder->top = 0;
    if (unwinder->image != image) {
        if (unwinder->image)
            return -EINVAL;
        unwinder->image = image_share(image);
    }
    if (trouble)
        return give(status, &w, trouble, 0, pcs);
    uint32_t process = table_get(&image->by_pid, (uint32_t)sample->pid);
    w.space = process == TABLE_NONE ? NULL : image->processes.items[process].space;
    w.stack = (struct stack){.bytes = sample->stack,
                             .base = w.frame.reg[machine->sp],
                             .n = sample->stack ? sample->stack_used : 0,
                             .cut = sample->stack_bytes && sample->stack_used == sample->stack_bytes};
    max = max < INT32_MAX ? max : INT32_MAX;

    struct frame first = w.frame;
    int n = walk_up(&w, machine, pcs, max, &trouble);
    if (n > 1 && trouble == RK_UNWIND_NO_VALUE) {
        w.frame = first;
        w.full = true;
        w.guessed = 0;
        n = walk_up(&w, machine, pcs, max, &trouble);
    }
    if (n < 0)
        return n;
    bool plain = w.end == RK_UNWIND_WHOLE && w.guessed == 0;
    unwinder->top = plain ? w.frame.reg[machine->sp] : 0;
    if (unwinder->memo && plain && !w.full)
        remember(&w, machine, &first, sample->pid);
    if (trouble == RK_UNWIND_ELSEWHERE && !w.stack.n)
        trouble = RK_UNWIND_NO_STACK;
    return give(status, &w, trouble, n, pcs);
}

const char *rk_unwind_reason_text(uint32_t reason)
{
    static const char *const texts[] = {
        [RK_UNWIND_FINE] = "nothing is wrong",
        [RK_UNWIND_NO_REGISTERS] = "the sample has no registers",
        [RK_UNWIND_NO_STACK] = "the sample has no stack bytes",
        [RK_UNWIND_32_BIT] = "a 32-bit program",
        [RK_UNWIND_NO_MAPPING] = "an address in no known mapping",
        [RK_UNWIND_ANONYMOUS] = "code without a file",
        [RK_UNWIND_NO_FILE] = "the module's file is gone or unreadable",
        [RK_UNWIND_CHANGED] = "the module's file is not the one that ran",
        [RK_UNWIND_BAD_FILE] = "the module's file is damaged or of another kind",
        [RK_UNWIND_NO_CFI] = "no unwind table covers the address",
        [RK_UNWIND_BAD_CFI] = "the unwind table is damaged",
        [RK_UNWIND_NO_VALUE] = "a register that is needed is not known",
        [RK_UNWIND_ELSEWHERE] = "what is needed lies outside of the stack",
        [RK_UNWIND_BACKWARD] = "the caller's frame would lie below its callee's",
        [RK_UNWIND_BUDGET] = "reading the file takes more than its budget: RECKON_BUDGET (in MB) raises it",
    };

    return reason < sizeof texts / sizeof *texts ? texts[reason] : "unknown";
}

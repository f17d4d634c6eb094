/*
 * Where signal handlers return to, if no table says how to go on from there: the registers that were interrupted lie on
 * the stack, in a frame whose layout is the kernel's promise.
 *
 *     arm64    the vDSO's __kernel_rt_sigreturn: older kernels' table tells where the signal came and not with which stack
 *     riscv64  the vDSO's __vdso_rt_sigreturn, whose table says only that it is one
 *     x86-64   a libc's own restorer: glibc's has a table, musl's has none, nor a name once it is stripped. Its code can't
 *              be another: mov $15, %rax; syscall
 *
 * What returns there is looked up one byte before it; musl, as arm64's vDSO, has a nop there for that.
 */
#ifndef UNWIND_SIGNAL_H
#define UNWIND_SIGNAL_H

#include "unwind/frame.h"
#include "unwind/tables.h"

/* Finds the vDSO's, by name, of a machine that needs it. 0 or -ENOMEM. */
int signal_find(struct elf *elf, struct table_range *ret);

/* Finds the restorer in a file's code, by its bytes; an empty range where there is none. 0 or -ENOMEM. */
int signal_search(struct elf *elf, struct table_range *ret);

static inline bool signal_has(const struct table_range *range, uint64_t address)
{
    return address >= range->start && address < range->end;
}

/* Leaves its frame, for what was interrupted. 0, TROUBLE_CUT, or enum rk_unwind_reason. */
int signal_leave(struct frame *frame, const struct machine *machine, const struct stack *stack);

#endif

/*
 * A frame being left: its registers as far as they are known, the stack's bytes, and what can go wrong.
 *
 * Registers have DWARF's numbers, which are few enough on each machine: x86-64 0 … 15 and 16 the address that runs;
 * arm64 x0 … x30 and 31 the stack pointer; riscv64 x0 … x31.
 */
#ifndef UNWIND_FRAME_H
#define UNWIND_FRAME_H

#include "unwind/cfi.h"

#include <reckon/unwind.h>

/* Internal to enum rk_unwind_reason: what is needed lies behind the dump's end. */
#define TROUBLE_CUT 0x100

struct machine {
    uint32_t number; /* enum rk_machine */
    /* Columns. link: where a call leaves its return address; CFI_COLUMNS: on the stack. pc: the address that runs;
     * CFI_COLUMNS: none. */
    uint8_t sp, fp, link, pc;
    /* The frame pointer points this many bytes above the caller's, which its return address follows. */
    uint8_t fp_above;
    uint8_t kernel_pc;      /* the kernel's number of it */
    uint64_t kernel_mask;   /* the kernel's numbers of all that is wanted */
    int8_t from_kernel[33]; /* the kernel's number → column, -1: none */
    uint64_t address_mask;  /* what of a return address is address, and not a signature */
};

extern const struct machine machine_x86_64, machine_aarch64, machine_riscv64;

/* NULL: unknown. */
const struct machine *machine_of(uint32_t number);

struct memo_reads;

struct stack {
    const unsigned char *bytes;
    uint64_t base, n;         /* where they lay; how many are valid */
    bool cut;                 /* there was more of it than the dump has room for */
    struct memo_reads *reads; /* NULL, or where reads are noted */
};

/* value NULL: it is not in the stack. */
void stack_note(struct memo_reads *reads, uint64_t address, const uint64_t *value);

#define STACK_MAX (UINT64_C(64) << 20) /* what lies further up is another stack */

/* 8 bytes at an address: 0, RK_UNWIND_ELSEWHERE, or TROUBLE_CUT. */
static inline int stack_read(const struct stack *stack, uint64_t address, uint64_t *ret)
{
    uint64_t at = address - stack->base;

    bool inside = stack->n >= 8 && at <= stack->n - 8;
    if (inside)
        memcpy(ret, stack->bytes + at, sizeof *ret);
    if (__builtin_expect(stack->reads != NULL, 0))
        stack_note(stack->reads, address, inside ? ret : NULL);
    if (__builtin_expect(!inside, 0))
        return address >= stack->base && stack->cut && at < STACK_MAX ? TROUBLE_CUT : RK_UNWIND_ELSEWHERE;
    return 0;
}

struct frame {
    uint64_t pc;
    uint64_t reg[CFI_COLUMNS];
    uint32_t known; /* columns, as bits */
    bool exact;     /* pc ran when the stack was taken or a signal came; else it is a return address */
};

/* The value that an expression gives. `cfa`: what stands on its stack first; NULL: nothing does. `bias`: what was added
 * to the module's addresses. 0, TROUBLE_CUT, or enum rk_unwind_reason. */
int expression_value(struct cursor program, const struct frame *frame, const struct stack *stack,
                     const uint64_t *cfa, uint64_t bias, uint64_t *ret);

/* Leaves the frame by a row: all registers that can be had. 1: it was the outermost; else as above, and then the frame
 * is as it was. */
int frame_leave(struct frame *frame, const struct machine *machine, const struct cfi_section *section,
                const struct cfi_entry *entry, const struct cfi_row *row, const struct stack *stack,
                uint64_t bias, bool *ret_outermost);

#endif

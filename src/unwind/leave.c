/*
 * One row applied to a frame. What its rules give is collected before the first register changes, since rules refer to
 * the frame as it is.
 */
#include "unwind/frame.h"

/* The frame's address. */
static int find_cfa(const struct frame *frame, const struct cfi_section *section, const struct cfi_row *row,
                    const struct stack *stack, uint64_t bias, uint64_t *ret)
{
    if (row->cfa_is_expression)
        return expression_value(cfi_block(section, row->cfa_offset), frame, stack, NULL, bias, ret);
    if (!(frame->known >> row->cfa_column & 1))
        return RK_UNWIND_NO_VALUE;
    *ret = frame->reg[row->cfa_column] + (uint64_t)row->cfa_offset;
    return 0;
}

/* A register's value by its rule. */
static int find_value(const struct frame *frame, const struct cfi_section *section, const struct cfi_row *row,
                      uint32_t column, const struct stack *stack, uint64_t cfa, uint64_t bias, uint64_t *ret)
{
    int64_t value = row->value[column];
    uint64_t at;
    int trouble;

    switch (row->rule[column]) {
    case CFI_OFFSET:
        at = cfa + (uint64_t)value;
        if (at < stack->base && frame->exact && frame->known >> column & 1) { /* taken from there already */
            *ret = frame->reg[column];
            return 0;
        }
        return stack_read(stack, at, ret);
    case CFI_VALUE_OFFSET:
        *ret = cfa + (uint64_t)value;
        return 0;
    case CFI_REGISTER:
        if ((uint64_t)value >= CFI_COLUMNS || !(frame->known >> value & 1))
            return RK_UNWIND_NO_VALUE;
        *ret = frame->reg[value];
        return 0;
    case CFI_EXPRESSION:
        trouble = expression_value(cfi_block(section, value), frame, stack, &cfa, bias, &at);
        return trouble ? trouble : stack_read(stack, at, ret);
    case CFI_VALUE_EXPRESSION:
        return expression_value(cfi_block(section, value), frame, stack, &cfa, bias, ret);
    case CFI_UNDEFINED:
        return RK_UNWIND_NO_VALUE;
    default: /* unsaid, same */
        if (!(frame->known >> column & 1))
            return RK_UNWIND_NO_VALUE;
        *ret = frame->reg[column];
        return 0;
    }
}

/* A return address at or above the frame's own address would lie in the caller's frame. glibc's table for arm64 says so of
 * _dl_runtime_resolve, as it does not count the two words that the linkage stub has pushed: the stack that the caller
 * had begins behind it. */
static uint64_t caller_stack(const struct machine *machine, const struct cfi_entry *entry,
                             const struct cfi_row *row, uint64_t cfa)
{
    int64_t at = row->value[entry->return_column];

    if (row->rule[entry->return_column] != CFI_OFFSET || at < 0 || machine->link == CFI_COLUMNS)
        return cfa;
    return (cfa + (uint64_t)at + 8 + 15) & ~UINT64_C(15);
}

int frame_leave(struct frame *frame, const struct machine *machine, const struct cfi_section *section,
                const struct cfi_entry *entry, const struct cfi_row *row, const struct stack *stack,
                uint64_t bias, bool *ret_outermost)
{
    struct frame caller = {.known = 0, .exact = entry->signal};
    uint64_t cfa;
    int trouble = find_cfa(frame, section, row, stack, bias, &cfa);

    *ret_outermost = row->rule[entry->return_column] == CFI_UNDEFINED;
    if (*ret_outermost)
        return 0;
    if (trouble)
        return trouble;
    for (uint32_t i = 0; i < CFI_COLUMNS; i++) {
        if (i == machine->sp && row->rule[i] == CFI_UNSAID) {
            caller.reg[i] = caller_stack(machine, entry, row, cfa);
            caller.known |= UINT32_C(1) << i;
            continue;
        }
        int one = find_value(frame, section, row, i, stack, cfa, bias, &caller.reg[i]);
        if (one == 0)
            caller.known |= UINT32_C(1) << i;
        else if (i == entry->return_column)
            return one;
    }
    caller.pc = caller.reg[entry->return_column] & machine->address_mask;
    if (machine->pc < CFI_COLUMNS) {
        caller.reg[machine->pc] = caller.pc;
        caller.known |= UINT32_C(1) << machine->pc;
    }
    /* What was the return address is not the caller's own: that one lies in its frame. */
    if (machine->link < CFI_COLUMNS && !entry->signal)
        caller.known &= ~(UINT32_C(1) << entry->return_column);
    *frame = caller;
    return 0;
}

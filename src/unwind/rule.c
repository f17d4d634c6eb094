#include "unwind/rule.h"

/* In units of 8, if it fits. */
static bool shrink(int64_t offset, int16_t *ret)
{
    if (offset % 8 || offset / 8 < INT16_MIN || offset / 8 > INT16_MAX)
        return false;
    *ret = (int16_t)(offset / 8);
    return true;
}

/* The offset in an expression that is breg(fp) alone, or, with `deref`, what lies there. */
static bool from_fp(const struct machine *machine, const struct cfi_section *section, int64_t block,
                    bool deref, int16_t *ret)
{
    struct cursor c = cfi_block(section, block);
    uint8_t op = cursor_u8(&c);
    int64_t offset = cursor_sleb(&c);

    if (op != 0x70 + machine->fp || (deref && cursor_u8(&c) != 0x06))
        return false;
    return !c.bad && cursor_left(&c) == 0 && shrink(offset, ret);
}

/* How the frame's address is had. */
static uint8_t cfa_kind(const struct machine *machine, const struct cfi_section *section,
                        const struct cfi_row *row, int16_t *ret)
{
    if (row->cfa_is_expression)
        return from_fp(machine, section, row->cfa_offset, true, ret) ? RULE_FP_AT : RULE_RUN;
    if (!shrink(row->cfa_offset, ret))
        return RULE_RUN;
    return row->cfa_column == machine->sp ? RULE_SP : row->cfa_column == machine->fp ? RULE_FP : RULE_RUN;
}

static bool set_fp(struct rule *rule, const struct machine *machine, const struct cfi_section *section,
                   const struct cfi_row *row)
{
    int64_t value = row->value[machine->fp];

    switch (row->rule[machine->fp]) {
    case CFI_UNSAID:
    case CFI_SAME:
        return true;
    case CFI_UNDEFINED:
        rule->flags |= RULE_FP_LOST;
        return true;
    case CFI_OFFSET:
        rule->flags |= RULE_FP_SAVED;
        return rule->kind != RULE_FP_AT && shrink(value, &rule->fp);
    case CFI_EXPRESSION:
        rule->flags |= RULE_FP_SAVED;
        return rule->kind == RULE_FP_AT && from_fp(machine, section, value, false, &rule->fp);
    default:
        return false;
    }
}

static bool set_ra(struct rule *rule, const struct machine *machine, const struct cfi_entry *entry,
                   const struct cfi_row *row)
{
    uint32_t column = entry->return_column;

    switch (row->rule[column]) {
    case CFI_OFFSET:
        return row->value[column] < 0 && shrink(row->value[column], &rule->ra);
    case CFI_UNSAID:
    case CFI_SAME:
        rule->flags |= RULE_RA_IN_LINK;
        return column == machine->link;
    default:
        return false;
    }
}

struct rule rule_of(const struct machine *machine, const struct cfi_section *section,
                    const struct cfi_entry *entry, const struct cfi_row *row)
{
    struct rule rule = {0};
    static const struct rule slow = {.kind = RULE_RUN};

    if (row->rule[entry->return_column] == CFI_UNDEFINED)
        return (struct rule){.kind = RULE_END};
    rule.kind = cfa_kind(machine, section, row, &rule.cfa);
    if (rule.kind == RULE_RUN || entry->signal || row->rule[machine->sp] != CFI_UNSAID ||
        !set_fp(&rule, machine, section, row) || !set_ra(&rule, machine, entry, row))
        return slow;
    return rule;
}

/* x86-64: a stub is a jump of 6 bytes, and in .plt a push of 5 and a jump behind it, 16 in all. The first of .plt pushes
 * at once, on top of what the stub pushed; .plt.sec and .plt.got push nothing, and have nothing from byte 11 on. */
struct rule rule_of_plt(const struct machine *machine, uint64_t offset)
{
    if (machine->link < CFI_COLUMNS)
        return (struct rule){.kind = RULE_SP, .flags = RULE_RA_IN_LINK};
    int16_t pushed = offset < 16 ? (offset < 6 ? 1 : 2) : offset % 16 >= 11;
    return (struct rule){.kind = RULE_SP, .cfa = (int16_t)(1 + pushed), .ra = -1};
}

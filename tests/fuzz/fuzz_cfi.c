/*
 * Call frame tables: the bytes are a section, once as .eh_frame and once as .debug_frame. Every record is read, and the
 * rows of the addresses that it says it covers; each row is applied to a frame, with its expressions, on both machines.
 */
#include "fuzz.h"

#include "unwind/rule.h"

static void use_row(const struct cfi_section *section, const struct cfi_entry *entry, uint64_t address,
                    const struct machine *machine)
{
    uint64_t words[64];
    struct stack stack = {(const unsigned char *)words, 0x7000, sizeof words, address & 1};
    struct frame frame = {.known = UINT32_MAX, .pc = address}, before;
    struct cfi_row row;
    bool outermost;

    for (size_t i = 0; i < 64; i++)
        words[i] = 0x7000 + i * 8;
    for (size_t i = 0; i < CFI_COLUMNS; i++)
        frame.reg[i] = 0x7000 + i * 8;
    if (cfi_row(section, entry, address, &row) < 0)
        return;
    HOLDS(row.cfa_is_expression || row.cfa_column < CFI_COLUMNS);
    struct rule rule = rule_of(machine, section, entry, &row);
    HOLDS(rule.kind != RULE_NONE && rule.kind <= RULE_END);
    before = frame;
    int trouble = frame_leave(&frame, machine, section, entry, &row, &stack, 0, &outermost);
    HOLDS(trouble >= 0 && (trouble == TROUBLE_CUT || trouble <= RK_UNWIND_BACKWARD));
    HOLDS(!trouble || !memcmp(&before, &frame, sizeof frame));
    HOLDS(outermost == (rule.kind == RULE_END));
    /* What the short form says is what the long one does. */
    if (!trouble && !outermost && rule.kind <= RULE_SP && !(rule.flags & RULE_RA_IN_LINK)) {
        uint64_t cfa = before.reg[machine->sp] + (uint64_t)((int64_t)rule.cfa * 8), ra = 0;
        HOLDS(frame.reg[machine->sp] == cfa);
        HOLDS(stack_read(&stack, cfa + (uint64_t)((int64_t)rule.ra * 8), &ra) != 0 ||
              (ra & machine->address_mask) == frame.pc);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int debug = 0; debug < 2; debug++) {
        struct cfi_section section = {.bytes = data, .n = size, .address = 0x1000, .debug = debug};
        size_t next, records = 0;
        for (size_t at = 0; at < size && records < 64; at = next, records++) {
            struct cfi_entry entry;
            int kind = cfi_record(&section, at, &entry, &next);
            HOLDS(next > at && next <= size);
            if (kind != CFI_FDE)
                continue;
            HOLDS(entry.end >= entry.start);
            for (int i = 0; i < 3; i++)
                use_row(&section, &entry, entry.start + (entry.end - entry.start) / 3 * (unsigned)i,
                        i & 1 ? &machine_aarch64 : &machine_x86_64);
        }
    }
    return 0;
}

/*
 * Call frame information, pure: bytes of .eh_frame or .debug_frame → for an address, where the caller's registers
 * are.
 *
 *     section:  │ CIE │ FDE │ FDE │ CIE │ FDE │ … │      a CIE has what its FDEs share
 *     FDE:      addresses [start, end), a program that says how the rows change along them
 *     row:      the frame's address (CFA), and a rule for each register, at one address
 *
 * No system call, no allocation. What lies in the section is believed as far as its bytes go.
 */
#ifndef UNWIND_CFI_H
#define UNWIND_CFI_H

#include "base/cursor.h"

#define CFI_COLUMNS 32u /* registers by DWARF's numbers; those above (vectors) are passed over */

struct cfi_section {
    const unsigned char *bytes;
    size_t n;
    uint64_t address; /* of the first byte, before relocation */
    bool debug;       /* .debug_frame: other pointers, and no augmentation to speak of */
};

struct cfi_entry {
    /* of its CIE */
    uint64_t code_align;
    int64_t data_align;
    uint32_t return_column;
    uint8_t encoding;
    bool signal; /* what is called here was interrupted, and did not call */
    struct cursor first;
    /* its own */
    uint64_t start, end;
    struct cursor program;
};

/* What a record of a section is. */
enum cfi_kind { CFI_END, CFI_CIE, CFI_FDE };

/* The record at an offset: its kind, and for an FDE the entry; *next is where the next one begins. -EBADMSG where it
 * can't be read, with *next set if its length could. */
int cfi_record(const struct cfi_section *section, size_t offset, struct cfi_entry *ret, size_t *next);

enum cfi_rule {
    CFI_UNSAID, /* as the machine's ABI has it: kept */
    CFI_SAME,
    CFI_UNDEFINED,
    CFI_OFFSET,           /* at CFA + value */
    CFI_VALUE_OFFSET,     /* is CFA + value */
    CFI_REGISTER,         /* in register `value` */
    CFI_EXPRESSION,       /* at what the expression gives, whose block is at section offset `value` */
    CFI_VALUE_EXPRESSION, /* is what it gives */
};

struct cfi_row {
    bool cfa_is_expression;
    uint32_t cfa_column;
    int64_t cfa_offset; /* or the block's place in the section */
    uint8_t rule[CFI_COLUMNS];
    int64_t value[CFI_COLUMNS];
};

/* The row of an address that the entry covers. 0 or -EBADMSG. */
int cfi_row(const struct cfi_section *section, const struct cfi_entry *entry, uint64_t address,
            struct cfi_row *ret);

/* The expression in a block at that place of the section; empty and bad where there is none. */
struct cursor cfi_block(const struct cfi_section *section, int64_t at);

#endif

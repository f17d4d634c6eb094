/*
 * A module's call frame tables: what of its file is needed, copied, and searched in place.
 *
 *     .eh_frame_hdr:  sorted (function, FDE) pairs      binary search, 8 bytes a pair
 *     .eh_frame:      the FDEs
 *     .debug_frame:   the same for debuggers, of the file or of its debug file; read, and the restorer of signals looked
 *                     for, when the first address is met that .eh_frame does not cover
 *
 * Where there is no sorted table, the section is passed through once and an index made, 16 bytes per FDE.
 */
#ifndef UNWIND_TABLES_H
#define UNWIND_TABLES_H

#include "elf/note.h"
#include "unwind/cfi.h"

#include <reckon/module.h>

struct table_entry {
    uint64_t start;
    size_t offset;
};

/* A section that can be searched. */
struct table_part {
    struct cfi_section section;  /* its bytes are ours */
    const unsigned char *sorted; /* .eh_frame_hdr's pairs, or NULL */
    uint32_t sorted_n;
    uint64_t sorted_base;      /* what they are relative to */
    unsigned char *header;     /* .eh_frame_hdr, ours */
    struct table_entry *index; /* or this */
    size_t index_n;
};

struct table_range {
    uint64_t start, end;
};

#define TABLE_PLTS 4

struct tables {
    uint32_t reason; /* enum rk_unwind_reason: why there is nothing at all; FINE: there may be something */
    bool debug_tried;
    struct budget budget;    /* what reading it is paid from */
    struct rk_module module; /* its texts are the image's */
    struct build_id id;
    struct table_load {
        uint64_t offset, bytes, address;
    } * loads;
    uint32_t load_n;
    struct table_part eh, debug;
    struct table_range plts[TABLE_PLTS]; /* linkage stubs, which not every linker writes tables for */
    uint32_t plt_n;
    struct table_range signal; /* where signal handlers return to, if it has no table: signal.h */
    struct table_range entry;  /* where the program begins, which nobody called; known once debug_tried */
};

/* Reads a module's, paid from the session's budget; NULL: it has its own alone. 0, also where there is nothing to be had
 * (`reason`), or -ENOMEM and the like. The tables stay where they are. */
int tables_load(struct tables *tables, int root, const struct rk_module *module, uint32_t machine,
                struct budget *session);
void tables_free(struct tables *tables);

/* The same of a file that is open, whatever its machine: .eh_frame alone. 0; -ENOENT: it has none; -errno. */
int tables_read(struct tables *tables, struct elf *elf);

/* The function at an address, as .eh_frame has it. 0; -ENOENT; -EBADMSG: damaged there. */
int tables_function(const struct tables *tables, uint64_t address, struct table_range *ret);

/* Offset in the file → address before relocation. 0 or -ENOENT. */
int tables_address(const struct tables *tables, uint64_t offset, uint64_t *ret);

/* The entry that covers an address, and its section. 0; -ENOENT; -EBADMSG: the table is damaged there; -ENOMEM and the
 * like. */
int tables_find(struct tables *tables, int root, uint64_t address, const struct cfi_section **ret_section,
                struct cfi_entry *ret);

#endif

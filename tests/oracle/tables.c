/*
 * Reads every row of every table of files twice, by the library and by elfutils' libdw: each address of each executable
 * segment has the same frame address, the same place of the return address and of the callee-saved registers, or no
 * table in both.
 *
 *     oracle-tables FILE...
 */
#include "../live/live.h"

#include "elf/section.h"
#include "sys/file.h"
#include "unwind/rule.h"
#include "unwind/tables.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <unistd.h>

static uint64_t rows, gaps;

/* One operation list against one rule of ours. */
static bool same_register(const struct cfi_section *section, const struct cfi_row *row, uint32_t column,
                          Dwarf_Op *ops, size_t n, Dwarf_Op *memory)
{
    switch (row->rule[column]) {
    case CFI_UNDEFINED:
        return n == 0 && ops == memory;
    case CFI_UNSAID:
    case CFI_SAME:
        return n == 0; /* libdw says the same of undefined and, by the ABI, of what is not said */
    case CFI_OFFSET:   /* call_frame_cfa, plus_uconst */
        return n >= 1 && ops[0].atom == DW_OP_call_frame_cfa &&
               (n == 1 ? 0 : (int64_t)ops[1].number) == row->value[column];
    case CFI_VALUE_OFFSET:
        return n >= 2 && ops[0].atom == DW_OP_call_frame_cfa && ops[n - 1].atom == DW_OP_stack_value;
    case CFI_REGISTER:
        return n == 1;
    default: {
        struct cursor c = cfi_block(section, row->value[column]);
        return n > 1 && cursor_left(&c) > 0;
    }
    }
}

static bool same_cfa(const struct cfi_section *section, const struct cfi_row *row, Dwarf_Op *ops, size_t n)
{
    if (row->cfa_is_expression) {
        struct cursor c = cfi_block(section, row->cfa_offset);
        return n >= 1 && cursor_left(&c) > 0 && ops[0].atom == cursor_u8(&c);
    }
    if (n != 1)
        return false;
    if (ops[0].atom == DW_OP_bregx)
        return ops[0].number == row->cfa_column && (int64_t)ops[0].number2 == row->cfa_offset;
    return ops[0].atom == DW_OP_breg0 + row->cfa_column && (int64_t)ops[0].number == row->cfa_offset;
}

static bool same_row(struct tables *tables, int root, Dwarf_Frame *frame, uint64_t address,
                     const struct machine *machine)
{
    const struct cfi_section *section;
    struct cfi_entry entry;
    struct cfi_row row;
    Dwarf_Op memory[3], *ops;
    size_t n;
    bool signal;

    if (tables_find(tables, root, address, &section, &entry) < 0 ||
        cfi_row(section, &entry, address, &row) < 0)
        return false;
    int column = dwarf_frame_info(frame, NULL, NULL, &signal);
    if (column != (int)entry.return_column || signal != entry.signal ||
        dwarf_frame_cfa(frame, &ops, &n) != 0 || !same_cfa(section, &row, ops, n))
        return false;
    static const uint32_t x86[] = {3, 6, 12, 13, 14, 15, 16}, arm[] = {19, 20, 21, 28, 29, 30};
    bool intel = machine == &machine_x86_64;
    for (size_t i = 0; i < (intel ? 7 : 6); i++) {
        uint32_t c = intel ? x86[i] : arm[i];
        if (dwarf_frame_register(frame, (int)c, memory, &ops, &n) != 0 ||
            !same_register(section, &row, c, ops, n, memory))
            return false;
    }
    return true;
}

static void compare(const char *path)
{
    int root = sys_root_open(NULL), fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    elf_version(EV_CURRENT);
    Elf *file = elf_begin(fd, ELF_C_READ, NULL);
    struct elf *elf;
    struct tables tables;
    struct rk_module module = {.size = sizeof module, .path = path};
    CHECK(file && elf_open_at(root, path, &elf, NULL) == 0);
    const struct machine *machine = machine_of(elf->machine);
    Dwarf_CFI *cfi = dwarf_getcfi_elf(file);
    CHECK(machine && tables_load(&tables, root, &module, machine->number, NULL) == 0);
    tables.debug_tried = true; /* .eh_frame alone is compared */
    CHECK(cfi && tables.eh.section.n);
    uint64_t before = rows;
    for (uint32_t i = 0; i < elf->segment_n; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type != ELF_SEGMENT_LOAD || !(s->flags & ELF_SEGMENT_EXECUTE))
            continue;
        for (uint64_t at = s->address, next; at < s->address + s->file_bytes; at = next) {
            Dwarf_Frame *frame = NULL;
            Dwarf_Addr end = at + 1;
            const struct cfi_section *section;
            struct cfi_entry entry;
            if (dwarf_cfi_addrframe(cfi, at, &frame) == 0) {
                dwarf_frame_info(frame, NULL, &end, NULL);
                if (!same_row(&tables, root, frame, at, machine) ||
                    !same_row(&tables, root, frame, end - 1, machine))
                    FAIL("%s: at %#" PRIx64 " the rows differ", path, at);
                free(frame);
                rows++;
            } else {
                if (tables_find(&tables, root, at, &section, &entry) == 0)
                    FAIL("%s: at %#" PRIx64 " libdw has no row: %s", path, at, dwarf_errmsg(-1));
                gaps++;
            }
            next = end > at ? end : at + 1;
        }
    }
    CHECK(rows > before);
    tables_free(&tables);
    dwarf_cfi_end(cfi);
    elf_end(file);
    elf_close(elf);
    sys_close(root);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    for (int i = 1; i < argc; i++)
        compare(argv[i]);
    printf("%d files, %" PRIu64 " rows as libdw's, %" PRIu64 " addresses without one in both\n", argc - 1,
           rows, gaps);
    return 0;
}

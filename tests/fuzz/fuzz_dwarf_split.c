/*
 * A .dwo or .dwp as it is: the index of the package, and each of its units read as the part that a skeleton stands for;
 * without an index, all units of .debug_info.dwo.
 *
 *     .debug_cu_index │ .debug_info.dwo │ .debug_abbrev.dwo │ .debug_str_offsets.dwo │ .debug_str.dwo │
 *     .debug_rnglists.dwo │ the program's .debug_addr
 */
#include "sections.h"

#include "dwarf/constants.h"

static void read_part(struct dwarf *split, struct dwarf *program, uint64_t at, uint64_t *ret_end)
{
    struct fuzz_questions q = {.n = 0};
    struct unit unit;
    struct unit skeleton = {.file = program,
                            .code_low = FUZZ_CODE_LOW,
                            .code_high = FUZZ_CODE_HIGH,
                            .low = 0x401000,
                            .addresses = &program->addr,
                            .old_ranges = &program->ranges,
                            .addr_base = 8,
                            .directory = "/src"};
    for (uint64_t i = 0; i < FUZZ_QUESTIONS; i++)
        fuzz_ask(&q, 0x401000 + 2 * i);
    if (unit_read_header(split, at, &unit, ret_end) < 0 || unit_read_root(&unit, &skeleton) < 0)
        return;
    HOLDS(*ret_end == unit.end && unit.die <= unit.end && unit.end <= split->info.n);
    if (unit.name)
        fuzz_touch_text(unit.name);
    fuzz_unit(&unit, q.items, q.n);
}

static void read_package(struct dwarf *split, struct dwarf *program)
{
    const struct package *package = &split->package;
    uint64_t end;
    for (size_t i = 0; i < package->units.n; i++) {
        const struct package_unit *unit = &package->units.items[i], *found = package_find(package, unit->id);
        HOLDS(found && found->id == unit->id); /* one of those of that id */
        found = package_at(package, unit->info);
        HOLDS(found && found->info == unit->info);
        HOLDS(i == 0 || unit[-1].info <= unit->info);
        if (i < FUZZ_UNITS)
            read_part(split, program, unit->info, &end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct dwarf split, program;
    struct view index;

    fuzz_file_open(&split);
    fuzz_file_open(&program);
    split.split = true;
    fuzz_section(&in, &index);
    fuzz_section(&in, &split.info);
    fuzz_section(&in, &split.abbrev);
    fuzz_section(&in, &split.str_offsets);
    fuzz_section(&in, &split.str);
    fuzz_section(&in, &split.rnglists);
    fuzz_section(&in, &program.addr);
    int rc = package_open(&split.package, &index);
    HOLDS(rc == 0 || rc == -74); /* EBADMSG */
    dwarf_refill(&split);
    if (rc == 0 && split.package.units.n)
        read_package(&split, &program);
    size_t units = 0;
    for (uint64_t at = 0, end = 0; at < split.info.n && units < FUZZ_UNITS; at = end, units++) {
        end = 0;
        read_part(&split, &program, at, &end);
        if (end <= at)
            break;
    }
    view_close(&index);
    fuzz_file_close(&split);
    fuzz_file_close(&program);
    return 0;
}

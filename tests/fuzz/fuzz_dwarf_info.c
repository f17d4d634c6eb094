/*
 * .debug_info and .debug_abbrev as they are, with .debug_str and .debug_addr: every unit, its root, its abbreviations,
 * what code it claims, the functions of it, their names; and all of it again by a batch.
 */
#include "sections.h"

#include "dwarf/resolve.h"

static void whole(struct dwarf *file, const struct fuzz_questions *q)
{
    struct found *found = NULL;
    uint64_t addresses[FUZZ_QUESTIONS];
    size_t n = 0;
    for (size_t i = 0; i < q->n; i++)
        addresses[i] = q->items[i].address;
    HOLDS(dwarf_resolve(file, addresses, q->n, 1, &found, &n) == 0);
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < found[f].frames.n; i++)
            if (found[f].frames.items[i].function != TEXT_NONE)
                fuzz_touch_text(intern_text(&found[f].texts, found[f].frames.items[i].function));
    found_free(found, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct fuzz_questions q = {.n = 0};
    struct dwarf file;
    struct unit unit, again;
    uint64_t end;

    fuzz_file_open(&file);
    fuzz_section(&in, &file.info);
    fuzz_section(&in, &file.abbrev);
    fuzz_section(&in, &file.str);
    fuzz_section(&in, &file.addr);
    dwarf_refill(&file);
    HOLDS(units_complete(&file) == 0);
    for (size_t i = 0; i < file.units.ranges.n; i++) {
        const struct unit_range *range = &file.units.ranges.items[i];
        HOLDS(range->low < range->high && (i == 0 || range[-1].low <= range->low));
        fuzz_ask_range(&q, range->low, range->high);
    }
    size_t units = 0;
    for (uint64_t at = 0; at < file.info.n && units < FUZZ_UNITS; at = end, units++) {
        if (unit_read(&file, at, &unit, &end) == 0) {
            HOLDS(end == unit.end && unit.die <= unit.end && unit.end <= file.info.n);
            if (unit.name)
                fuzz_touch_text(unit.name);
            if (unit.directory)
                fuzz_touch_text(unit.directory);
            if (unit.die < unit.end)
                HOLDS(units_of_offset(&file, unit.die, &again) == 0 && again.offset == unit.offset);
            fuzz_unit(&unit, q.items, q.n);
        }
        if (end <= at)
            break;
    }
    whole(&file, &q);
    fuzz_file_close(&file);
    return 0;
}

/*
 * Lists of ranges as they are: every place of the section, and every number of its list of lists.
 *
 *     version │ bytes of an address │ of an offset │ base of the lists, 2 bytes │ of the addresses, 2 bytes │
 *     .debug_ranges or .debug_rnglists │ .debug_addr
 */
#include "sections.h"

#include "dwarf/ranges.h"

/* Each entry has a byte at least. */
static void follow(const struct unit *unit, uint64_t value, bool listed)
{
    struct ranges ranges;
    uint64_t low, high, n = 0;
    if (!ranges_open(&ranges, unit, value, listed))
        return;
    while (ranges_next(&ranges, &low, &high)) {
        HOLDS(low < high);
        HOLDS(++n <= ranges.view->n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct dwarf file;

    fuzz_file_open(&file);
    struct unit unit = {
        .file = &file, .low = FUZZ_CODE_LOW, .addresses = &file.addr, .old_ranges = &file.ranges};
    unit.version = (uint8_t)(2 + fuzz_number(&in, 1) % 4);
    unit.address_bytes = fuzz_number(&in, 1) == 4 ? 4 : 8;
    unit.offset_bytes = fuzz_number(&in, 1) == 8 ? 8 : 4;
    unit.rnglists_base = unit.ranges_base = fuzz_number(&in, 2);
    unit.addr_base = fuzz_number(&in, 2);
    fuzz_section(&in, unit.version < 5 ? &file.ranges : &file.rnglists);
    fuzz_section(&in, &file.addr);
    uint64_t n = unit.version < 5 ? file.ranges.n : file.rnglists.n;
    for (uint64_t i = 0; i < n && i < 64; i++)
        follow(&unit, i, false);
    for (uint64_t i = 0; i < 16; i++)
        follow(&unit, i, true);
    follow(&unit, UINT64_MAX, true);
    follow(&unit, UINT64_MAX, false);
    file.split = true; /* a .dwo's lists count from a base of their own */
    follow(&unit, 0, false);
    follow(&unit, 0, true);
    fuzz_file_close(&file);
    return 0;
}

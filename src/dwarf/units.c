#include "dwarf/units.h"

#include "base/cursor.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/line.h"
#include "dwarf/ranges.h"

#include <errno.h>

enum { UNITS_MAX = 1 << 22 };

static int add_range(struct dwarf *dwarf, uint64_t low, uint64_t high, uint64_t unit)
{
    if (low >= high || low < dwarf->code_low || low >= dwarf->code_high)
        return 0;
    struct unit_range *range = vector_push(&dwarf->units.ranges);
    if (!range)
        return -ENOMEM;
    *range = (struct unit_range){low, high, unit};
    return 0;
}

/* Of several units with the same code the first in the file is the last here, where it is found first: of a function that
 * many units have the linker keeps the first one's, and GNU's gives its address to all of them. */
static int by_low(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;

    return x->low != y->low ? (x->low > y->low) - (x->low < y->low)
                            : (x->unit < y->unit) - (x->unit > y->unit);
}

static void sort_ranges(struct units *units)
{
    if (units->ranges.n)
        qsort(units->ranges.items, units->ranges.n, sizeof *units->ranges.items, by_low);
}

/* One set: a header, then pairs of address and length, aligned to their size, until two zeros. */
static int read_set(struct dwarf *dwarf, struct cursor *set, const unsigned char *begin,
                    unsigned offset_bytes)
{
    uint16_t version = cursor_u16(set);
    uint64_t unit = offset_bytes == 8 ? cursor_u64(set) : cursor_u32(set);
    uint8_t address_bytes = cursor_u8(set), segment_bytes = cursor_u8(set);

    if (set->bad || version != 2 || segment_bytes || (address_bytes != 8 && address_bytes != 4))
        return 0;
    size_t past = (size_t)(set->at - begin) % (2u * address_bytes);
    cursor_bytes(set, past ? 2u * address_bytes - past : 0);
    while (cursor_left(set) >= 2u * address_bytes) {
        uint64_t low = address_bytes == 8 ? cursor_u64(set) : cursor_u32(set);
        uint64_t bytes = address_bytes == 8 ? cursor_u64(set) : cursor_u32(set);
        if (low == 0 && bytes == 0)
            break;
        int rc = bytes < UINT64_MAX - low ? add_range(dwarf, low, low + bytes, unit) : 0;
        if (rc < 0)
            return rc;
    }
    return 0;
}

int units_open(struct dwarf *dwarf)
{
    const unsigned char *bytes = dwarf->aranges.n ? view_get(&dwarf->aranges, 0, dwarf->aranges.n) : NULL;
    struct cursor c = cursor_of(bytes, bytes ? (size_t)dwarf->aranges.n : 0);

    while (cursor_left(&c) > 12) {
        const unsigned char *begin = c.at;
        uint64_t length = cursor_u32(&c);
        bool wide = length == 0xffffffff;
        if (wide)
            length = cursor_u64(&c);
        const unsigned char *at = cursor_bytes(&c, length);
        if (!at)
            break;
        struct cursor set = cursor_of(at, (size_t)length);
        int rc = read_set(dwarf, &set, begin, wide ? 8 : 4);
        if (rc < 0)
            return rc;
    }
    sort_ranges(&dwarf->units);
    return 0;
}

void units_close(struct units *units)
{
    vector_free(&units->ranges);
    vector_free(&units->offsets);
}

/* Header by header: only the bytes in which these lie are read. */
static int list_offsets(struct dwarf *dwarf)
{
    struct units *units = &dwarf->units;
    struct unit unit;

    for (uint64_t at = 0, end; units->offsets.n < UNITS_MAX && at < dwarf->info.n; at = end) {
        unit_read_header(dwarf, at, &unit, &end);
        if (end <= at)
            break;
        uint64_t *offset = vector_push(&units->offsets);
        if (!offset)
            return -ENOMEM;
        *offset = at;
    }
    return 0;
}

struct claim {
    struct dwarf *dwarf;
    uint64_t unit;
    uint64_t left; /* bytes of lists and programs that may yet be read: many units with the same are damage */
};

static int claim_sequence(void *context, uint64_t low, uint64_t high)
{
    const struct claim *claim = context;

    return add_range(claim->dwarf, low, high, claim->unit);
}

/* What the unit says of its code itself. */
static int claim_code(struct claim *claim)
{
    struct dwarf *dwarf = claim->dwarf;
    struct unit unit;
    struct ranges ranges;
    uint64_t end, low, high, used = 0;
    int rc = 0;

    if (unit_read(dwarf, claim->unit, &unit, &end) < 0 ||
        (unit.type != UNIT_COMPILE && unit.type != UNIT_SKELETON))
        return 0;
    if (unit.has_ranges) {
        bool more = ranges_open(&ranges, &unit, unit.ranges, unit.ranges_listed);
        for (; rc == 0 && more && used < claim->left && (more = ranges_next(&ranges, &low, &high)); used++)
            rc = add_range(dwarf, low, high, claim->unit);
    } else if (unit.has_code) {
        rc = add_range(dwarf, unit.low, unit.high, claim->unit);
    } else if (unit.has_lines && claim->left) {
        used = line_bytes(&unit);
        rc = line_sequences(&unit, claim_sequence, claim);
    }
    claim->left -= used < claim->left ? used : claim->left;
    return rc;
}

int units_complete(struct dwarf *dwarf)
{
    struct units *units = &dwarf->units;
    struct claim claim = {dwarf, 0, 65536 + 4 * (dwarf->ranges.n + dwarf->rnglists.n + dwarf->line.n)};

    if (units->all)
        return 0;
    int rc = units->offsets.n ? 0 : list_offsets(dwarf);
    for (size_t i = 0; rc == 0 && i < units->offsets.n; i++) {
        claim.unit = units->offsets.items[i];
        rc = claim_code(&claim);
    }
    sort_ranges(units);
    units->all = rc == 0;
    return rc;
}

uint64_t units_find(const struct units *units, uint64_t address, uint64_t *ret_end)
{
    size_t from = 0, to = units->ranges.n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (units->ranges.items[middle].low <= address)
            from = middle + 1;
        else
            to = middle;
    }
    *ret_end = from < units->ranges.n ? units->ranges.items[from].low : UINT64_MAX;
    /* Ranges hardly ever overlap; a few are looked at in case they do. */
    for (size_t i = from, looked = 0; i > 0 && looked < 16; i--, looked++) {
        const struct unit_range *range = &units->ranges.items[i - 1];
        if (address < range->high) {
            *ret_end = range->high < *ret_end ? range->high : *ret_end;
            return range->unit;
        }
    }
    return UINT64_MAX;
}

int units_of_offset(struct dwarf *dwarf, uint64_t offset, struct unit *ret)
{
    struct units *units = &dwarf->units;
    uint64_t unit = UINT64_MAX, end;

    pthread_mutex_lock(&units->lock);
    int rc = units->offsets.n ? 0 : list_offsets(dwarf);
    size_t from = 0, to = units->offsets.n;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (units->offsets.items[middle] <= offset)
            from = middle + 1;
        else
            to = middle;
    }
    if (from)
        unit = units->offsets.items[from - 1];
    pthread_mutex_unlock(&units->lock);
    if (rc < 0)
        return rc;
    rc = unit == UINT64_MAX ? -ENOENT : unit_read(dwarf, unit, ret, &end);
    if (rc == 0 && offset >= ret->end)
        rc = -ENOENT;
    return rc == -ENOMEM ? rc : rc < 0 ? -ENOENT : 0;
}

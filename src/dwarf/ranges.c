#include "dwarf/ranges.h"

#include "base/cursor.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

enum {
    ENTRY_MAX = 1 + 10 + 10,

    RANGE_END = 0,
    RANGE_BASE_INDEX = 1,
    RANGE_INDEX_INDEX = 2,
    RANGE_INDEX_LENGTH = 3,
    RANGE_OFFSETS = 4,
    RANGE_BASE = 5,
    RANGE_START_END = 6,
    RANGE_START_LENGTH = 7,
};

bool ranges_open(struct ranges *ranges, const struct unit *unit, uint64_t value, bool listed)
{
    *ranges = (struct ranges){.unit = unit, .base = unit->low};
    if (unit->version < 5) {
        ranges->view = unit->old_ranges;
        ranges->at = value + (unit->file->split ? unit->ranges_base : 0);
    } else {
        ranges->view = &unit->file->rnglists;
        ranges->at = unit->rnglists_start + value;
        if (listed) {
            uint64_t at, offset = 0;
            if (__builtin_mul_overflow(value, unit->offset_bytes, &at))
                return false;
            const unsigned char *entry = view_get(ranges->view, unit->rnglists_base + at, unit->offset_bytes);
            if (!entry)
                return false;
            memcpy(&offset, entry, unit->offset_bytes);
            ranges->at = unit->rnglists_base + offset;
        }
    }
    return ranges->at < ranges->view->n;
}

static struct cursor entry_at(const struct ranges *ranges, unsigned max)
{
    uint64_t left = ranges->at < ranges->view->n ? ranges->view->n - ranges->at : 0;
    uint64_t n = left < max ? left : max;
    const unsigned char *bytes = n ? view_get(ranges->view, ranges->at, n) : NULL;

    return cursor_of(bytes, bytes ? (size_t)n : 0);
}

static uint64_t read_address(struct cursor *c, const struct unit *unit)
{
    return unit->address_bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

static uint64_t read_indexed(struct cursor *c, const struct unit *unit)
{
    uint64_t address = 0;

    if (!indexed_address(unit, cursor_uleb(c), &address))
        c->bad = true;
    return address;
}

static bool next_old(struct ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
    const struct unit *unit = ranges->unit;
    uint64_t ones = unit->address_bytes == 8 ? UINT64_MAX : UINT32_MAX;

    for (;;) {
        struct cursor c = entry_at(ranges, 16);
        uint64_t low = read_address(&c, unit), high = read_address(&c, unit);
        if (c.bad || (low == 0 && high == 0))
            return false;
        ranges->at += 2u * unit->address_bytes;
        if (low == ones) {
            ranges->base = high;
        } else if (low < high &&
                   ranges->base + low < ranges->base + high) { /* not round the end of all addresses */
            *ret_low = ranges->base + low;
            *ret_high = ranges->base + high;
            return true;
        }
    }
}

static bool next_new(struct ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
    const struct unit *unit = ranges->unit;

    for (;;) {
        struct cursor c = entry_at(ranges, ENTRY_MAX);
        const unsigned char *begin = c.at;
        uint64_t low = 0, high = 0;
        switch (cursor_u8(&c)) {
        case RANGE_BASE_INDEX:
            ranges->base = read_indexed(&c, unit);
            break;
        case RANGE_INDEX_INDEX:
            low = read_indexed(&c, unit);
            high = read_indexed(&c, unit);
            break;
        case RANGE_INDEX_LENGTH:
            low = read_indexed(&c, unit);
            high = low + cursor_uleb(&c);
            break;
        case RANGE_OFFSETS:
            low = ranges->base + cursor_uleb(&c);
            high = ranges->base + cursor_uleb(&c);
            break;
        case RANGE_BASE:
            ranges->base = read_address(&c, unit);
            break;
        case RANGE_START_END:
            low = read_address(&c, unit);
            high = read_address(&c, unit);
            break;
        case RANGE_START_LENGTH:
            low = read_address(&c, unit);
            high = low + cursor_uleb(&c);
            break;
        default: /* RANGE_END, and what is not known */
            return false;
        }
        if (c.bad)
            return false;
        ranges->at += (uint64_t)(c.at - begin);
        if (low < high) {
            *ret_low = low;
            *ret_high = high;
            return true;
        }
    }
}

bool ranges_next(struct ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
    return ranges->unit->version < 5 ? next_old(ranges, ret_low, ret_high)
                                     : next_new(ranges, ret_low, ret_high);
}

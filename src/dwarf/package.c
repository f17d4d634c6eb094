#include "dwarf/package.h"

#include "base/cursor.h"

#include <errno.h>

enum {
    COLUMNS_MAX = 16,
    INDEX_MAX = 1 << 28,

    SECTION_INFO = 1,
    SECTION_ABBREV = 3,
    SECTION_STR_OFFSETS = 6,
    SECTION_RNGLISTS = 8, /* of DWARF 5; before, that number is another section's */
};

struct header {
    uint32_t version, columns, units, slots;
    struct cursor ids, rows, sections, offsets;
};

static bool read_header(struct cursor *c, struct header *ret)
{
    struct header h = {.version = cursor_u32(c) & 0xffff}; /* 2, or 5 and 16 bits of padding */

    h.columns = cursor_u32(c);
    h.units = cursor_u32(c);
    h.slots = cursor_u32(c);
    if (c->bad || (h.version != 2 && h.version != 5) || h.columns == 0 || h.columns > COLUMNS_MAX)
        return false;
    uint64_t row = (uint64_t)h.columns * 4;
    const unsigned char *ids = cursor_bytes(c, (uint64_t)h.slots * 8),
                        *rows = cursor_bytes(c, (uint64_t)h.slots * 4), *sections = cursor_bytes(c, row),
                        *offsets = cursor_bytes(c, (uint64_t)h.units * row);
    if (c->bad)
        return false;
    h.ids = cursor_of(ids, (size_t)h.slots * 8);
    h.rows = cursor_of(rows, (size_t)h.slots * 4);
    h.sections = cursor_of(sections, (size_t)row);
    h.offsets = cursor_of(offsets, (size_t)(h.units * row));
    *ret = h;
    return true;
}

static struct package_unit read_row(const struct header *h, uint64_t id, uint32_t row)
{
    struct package_unit unit = {.id = id};
    struct cursor sections = h->sections, at = h->offsets;

    cursor_bytes(&at, (uint64_t)(row - 1) * h->columns * 4);
    for (uint32_t i = 0; i < h->columns; i++) {
        uint32_t section = cursor_u32(&sections), offset = cursor_u32(&at);
        if (section == SECTION_INFO)
            unit.info = offset;
        else if (section == SECTION_ABBREV)
            unit.abbrev = offset;
        else if (section == SECTION_STR_OFFSETS)
            unit.str_offsets = offset;
        else if (section == SECTION_RNGLISTS && h->version == 5)
            unit.rnglists = offset;
    }
    return unit;
}

static int by_info(const void *a, const void *b)
{
    const struct package_unit *x = a, *y = b;

    return (x->info > y->info) - (x->info < y->info);
}

int package_open(struct package *package, struct view *index)
{
    const unsigned char *bytes = index->n && index->n <= INDEX_MAX ? view_get(index, 0, index->n) : NULL;
    struct cursor c = cursor_of(bytes, bytes ? (size_t)index->n : 0);
    struct header h;

    if (index->n == 0)
        return 0;
    if (!read_header(&c, &h))
        return -EBADMSG;
    for (uint32_t i = 0; i < h.slots; i++) {
        uint64_t id = cursor_u64(&h.ids);
        uint32_t row = cursor_u32(&h.rows);
        if (row == 0 || row > h.units)
            continue;
        struct package_unit *unit = vector_push(&package->units);
        if (!unit)
            return -ENOMEM;
        *unit = read_row(&h, id, row);
    }
    if (package->units.n)
        qsort(package->units.items, package->units.n, sizeof *package->units.items, by_info);
    for (size_t i = 0; i < package->units.n; i++)
        if (table_put(&package->by_id, package->units.items[i].id, (uint32_t)i) < 0)
            return -ENOMEM;
    return 0;
}

void package_close(struct package *package)
{
    vector_free(&package->units);
    table_free(&package->by_id);
}

const struct package_unit *package_find(const struct package *package, uint64_t id)
{
    uint32_t i = table_get(&package->by_id, id);

    return i == TABLE_NONE ? NULL : &package->units.items[i];
}

const struct package_unit *package_at(const struct package *package, uint64_t info)
{
    size_t from = 0, to = package->units.n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (package->units.items[middle].info <= info)
            from = middle + 1;
        else
            to = middle;
    }
    return from ? &package->units.items[from - 1] : NULL;
}

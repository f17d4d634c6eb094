#include "dwarf/unit.h"

#include "dwarf/abbrev.h"
#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>

enum { HEADER_MAX = 4 + 8 + 2 + 1 + 1 + 8 + 8 + 8, LANGUAGE_GO = 0x16 };

static uint64_t read_offset(struct cursor *c, const struct unit *unit)
{
    return unit->offset_bytes == 8 ? cursor_u64(c) : cursor_u32(c);
}

int unit_read_header(struct dwarf *file, uint64_t offset, struct unit *ret, uint64_t *ret_end)
{
    struct unit unit = {.file = file, .offset = offset, .offset_bytes = 4, .type = UNIT_COMPILE};
    uint64_t left = offset < file->info.n ? file->info.n - offset : 0;
    size_t n = left < HEADER_MAX ? (size_t)left : HEADER_MAX;
    const unsigned char *bytes = n ? view_get(&file->info, offset, n) : NULL;

    *ret_end = 0;
    if (!bytes)
        return -EBADMSG;
    struct cursor c = cursor_of(bytes, n);
    uint64_t length = cursor_u32(&c);
    if (length == 0xffffffff) {
        unit.offset_bytes = 8;
        length = cursor_u64(&c);
    }
    uint64_t before = (uint64_t)(c.at - bytes);
    if (c.bad || length > left - before || length < 7)
        return -EBADMSG;
    *ret_end = unit.end = offset + before + length;
    uint16_t version = cursor_u16(&c);
    if (version < 2 || version > 5)
        return -EBADMSG;
    unit.version = (uint8_t)version;
    if (version >= 5) {
        unit.type = cursor_u8(&c);
        unit.address_bytes = cursor_u8(&c);
        unit.abbrevs = read_offset(&c, &unit);
    } else {
        unit.abbrevs = read_offset(&c, &unit);
        unit.address_bytes = cursor_u8(&c);
    }
    if (unit.type == UNIT_SKELETON || unit.type == UNIT_SPLIT_COMPILE)
        unit.split_id = cursor_u64(&c);
    if (unit.type == UNIT_TYPE || unit.type == UNIT_SPLIT_TYPE)
        cursor_bytes(&c, 8u + unit.offset_bytes);
    unit.die = offset + (uint64_t)(c.at - bytes);
    if (c.bad || unit.die > unit.end || (unit.address_bytes != 8 && unit.address_bytes != 4))
        return -EBADMSG;
    const struct package_unit *part = file->split ? package_at(&file->package, offset) : NULL;
    if (part) {
        unit.abbrevs += part->abbrev;
        unit.str_offsets_start = part->str_offsets;
        unit.rnglists_start = part->rnglists;
    }
    unit.code_low = file->code_low;
    unit.code_high = file->code_high;
    unit.addresses = &file->addr;
    unit.old_ranges = &file->ranges;
    *ret = unit;
    return 0;
}

/* Languages in which no code lies below a type's DIE. */
static bool is_shallow(uint64_t language)
{
    switch (language) {
    case 0x0001: /* C89 */
    case 0x0002: /* C */
    case 0x0004: /* C++ */
    case 0x000c: /* C99 */
    case 0x0019: /* C++03, 11 */
    case 0x001a:
    case 0x001d: /* C11 */
    case 0x0021: /* C++14, 17, 20 */
    case 0x002b:
    case 0x002e:
    case 0x002c: /* C17 */
    case 0x8001: /* assembler */
        return true;
    default:
        return false;
    }
}

/* What the root's attributes say, still in their forms: bases may come behind what needs them. */
struct root {
    struct value low, high, ranges, name, directory, split;
    uint64_t language;
};

static void take(struct unit *unit, struct root *root, uint64_t attribute, const struct value *value)
{
    switch (attribute) {
    case AT_NAME:
        root->name = *value;
        break;
    case AT_STATEMENTS:
        unit->statements = value->n;
        unit->has_lines = true;
        break;
    case AT_LOW_PC:
        root->low = *value;
        break;
    case AT_HIGH_PC:
        root->high = *value;
        break;
    case AT_RANGES:
        root->ranges = *value;
        break;
    case AT_LANGUAGE:
        root->language = value->n;
        break;
    case AT_DIRECTORY:
        root->directory = *value;
        break;
    case AT_STR_OFFSETS_BASE:
        unit->str_offsets_base = value->n;
        break;
    case AT_ADDR_BASE:
    case AT_GNU_ADDR_BASE:
        unit->addr_base = value->n;
        break;
    case AT_RNGLISTS_BASE:
        unit->rnglists_base = value->n;
        break;
    case AT_GNU_RANGES_BASE:
        unit->ranges_base = value->n;
        break;
    case AT_DWO_NAME:
    case AT_GNU_DWO_NAME:
        root->split = *value;
        break;
    case AT_GNU_DWO_ID:
        unit->split_id = value->n;
        break;
    default:
        break;
    }
}

/* 0; -EBADMSG: the bytes ended, and more may help, or they make no sense. */
static int read_attributes(struct unit *unit, const unsigned char *bytes, size_t n, struct root *root)
{
    struct cursor c = cursor_of(bytes, n), specs;
    uint64_t code = cursor_uleb(&c), tag;
    int rc = abbrev_find(unit, code, &tag, &specs);

    if (rc < 0)
        return rc;
    if (tag != TAG_COMPILE_UNIT && tag != TAG_PARTIAL_UNIT && tag != TAG_SKELETON_UNIT &&
        tag != TAG_TYPE_UNIT)
        return -EBADMSG;
    if (tag == TAG_PARTIAL_UNIT) /* up to version 4 the header does not tell */
        unit->type = UNIT_PARTIAL;
    for (struct spec spec; spec_next(&specs, &spec);) {
        struct value value;
        if (!form_read(&c, unit, spec.form, spec.implicit, &value))
            return -EBADMSG;
        take(unit, root, spec.attribute, &value);
    }
    return specs.bad ? -EBADMSG : 0;
}

static void settle_code(struct unit *unit, const struct root *root)
{
    unit->has_code = root->low.form && value_address(unit, &root->low, &unit->low);
    if (root->ranges.form) {
        unit->has_code = unit->has_ranges = true;
        unit->ranges = root->ranges.n;
        unit->ranges_listed = root->ranges.form == FORM_RNGLISTX;
    } else if (unit->has_code && root->high.form) {
        unit->high = unit->low + root->high.n;
        if (!form_is_number(root->high.form) && !value_address(unit, &root->high, &unit->high))
            unit->has_code = false;
    } else {
        unit->has_code = false; /* low_pc alone is but a base */
    }
}

int unit_read_root(struct unit *unit, const struct unit *skeleton)
{
    struct root root;
    uint64_t whole = unit->end - unit->die, n = whole < 256 ? whole : 256;
    bool split = unit->file->split;

    for (int rc;; n = n * 8 < whole ? n * 8 : whole) {
        struct unit read = *unit;
        root = (struct root){.language = 0};
        if (split) { /* a .dwo has one table of each, from version 5 on behind its header */
            bool header = unit->version >= 5, wide = unit->offset_bytes == 8;
            read.str_offsets_base = unit->str_offsets_start + (!header ? 0 : wide ? 16 : 8);
            read.rnglists_base = unit->rnglists_start + (!header ? 0 : wide ? 20 : 12);
        }
        const unsigned char *bytes = n ? view_get(&unit->file->info, unit->die, n) : NULL;
        rc = bytes ? read_attributes(&read, bytes, (size_t)n, &root) : -EBADMSG;
        if (rc == 0) {
            *unit = read;
            break;
        }
        if (rc != -EBADMSG || n == whole)
            return rc;
    }
    if (skeleton) {
        unit->code_low = skeleton->code_low;
        unit->code_high = skeleton->code_high;
        unit->addresses = skeleton->addresses;
        unit->old_ranges = skeleton->old_ranges;
        unit->addr_base = skeleton->addr_base;
        unit->ranges_base = skeleton->ranges_base;
        unit->low = skeleton->low;
        unit->directory = skeleton->directory;
    } else {
        settle_code(unit, &root);
        unit->directory = value_text(unit, &root.directory);
        unit->split = value_text(unit, &root.split);
    }
    unit->name = value_text(unit, &root.name);
    unit->deep = !is_shallow(root.language);
    unit->loose = root.language == LANGUAGE_GO;
    return 0;
}

int unit_read(struct dwarf *file, uint64_t offset, struct unit *ret, uint64_t *ret_end)
{
    struct unit unit;
    int rc = unit_read_header(file, offset, &unit, ret_end);

    if (rc == 0)
        rc = unit_read_root(&unit, NULL);
    if (rc == 0)
        *ret = unit;
    return rc;
}

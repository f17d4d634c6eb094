#include "dwarf/form.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"

static uint64_t read_bytes(struct cursor *c, unsigned n)
{
    uint64_t value = 0;
    const unsigned char *at = cursor_bytes(c, n);

    if (at && n <= 8)
        memcpy(&value, at, n);
    return value;
}

int form_bytes(const struct unit *unit, uint64_t form)
{
    switch (form) {
    case FORM_FLAG_PRESENT:
    case FORM_IMPLICIT_CONST:
        return 0;
    case FORM_DATA1:
    case FORM_FLAG:
    case FORM_REF1:
    case FORM_STRX1:
    case FORM_ADDRX1:
        return 1;
    case FORM_DATA2:
    case FORM_REF2:
    case FORM_STRX2:
    case FORM_ADDRX2:
        return 2;
    case FORM_STRX3:
    case FORM_ADDRX3:
        return 3;
    case FORM_DATA4:
    case FORM_REF4:
    case FORM_REF_SUP4:
    case FORM_STRX4:
    case FORM_ADDRX4:
        return 4;
    case FORM_DATA8:
    case FORM_REF8:
    case FORM_REF_SIG8:
    case FORM_REF_SUP8:
        return 8;
    case FORM_DATA16:
        return 16;
    case FORM_ADDR:
        return unit->address_bytes;
    case FORM_REF_ADDR:
        return unit->version <= 2 ? unit->address_bytes : unit->offset_bytes;
    case FORM_STRP:
    case FORM_LINE_STRP:
    case FORM_STRP_SUP:
    case FORM_SEC_OFFSET:
    case FORM_GNU_REF_ALT:
    case FORM_GNU_STRP_ALT:
        return unit->offset_bytes;
    case FORM_BLOCK:
    case FORM_BLOCK1:
    case FORM_BLOCK2:
    case FORM_BLOCK4:
    case FORM_EXPRLOC:
    case FORM_STRING:
    case FORM_SDATA:
    case FORM_UDATA:
    case FORM_REF_UDATA:
    case FORM_STRX:
    case FORM_ADDRX:
    case FORM_LOCLISTX:
    case FORM_RNGLISTX:
    case FORM_GNU_ADDR_INDEX:
    case FORM_GNU_STR_INDEX:
    case FORM_INDIRECT:
        return -1;
    default:
        return -2;
    }
}

bool form_is_number(uint32_t form)
{
    return form == FORM_DATA1 || form == FORM_DATA2 || form == FORM_DATA4 || form == FORM_DATA8 ||
           form == FORM_UDATA || form == FORM_SDATA || form == FORM_IMPLICIT_CONST;
}

static uint64_t skip_block(struct cursor *c, uint64_t n)
{
    cursor_bytes(c, n);
    return n;
}

bool form_read(struct cursor *c, const struct unit *unit, uint64_t form, int64_t implicit, struct value *ret)
{
    struct value value = {.form = (uint32_t)form};

    for (unsigned i = 0; form == FORM_INDIRECT && i < 4; i++)
        value.form = (uint32_t)(form = cursor_uleb(c));
    int fixed = form_bytes(unit, form);
    if (fixed > 0)
        value.n = read_bytes(c, (unsigned)fixed);
    else
        switch (form) {
        case FORM_FLAG_PRESENT:
            value.n = 1;
            break;
        case FORM_IMPLICIT_CONST:
            value.n = (uint64_t)implicit;
            break;
        case FORM_STRING:
            value.text = cursor_text(c);
            break;
        case FORM_SDATA:
            value.n = (uint64_t)cursor_sleb(c);
            break;
        case FORM_BLOCK1:
            value.n = skip_block(c, cursor_u8(c));
            break;
        case FORM_BLOCK2:
            value.n = skip_block(c, cursor_u16(c));
            break;
        case FORM_BLOCK4:
            value.n = skip_block(c, cursor_u32(c));
            break;
        case FORM_BLOCK:
        case FORM_EXPRLOC:
            value.n = skip_block(c, cursor_uleb(c));
            break;
        default:
            if (fixed != -1 || form == FORM_INDIRECT)
                return false;
            value.n = cursor_uleb(c);
            break;
        }
    *ret = value;
    return !c->bad;
}

/* The n-th entry, of `bytes` each, of a table that begins at `base`. */
static bool table_entry(struct view *view, uint64_t base, uint64_t n, unsigned bytes, uint64_t *ret)
{
    uint64_t at;

    if (__builtin_mul_overflow(n, bytes, &at) || __builtin_add_overflow(at, base, &at))
        return false;
    const unsigned char *entry = view_get(view, at, bytes);
    if (!entry)
        return false;
    *ret = 0;
    memcpy(ret, entry, bytes);
    return true;
}

const char *value_text(const struct unit *unit, const struct value *value)
{
    struct dwarf *file = unit->file;
    uint64_t offset;

    switch (value->form) {
    case FORM_STRING:
        return value->text;
    case FORM_STRP:
        return view_text(&file->str, value->n);
    case FORM_LINE_STRP:
        return view_text(&file->line_str, value->n);
    case FORM_STRP_SUP:
    case FORM_GNU_STRP_ALT:
        return file->alt ? view_text(&file->alt->str, value->n) : NULL;
    case FORM_STRX:
    case FORM_STRX1:
    case FORM_STRX2:
    case FORM_STRX3:
    case FORM_STRX4:
    case FORM_GNU_STR_INDEX:
        return table_entry(&file->str_offsets, unit->str_offsets_base, value->n, unit->offset_bytes, &offset)
                   ? view_text(&file->str, offset)
                   : NULL;
    default:
        return NULL;
    }
}

bool indexed_address(const struct unit *unit, uint64_t n, uint64_t *ret)
{
    return table_entry(unit->addresses, unit->addr_base, n, unit->address_bytes, ret);
}

bool value_address(const struct unit *unit, const struct value *value, uint64_t *ret)
{
    switch (value->form) {
    case FORM_ADDR:
        *ret = value->n;
        return true;
    case FORM_ADDRX:
    case FORM_ADDRX1:
    case FORM_ADDRX2:
    case FORM_ADDRX3:
    case FORM_ADDRX4:
    case FORM_GNU_ADDR_INDEX:
        return indexed_address(unit, value->n, ret);
    default:
        return false;
    }
}

struct reference value_reference(const struct unit *unit, const struct value *value)
{
    switch (value->form) {
    case FORM_REF1:
    case FORM_REF2:
    case FORM_REF4:
    case FORM_REF8:
    case FORM_REF_UDATA:
        return (struct reference){unit->file, unit->offset + value->n};
    case FORM_REF_ADDR:
        return (struct reference){unit->file, value->n};
    case FORM_REF_SUP4:
    case FORM_REF_SUP8:
    case FORM_GNU_REF_ALT:
        return (struct reference){unit->file->alt, value->n};
    default:
        return (struct reference){0};
    }
}

#include "unwind/cfi.h"

#include "base/unset.h"
#include "unwind/pointer.h"

#include <errno.h>

enum {
    LETTERS_MAX = 16,    /* of an augmentation, its NUL among them: "zPLRSB" is the longest */
    STATES_MAX = 16,     /* remembered ones inside one another; compilers need two */
    STEPS_MAX = 1 << 18, /* instructions run for a row: enough for a function of megabytes */
};

/* Offset of the cursor in the section, as an address. */
static uint64_t address_of(const struct cfi_section *section, const struct cursor *c)
{
    return section->address + (uint64_t)(c->at - section->bytes);
}

/* The letters of a CIE's augmentation: "zR" and friends. */
static void augmentation(const struct cfi_section *section, struct cursor *c, const char *letters,
                         struct cfi_entry *ret)
{
    if (*letters != 'z') {
        c->bad |= *letters != '\0';
        return;
    }
    uint64_t n = cursor_uleb(c);
    const unsigned char *data = cursor_bytes(c, n);
    if (!data)
        return;
    struct cursor a = cursor_of(data, (size_t)n);
    for (letters++; *letters; letters++)
        switch (*letters) {
        case 'R':
            ret->encoding = cursor_u8(&a);
            break;
        case 'L':
            cursor_u8(&a);
            break;
        case 'P': {
            uint8_t encoding = cursor_u8(&a);
            pointer_number(&a, encoding & POINTER_FORM);
            break;
        }
        case 'S':
            ret->signal = true;
            break;
        case 'B': /* arm64: return addresses are signed with the other key */
        case 'G': /* arm64: memory tags */
            break;
        default: /* its data's size is unknown, but not all the data's */
            c->bad |= a.bad;
            return;
        }
    c->bad |= a.bad;
    (void)section;
}

/* The CIE whose length field was at `offset`. */
static int read_cie(const struct cfi_section *section, uint64_t offset, struct cfi_entry *ret)
{
    if (offset > section->n)
        return -EBADMSG;
    struct cursor c = cursor_of(section->bytes + offset, section->n - (size_t)offset);
    uint64_t length = cursor_u32(&c);
    bool wide = length == UINT32_MAX;

    if (wide)
        length = cursor_u64(&c);
    if (c.bad || length > cursor_left(&c))
        return -EBADMSG;
    c.end = c.at + length;
    uint64_t id = wide ? cursor_u64(&c) : cursor_u32(&c);
    if (id != (section->debug ? wide ? UINT64_MAX : UINT32_MAX : 0))
        return -EBADMSG;
    uint8_t version = cursor_u8(&c);
    const char *letters =
        cursor_left(&c) && memchr(c.at, 0, cursor_left(&c) < LETTERS_MAX ? cursor_left(&c) : LETTERS_MAX)
            ? cursor_text(&c)
            : NULL;
    if (!letters || c.bad || (version != 1 && version != 3 && version != 4))
        return -EBADMSG;
    if (letters[0] == 'e' && letters[1] == 'h') { /* gcc before 3.0 */
        cursor_u64(&c);
        letters += 2;
    }
    if (version == 4) {
        uint8_t address_bytes = cursor_u8(&c), selector_bytes = cursor_u8(&c);
        c.bad |= address_bytes != 8 || selector_bytes != 0;
    }
    ret->code_align = cursor_uleb(&c);
    ret->data_align = cursor_sleb(&c);
    uint64_t column = version == 1 ? cursor_u8(&c) : cursor_uleb(&c);
    ret->encoding = POINTER_NATIVE;
    ret->signal = false;
    augmentation(section, &c, letters, ret);
    if (c.bad || column >= CFI_COLUMNS)
        return -EBADMSG;
    ret->return_column = (uint32_t)column;
    ret->first = c;
    return letters[0] == 'z'; /* whether its FDEs have augmentation data */
}

int cfi_record(const struct cfi_section *section, size_t offset, struct cfi_entry *ret, size_t *next)
{
    struct cfi_entry entry = {0};

    *next = section->n;
    if (offset > section->n || section->n - offset < 4)
        return CFI_END;
    struct cursor c = cursor_of(section->bytes + offset, section->n - offset);
    uint64_t length = cursor_u32(&c);
    bool wide = length == UINT32_MAX;
    if (wide)
        length = cursor_u64(&c);
    if (c.bad || length > cursor_left(&c))
        return -EBADMSG;
    c.end = c.at + length;
    *next = (size_t)(c.end - section->bytes);
    if (length == 0) /* .eh_frame's end; some linkers leave one inside */
        return CFI_CIE;
    uint64_t here = (uint64_t)(c.at - section->bytes);
    uint64_t id = wide ? cursor_u64(&c) : cursor_u32(&c);
    if (c.bad)
        return -EBADMSG;
    if (id == (section->debug ? wide ? UINT64_MAX : UINT32_MAX : 0))
        return CFI_CIE;
    if (!section->debug && id > here)
        return -EBADMSG;
    int augmented = read_cie(section, section->debug ? id : here - id, &entry);
    if (augmented < 0)
        return augmented;
    entry.start = pointer_address(&c, entry.encoding, address_of(section, &c), 0);
    uint64_t bytes = pointer_number(&c, entry.encoding & POINTER_FORM);
    if (augmented)
        cursor_bytes(&c, cursor_uleb(&c));
    if (c.bad || bytes > UINT64_MAX - entry.start)
        return -EBADMSG;
    entry.end = entry.start + bytes;
    entry.program = c;
    *ret = entry;
    return CFI_FDE;
}

/* A program being run. */
struct run {
    const struct cfi_section *section;
    const struct cfi_entry *entry;
    struct cfi_row row, first; /* first: as the CIE leaves it */
    struct cfi_row states[STATES_MAX];
    uint32_t state_n, steps;
    uint64_t at; /* the row's address */
};

static void set(struct run *r, uint64_t column, uint8_t rule, int64_t value)
{
    if (column < CFI_COLUMNS) {
        r->row.rule[column] = rule;
        r->row.value[column] = value;
    }
}

static void restore(struct run *r, uint64_t column)
{
    if (column < CFI_COLUMNS)
        set(r, column, r->first.rule[column], r->first.value[column]);
}

/* A block's place; passes over it. */
static int64_t block(struct run *r, struct cursor *c)
{
    int64_t at = c->at - r->section->bytes;

    cursor_bytes(c, cursor_uleb(c));
    return at;
}

static void set_cfa(struct run *r, uint64_t column, int64_t offset)
{
    r->row.cfa_is_expression = false;
    r->row.cfa_column = column < CFI_COLUMNS ? (uint32_t)column : CFI_COLUMNS;
    r->row.cfa_offset = offset;
}

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* DW_CFA_… that change where the row lies: true if it was one. */
static bool advance(struct run *r, struct cursor *c, uint8_t op)
{
    switch (op) {
    case 0x01: /* set_loc */
        r->at = pointer_address(c, r->entry->encoding, address_of(r->section, c), 0);
        return true;
    case 0x02:
        r->at += cursor_u8(c) * r->entry->code_align;
        return true;
    case 0x03:
        r->at += cursor_u16(c) * r->entry->code_align;
        return true;
    case 0x04:
        r->at += cursor_u32(c) * r->entry->code_align;
        return true;
    case 0x1d: /* MIPS_advance_loc8 */
        r->at += cursor_u64(c) * r->entry->code_align;
        return true;
    default:
        if ((op & 0xc0) != 0x40)
            return false;
        r->at += (op & 0x3fu) * r->entry->code_align;
        return true;
    }
}

/* … that define the frame's address. */
static bool define_cfa(struct run *r, struct cursor *c, uint8_t op)
{
    int64_t align = r->entry->data_align;
    uint64_t column;

    switch (op) {
    case 0x0c: /* def_cfa */
        column = cursor_uleb(c);
        set_cfa(r, column, (int64_t)cursor_uleb(c));
        return true;
    case 0x12: /* def_cfa_sf */
        column = cursor_uleb(c);
        set_cfa(r, column, times(cursor_sleb(c), align));
        return true;
    case 0x0d: /* def_cfa_register */
        c->bad |= r->row.cfa_is_expression;
        set_cfa(r, cursor_uleb(c), r->row.cfa_offset);
        return true;
    case 0x0e: /* def_cfa_offset */
        c->bad |= r->row.cfa_is_expression;
        set_cfa(r, r->row.cfa_column, (int64_t)cursor_uleb(c));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        c->bad |= r->row.cfa_is_expression;
        set_cfa(r, r->row.cfa_column, times(cursor_sleb(c), align));
        return true;
    case 0x0f: /* def_cfa_expression */
        r->row.cfa_is_expression = true;
        r->row.cfa_offset = block(r, c);
        return true;
    default:
        return false;
    }
}

/* … that say where a register is. */
static bool define_register(struct run *r, struct cursor *c, uint8_t op)
{
    int64_t align = r->entry->data_align;
    uint64_t column = op & 0x3f;

    if ((op & 0xc0) == 0x80) { /* offset */
        set(r, column, CFI_OFFSET, times((int64_t)cursor_uleb(c), align));
        return true;
    }
    if ((op & 0xc0) == 0xc0) { /* restore */
        restore(r, column);
        return true;
    }
    if (op < 0x05 || (op > 0x11 && op < 0x14) || (op > 0x16 && op != 0x2f))
        return false;
    column = cursor_uleb(c);
    switch (op) {
    case 0x05: /* offset_extended */
        set(r, column, CFI_OFFSET, times((int64_t)cursor_uleb(c), align));
        return true;
    case 0x06: /* restore_extended */
        restore(r, column);
        return true;
    case 0x07:
        set(r, column, CFI_UNDEFINED, 0);
        return true;
    case 0x08:
        set(r, column, CFI_SAME, 0);
        return true;
    case 0x09: /* register */
        set(r, column, CFI_REGISTER, (int64_t)cursor_uleb(c));
        return true;
    case 0x10: /* expression */
        set(r, column, CFI_EXPRESSION, block(r, c));
        return true;
    case 0x11: /* offset_extended_sf */
        set(r, column, CFI_OFFSET, times(cursor_sleb(c), align));
        return true;
    case 0x14: /* val_offset */
        set(r, column, CFI_VALUE_OFFSET, times((int64_t)cursor_uleb(c), align));
        return true;
    case 0x15: /* val_offset_sf */
        set(r, column, CFI_VALUE_OFFSET, times(cursor_sleb(c), align));
        return true;
    case 0x16: /* val_expression */
        set(r, column, CFI_VALUE_EXPRESSION, block(r, c));
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        set(r, column, CFI_OFFSET, times(times((int64_t)cursor_uleb(c), align), -1)); /* it wraps */
        return true;
    default:
        return false;
    }
}

static void other(struct run *r, struct cursor *c, uint8_t op)
{
    switch (op) {
    case 0x00: /* nop */
    case 0x2c: /* AARCH64_negate_ra_state_with_pc, */
    case 0x2d: /* AARCH64_negate_ra_state: return addresses are stripped of what signs them, always */
        return;
    case 0x0a: /* remember_state */
        if (r->state_n < STATES_MAX) {
            r->states[r->state_n++] = r->row;
            return;
        }
        break;
    case 0x0b: /* restore_state */
        if (r->state_n > 0) {
            r->row = r->states[--r->state_n];
            return;
        }
        break;
    case 0x2e: /* GNU_args_size */
        cursor_uleb(c);
        return;
    default:
        break;
    }
    c->bad = true;
}

/* Runs until the row behind `until` begins. */
static int run(struct run *r, struct cursor c, uint64_t until)
{
    while (cursor_left(&c) && !c.bad) {
        uint8_t op = cursor_u8(&c);
        if (++r->steps > STEPS_MAX)
            return -EBADMSG;
        if (advance(r, &c, op)) {
            if (r->at > until)
                break;
            continue;
        }
        /* offset and restore share their upper bits with nothing; 0x0c … 0x0f, 0x12, 0x13 are the frame's */
        if (op >= 0x0c && op <= 0x13 && define_cfa(r, &c, op))
            continue;
        if (op != 0x0a && op != 0x0b && define_register(r, &c, op))
            continue;
        other(r, &c, op);
    }
    return c.bad ? -EBADMSG : 0;
}

int cfi_row(const struct cfi_section *section, const struct cfi_entry *entry, uint64_t address,
            struct cfi_row *ret)
{
    UNSET struct run r; /* of its states as many are read as were written */

    r.section = section;
    r.entry = entry;
    r.at = entry->start;
    r.state_n = r.steps = 0;
    r.row = (struct cfi_row){.cfa_column = CFI_COLUMNS};
    r.first = r.row;
    int rc = run(&r, entry->first, UINT64_MAX);
    if (rc < 0)
        return rc;
    r.first = r.row;
    r.at = entry->start;
    rc = run(&r, entry->program, address);
    if (rc == 0 && !r.row.cfa_is_expression && r.row.cfa_column >= CFI_COLUMNS)
        rc = -EBADMSG;
    if (rc == 0)
        *ret = r.row;
    return rc;
}

struct cursor cfi_block(const struct cfi_section *section, int64_t at)
{
    if (at < 0 || (uint64_t)at > section->n)
        return (struct cursor){.bad = true};
    struct cursor c = cursor_of(section->bytes + at, section->n - (size_t)at);
    uint64_t n = cursor_uleb(&c);
    const unsigned char *bytes = cursor_bytes(&c, n);
    return bytes ? cursor_of(bytes, (size_t)n) : (struct cursor){.bad = true};
}

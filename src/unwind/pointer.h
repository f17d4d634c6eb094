/*
 * Pointers as .eh_frame and .eh_frame_hdr encode them (DW_EH_PE_…): a byte says their form and to what they are
 * relative. What asks for the program's own memory (indirect, or relative to text or function) is not for us.
 */
#ifndef UNWIND_POINTER_H
#define UNWIND_POINTER_H

#include "base/cursor.h"

enum {
    POINTER_OMIT = 0xff,
    POINTER_FORM = 0x0f,
    POINTER_RELATIVE = 0x70,
    POINTER_INDIRECT = 0x80,

    POINTER_NATIVE = 0x00,
    POINTER_ULEB = 0x01,
    POINTER_U16 = 0x02,
    POINTER_U32 = 0x03,
    POINTER_U64 = 0x04,
    POINTER_SLEB = 0x09,
    POINTER_S16 = 0x0a,
    POINTER_S32 = 0x0b,
    POINTER_S64 = 0x0c,

    POINTER_ABSOLUTE = 0x00,
    POINTER_TO_ITSELF = 0x10,
    POINTER_TO_DATA = 0x30,
};

/* The plain number; an unknown form makes the cursor bad. */
static inline uint64_t pointer_number(struct cursor *c, uint8_t encoding)
{
    switch (encoding & POINTER_FORM) {
    case POINTER_NATIVE:
    case POINTER_U64:
    case POINTER_S64:
        return cursor_u64(c);
    case POINTER_ULEB:
        return cursor_uleb(c);
    case POINTER_U16:
        return cursor_u16(c);
    case POINTER_U32:
        return cursor_u32(c);
    case POINTER_SLEB:
        return (uint64_t)cursor_sleb(c);
    case POINTER_S16:
        return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
    case POINTER_S32:
        return (uint64_t)(int64_t)cursor_i32(c);
    default:
        c->bad = true;
        return 0;
    }
}

/* The address it means: `itself` is the address of the pointer's first byte, `data` the base for those that are
 * relative to data. */
static inline uint64_t pointer_address(struct cursor *c, uint8_t encoding, uint64_t itself, uint64_t data)
{
    uint64_t number = pointer_number(c, encoding);

    switch (encoding & (POINTER_RELATIVE | POINTER_INDIRECT)) {
    case POINTER_ABSOLUTE:
        return number;
    case POINTER_TO_ITSELF:
        return number + itself;
    case POINTER_TO_DATA:
        return number + data;
    default:
        c->bad = true;
        return 0;
    }
}

#endif

/*
 * Records of a machine of the other byte order, turned in place into this one's. Each field turns by its own width: two
 * halves of a word stay where they are, texts and copied memory are left alone.
 */
#ifndef RECORD_SWAP_H
#define RECORD_SWAP_H

#include "record/layout.h"

#include "base/cursor.h"

/* Turns n items of a width of 2, 4 or 8 bytes at the cursor, and passes them; what is not there makes the cursor bad. */
void swap_items(struct cursor *c, uint64_t n, unsigned width);

/* An attr of so many bytes, with the bits of its flags, which such a machine counts from the other end. */
void swap_attr(const unsigned char *attr, size_t n);

/* The header alone: it comes first, and says how long the record is. */
static inline void swap_header(struct perf_header *header)
{
    header->type = __builtin_bswap32(header->type);
    header->misc = __builtin_bswap16(header->misc);
    header->size = __builtin_bswap16(header->size);
}

/* The id of a record whose header was turned, as layout_id(). */
int swap_id(const struct layout *any, const struct perf_header *header, uint64_t *ret);

/* The body of a kernel's record whose header was turned. `layout`: its event's, NULL: unknown. A record that is shorter than
 * it should be is turned as far as it goes: its decoder refuses it. */
void swap_record(const struct layout *layout, struct perf_header *header);

#endif

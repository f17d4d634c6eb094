/*
 * A tracepoint's format, as tracefs writes it: text → table of fields. Pure: names and types point into the text.
 *
 *     name: sched_switch
 *     ID: 372
 *     format:
 *             field:unsigned short common_type;       offset:0;       size:2; signed:0;
 *             field:char prev_comm[16];       offset:8;       size:16;        signed:0;
 *             field:__data_loc char[] name;   offset:8;       size:4; signed:0;
 *
 *     print fmt: "…", …
 */
#ifndef RECORD_FORMAT_H
#define RECORD_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum format_kind {
    FORMAT_PLAIN,    /* a number of `size` bytes */
    FORMAT_ARRAY,    /* `size` bytes in place; text where the type is char */
    FORMAT_DYNAMIC,  /* __data_loc: 32 bits, offset | length << 16, from the payload's beginning */
    FORMAT_RELATIVE, /* __rel_loc: the same from behind these 32 bits */
};

struct format_field {
    const char *name, *type;
    uint32_t name_n, type_n; /* bytes of each */
    uint32_t offset, size;   /* in the payload */
    uint32_t kind;           /* enum format_kind */
    bool is_signed;
    bool is_text;   /* chars */
    bool is_common; /* common_type …: of every tracepoint */
};

/* The n bytes of a format: its fields, at most `max`, in their order. How many there are, or -EBADMSG. */
int format_parse(const char *text, size_t n, struct format_field *ret, size_t max, uint64_t *ret_id);

/* The field of that name, or NULL. */
const struct format_field *format_find(const struct format_field *fields, size_t n, const char *name);

#endif

/*
 * Records that only a dump shows, decoded by a table of their fields: throttling, AUX, switches, namespaces,
 * kernel symbols, BPF programs, cgroups, patched code, deferred chains. The kernel's struct stands above each
 * row in fields.c.
 */
#ifndef EXPORT_FIELDS_H
#define EXPORT_FIELDS_H

#include <reckon/record.h>

enum field_kind {
    FIELD_END,
    FIELD_U16,
    FIELD_U32,
    FIELD_U64,
    FIELD_ID16,  /* a number of 16 bits that is a set of bits: shown in hex */
    FIELD_HEX,   /* an address, 64 bits */
    FIELD_TEXT,  /* up to its NUL */
    FIELD_TAG,   /* 8 bytes */
    FIELD_BYTES, /* as many as the two 16-bit numbers before it say together */
    FIELD_WORDS, /* a count, then so many addresses */
    FIELD_LINKS, /* a count, then so many pairs of numbers: device, inode */
};

/* One field as it was found. */
struct field {
    const char *name;
    enum field_kind kind;
    uint64_t number;            /* the numbers */
    const char *text;           /* FIELD_TEXT */
    const unsigned char *bytes; /* TAG, BYTES; WORDS and LINKS: 64-bit words */
    uint64_t n;                 /* of bytes; of words; of pairs */
};

#define FIELDS_MAX 6

/* Fills ret[FIELDS_MAX] and returns how many; -ENOENT for a type that has no row, -EBADMSG where the bytes
 * don't hold what the type says. *ret_ids: the body begins with pid and tid, which are not among the
 * fields. */
int fields_decode(const struct rk_record *record, struct field *ret, int *ret_ids);

/* The index-th 64-bit word of bytes, which need not be aligned. */
uint64_t fields_word(const unsigned char *bytes, uint64_t index);

#endif

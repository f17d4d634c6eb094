/*
 * Call frame tables made by hand, byte by byte.
 */
#ifndef TABLE_BYTES_H
#define TABLE_BYTES_H

#include "unwind/cfi.h"

#include "../fixture.h"

struct bytes {
    unsigned char at[4096];
    size_t n;
};

__attribute__((unused)) static void put(struct bytes *b, const void *from, size_t n)
{
    assert_true(b->n + n <= sizeof b->at);
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

#define PUT(b, ...) \
    put((b), (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__}))

__attribute__((unused)) static void put_u32(struct bytes *b, uint32_t value)
{
    put(b, &value, 4);
}

__attribute__((unused)) static void put_u64(struct bytes *b, uint64_t value)
{
    put(b, &value, 8);
}

/* Starts a record; end_record() writes its length. */
__attribute__((unused)) static size_t start_record(struct bytes *b)
{
    put_u32(b, 0);
    return b->n;
}

__attribute__((unused)) static void end_record(struct bytes *b, size_t start)
{
    uint32_t n = (uint32_t)(b->n - start);
    memcpy(b->at + start - 4, &n, 4);
}

/* x86-64's usual CIE: code 1, data -8, return column 16, "zR" with pointers relative to themselves in 4 bytes; CFA =
 * rsp + 8, return address at CFA - 8. `letters` may add to it. */
__attribute__((unused)) static size_t put_cie(struct bytes *b, const char *letters)
{
    size_t at = b->n, start = start_record(b);
    put_u32(b, 0);
    PUT(b, 1);
    put(b, letters, strlen(letters) + 1);
    PUT(b, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1);
    end_record(b, start);
    return at;
}

/* An FDE of that CIE for [from, from + n), in a section at address 0. */
__attribute__((unused)) static size_t put_fde(struct bytes *b, size_t cie, uint32_t from, uint32_t n,
                                              const void *program, size_t program_n)
{
    size_t at = b->n, start = start_record(b);
    put_u32(b, (uint32_t)(b->n - cie));
    put_u32(b, from - (uint32_t)b->n);
    put_u32(b, n);
    PUT(b, 0);
    put(b, program, program_n);
    end_record(b, start);
    return at;
}

#endif

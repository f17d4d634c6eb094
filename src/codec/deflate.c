/*
 * A gzip member is ten bytes of header, deflate blocks, CRC-32 and the length modulo 2^32.
 */
#include "codec/deflate.h"

#include "sys/library.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define GZIP_HEADER 10u
#define GZIP_TRAILER 8u
#define STORED_MOST 65535u /* bytes of a block that is not compressed */
#define LEVEL 6

/* libdeflate, or NULL: asked for once by each call, since loading it may fail at any time. */
static void *deflate(void)
{
    return sys_library("libdeflate.so.0");
}

/* A function of it, or NULL. POSIX: its address comes as an object's. */
static void *function(void *library, const char *name)
{
    return library ? sys_library_function(library, name) : NULL;
}

int zlib_decode(const void *from, size_t n, void *to, size_t room)
{
    void *(*start)(void);
    int (*run)(void *decoder, const void *in, size_t in_n, void *out, size_t out_n, size_t *ret_n);
    void (*end)(void *decoder);

    void *library = deflate();
    *(void **)&start = function(library, "libdeflate_alloc_decompressor");
    *(void **)&run = function(library, "libdeflate_zlib_decompress");
    *(void **)&end = function(library, "libdeflate_free_decompressor");
    if (!start || !run || !end)
        return -EOPNOTSUPP;
    void *decoder = start();
    if (!decoder)
        return -ENOMEM;
    int rc = run(decoder, from, n, to, room, NULL); /* NULL: exactly so many bytes */
    end(decoder);
    return rc == 0 ? 0 : -EBADMSG;
}

/* The length in the trailer is a hint, trusted up to what the bytes can hold: deflate expands 1032 times at most. */
static size_t expected(const unsigned char *from, size_t n, size_t limit)
{
    uint32_t says;

    memcpy(&says, from + n - 4, 4);
    size_t most = n > limit / 1032 ? limit : n * 1032;
    return says < most ? says : most;
}

int gzip_decode(const void *from, size_t n, size_t limit, void **ret, size_t *ret_n)
{
    void *(*start)(void);
    int (*run)(void *decoder, const void *in, size_t in_n, void *out, size_t out_n, size_t *ret_n);
    void (*end)(void *decoder);
    size_t got = 0;

    if (n < GZIP_HEADER + GZIP_TRAILER)
        return -EBADMSG;
    void *library = deflate();
    *(void **)&start = function(library, "libdeflate_alloc_decompressor");
    *(void **)&run = function(library, "libdeflate_gzip_decompress");
    *(void **)&end = function(library, "libdeflate_free_decompressor");
    if (!start || !run || !end)
        return -EOPNOTSUPP;
    size_t room = expected(from, n, limit);
    void *to = malloc(room + 1), *decoder = to ? start() : NULL;
    int rc = decoder ? run(decoder, from, n, to, room, &got) : -1;
    if (decoder)
        end(decoder);
    if (rc == 0) {
        *ret = to;
        *ret_n = got;
        return 0;
    }
    free(to);
    return decoder ? -EBADMSG : -ENOMEM;
}

static uint32_t crc32(const unsigned char *at, size_t n)
{
    uint32_t table[256], crc = UINT32_MAX;

    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = table[i] >> 1 ^ (table[i] & 1 ? UINT32_C(0xedb88320) : 0);
    }
    for (size_t i = 0; i < n; i++)
        crc = crc >> 8 ^ table[(crc ^ at[i]) & 0xff];
    return ~crc;
}

/* Blocks that are stored as they are: what gzip -0 would write. */
static int store(const unsigned char *from, size_t n, void **ret, size_t *ret_n)
{
    static const unsigned char header[GZIP_HEADER] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    size_t blocks = n / STORED_MOST + 1;
    unsigned char *to = malloc(GZIP_HEADER + n + blocks * 5 + GZIP_TRAILER), *at = to;
    uint32_t trailer[2] = {crc32(from, n), (uint32_t)n};

    if (!to)
        return -ENOMEM;
    memcpy(at, header, GZIP_HEADER);
    at += GZIP_HEADER;
    for (size_t done = 0, i = 0; i < blocks; i++) {
        uint16_t part = (uint16_t)(n - done < STORED_MOST ? n - done : STORED_MOST), turned = (uint16_t)~part;
        *at++ = i + 1 == blocks;
        memcpy(at, &part, 2);
        memcpy(at + 2, &turned, 2);
        if (part)
            memcpy(at + 4, from + done, part);
        at += 4 + part;
        done += part;
    }
    memcpy(at, trailer, GZIP_TRAILER);
    *ret = to;
    *ret_n = (size_t)(at - to) + GZIP_TRAILER;
    return 0;
}

int gzip_encode(const void *from, size_t n, void **ret, size_t *ret_n)
{
    void *(*start)(int level);
    size_t (*bound)(void *encoder, size_t n);
    size_t (*run)(void *encoder, const void *in, size_t in_n, void *out, size_t out_n);
    void (*end)(void *encoder);

    void *library = deflate();
    *(void **)&start = function(library, "libdeflate_alloc_compressor");
    *(void **)&bound = function(library, "libdeflate_gzip_compress_bound");
    *(void **)&run = function(library, "libdeflate_gzip_compress");
    *(void **)&end = function(library, "libdeflate_free_compressor");
    void *encoder = start && bound && run && end ? start(LEVEL) : NULL;
    if (!encoder)
        return store(from, n, ret, ret_n);
    size_t room = bound(encoder, n);
    void *to = malloc(room ? room : 1);
    size_t got = to ? run(encoder, from, n, to, room) : 0;
    end(encoder);
    if (!to)
        return -ENOMEM;
    if (got == 0) {
        free(to);
        return store(from, n, ret, ret_n);
    }
    *ret = to;
    *ret_n = got;
    return 0;
}

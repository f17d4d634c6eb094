/*
 * The structs and numbers are those of libzstd's stable interface, since 1.4.
 */
#include "codec/zstd.h"

#include "sys/library.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

enum { ZSTD_COMPRESSION_LEVEL = 100, ZSTD_FLUSH = 1 };

struct zstd_input {
    const void *bytes;
    size_t size, at;
};

struct zstd_output {
    void *bytes;
    size_t size, at;
};

struct zstd {
    bool packs;
    void *context;
    unsigned (*is_error)(size_t code);
    size_t (*close)(void *context);
    size_t (*unpack)(void *context, struct zstd_output *out, struct zstd_input *in);
    size_t (*pack)(void *context, struct zstd_output *out, struct zstd_input *in, int how);
};

/* POSIX: a function's address comes as an object's. */
#define LOAD(to, name) (*(void **)&(to) = sys_library_function(library, name))

static void *load(void)
{
    return sys_library("libzstd.so.1");
}

int zstd_decode(const void *from, size_t n, void *to, size_t room)
{
    void *library = load();
    size_t (*run)(void *out, size_t out_n, const void *in, size_t in_n) = NULL;

    if (!library || !LOAD(run, "ZSTD_decompress"))
        return -EOPNOTSUPP;
    return run(to, room, from, n) == room ? 0 : -EBADMSG; /* its errors are sizes above any */
}

static int start(struct zstd *z, int level)
{
    void *library = load();
    void *(*make)(void) = NULL;
    size_t (*set)(void *, int, int) = NULL;

    if (!library)
        return -EOPNOTSUPP;
    z->packs = level > 0;
    LOAD(z->is_error, "ZSTD_isError");
    LOAD(make, z->packs ? "ZSTD_createCCtx" : "ZSTD_createDCtx");
    LOAD(z->close, z->packs ? "ZSTD_freeCCtx" : "ZSTD_freeDCtx");
    if (z->packs) {
        LOAD(set, "ZSTD_CCtx_setParameter");
        LOAD(z->pack, "ZSTD_compressStream2");
    } else {
        LOAD(z->unpack, "ZSTD_decompressStream");
    }
    if (!z->is_error || !make || !z->close || (z->packs ? !set || !z->pack : !z->unpack))
        return -EOPNOTSUPP;
    z->context = make();
    if (!z->context)
        return -ENOMEM;
    if (z->packs)
        set(z->context, ZSTD_COMPRESSION_LEVEL, level); /* one that it doesn't know becomes its default */
    return 0;
}

int zstd_open(int level, struct zstd **ret)
{
    struct zstd *z = calloc(1, sizeof *z);

    if (!z)
        return -ENOMEM;
    int r = start(z, level);
    if (r < 0) {
        zstd_close(z);
        return r;
    }
    *ret = z;
    return 0;
}

struct zstd *zstd_close(struct zstd *z)
{
    if (z) {
        if (z->context)
            z->close(z->context);
        free(z);
    }
    return NULL;
}

int zstd_unpack(struct zstd *z, const void *in, size_t in_n, size_t *in_at, void *out, size_t room)
{
    struct zstd_input from = {in, in_n, *in_at};
    struct zstd_output to = {out, room, 0};
    size_t code;

    do {
        size_t was = from.at + to.at;
        code = z->unpack(z->context, &to, &from);
        if (z->is_error(code))
            return -EBADMSG;
        if (from.at + to.at == was)
            break;
    } while (to.at < to.size);
    *in_at = from.at;
    return (int)to.at;
}

int zstd_pack(struct zstd *z, const void *in, size_t in_n, size_t *in_at, void *out, size_t room,
              int *ret_more)
{
    struct zstd_input from = {in, in_n, *in_at};
    struct zstd_output to = {out, room, 0};
    size_t code = z->pack(z->context, &to, &from, ZSTD_FLUSH);

    if (z->is_error(code))
        return -ENOMEM; /* the input can't be wrong */
    *in_at = from.at;
    *ret_more = code != 0 || from.at < from.size;
    return (int)to.at;
}

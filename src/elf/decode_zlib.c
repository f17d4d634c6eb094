#include "elf/decode.h"

#include "sys/library.h"

#include <errno.h>

int decode_zlib(const void *from, size_t n, void *to, size_t room)
{
    void *library = sys_library("libdeflate.so.0");
    void *(*start)(void);
    int (*run)(void *decoder, const void *in, size_t in_n, void *out, size_t out_n, size_t *ret_n);
    void (*end)(void *decoder);

    if (!library)
        return -EOPNOTSUPP;
    /* POSIX: a function's address comes as an object's. */
    *(void **)&start = sys_library_function(library, "libdeflate_alloc_decompressor");
    *(void **)&run = sys_library_function(library, "libdeflate_zlib_decompress");
    *(void **)&end = sys_library_function(library, "libdeflate_free_decompressor");
    if (!start || !run || !end)
        return -EOPNOTSUPP;
    void *decoder = start();
    if (!decoder)
        return -ENOMEM;
    int rc = run(decoder, from, n, to, room, NULL); /* NULL: exactly so many bytes */
    end(decoder);
    return rc == 0 ? 0 : -EBADMSG;
}

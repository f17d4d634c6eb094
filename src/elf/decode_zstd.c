#include "elf/decode.h"

#include "sys/library.h"

#include <errno.h>

int decode_zstd(const void *from, size_t n, void *to, size_t room)
{
    void *library = sys_library("libzstd.so.1");
    size_t (*run)(void *out, size_t out_n, const void *in, size_t in_n);

    if (!library)
        return -EOPNOTSUPP;
    *(void **)&run = sys_library_function(library, "ZSTD_decompress");
    if (!run)
        return -EOPNOTSUPP;
    return run(to, room, from, n) == room ? 0 : -EBADMSG; /* its errors are sizes above any */
}

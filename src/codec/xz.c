#include "codec/xz.h"

#include "base/cleanup.h"
#include "sys/library.h"

#include <errno.h>
#include <stdint.h>

enum { XZ_OK = 0, XZ_MEMORY = 5, XZ_NO_ROOM = 10 };

#define XZ_MEMORY_MAX (UINT64_C(256) << 20) /* for the decoder's dictionary: xz -9 needs 65 MB */

int xz_decode(const void *from, size_t n, size_t limit, void **ret, size_t *ret_n)
{
    void *library = sys_library("liblzma.so.5");
    int (*run)(uint64_t * memory_limit, uint32_t flags, const void *allocator, const uint8_t *in,
               size_t *in_at, size_t in_n, uint8_t *out, size_t *out_at, size_t out_n);

    if (!library)
        return -EOPNOTSUPP;
    *(void **)&run = sys_library_function(library, "lzma_stream_buffer_decode");
    if (!run)
        return -EOPNOTSUPP;
    for (size_t room = n < limit / 4 ? n * 4 + 4096 : limit;; room *= 2) {
        room = room < limit ? room : limit;
        _cleanup_free_ unsigned char *block = malloc(room + 1);
        if (!block)
            return -ENOMEM;
        uint64_t memory_limit = XZ_MEMORY_MAX;
        size_t in_at = 0, out_at = 0;
        int rc = run(&memory_limit, 0, NULL, from, &in_at, n, block, &out_at, room);
        if (rc == XZ_OK) {
            block[out_at] = '\0';
            *ret_n = out_at;
            *ret = TAKE_PTR(block);
            return 0;
        }
        if (rc == XZ_MEMORY)
            return -ENOMEM;
        if (rc != XZ_NO_ROOM || room == limit)
            return -EBADMSG;
    }
}

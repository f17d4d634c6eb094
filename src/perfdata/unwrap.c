#include "perfdata/unwrap.h"

#include "base/vector.h"
#include "codec/deflate.h"
#include "codec/zstd.h"
#include "sys/file.h"

#include <errno.h>
#include <stdbool.h>

#define PIECE ((size_t)128 << 10)

const char *unwrap_kind(const void *head, size_t n)
{
    if (n >= 2 && memcmp(head, "\x1f\x8b", 2) == 0)
        return "gzip";
    return n >= 4 && memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0 ? "zstd" : NULL;
}

typedef VECTOR(unsigned char) bytes_t;

/* As much as there is, behind what the vector holds. */
static int read_rest(int fd, bytes_t *bytes)
{
    for (;;) {
        if (bytes->n > UNWRAP_MOST)
            return -EFBIG;
        if (vector_reserve(bytes, PIECE) < 0)
            return -ENOMEM;
        int64_t n = sys_read_some(fd, bytes->items + bytes->n, PIECE);
        if (n <= 0)
            return (int)n;
        bytes->n += (size_t)n;
    }
}

static int unpack_gzip(int from, bytes_t *packed, int to)
{
    void *plain = NULL;
    size_t n = 0;
    int rc = read_rest(from, packed);

    if (rc == 0)
        rc = gzip_decode(packed->items, packed->n, UNWRAP_MOST, &plain, &n);
    if (rc == 0)
        rc = sys_write(to, plain, n);
    free(plain);
    return rc;
}

/* `in`: the beginning, and room for PIECE bytes. Behind what is damaged nothing comes: the recording ends there. */
static int unpack_zstd(int from, bytes_t *in, int to, unsigned char *out)
{
    struct zstd *zstd = NULL;
    uint64_t done = 0;
    int rc = zstd_open(0, &zstd);

    if (in->n == 0) {
        int64_t got = sys_read_some(from, in->items, PIECE);
        in->n = got > 0 ? (size_t)got : 0;
    }
    while (rc == 0 && in->n) {
        size_t at = 0;
        int n;
        do {
            n = zstd_unpack(zstd, in->items, in->n, &at, out, PIECE);
            rc = n < 0 ? n : sys_write(to, out, (size_t)n);
            done += n > 0 ? (uint64_t)n : 0;
            rc = rc == 0 && done > UNWRAP_MOST ? -EFBIG : rc;
        } while (rc == 0 && n == (int)PIECE);
        rc = rc == 0 && at < in->n ? -EBADMSG : rc;
        int64_t got = rc == 0 ? sys_read_some(from, in->items, PIECE) : 0;
        rc = got < 0 ? (int)got : rc;
        in->n = got > 0 ? (size_t)got : 0;
    }
    zstd_close(zstd);
    return rc == -EBADMSG && done ? 0 : rc == 0 && !done ? -EBADMSG : rc;
}

int unwrap(int fd, const void *head, size_t n, size_t already)
{
    _cleanup_close_ int to = sys_memory_file("perf.data");
    _cleanup_free_ unsigned char *out = malloc(PIECE);
    bytes_t in = {0};
    int rc = to < 0 ? to : out && vector_reserve(&in, PIECE) == 0 ? 0 : -ENOMEM;

    if (rc == 0) {
        memcpy(in.items, head, already);
        in.n = already;
        bool gzip = strcmp(unwrap_kind(head, n), "gzip") == 0;
        rc = gzip ? unpack_gzip(fd, &in, to) : unpack_zstd(fd, &in, to, out);
    }
    vector_free(&in);
    return rc < 0 ? rc : TAKE_FD(to);
}

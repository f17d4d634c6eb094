/* Each codec gives back what went in, and refuses what is damaged, cut, or of another size. */
#include "codec/deflate.h"
#include "codec/xz.h"
#include "codec/zstd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 300000u
static unsigned char text[MOST], back[MOST];

/* Half of it repeats, so that it can be packed; half of it can't. */
static int make_text(void **state)
{
    uint64_t word = 1;

    (void)state;
    for (size_t i = 0; i < sizeof text; i++) {
        word = word * UINT64_C(6364136223846793005) + 1;
        text[i] = i / 1000 % 2 ? (unsigned char)(word >> 56) : (unsigned char)i;
    }
    return 0;
}

static void gzip_both_ways(void **state)
{
    static const size_t sizes[] = {0, 1, 65534, 65535, 65536, 131070, MOST};

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *packed, *unpacked = NULL;
        size_t packed_n, n = 0;
        assert_int_equal(gzip_encode(text, sizes[i], &packed, &packed_n), 0);
        int rc = gzip_decode(packed, packed_n, MOST, &unpacked, &n);
        if (rc == -EOPNOTSUPP)
            skip();
        assert_int_equal(rc, 0);
        assert_int_equal(n, sizes[i]);
        assert_memory_equal(unpacked, text, n);
        free(unpacked);
        unpacked = NULL;
        if (sizes[i])
            assert_int_equal(gzip_decode(packed, packed_n, sizes[i] - 1, &unpacked, &n), -EBADMSG);
        assert_int_equal(gzip_decode(packed, packed_n - 1, MOST, &unpacked, &n), -EBADMSG);
        assert_int_equal(gzip_decode(packed, 17, MOST, &unpacked, &n), -EBADMSG);
        ((unsigned char *)packed)[packed_n - 8] ^= 1; /* the checksum */
        assert_int_equal(gzip_decode(packed, packed_n, MOST, &unpacked, &n), -EBADMSG);
        assert_null(unpacked);
        free(packed);
    }
}

static void zlib_of_one_size(void **state)
{
    /* python3 -c 'import zlib; print(zlib.compress(b"reckon" * 4))' */
    static const unsigned char packed[] = {0x78, 0x9c, 0x2b, 0x4a, 0x4d, 0xce, 0xce, 0xcf,
                                           0x2b, 0xc2, 0x20, 0x01, 0x7d, 0x58, 0x0a, 0x09};

    (void)state;
    int rc = zlib_decode(packed, sizeof packed, back, 24);
    if (rc == -EOPNOTSUPP)
        skip();
    assert_int_equal(rc, 0);
    assert_memory_equal(back, "reckonreckonreckonreckon", 24);
    assert_int_equal(zlib_decode(packed, sizeof packed, back, 23), -EBADMSG);
    assert_int_equal(zlib_decode(packed, sizeof packed, back, 25), -EBADMSG);
    assert_int_equal(zlib_decode(packed, sizeof packed - 1, back, 24), -EBADMSG);
}

static void xz_of_any_size(void **state)
{
    /* python3 -c 'import lzma; print(lzma.compress(b"reckon" * 4))' */
    static const unsigned char packed[] = {
        0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00, 0x00, 0x04, 0xe6, 0xd6, 0xb4, 0x46, 0x02, 0x00, 0x21,
        0x01, 0x16, 0x00, 0x00, 0x00, 0x74, 0x2f, 0xe5, 0xa3, 0xe0, 0x00, 0x17, 0x00, 0x0c, 0x5d,
        0x00, 0x39, 0x19, 0x48, 0x91, 0x5b, 0x51, 0x1b, 0xee, 0xfd, 0x92, 0x00, 0x00, 0x00, 0xa1,
        0x39, 0x1f, 0xf2, 0xa8, 0xa2, 0xfc, 0xc7, 0x00, 0x01, 0x28, 0x18, 0xd7, 0x83, 0xb7, 0x6e,
        0x1f, 0xb6, 0xf3, 0x7d, 0x01, 0x00, 0x00, 0x00, 0x00, 0x04, 0x59, 0x5a};
    unsigned char damaged[sizeof packed];
    void *unpacked = NULL;
    size_t n = 0, same = 0;

    (void)state;
    int rc = xz_decode(packed, sizeof packed, MOST, &unpacked, &n);
    if (rc == -EOPNOTSUPP)
        skip();
    assert_int_equal(rc, 0);
    assert_int_equal(n, 24);
    assert_string_equal(unpacked, "reckonreckonreckonreckon"); /* there is a NUL */
    free(unpacked);
    unpacked = NULL;
    assert_int_equal(xz_decode(packed, sizeof packed, 24, &unpacked, &n), 0);
    free(unpacked);
    unpacked = NULL;
    assert_int_equal(xz_decode(packed, sizeof packed, 23, &unpacked, &n), -EBADMSG);
    assert_int_equal(xz_decode(packed, sizeof packed - 1, MOST, &unpacked, &n), -EBADMSG);
    for (size_t i = 0; i < sizeof packed; i++) {
        memcpy(damaged, packed, sizeof packed);
        damaged[i] ^= 1;
        if (xz_decode(damaged, sizeof packed, MOST, &unpacked, &n) ==
            0) { /* the coder's last bits are no matter */
            assert_int_equal(n, 24);
            assert_memory_equal(unpacked, "reckonreckonreckonreckon", n);
            free(unpacked);
            same++;
        }
    }
    assert_in_range(same, 0, 2);
}

/* A stream in pieces, with little room, through both ends; the whole is a block too. */
static void zstd_in_pieces(void **state)
{
    static unsigned char packed[2 * MOST];
    struct zstd *to, *from;
    size_t packed_n = 0, got = 0;
    int more, n;

    (void)state;
    int rc = zstd_open(3, &to);
    if (rc == -EOPNOTSUPP)
        skip();
    assert_int_equal(rc, 0);
    for (size_t at = 0; at < MOST; at += 10000) {
        size_t in_at = 0;
        do {
            n = zstd_pack(to, text + at, 10000, &in_at, packed + packed_n, 700, &more);
            assert_in_range(n, 0, 700);
            packed_n += (size_t)n;
        } while (more || in_at < 10000);
    }
    assert_null(zstd_close(to));
    assert_true(packed_n < MOST * 3 / 4);

    assert_int_equal(zstd_open(0, &from), 0);
    size_t in_at = 0;
    while ((n = zstd_unpack(from, packed, packed_n, &in_at, back + got,
                            MOST - got < 999 ? MOST - got : 999)) > 0)
        got += (size_t)n;
    assert_int_equal(n, 0);
    assert_int_equal(got, MOST);
    assert_int_equal(in_at, packed_n);
    assert_memory_equal(back, text, MOST);
    in_at = 0;
    assert_int_equal(zstd_unpack(from, text, MOST, &in_at, back, MOST), -EBADMSG);
    assert_null(zstd_close(from));
    assert_null(zstd_close(NULL));
}

static void zstd_of_one_size(void **state)
{
    /* ZSTD_compress(), level 3 */
    static const unsigned char packed[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x18, 0x65, 0x00, 0x00, 0x30, 0x72,
                                           0x65, 0x63, 0x6b, 0x6f, 0x6e, 0x01, 0x00, 0xf1, 0x4a, 0x11};

    (void)state;
    int rc = zstd_decode(packed, sizeof packed, back, 24);
    if (rc == -EOPNOTSUPP)
        skip();
    assert_int_equal(rc, 0);
    assert_memory_equal(back, "reckonreckonreckonreckon", 24);
    assert_int_equal(zstd_decode(packed, sizeof packed, back, 23), -EBADMSG);
    assert_int_equal(zstd_decode(packed, sizeof packed, back, 25), -EBADMSG);
    assert_int_equal(zstd_decode(packed, sizeof packed - 1, back, 24), -EBADMSG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_both_ways),   cmocka_unit_test(zlib_of_one_size),
        cmocka_unit_test(xz_of_any_size),   cmocka_unit_test(zstd_in_pieces),
        cmocka_unit_test(zstd_of_one_size),
    };
    return cmocka_run_group_tests(tests, make_text, NULL);
}

/* Numbers and bytes are gathered, since gzip wants all of them at once, and then written: what the page's memory is. */
#include "codec/deflate.h"
#include "export/page.h"

#include <errno.h>

void page_pen_free(struct page_pen *pen)
{
    vector_free(&pen->bytes);
}

void page_bytes(struct page_pen *pen, const void *bytes, size_t n)
{
    if (pen->error)
        return;
    pen->error = vector_reserve(&pen->bytes, n);
    if (pen->error || n == 0)
        return;
    memcpy(pen->bytes.items + pen->bytes.n, bytes, n);
    pen->bytes.n += n;
}

void page_number(struct page_pen *pen, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    for (; value > 127; value >>= 7)
        bytes[n++] = (unsigned char)(value | 128);
    bytes[n++] = (unsigned char)value;
    page_bytes(pen, bytes, n);
}

void page_signed(struct page_pen *pen, int64_t value)
{
    page_number(pen, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static void write_base64(struct output *out, const unsigned char *at, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t three =
            (uint32_t)at[i] << 16 | (left > 1 ? (uint32_t)at[i + 1] << 8 : 0) | (left > 2 ? at[i + 2] : 0u);
        char four[4] = {digits[three >> 18 & 63], digits[three >> 12 & 63],
                        left > 1 ? digits[three >> 6 & 63] : '=', left > 2 ? digits[three & 63] : '='};
        output_bytes(out, four, sizeof four);
    }
}

int page_write(const struct page_pen *pen, struct output *out)
{
    void *packed = NULL;
    size_t n = 0;
    int rc = pen->error ? pen->error : gzip_encode(pen->bytes.items, pen->bytes.n, &packed, &n);

    if (rc == 0)
        write_base64(out, packed, n);
    free(packed);
    return rc;
}

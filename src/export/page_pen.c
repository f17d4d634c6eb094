#include "export/page.h"

struct page_pen page_pen_to(struct output *out)
{
    return (struct page_pen){.out = out};
}

static void write_group(struct page_pen *pen, uint32_t three, unsigned n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char four[4] = {digits[three >> 18 & 63], digits[three >> 12 & 63], n > 1 ? digits[three >> 6 & 63] : '=',
                    n > 2 ? digits[three & 63] : '='};

    output_bytes(pen->out, four, sizeof four);
}

void page_bytes(struct page_pen *pen, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;

    for (size_t i = 0; i < n; i++) {
        pen->held = pen->held << 8 | at[i];
        if (++pen->held_n == 3) {
            write_group(pen, pen->held, 3);
            pen->held = pen->held_n = 0;
        }
    }
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

void page_end(struct page_pen *pen)
{
    if (pen->held_n > 0)
        write_group(pen, pen->held << 8 * (3 - pen->held_n), pen->held_n);
    pen->held = pen->held_n = 0;
}

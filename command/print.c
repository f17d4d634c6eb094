#include "print.h"

#include "command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *print_count(uint64_t n, char *buffer, size_t size)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    size_t at = 0;

    for (int i = 0; i < length && at + 2 < size; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

const char *print_bytes(uint64_t n, char *buffer, size_t size)
{
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    double value = (double)n;
    size_t unit = 0;

    while (value >= 1000 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1000;
        unit++;
    }
    snprintf(buffer, size, unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return buffer;
}

const char *print_some(uint64_t n, const char *noun, char *buffer, size_t size)
{
    char count[32];

    snprintf(buffer, size, "%s %s%s", print_count(n, count, sizeof count), noun, n == 1 ? "" : "s");
    return buffer;
}

struct colours print_colours(FILE *stream)
{
    const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

    if (!isatty(fileno(stream)) || (no_colour && *no_colour) || !term || strcmp(term, "dumb") == 0)
        return (struct colours){"", "", "", "", "", ""};
    return (struct colours){"\033[1m", "\033[32m", "\033[33m", "\033[31m", "\033[2m", "\033[0m"};
}

size_t print_width(FILE *stream)
{
    struct winsize size = {0};

    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return SIZE_MAX;
    return size.ws_col;
}

int print_error(const char *verb, const struct rk_error *e)
{
    struct colours c = print_colours(stderr);

    fprintf(stderr, "%sreckon %s:%s %s\n", c.bad, verb, c.plain, e->what[0] ? e->what : strerror(-e->code));
    if (e->remedy[0])
        fprintf(stderr, "  fix: %s\n", e->remedy);
    return STATUS_FAILED;
}

int print_event_error(const char *verb, const char *text, const struct rk_error *e)
{
    size_t length = strlen(text);

    print_error(verb, e);
    if (length > 100 || e->position > length || e->cause == RK_CAUSE_MEMORY)
        return STATUS_USAGE;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 0x20 || (unsigned char)text[i] >= 0x7f)
            return STATUS_USAGE; /* columns and bytes would not agree */
    fprintf(stderr, "  %s\n  %*s^\n", text, (int)e->position, "");
    return STATUS_USAGE;
}

/* Length of the UTF-8 character at s, or 0 where there is none. s ends with a NUL, which ends every test. */
static size_t character(const unsigned char *s)
{
    size_t n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

    if (*s < 0x20 || *s == 0x7f || (*s >= 0x80 && *s < 0xc2) || *s > 0xf4)
        return 0;
    if (*s == 0xc2 && s[1] < 0xa0)
        return 0; /* the other control characters */
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

const char *print_safe(const char *text, char *buffer, size_t size)
{
    size_t at = 0;

    for (const unsigned char *s = (const unsigned char *)text; *s && at + 5 < size;) {
        size_t n = character(s);
        if (n == 0) {
            at += (size_t)snprintf(buffer + at, size - at, "\\x%02x", *s++);
            continue;
        }
        memcpy(buffer + at, s, n);
        at += n;
        s += n;
    }
    buffer[at] = '\0';
    return buffer;
}

static int write_stream(void *context, const void *data, size_t n)
{
    errno = 0;
    if (fwrite(data, 1, n, context) != n)
        return errno ? -errno : -EIO;
    return 0;
}

struct rk_sink print_sink(FILE *stream)
{
    return (struct rk_sink){sizeof(struct rk_sink), 0, write_stream, stream};
}

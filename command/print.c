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

const char *print_amount(uint64_t weight, const char *unit, char *buffer, size_t size)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, NULL}, {1, "ns"}};
    size_t i = 0;

    if (strcmp(unit, "ns") != 0)
        return print_count(weight, buffer, size);
    while (i < 3 && (double)weight < units[i].ns)
        i++;
    double value = (double)weight / units[i].ns;
    int places = i == 3 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    char number[64];
    snprintf(buffer, size, "%s %s", print_real(value, places, number, sizeof number),
             units[i].unit ? units[i].unit : print_symbol("\u00b5s", "us"));
    return buffer;
}

bool print_is_utf8(void)
{
    const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "utf-8") || strcasestr(value, "utf8");
    }
    return false;
}

char *print_in_locale(char *text)
{
    static const struct {
        const char *symbol, *plain;
    } all[] = {{"\u2026", "..."}, {"\u00b1", "+-"}, {"\u00b5", "u"}};
    char *to = text;

    if (print_is_utf8())
        return text;
    for (const char *from = text; *from;) {
        size_t i = 0;
        while (i < sizeof all / sizeof *all && strncmp(from, all[i].symbol, strlen(all[i].symbol)) != 0)
            i++;
        if (i == sizeof all / sizeof *all) {
            *to++ = *from++;
            continue;
        }
        size_t n = strlen(all[i].plain);
        memcpy(to, all[i].plain, n);
        to += n;
        from += strlen(all[i].symbol);
    }
    *to = '\0';
    return text;
}

void print_text(FILE *to, const char *text)
{
    static const char dots[] = "\u2026";

    for (const char *at; !print_is_utf8() && (at = strstr(text, dots)); text = at + strlen(dots))
        fprintf(to, "%.*s...", (int)(at - text), text);
    fputs(text, to);
}

const char *print_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
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

bool print_cursor(FILE *stream)
{
    const char *term = getenv("TERM");

    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

const char *print_real(double value, int decimals, char *buffer, size_t size)
{
    char plain[400];
    size_t n = 0;

    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    size_t whole = strcspn(plain, "."), first = plain[0] == '-';
    for (size_t i = 0; plain[i] && n + 2 < size; i++) {
        if (i > first && i < whole && (whole - i) % 3 == 0)
            buffer[n++] = ',';
        buffer[n++] = plain[i];
    }
    buffer[n] = '\0';
    return buffer;
}

static size_t columns(const char *text, size_t n)
{
    size_t wide = 0;

    for (size_t i = 0; i < n; i++)
        wide += ((unsigned char)text[i] & 0xc0) != 0x80;
    return wide;
}

size_t print_columns(const char *text)
{
    return columns(text, strlen(text));
}

void print_wrapped(FILE *to, size_t width, size_t indent, const char *first, const char *text)
{
    size_t at = print_columns(first), blanks = 0; /* before the next word */

    fputs(first, to);
    for (bool begun = true; *text; begun = false) {
        size_t n = strcspn(text, " "), wide = columns(text, n);
        if (!begun && at + blanks + wide > width) {
            fprintf(to, "\n%*s", (int)indent, "");
            at = indent;
            blanks = 0;
        }
        fprintf(to, "%*s%.*s", (int)blanks, "", (int)n, text);
        at += blanks + wide;
        text += n;
        blanks = strspn(text, " ");
        text += blanks;
    }
    fputc('\n', to);
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

    fprintf(stderr, "%sreckon %s:%s ", c.bad, verb, c.plain);
    print_text(stderr, e->what[0] ? e->what : strerror(-e->code));
    if (e->remedy[0]) {
        fputs("\n  fix: ", stderr);
        print_text(stderr, e->remedy);
    }
    fputc('\n', stderr);
    return STATUS_FAILED;
}

/* Length of the UTF-8 character at s, or 0 where there is none. s ends with a NUL, which ends every test. */
static size_t character(const unsigned char *s)
{
    size_t n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

    if (*s < 0x20 || *s == 0x7f || (*s >= 0x80 && *s < 0xc2) || *s > 0xf4)
        return 0;
    if (*s == 0xc2 && s[1] < 0xa0)
        return 0; /* the other control characters */
    if (*s == 0xe2 && ((s[1] == 0x80 && ((s[2] >= 0x8b && s[2] <= 0x8f) || (s[2] >= 0xa8 && s[2] <= 0xae))) ||
                       (s[1] == 0x81 && s[2] >= 0xa0 && s[2] <= 0xaf)))
        return 0; /* U+200B … U+206F: what hides, or turns the order of a line round */
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

#define DOTS 4          /* bytes of an ellipsis, in either form, and a NUL */
#define CARET_BEFORE 60 /* columns of the text that are shown before the place, … */
#define CARET_BEHIND 40 /* … and behind it */

/* The character at s, or the escape that stands for a byte that is none, into `to`: bytes there; *ret_bytes: of the text. */
static size_t show_one(const unsigned char *s, char to[static 8], size_t *ret_bytes)
{
    size_t n = character(s);

    *ret_bytes = n ? n : 1;
    if (n == 0)
        return (size_t)snprintf(to, 8, "\\x%02x", *s);
    memcpy(to, s, n);
    return n;
}

/* The text around `position`, and a caret below it. A character counts as one column, an escape as the four it is. */
static void print_caret(const char *text, size_t position)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t column = 0, from = 0, at_caret = 0, length = strlen(text), bytes;
    char one[8];
    bool cut = false;

    for (size_t i = 0; i < length && i < position; i += bytes) /* columns before it */
        at_caret += show_one(s + i, one, &bytes) == 4 && bytes == 1 ? 4 : 1;
    from = at_caret > CARET_BEFORE ? at_caret - CARET_BEFORE : 0;
    const char *dots = print_ellipsis();
    size_t before = from ? print_columns(dots) : 0;
    fprintf(stderr, "  %s", from ? dots : "");
    for (size_t i = 0; i < length; i += bytes) {
        size_t n = show_one(s + i, one, &bytes), wide = n == 4 && bytes == 1 ? 4 : 1;
        cut = column >= at_caret + CARET_BEHIND;
        if (cut)
            break;
        if (column >= from)
            fwrite(one, 1, n, stderr);
        else if (column + wide > from)
            from = column + wide;
        column += wide;
    }
    fprintf(stderr, "%s\n  %*s^\n", cut ? dots : "", (int)(at_caret - from + before), "");
}

int print_event_error(const char *verb, const char *text, const struct rk_error *e)
{
    print_error(verb, e);
    if (e->position <= strlen(text) && e->cause != RK_CAUSE_MEMORY)
        print_caret(text, e->position);
    return STATUS_USAGE;
}

const char *print_safe(const char *text, char *buffer, size_t size)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t at = 0, bytes;
    char one[8];

    for (; *s && at + 4 + DOTS <= size; s += bytes) {
        size_t n = show_one(s, one, &bytes);
        memcpy(buffer + at, one, n);
        at += n;
    }
    snprintf(buffer + at, size - at, "%s", *s ? print_ellipsis() : "");
    return buffer;
}

/* In single quotes, which only a single quote ends. Returns the bytes that are left of `most`; 0: it was cut. */
static size_t put_word(FILE *to, const char *word, size_t most)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789%+,-./:=@_";
    bool quoted = !*word;
    char one[8];
    size_t bytes;

    for (const char *c = word; *c && !quoted; c++)
        quoted = (unsigned char)*c < 0x80 && (unsigned char)*c >= 0x20 && !strchr(plain, *c);
    if (quoted)
        fputc('\'', to);
    for (const unsigned char *s = (const unsigned char *)word; *s; s += bytes) {
        size_t n = show_one(s, one, &bytes);
        if (n >= most) {
            fputs(print_ellipsis(), to);
            return 0;
        }
        most -= n;
        if (*s == '\'')
            fputs("'\\''", to);
        else
            fwrite(one, 1, n, to);
    }
    if (quoted)
        fputc('\'', to);
    return most;
}

void print_words(FILE *to, char *const *words, size_t most)
{
    for (char *const *word = words; *word && most > 0; word++) {
        if (word != words)
            fputc(' ', to);
        most = put_word(to, *word, most);
    }
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

/* Bytes that are no UTF-8 become U+FFFD: JSON has no others. */
static size_t utf8(const unsigned char *s)
{
    size_t n = *s < 0x80 ? 1 : *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;

    if (*s >= 0x80 && (*s < 0xc2 || *s > 0xf4))
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) || (*s == 0xf0 && s[1] < 0x90) ||
        (*s == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

void print_json_text(FILE *to, const char *text)
{
    if (!text) {
        fputs("null", to);
        return;
    }
    fputc('"', to);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8(s);
        if (n == 0)
            fputs("\\ufffd", to);
        else if (*s == '"' || *s == '\\')
            fprintf(to, "\\%c", *s);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(to, "\\u%04x", *s);
        else
            fwrite(s, 1, n, to);
        s += n ? n : 1;
    }
    fputc('"', to);
}

void print_csv_text(FILE *to, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, to);
        return;
    }
    fputc('"', to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

#include "symbolize.h"

#include "print.h"

#include <inttypes.h>
#include <string.h>

struct frame {
    const char *function, *file;
    uint32_t line, column;
};

/* What is printed: answer i of the sources. */
struct printing {
    const struct symbolize *how;
    const uint64_t *addresses;
    const struct rk_sources *s;
    FILE *to;
};

static uint32_t frame_n(const struct printing *p, size_t i)
{
    return p->how->no_inline ? 1 : p->s->first[i + 1] - p->s->first[i];
}

/* The k-th, innermost first. Without inlines there is one: the function that has a symbol, and the address's line. */
static struct frame frame_of(const struct printing *p, size_t i, uint32_t k)
{
    const struct rk_sources *s = p->s;
    uint32_t at = s->first[i] + k;

    const char *function = s->function[p->how->no_inline ? s->first[i + 1] - 1 : at];
    if (!p->how->json && !p->how->pretty && s->symbol[i].miss && function == s->symbol[i].name)
        function = NULL; /* a place is no name to those who read this */
    return (struct frame){
        .function = function,
        .file = s->file[at],
        .line = s->line[at],
        .column = s->column[at],
    };
}

/* A text from a file, safe to print on a line of its own; long C++ names are not cut. */
static void print_name(FILE *to, const char *text)
{
    char safe[5];

    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c >= 0x20 && c != 0x7f)
            putc_unlocked(c, to);
        else if (snprintf(safe, sizeof safe, "\\x%02x", c) > 0)
            fputs(safe, to);
    }
}

static void print_place(const struct printing *p, const struct frame *frame)
{
    const char *file = frame->file;
    const char *slash = file && p->how->base_names ? strrchr(file, '/') : NULL;

    print_name(p->to, slash ? slash + 1 : file ? file : "??");
    if (file && !frame->line)
        fputs(":?", p->to);
    else
        fprintf(p->to, ":%" PRIu32, frame->line);
}

static void print_plain(const struct printing *p, size_t i)
{
    if (p->how->with_address)
        fprintf(p->to, "0x%016" PRIx64 "\n", p->addresses[i]);
    for (uint32_t k = 0; k < frame_n(p, i); k++) {
        struct frame frame = frame_of(p, i, k);
        print_name(p->to, frame.function ? frame.function : "??");
        putc('\n', p->to);
        print_place(p, &frame);
        putc('\n', p->to);
    }
}

/* A line per frame; and why something is missing, which only people want to know. */
static void print_pretty(const struct printing *p, size_t i)
{
    if (p->how->with_address)
        fprintf(p->to, "0x%016" PRIx64 ": ", p->addresses[i]);
    for (uint32_t k = 0; k < frame_n(p, i); k++) {
        struct frame frame = frame_of(p, i, k);
        if (k)
            fputs(" (inlined by) ", p->to);
        print_name(p->to, frame.function ? frame.function : "??");
        fputs(" at ", p->to);
        print_place(p, &frame);
        if (p->s->symbol[i].miss && (!frame.function || frame.function == p->s->symbol[i].name))
            fprintf(p->to, " (%s)", rk_miss_text(p->s->symbol[i].miss));
        putc('\n', p->to);
    }
}

static void print_json(const struct printing *p, size_t i)
{
    const struct rk_module *module = p->s->module[i];
    const struct rk_symbol *symbol = &p->s->symbol[i];

    fprintf(p->to, "{\"address\":\"0x%" PRIx64 "\",\"module\":", p->addresses[i]);
    print_json_text(p->to, module ? module->path : NULL);
    if (module && !p->how->exe)
        fprintf(p->to, ",\"offset\":\"0x%" PRIx64 "\"", p->s->offset[i]);
    fputs(",\"symbol\":", p->to);
    print_json_text(p->to, symbol->name);
    if (symbol->name)
        fprintf(p->to, ",\"distance\":%" PRIu64 ",\"bytes\":%" PRIu32, symbol->distance, symbol->bytes);
    fputs(",\"frames\":[", p->to);
    for (uint32_t k = 0; k < frame_n(p, i); k++) {
        struct frame frame = frame_of(p, i, k);
        fputs(k ? ",{\"function\":" : "{\"function\":", p->to);
        print_json_text(p->to, frame.function);
        fputs(",\"file\":", p->to);
        print_json_text(p->to, frame.file);
        fprintf(p->to, ",\"line\":%" PRIu32 ",\"column\":%" PRIu32 "}", frame.line, frame.column);
    }
    fputs("]", p->to);
    if (symbol->miss) {
        fputs(",\"miss\":", p->to);
        print_json_text(p->to, rk_miss_text(symbol->miss));
    }
    if (p->s->miss[i]) {
        fputs(",\"line_miss\":", p->to);
        print_json_text(p->to, rk_miss_text(p->s->miss[i]));
    }
    fputs("}\n", p->to);
}

void symbolize_print(const struct symbolize *how, const uint64_t *addresses, const struct rk_sources *s,
                     FILE *to)
{
    struct printing p = {how, addresses, s, to};

    for (size_t i = 0; i < s->n; i++)
        (how->json ? print_json : how->pretty ? print_pretty : print_plain)(&p, i);
}

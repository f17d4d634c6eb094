#include "symbolize.h"

#include "print.h"

#include <inttypes.h>
#include <string.h>

/* The frames of one address: in its group's sources, or one without a name. */
struct frames {
    const struct rk_sources *sources; /* NULL: none */
    uint32_t first, n;
    uint32_t line_miss;
};

static struct frames frames_of(const struct answers *a, size_t i)
{
    if (a->group[i] >= a->group_n)
        return (struct frames){.n = 1, .line_miss = RK_MISS_NO_MODULE};
    const struct rk_sources *sources = a->groups[a->group[i]];
    uint32_t at = a->index[i];
    return (struct frames){sources, sources->first[at], sources->first[at + 1] - sources->first[at],
                           sources->miss[at]};
}

struct frame {
    const char *function, *file;
    uint32_t line, column;
};

/* The k-th, innermost first. Without inlines there is one: the function that has a symbol, and the address's line. */
static struct frame frame_of(const struct symbolize *s, const struct frames *f, uint32_t k)
{
    if (!f->sources)
        return (struct frame){0};
    uint32_t at = f->first + k, outermost = f->first + f->n - 1;
    return (struct frame){
        .function = f->sources->function[s->no_inline ? outermost : at],
        .file = f->sources->file[at],
        .line = f->sources->line[at],
        .column = f->sources->column[at],
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

static void print_place(const struct symbolize *s, const struct frame *frame, FILE *to)
{
    const char *file = frame->file;
    const char *slash = file && s->base_names ? strrchr(file, '/') : NULL;

    print_name(to, slash ? slash + 1 : file ? file : "??");
    if (file && !frame->line)
        fputs(":?", to);
    else
        fprintf(to, ":%" PRIu32, frame->line);
}

static void print_plain(const struct symbolize *s, const struct answers *a, size_t i, FILE *to)
{
    struct frames f = frames_of(a, i);

    if (s->with_address)
        fprintf(to, "0x%016" PRIx64 "\n", a->addresses[i]);
    for (uint32_t k = 0; k < (s->no_inline ? 1 : f.n); k++) {
        struct frame frame = frame_of(s, &f, k);
        print_name(to, frame.function ? frame.function : "??");
        putc('\n', to);
        print_place(s, &frame, to);
        putc('\n', to);
    }
}

/* A line per frame; and why something is missing, which only people want to know. */
static void print_pretty(const struct symbolize *s, const struct answers *a, size_t i, FILE *to)
{
    struct frames f = frames_of(a, i);

    if (s->with_address)
        fprintf(to, "0x%016" PRIx64 ": ", a->addresses[i]);
    for (uint32_t k = 0; k < (s->no_inline ? 1 : f.n); k++) {
        struct frame frame = frame_of(s, &f, k);
        if (k)
            fputs(" (inlined by) ", to);
        print_name(to, frame.function ? frame.function : "??");
        fputs(" at ", to);
        print_place(s, &frame, to);
        if (!frame.function && a->symbols[i].miss)
            fprintf(to, " (%s)", rk_miss_text(a->symbols[i].miss));
        putc('\n', to);
    }
}

static void print_json(const struct symbolize *s, const struct answers *a, size_t i, FILE *to)
{
    struct frames f = frames_of(a, i);
    bool placed = a->group[i] < a->group_n;

    fprintf(to, "{\"address\":\"0x%" PRIx64 "\",\"module\":", a->addresses[i]);
    print_json_text(to, placed ? a->modules[a->group[i]].path : NULL);
    if (placed && !s->exe)
        fprintf(to, ",\"offset\":\"0x%" PRIx64 "\"", a->places[i].offset);
    fputs(",\"symbol\":", to);
    print_json_text(to, a->symbols[i].name);
    if (a->symbols[i].name)
        fprintf(to, ",\"distance\":%" PRIu64, a->symbols[i].distance);
    fputs(",\"frames\":[", to);
    for (uint32_t k = 0; k < (s->no_inline ? 1 : f.n); k++) {
        struct frame frame = frame_of(s, &f, k);
        fputs(k ? ",{\"function\":" : "{\"function\":", to);
        print_json_text(to, frame.function);
        fputs(",\"file\":", to);
        print_json_text(to, frame.file);
        fprintf(to, ",\"line\":%" PRIu32 ",\"column\":%" PRIu32 "}", frame.line, frame.column);
    }
    fputs("]", to);
    if (!a->symbols[i].name) {
        fputs(",\"miss\":", to);
        print_json_text(to, rk_miss_text(a->symbols[i].miss));
    }
    if (f.line_miss) {
        fputs(",\"line_miss\":", to);
        print_json_text(to, rk_miss_text(f.line_miss));
    }
    fputs("}\n", to);
}

void symbolize_print(const struct symbolize *s, const struct answers *answers, FILE *to)
{
    for (size_t i = 0; i < answers->n; i++)
        (s->json ? print_json : s->pretty ? print_pretty : print_plain)(s, answers, i, to);
}

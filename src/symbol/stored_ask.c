/*
 * Questions that stored names answer. A file is asked only where it may say more: the address was stored without a name or
 * without lines, for want of a file or its debug information, or it was not stored. Where the file gives the function
 * another name than is stored, it is not the file that ran: what is stored stands.
 */
#include "symbol/answer.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <string.h>

struct asked {
    struct stored_answer stored;
    bool known;    /* something is stored */
    uint32_t part; /* index in the files' answers; UINT32_MAX: the files were not asked */
};

struct asking {
    struct rk_symbolizer *symbolizer;
    const struct stored_module *stored;
    const struct rk_module *wanted;
    const uint64_t *offsets;
    size_t n;
    struct asked *asked;
    uint64_t *rest; /* offsets that the files are asked about */
    size_t rest_n;
};

/* Whether a file that is found now may say more. */
static bool names_are_final(const struct asked *a)
{
    return a->known && a->stored.exact &&
           (a->stored.symbol.mangled || a->stored.symbol.miss == RK_MISS_NO_SYMBOL);
}

static bool lines_are_final(const struct asked *a)
{
    return names_are_final(a) && (a->stored.frame_n || a->stored.miss == RK_MISS_NO_UNIT);
}

static int ask_stored(struct asking *a, bool lines)
{
    a->asked = calloc(a->n + 1, sizeof *a->asked);
    a->rest = calloc(a->n + 1, sizeof *a->rest);
    if (!a->asked || !a->rest)
        return -ENOMEM;
    for (size_t i = 0; i < a->n; i++) {
        struct asked *asked = &a->asked[i];
        asked->known = stored_ask(a->symbolizer->stored, a->stored, a->offsets[i], &asked->stored);
        asked->part = UINT32_MAX;
        if (lines ? lines_are_final(asked) : names_are_final(asked))
            continue;
        asked->part = (uint32_t)a->rest_n;
        a->rest[a->rest_n++] = a->offsets[i];
    }
    return 0;
}

static void end_asking(struct asking *a)
{
    free(a->asked);
    free(a->rest);
}

/* Whether the files' answer is the one to take. `lines`: it has lines. */
static bool files_win(const struct asked *a, const struct rk_symbol *symbol, bool lines)
{
    if (!a->known)
        return true;
    if (!a->stored.symbol.mangled)
        return symbol->mangled || (symbol->name && !a->stored.symbol.name) || (lines && !a->stored.frame_n);
    if (!symbol->mangled)
        return false;
    bool same = strcmp(symbol->mangled, a->stored.symbol.mangled) == 0 &&
                symbol->distance == a->stored.symbol.distance;
    return same && lines && !a->stored.frame_n;
}

static struct rk_symbol stored_symbol(const struct rk_symbolizer *symbolizer,
                                      const struct stored_answer *from)
{
    struct rk_symbol symbol = from->symbol;

    if (symbol.name && !(symbolizer->flags & RK_SYMBOLIZER_MANGLED))
        symbol.name = from->plain;
    return symbol;
}

int symbolizer_resolve_stored(struct rk_symbolizer *symbolizer, const struct stored_module *stored,
                              const struct rk_module *wanted, const uint64_t *offsets, size_t n,
                              struct rk_symbol *ret)
{
    struct asking a = {
        .symbolizer = symbolizer, .stored = stored, .wanted = wanted, .offsets = offsets, .n = n};
    struct rk_symbol *symbols = NULL;
    int rc = ask_stored(&a, false);

    if (rc == 0 && a.rest_n) {
        symbols = calloc(a.rest_n, sizeof *symbols);
        rc = symbols ? symbolizer_resolve_files(symbolizer, wanted, a.rest, a.rest_n, symbols) : -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct asked *asked = &a.asked[i];
        bool files = symbols && asked->part != UINT32_MAX && files_win(asked, &symbols[asked->part], false);
        ret[i] = files ? symbols[asked->part] : stored_symbol(symbolizer, &asked->stored);
    }
    free(symbols);
    end_asking(&a);
    return rc;
}

/* ---- with lines ---- */

/* Whether the answer for an address comes from the files, of which `part` is what they say. */
static bool from_files(const struct asked *asked, const struct rk_sources *part)
{
    return part && asked->part != UINT32_MAX &&
           files_win(asked, &part->symbol[asked->part], part->miss[asked->part] == RK_MISS_NONE);
}

static void copy_files(const struct rk_sources *part, uint32_t k, struct answer *to, size_t i, size_t *at)
{
    to->symbol[i] = part->symbol[k];
    to->miss[i] = part->miss[k];
    for (uint32_t f = part->first[k]; f < part->first[k + 1]; f++, ++*at) {
        to->function[*at] = part->function[f];
        to->file[*at] = part->file[f];
        to->line[*at] = part->line[f];
        to->column[*at] = part->column[f];
        to->declared_file[*at] = part->declared_file[f];
        to->declared_line[*at] = part->declared_line[f];
    }
}

static void copy_stored(const struct asking *a, struct stored_answer *from, bool lines, struct answer *to,
                        size_t i, size_t *at)
{
    bool mangled = a->symbolizer->flags & RK_SYMBOLIZER_MANGLED;

    to->symbol[i] = stored_symbol(a->symbolizer, from);
    to->miss[i] = lines ? from->miss : RK_MISS_NO_LINES;
    if (!lines || !from->frame_n)
        answer_no_frame(to, (*at)++);
    for (uint32_t f = 0; lines && f < from->frame_n; f++, ++*at) {
        struct stored_frame frame = stored_frame_next(a->symbolizer->stored, from);
        to->function[*at] = mangled ? frame.function : frame.plain;
        to->file[*at] = frame.file;
        to->line[*at] = frame.line;
        to->column[*at] = frame.column;
        to->declared_file[*at] = frame.declared_file;
        to->declared_line[*at] = frame.declared_line;
    }
    if (to->symbol[i].name)
        to->function[*at - 1] = to->symbol[i].name;
}

/* The part goes to the answer. */
static int put_together(struct asking *a, bool lines, struct rk_sources **part, struct answer **ret)
{
    const struct rk_module *wanted = a->wanted;
    size_t frames = 0, at = 0;
    struct answer *answer = NULL;
    struct rk_sources **parts = calloc(1, sizeof *parts);

    for (size_t i = 0; i < a->n; i++) {
        const struct asked *asked = &a->asked[i];
        if (from_files(asked, *part))
            frames += (*part)->first[asked->part + 1] - (*part)->first[asked->part];
        else
            frames += lines && asked->stored.frame_n ? asked->stored.frame_n : 1;
    }
    size_t text_bytes = strlen(wanted->path) + 1 + (wanted->name ? strlen(wanted->name) + 1 : 0);
    int rc = !parts                ? -ENOMEM
             : frames > UINT32_MAX ? -EOVERFLOW
                                   : answer_make(a->n, frames, 1, text_bytes, &answer);
    if (rc < 0) {
        free(parts);
        return rc;
    }
    const struct rk_module *module = answer_module(answer, wanted);
    for (size_t i = 0; i < a->n; i++) {
        struct asked *asked = &a->asked[i];
        answer->offset[i] = a->offsets[i];
        answer->module[i] = module;
        answer->first[i] = (uint32_t)at;
        if (from_files(asked, *part))
            copy_files(*part, asked->part, answer, i, &at);
        else
            copy_stored(a, &asked->stored, lines, answer, i, &at);
    }
    answer->first[a->n] = (uint32_t)at;
    answer->parts = parts;
    answer->part_n = *part ? 1 : 0;
    parts[0] = TAKE_PTR(*part);
    *ret = answer;
    return 0;
}

int symbolizer_source_stored(struct rk_symbolizer *symbolizer, const struct stored_module *stored,
                             const struct rk_module *wanted, const uint64_t *offsets, size_t n,
                             const struct rk_sources_options *how, struct rk_sources **ret)
{
    struct asking a = {
        .symbolizer = symbolizer, .stored = stored, .wanted = wanted, .offsets = offsets, .n = n};
    bool lines = !(how->flags & RK_SOURCES_NO_LINES);
    struct rk_sources *part = NULL;
    struct answer *answer = NULL;
    int rc = ask_stored(&a, lines);

    if (rc == 0 && a.rest_n)
        rc = symbolizer_source_files(symbolizer, wanted, a.rest, a.rest_n, how, &part);
    if (rc == 0)
        rc = put_together(&a, lines, &part, &answer);
    rk_sources_free(part);
    end_asking(&a);
    if (rc != 0)
        return rc;
    answer->symbolizer = symbolizer_share(symbolizer);
    *ret = &answer->shown;
    return 0;
}

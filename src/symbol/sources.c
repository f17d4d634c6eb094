/*
 * Lines and inlined functions, for many offsets of one module: addresses sorted, each once, go to the dwarf room; what
 * its workers found comes back in the order that was asked for, as columns in one block (answer.h).
 */
#include "base/error.h"
#include "base/radix.h"
#include "dwarf/resolve.h"
#include "symbol/answer.h"
#include "symbol/demangle.h"
#include "symbol/symbolizer.h"

#include <errno.h>
#include <string.h>

struct asked {
    uint64_t address;
    uint32_t offset; /* index in the caller's */
};

/* What is known of each offset, by index. */
struct known {
    uint32_t found, answer; /* found: UINT32_MAX: nothing */
};

struct making {
    struct rk_symbolizer *symbolizer;
    const uint64_t *offsets;
    size_t n;
    struct rk_symbol *symbols; /* by offset */
    struct known *known;
    uint32_t miss; /* of all that have no line */
    struct found *founds;
    size_t found_n;
    struct arena demangled;
    struct intern texts;         /* of the result */
    uint32_t **function, **file; /* by found: its text → number in `texts` + 1 */
};

RADIX_SORT(sort_asked, struct asked, address)

/* Where the answers come from. */
struct origin {
    struct shelved *lines;       /* NULL: from nowhere */
    const struct module *module; /* a file; NULL: the kernel, of which addresses are asked */
    uint64_t shift;              /* of the kernel: address - shift is the dwarf's */
};

/* Offsets as the dwarf has them; those that lie nowhere are left out. */
static size_t place(const struct making *m, const struct origin *origin, struct asked *asked)
{
    struct load last = {0};
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++) {
        asked[n] = (struct asked){m->offsets[i] - origin->shift, (uint32_t)i};
        n += !origin->module || module_address(origin->module, m->offsets[i], &last, &asked[n].address);
    }
    return n;
}

/* Asks the dwarf, each address once, and notes per offset where its answer is. */
static int ask(struct making *m, const struct origin *origin, unsigned threads)
{
    size_t unique = 0;
    _cleanup_free_ struct asked *asked = reallocarray(NULL, m->n, sizeof *asked);
    _cleanup_free_ uint64_t *addresses = reallocarray(NULL, m->n, sizeof *addresses);
    _cleanup_free_ uint32_t *unique_of = reallocarray(NULL, m->n, sizeof *unique_of);
    _cleanup_free_ struct known *answers = reallocarray(NULL, m->n, sizeof *answers);

    if (!asked || !addresses || !unique_of || !answers)
        return -ENOMEM;
    size_t n = place(m, origin, asked);
    int rc = sort_asked(asked, (uint32_t)n);
    if (rc < 0)
        return rc; // cppcheck-suppress memleak ; they are freed where they end
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || asked[i].address != asked[i - 1].address)
            addresses[unique++] = asked[i].address;
        unique_of[i] = (uint32_t)unique - 1;
    }
    rc = dwarf_resolve(origin->lines->dwarf, addresses, unique, threads, &m->founds, &m->found_n);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < unique; i++)
        answers[i].found = UINT32_MAX;
    for (uint32_t f = 0; f < m->found_n; f++)
        for (uint32_t i = 0; i < m->founds[f].answers.n; i++)
            answers[m->founds[f].answers.items[i].question] = (struct known){f, i};
    for (size_t i = 0; i < n; i++)
        m->known[asked[i].offset] = answers[unique_of[i]];
    return 0;
}

static const struct found_answer *answer_of(const struct making *m, size_t offset)
{
    const struct known *known = &m->known[offset];

    return known->found == UINT32_MAX ? NULL : &m->founds[known->found].answers.items[known->answer];
}

/* A worker's text, among the result's: its number + 1, 0 for none; -ENOMEM. Functions are demangled on the way. */
static int64_t own_text(struct making *m, uint32_t **maps, uint32_t found, uint32_t text, bool function)
{
    if (text == TEXT_NONE)
        return 0;
    if (maps[found][text])
        return maps[found][text];
    const char *spelled = intern_text(&m->founds[found].texts, text);
    if (function && looks_mangled(spelled) && !(m->symbolizer->flags & RK_SYMBOLIZER_MANGLED))
        spelled = demangle(spelled, &m->demangled);
    int64_t number = spelled ? intern_add(&m->texts, spelled, strlen(spelled)) : -ENOMEM;
    if (number < 0)
        return number;
    maps[found][text] = (uint32_t)number + 1;
    return number + 1;
}

static int make_maps(struct making *m)
{
    m->function = calloc(m->found_n + 1, sizeof *m->function);
    m->file = calloc(m->found_n + 1, sizeof *m->file);
    if (!m->function || !m->file)
        return -ENOMEM;
    for (size_t i = 0; i < m->found_n; i++) {
        size_t n = m->founds[i].texts.texts.n;
        m->function[i] = calloc(n + 1, sizeof **m->function);
        m->file[i] = calloc(n + 1, sizeof **m->file);
        if (!m->function[i] || !m->file[i])
            return -ENOMEM;
    }
    return 0;
}

/* The texts that the answers need, each once; and how many frames there are. */
static int gather(struct making *m, size_t *ret_frames)
{
    size_t frames = 0;

    for (size_t i = 0; i < m->n; i++) {
        const struct found_answer *answer = answer_of(m, i);
        frames += answer ? answer->n : 1;
        for (uint32_t k = 0; answer && k < answer->n; k++) {
            const struct line_frame *frame = &m->founds[m->known[i].found].frames.items[answer->first + k];
            if (own_text(m, m->function, m->known[i].found, frame->function, true) < 0 ||
                own_text(m, m->file, m->known[i].found, frame->file, false) < 0 ||
                own_text(m, m->file, m->known[i].found, frame->declared_file, false) < 0)
                return -ENOMEM;
        }
    }
    *ret_frames = frames;
    return frames > UINT32_MAX ? -EOVERFLOW : 0;
}

static const char *text_of(const uint32_t *map, uint32_t text, const char *const *texts)
{
    return text == TEXT_NONE ? NULL : texts[map[text] - 1];
}

static void fill_frame(const struct making *m, size_t offset, const struct line_frame *frame,
                       const char *const *texts, struct answer *c, size_t at)
{
    uint32_t found = m->known[offset].found;

    c->function[at] = text_of(m->function[found], frame->function, texts);
    c->file[at] = text_of(m->file[found], frame->file, texts);
    c->line[at] = frame->line;
    c->column[at] = frame->column;
    c->declared_file[at] = text_of(m->file[found], frame->declared_file, texts);
    c->declared_line[at] = frame->declared_line;
}

static int fill(const struct making *m, const struct rk_module *wanted, struct answer *c)
{
    size_t at = 0, n = m->texts.texts.n;
    _cleanup_free_ const char **texts = calloc(n + 1, sizeof *texts);
    struct rk_module *module = answer_module(c, wanted);

    if (!texts)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        texts[i] = answer_text(c, m->texts.texts.items[i].text, m->texts.texts.items[i].bytes);
    for (size_t i = 0; i < m->n; i++) {
        const struct found_answer *answer = answer_of(m, i);
        c->symbol[i] = m->symbols[i];
        c->offset[i] = m->offsets[i];
        c->module[i] = module;
        c->first[i] = (uint32_t)at;
        c->miss[i] = answer ? RK_MISS_NONE : m->miss;
        for (uint32_t k = 0; answer && k < answer->n; k++)
            fill_frame(m, i, &m->founds[m->known[i].found].frames.items[answer->first + k], texts, c, at++);
        if (!answer)
            answer_no_frame(c, at++);
        /* .cold, .isra and the like are the symbol table's to tell; without one the DWARF's name stays. */
        if (m->symbols[i].mangled || !c->function[at - 1])
            c->function[at - 1] = m->symbols[i].name;
    }
    c->first[m->n] = (uint32_t)at;
    return 0;
}

/* What the texts of the result need. */
static size_t text_bytes(const struct making *m, const struct rk_module *wanted)
{
    size_t bytes = strlen(wanted->path) + 1 + (wanted->name ? strlen(wanted->name) + 1 : 0);

    for (size_t i = 0; i < m->texts.texts.n; i++)
        bytes += m->texts.texts.items[i].bytes + 1u;
    return bytes;
}

/* Opens what there is to ask; m->miss says why there is nothing. */
static int find_origin(struct making *m, const struct rk_module *wanted, struct origin *ret)
{
    struct module_search search;
    struct cached *cached;
    int rc;

    switch (wanted->kind) {
    case RK_MODULE_FILE:
    case RK_MODULE_VDSO:
        rc = symbolizer_module(m->symbolizer, wanted, &cached);
        if (rc == 0) {
            budget_refill(&cached->budget, m->n);
            search = symbolizer_search(m->symbolizer, &cached->budget);
            rc = module_lines(&search, wanted, &cached->module);
        }
        if (rc == 0) {
            m->miss = cached->module.lines.miss;
            *ret =
                (struct origin){.lines = m->miss ? NULL : &cached->module.lines, .module = &cached->module};
        }
        return rc;
    case RK_MODULE_KERNEL:
        return symbolizer_vmlinux(m->symbolizer, wanted, &ret->lines, &ret->shift, &m->miss);
    case RK_MODULE_KERNEL_MODULE:
        return symbolizer_ko(m->symbolizer, wanted, &ret->lines, &ret->shift, &m->miss);
    default:
        return 0;
    }
}

/* The same of code that was made at run time. */
static int ask_jit(struct making *m, const struct rk_module *wanted)
{
    m->founds = calloc(1, sizeof *m->founds);
    if (!m->founds)
        return -ENOMEM;
    m->found_n = 1;
    int rc = jitnames_lines(m->symbolizer, wanted, m->offsets, m->n, m->founds);
    for (uint32_t i = 0; rc == 0 && i < m->founds->answers.n; i++)
        m->known[m->founds->answers.items[i].question] = (struct known){0, i};
    return rc;
}

static int ask_lines(struct making *m, const struct rk_module *wanted, unsigned threads)
{
    struct origin origin = {0};

    pthread_mutex_lock(&m->symbolizer->lock);
    bool jit = wanted->kind == RK_MODULE_FILE && jitdump_is_path(wanted->path);
    int rc = jit ? ask_jit(m, wanted) : find_origin(m, wanted, &origin);
    /* Units are listed when they are first asked for: one batch at a time. */
    if (rc == 0 && origin.lines) {
        m->miss = RK_MISS_NO_UNIT;
        shelf_use(&m->symbolizer->shelf, origin.lines);
        rc = ask(m, &origin, threads);
        if (budget_spent(origin.lines->dwarf->elf->budget))
            m->miss = RK_MISS_BUDGET;
        shelf_trim(&m->symbolizer->shelf, m->symbolizer->lines_bytes, SHELF_FILES);
    }
    pthread_mutex_unlock(&m->symbolizer->lock);
    return rc;
}

static int make(struct making *m, const struct rk_module *wanted, const struct rk_sources_options *how,
                struct rk_sources **ret)
{
    struct answer *answer = NULL;
    size_t frames;
    int rc = symbolizer_resolve_files(m->symbolizer, wanted, m->offsets, m->n, m->symbols);

    for (size_t i = 0; i < m->n; i++)
        m->known[i].found = UINT32_MAX;
    m->miss = RK_MISS_NO_LINES;
    if (rc == 0 && !(how->flags & RK_SOURCES_NO_LINES))
        rc = ask_lines(m, wanted, how->threads);
    if (rc == 0)
        rc = make_maps(m);
    if (rc == 0)
        rc = gather(m, &frames);
    if (rc == 0)
        rc = answer_make(m->n, frames, 1, text_bytes(m, wanted), &answer);
    if (rc == 0)
        rc = fill(m, wanted, answer);
    if (rc < 0 || !answer) {
        free(answer);
        return rc;
    }
    answer->symbolizer = symbolizer_share(m->symbolizer);
    *ret = &answer->shown;
    return 0;
}

int sources_options(struct rk_sources_options *ret, const struct rk_sources_options *options,
                    struct rk_error *e)
{
    int rc = options_check(ret, sizeof *ret, options, "rk_sources_options", RK_STAGE_SYMBOL, e);
    uint32_t unknown = rc < 0 ? 0 : ret->flags & ~(uint32_t)RK_SOURCES_NO_LINES;

    if (unknown)
        return fail_argument(e, RK_STAGE_SYMBOL, "rk_sources_options: unknown flags %#x", unknown);
    return rc == 0 ? options_reserved(ret->reserved, "rk_sources_options", RK_STAGE_SYMBOL, e) : rc;
}

int symbolizer_source_files(struct rk_symbolizer *symbolizer, const struct rk_module *wanted,
                            const uint64_t *offsets, size_t n, const struct rk_sources_options *how,
                            struct rk_sources **ret)
{
    struct making m = {.symbolizer = symbolizer, .offsets = offsets, .n = n};

    m.symbols = calloc(n + 1, sizeof *m.symbols);
    m.known = calloc(n + 1, sizeof *m.known);
    int rc = m.symbols && m.known ? make(&m, wanted, how, ret) : -ENOMEM;
    for (size_t i = 0; i < m.found_n; i++) {
        if (m.function)
            free(m.function[i]);
        if (m.file)
            free(m.file[i]);
    }
    free(m.function);
    free(m.file);
    found_free(m.founds, m.found_n);
    intern_free(&m.texts);
    arena_free(&m.demangled);
    free(m.symbols);
    free(m.known);
    return rc;
}

int rk_symbolizer_sources(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                          const uint64_t *offsets, size_t n, const struct rk_sources_options *options,
                          struct rk_sources **ret, struct rk_error *e)
{
    struct rk_sources_options o;
    struct rk_module wanted;

    if (!symbolizer || !module || !ret || (n && !offsets))
        return fail_null(e, RK_STAGE_SYMBOL, "rk_symbolizer_sources", "an argument");
    int rc = sources_options(&o, options, e);
    if (rc < 0)
        return rc;
    if (options_take(&wanted, sizeof wanted, module) < 0 || !wanted.path || n > UINT32_MAX - 1)
        return fail(
            e, -EINVAL, RK_STAGE_SYMBOL, RK_CAUSE_ARGUMENT, NULL,
            "rk_symbolizer_sources: the module has no size or path, or there are more than 2^32 offsets");
    const struct stored_module *stored = symbolizer->stored ? stored_find(symbolizer->stored, &wanted) : NULL;
    rc = stored ? symbolizer_source_stored(symbolizer, stored, &wanted, offsets, n, &o, ret)
                : symbolizer_source_files(symbolizer, &wanted, offsets, n, &o, ret);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_UNKNOWN, NULL, "%s: %s", wanted.path, strerror(-rc));
    return 0;
}

/*
 * tests/fuzz/sections.h: debug sections without an ELF file round them, for the targets of src/dwarf's parsers.
 *
 *     an input: what the target says │ a section's length, 16 bits │ its bytes │ the next one's length │ …
 *
 * Each section is a block of its own size, so that reading beyond it is seen. What an input does not have is empty.
 */
#ifndef SECTIONS_H
#define SECTIONS_H

#include "fuzz.h"

#include "dwarf/dwarf.h"
#include "dwarf/name.h"

#include <string.h>

#define FUZZ_CODE_LOW UINT64_C(0x1000)
#define FUZZ_CODE_HIGH (UINT64_C(1) << 32)

enum { FUZZ_UNITS = 64, FUZZ_QUESTIONS = 64 };

struct fuzz_input {
    const uint8_t *at;
    size_t left;
};

/* The next n ≤ 8 bytes as a number; what is missing is 0. */
static inline uint64_t fuzz_number(struct fuzz_input *in, size_t n)
{
    uint64_t value = 0;
    n = n < in->left ? n : in->left;
    memcpy(&value, in->at, n);
    in->at += n;
    in->left -= n;
    return value;
}

static inline void fuzz_section(struct fuzz_input *in, struct view *view)
{
    size_t n = (size_t)fuzz_number(in, 2);
    n = n < in->left ? n : in->left;
    *view = (struct view){.n = n};
    if (n == 0)
        return;
    view->bytes = malloc(n);
    HOLDS(view->bytes);
    memcpy(view->bytes, in->at, n);
    in->at += n;
    in->left -= n;
}

static inline void fuzz_file_open(struct dwarf *file)
{
    *file = (struct dwarf){.root = -1, .code_low = FUZZ_CODE_LOW, .code_high = FUZZ_CODE_HIGH};
    pthread_mutex_init(&file->lock, NULL);
    pthread_mutex_init(&file->units.lock, NULL);
}

static inline void fuzz_file_close(struct dwarf *d)
{
    struct view *views[] = {&d->info,   &d->abbrev,   &d->line, &d->str,         &d->line_str,
                            &d->ranges, &d->rnglists, &d->addr, &d->str_offsets, &d->aranges};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        view_close(views[i]);
    package_close(&d->package);
    units_close(&d->units);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->units.lock);
}

/* A unit's abbreviations: each leads to steps that end, and is found by its code. */
static inline void fuzz_abbrevs(const struct unit *unit)
{
    struct abbrevs abbrevs = {0};
    HOLDS(abbrevs_load(&abbrevs, unit) <= 0);
    for (size_t i = 0; i < abbrevs.items.n; i++) {
        const struct abbrev *abbrev = &abbrevs.items.items[i];
        size_t step = abbrev->first;
        while (step < abbrevs.steps.n && abbrevs.steps.items[step].kind != STEP_END)
            step++;
        HOLDS(step < abbrevs.steps.n);
        const struct abbrev *found = abbrevs.file ? abbrevs_get(&abbrevs, abbrev->code) : abbrev;
        HOLDS(found && found->code == abbrev->code);
    }
    abbrevs_free(&abbrevs);
}

/* A unit whose root was read: its abbreviations, its functions, their names. */
static inline void fuzz_unit(const struct unit *unit, struct question *questions, size_t n)
{
    struct intern texts = {0};
    struct walk walk = {0};
    struct names names = {.texts = &texts};
    fuzz_abbrevs(unit);
    for (size_t i = 0; i < n; i++)
        questions[i] = (struct question){.address = questions[i].address, .node = NODE_NONE};
    HOLDS(walk_unit(&walk, unit, questions, n) <= 0);
    for (size_t i = 0; i < walk.nodes.n && i < FUZZ_QUESTIONS; i++) {
        const struct node *node = &walk.nodes.items[i];
        HOLDS(node->die >= unit->die && node->die < unit->end);
        HOLDS(node->parent == NODE_NONE || node->parent < i);
        struct about about, again;
        HOLDS(die_about(&names, &walk, unit, node->die, &about) == 0);
        HOLDS(die_about(&names, &walk, unit, node->die, &again) == 0);
        HOLDS(about.name == NAME_NONE || about.name < texts.texts.n);
        HOLDS(about.name == again.name && about.file == again.file && about.line == again.line);
        if (about.name != NAME_NONE)
            fuzz_touch_text(intern_text(&texts, about.name));
    }
    for (size_t i = 0; i < n; i++)
        HOLDS(questions[i].node == NODE_NONE || questions[i].node < walk.nodes.n);
    names_free(&names);
    walk_free(&walk);
    intern_free(&texts);
}

/* Addresses at both ends and in the middle of stretches of code, rising, each once. */
struct fuzz_questions {
    struct question items[FUZZ_QUESTIONS];
    size_t n;
};

static inline void fuzz_ask(struct fuzz_questions *q, uint64_t address)
{
    size_t i = q->n;
    if (i == FUZZ_QUESTIONS)
        return;
    while (i > 0 && q->items[i - 1].address > address)
        i--;
    if (i > 0 && q->items[i - 1].address == address)
        return;
    memmove(q->items + i + 1, q->items + i, (q->n - i) * sizeof *q->items);
    q->items[i] = (struct question){.address = address, .node = NODE_NONE};
    q->n++;
}

static inline void fuzz_ask_range(struct fuzz_questions *q, uint64_t low, uint64_t high)
{
    fuzz_ask(q, low);
    fuzz_ask(q, low + (high - low) / 2);
    fuzz_ask(q, high - 1);
}

#endif

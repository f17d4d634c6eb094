/*
 * A program's debug information with some bytes changed: whatever it says then, asking it ends soon, within bounds,
 * and without a crash; and where only one unit was damaged, all others answer as before.
 *
 *     mutate_lines COUNT FILE...       COUNT mutations of each file, the same ones each time
 */
#include "mutate.h"

#include "dwarf/resolve.h"

#include <string.h>
#include <sys/resource.h>

enum { ADDRESSES = 300, CHANGES = 32 };

/* The file, what is asked of it, and what it says undamaged: a number for each address's answer, and its unit. */
struct subject {
    const char *path;
    unsigned char *bytes;
    size_t n;
    uint64_t asked[ADDRESSES], answers[ADDRESSES], units[ADDRESSES];
};

static int ask(const struct subject *s, uint64_t answers[ADDRESSES], uint64_t units[ADDRESSES])
{
    struct elf *elf = NULL;
    struct dwarf *dwarf = NULL;
    struct found *found = NULL;
    size_t n = 0;
    memset(answers, 0, ADDRESSES * sizeof *answers);
    if (elf_open_memory(s->bytes, s->n, s->path, &elf, NULL) < 0 ||
        dwarf_open(-1, &(struct dwarf_place){0}, elf, &dwarf) < 0)
        return -1;
    int rc = dwarf_resolve(dwarf, s->asked, ADDRESSES, 1, &found, &n);
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < found[f].answers.n; i++) {
            const struct found_answer *a = &found[f].answers.items[i];
            uint64_t sum = 1;
            for (uint32_t k = a->first; k < a->first + a->n; k++) {
                const struct line_frame *frame = &found[f].frames.items[k];
                sum = sum * 31 + frame->line;
                for (int t = 0; t < 2; t++) {
                    uint32_t text = t ? frame->file : frame->function;
                    for (const char *c = text == TEXT_NONE ? "" : intern_text(&found[f].texts, text); *c; c++)
                        sum = sum * 31 + (unsigned char)*c;
                }
            }
            answers[a->question] = sum;
        }
    uint64_t end;
    for (size_t i = 0; units && i < ADDRESSES; i++)
        units[i] = units_find(&dwarf->units, s->asked[i], &end);
    found_free(found, n);
    dwarf_close(dwarf);
    return rc;
}

static void load(struct subject *s)
{
    FILE *file = fopen(s->path, "re");
    HOLDS(file && fseek(file, 0, SEEK_END) == 0);
    s->n = (size_t)ftell(file);
    s->bytes = malloc(s->n);
    rewind(file);
    HOLDS(s->bytes && fread(s->bytes, 1, s->n, file) == s->n);
    fclose(file);
    struct elf *elf = NULL;
    const struct elf_section *text;
    HOLDS(elf_open_memory(s->bytes, s->n, s->path, &elf, NULL) == 0);
    HOLDS(elf_section_find(elf, ".text", &text) == 0);
    for (size_t i = 0; i < ADDRESSES; i++)
        s->asked[i] = text->address + text->bytes * i / ADDRESSES;
    elf_close(elf);
    HOLDS(ask(s, s->answers, s->units) == 0);
}

/* A stretch of the file to change: one unit of .debug_info, whose offset is told, or another section. */
static bool choose(const struct subject *s, uint64_t *ret_at, uint64_t *ret_n, uint64_t *ret_unit)
{
    static const char *const names[] = {
        ".debug_abbrev",   ".debug_line",    ".debug_rnglists",    ".debug_ranges", ".debug_str",
        ".debug_line_str", ".debug_aranges", ".debug_str_offsets", ".debug_addr",   ".debug_info"};
    struct elf *elf = NULL;
    const struct elf_section *section;
    bool ok = false;
    *ret_unit = UINT64_MAX;
    HOLDS(elf_open_memory(s->bytes, s->n, s->path, &elf, NULL) == 0);
    uint64_t kind = next_random() % 16;
    if (kind < 6 && elf_section_find(elf, ".debug_info", &section) == 0) {
        uint64_t unit = s->units[next_random() % ADDRESSES];
        uint32_t length;
        if (unit != UINT64_MAX && unit + 4 < section->bytes) {
            memcpy(&length, s->bytes + section->offset + unit, 4);
            *ret_unit = unit;
            *ret_at = section->offset + unit + 12; /* its header stays: the next unit is found by it */
            *ret_n = length - 8;
            ok = length < section->bytes && length > 64;
        }
    } else if (elf_section_find(elf, names[kind % 10], &section) == 0 && section->bytes) {
        *ret_at = section->offset;
        *ret_n = section->bytes;
        ok = section->offset + section->bytes <= s->n;
    }
    elf_close(elf);
    return ok;
}

static void mutate(struct subject *s, uint64_t number, unsigned *same, unsigned *worst_ms)
{
    uint64_t at, n, unit, answers[ADDRESSES];
    size_t places[CHANGES];
    unsigned char before[CHANGES];
    state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    if (!choose(s, &at, &n, &unit))
        return;
    uint64_t changes = 1 + next_random() % CHANGES;
    for (uint64_t i = 0; i < changes; i++) {
        places[i] = at + next_random() % n;
        before[i] = s->bytes[places[i]];
        s->bytes[places[i]] = next_random() % 3 ? (unsigned char)next_random() : 0xff;
    }
    double begin = now();
    int rc = ask(s, answers, NULL);
    double took = now() - begin;
    if (took >= SECONDS_MAX)
        fprintf(stderr, "%s, mutation %lu: %.3f s\n", s->path, (unsigned long)number, took);
    HOLDS(took < SECONDS_MAX);
    *worst_ms = took * 1e3 > *worst_ms ? (unsigned)(took * 1e3) : *worst_ms;
    for (size_t i = 0; unit != UINT64_MAX && i < ADDRESSES; i++)
        if (s->units[i] != unit) {
            HOLDS(rc == 0 && answers[i] == s->answers[i]);
            ++*same;
        }
    for (uint64_t i = changes; i-- > 0;)
        s->bytes[places[i]] = before[i];
}

int main(int argc, char **argv)
{
    struct rlimit limit = {MEMORY_MAX, MEMORY_MAX};
    HOLDS(argc > 2);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    HOLDS(setrlimit(RLIMIT_AS, &limit) == 0);
#endif
    (void)limit;
    uint64_t count = strtoull(argv[1], NULL, 10);
    for (int i = 2; i < argc; i++) {
        struct subject s = {.path = argv[i]};
        unsigned same = 0, worst_ms = 0;
        load(&s);
        for (uint64_t k = 0; k < count; k++)
            mutate(&s, k + 1, &same, &worst_ms);
        HOLDS(count < 50 || same > 0);
        printf("%s: %lu mutations, %u answers of undamaged units the same, %u ms at most\n", argv[i],
               (unsigned long)count, same, worst_ms);
        free(s.bytes);
    }
    return 0;
}

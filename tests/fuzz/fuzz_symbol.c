/*
 * Tables of names: bytes that begin as an ELF file are one, and its functions are indexed; all else is text, of
 * /proc/kallsyms, of /proc/PID/maps and of perf-PID.map. Whatever the tables say, an answer covers the address that was asked for,
 * and its name ends.
 */
#include "fuzz.h"

#include "elf/symtab.h"
#include "image/process.h"
#include "symbol/functions.h"
#include "symbol/kallsyms.h"
#include "symbol/perfmap.h"
#include "symbol/plt.h"

#include <string.h>

/* Around every entry, where mistakes would be. */
static void use_index(const struct index *index, const char *names)
{
    for (uint32_t i = 0; i < index->n; i++) {
        const struct index_entry *e = &index->entries[i];
        const uint64_t asked[] = {e->start - 1, e->start, e->start + e->bytes / 2, e->start + e->bytes - 1,
                                  e->start + e->bytes};
        HOLDS(e->bytes > 0 && (i == 0 || index->entries[i - 1].start <= e->start));
        fuzz_touch_text(names + (e->name & ~NAME_MANGLED));
        for (size_t k = 0; k < 5; k++) {
            const struct index_entry *found = index_find(index, asked[k]);
            HOLDS(!found || asked[k] - found->start < found->bytes);
            HOLDS(found || k != 1);
        }
    }
    index_find(index, 0);
    index_find(index, UINT64_MAX);
}

static void use_elf(const uint8_t *data, size_t size)
{
    static const uint32_t types[] = {ELF_SECTION_SYMTAB, ELF_SECTION_DYNSYM};
    struct elf *elf = NULL;
    if (elf_open_memory(data, size, "input", &elf, NULL) < 0)
        return;
    struct functions none = {0}, tables[2] = {0}, stubs;
    for (int i = 0; i < 2; i++)
        if (functions_load(elf, types[i], &tables[i]) == 0)
            use_index(&tables[i].index, tables[i].names);
    for (int i = 0; i < 2; i++)
        if (plt_load(elf, &none, i && tables[1].names ? &tables[1] : NULL, &stubs) == 0) {
            use_index(&stubs.index, stubs.names);
            functions_free(&stubs);
        }
    for (int i = 0; i < 2; i++)
        functions_free(&tables[i]);
    elf_close(elf);
}

static char *copy_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    HOLDS(text);
    memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

static void use_maps(const uint8_t *data, size_t size)
{
    struct rk_image *image = NULL;
    struct space *space = NULL;
    char *text = copy_text(data, size);
    HOLDS(rk_image_open(&image, NULL) == 0);
    maps_parse(image, 1, 0, text, &space);
    free(text);
    uint64_t end = 0;
    uint32_t mapping_n = 0;
    for (uint32_t p = 0; space && p < space->n; p++) {
        const struct space_run *run = space->parts[p].run;
        HOLDS(run->n > 0 && run->n <= SPACE_RUN && space->parts[p].first == run->items[0].start);
        mapping_n += run->n;
        for (uint32_t i = 0; i < run->n; i++) {
            const struct mapping *m = &run->items[i];
            HOLDS(m->start < m->end && end <= m->start);
            HOLDS(space_find(space, m->start) == m && space_find(space, m->end - 1) == m);
            HOLDS(m->module < rk_image_module_count(image));
            end = m->end;
        }
    }
    HOLDS(mapping_n == (space ? space->mapping_n : 0));
    space_drop(space);
    for (uint32_t i = 0; i < rk_image_module_count(image); i++) {
        struct rk_module module = {.size = sizeof module};
        HOLDS(rk_image_module_get(image, i, &module) == 0);
        fuzz_touch_text(module.path);
        fuzz_touch_text(module.name);
    }
    rk_image_free(image);
}

/* The last line that covers an address names it, however the lines lie. */
static void use_perfmap(const uint8_t *data, size_t size)
{
    struct perfmap map = {0};
    struct intern names = {0};
    int64_t taken = perfmap_parse(&map, (const char *)data, size, &names);
    HOLDS(taken >= 0 && (size_t)taken <= size && perfmap_index(&map) == 0);
    for (size_t i = 0; i < map.lines.n && i < 64; i++) {
        const uint64_t asked[] = {map.lines.items[i].start, map.lines.items[i].end - 1,
                                  map.lines.items[i].end};
        for (size_t k = 0; k < 3; k++) {
            const struct perfmap_line *last = NULL;
            for (size_t j = 0; j < map.lines.n; j++)
                if (asked[k] >= map.lines.items[j].start && asked[k] < map.lines.items[j].end)
                    last = &map.lines.items[j];
            const struct index_entry *found = index_find(&map.index, asked[k]);
            HOLDS(!found == !last && (!found || found->name == last->name));
        }
    }
    perfmap_free(&map);
    intern_free(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kallsyms kallsyms;

    if (size >= 4 && memcmp(data, "\177ELF", 4) == 0) {
        use_elf(data, size);
        return 0;
    }
    if (kallsyms_parse(copy_text(data, size), size, &kallsyms) == 0) {
        use_index(&kallsyms.kernel, kallsyms.names);
        use_index(&kallsyms.modules, kallsyms.names);
        for (uint32_t i = 0; i < kallsyms.modules.n; i++)
            fuzz_touch_text(
                kallsyms_module(kallsyms.names + (kallsyms.modules.entries[i].name & ~NAME_MANGLED)));
        kallsyms_free(&kallsyms);
    }
    use_maps(data, size);
    use_perfmap(data, size);
    return 0;
}

/*
 * An ELF file, in memory and through a descriptor: both must say the same. Segments, sections, notes and
 * symbol tables are all walked; every name that a table admits must end inside it.
 */
#include "fuzz.h"
#include "mutate_elf.h"

#include "elf/section.h"
#include "elf/symtab.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What is learnt of a file, to compare. */
struct findings {
    int opened, sections, address, build_id, tables[2], named, debugdata;
    uint64_t loaded; /* bytes of sections, decompressed */
    uint64_t where;
    struct build_id id;
    uint64_t symbols;
};

static uint64_t use_table(const struct symtab *table)
{
    uint64_t sum = table->n;
    HOLDS(table->names[table->names_bytes] == 0);
    for (uint32_t i = 0; i < table->n; i++) {
        struct elf_symbol symbol = symtab_at(table, i);
        sum = sum * 31 + symbol.value + symbol.size + symbol.section + symbol.type + symbol.binding;
        if (symbol.name < table->names_bytes)
            sum = sum * 31 + strlen(table->names + symbol.name);
    }
    return sum;
}

static void look(struct elf *elf, struct findings *f)
{
    static const uint32_t types[] = {ELF_SECTION_SYMTAB, ELF_SECTION_DYNSYM};
    f->address = elf_address(elf, 64, &f->where);
    f->build_id = elf_build_id(elf, &f->id);
    HOLDS(f->build_id < 0 || (f->build_id > 0 && f->id.bytes == (uint32_t)f->build_id));
    f->sections = elf_sections(elf);
    if (f->sections == 0 && elf->section_n)
        fuzz_touch(elf->sections, elf->section_n * sizeof *elf->sections);
    fuzz_touch(elf->segments, elf->segment_n * sizeof *elf->segments);
    for (int i = 0; i < 2; i++) {
        struct symtab table = {0};
        f->tables[i] = symtab_load(elf, types[i], &table);
        if (f->tables[i] == 0)
            f->symbols += use_table(&table);
        symtab_free(&table);
    }
    const struct elf_section *section = NULL;
    struct elf *inside = NULL;
    f->named = elf_section_find(elf, ".debug_frame", &section);
    for (uint32_t i = 0; f->sections == 0 && i < elf->section_n && i < 64; i++) {
        void *bytes;
        size_t n;
        fuzz_touch_text(elf_section_name(elf, &elf->sections[i]));
        if (elf_section_load(elf, &elf->sections[i], 1 << 20, &bytes, &n) == 0) {
            HOLDS(((char *)bytes)[n] == 0);
            fuzz_touch(bytes, n);
            f->loaded += n;
            free(bytes);
        }
    }
    f->debugdata = elf_open_debugdata(elf, &inside);
    HOLDS((f->debugdata == 0) == (inside != NULL));
    elf_close(inside);
    HOLDS(elf_close(elf) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct findings memory, file;
    struct rk_error e = {.size = sizeof e};
    struct elf *elf = NULL;

    memset(&memory, 0, sizeof memory);
    memset(&file, 0, sizeof file);
    memory.opened = elf_open_memory(data, size, "input", &elf, &e);
    if (memory.opened == 0)
        look(elf, &memory);
    else
        HOLDS(e.code == memory.opened && e.what[0] && !elf);

    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    elf = NULL;
    file.opened = elf_open_fd(fd, "input", &elf, &e);
    if (file.opened == 0)
        look(elf, &file);
    HOLDS(!memcmp(&memory, &file, sizeof memory));

    struct build_id id;
    note_build_id(data, size, &id); /* as notes alone, such as /sys/kernel/notes */
    return 0;
}

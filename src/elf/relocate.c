#include "elf/relocate.h"

#include "base/cursor.h"
#include "elf/section.h"
#include "elf/symtab.h"

#include <errno.h>

enum { ENTRY_BYTES = 24 };

#define INIT_AT (UINT64_C(1) << 40)

/* Sections of a byte, which the kernel gives a size when it loads a module: .plt and two others of arm's and arm64's.
 * Everyone else takes them for empty, so that .text, which follows them, is at 0. */
static bool is_placeholder(const struct elf *elf, const struct elf_section *section)
{
    const char *name = elf_section_name(elf, section);

    return section->bytes <= 1 && (strcmp(name, ".plt") == 0 || strcmp(name, ".init.plt") == 0 ||
                                   strcmp(name, ".text.ftrace_trampoline") == 0);
}

/* Behind what has been placed: *end, and from there on. */
static int place(struct elf_section *s, uint64_t base, uint64_t *end)
{
    uint64_t alignment = s->alignment && s->alignment <= 1 << 21 ? s->alignment : 1;

    s->address = (*end + alignment - 1) / alignment * alignment;
    *end = s->address + s->bytes;
    return *end - base > INIT_AT / 2 ? -EBADMSG : 0;
}

int elf_place(struct elf *elf)
{
    const struct elf_section *any;
    uint64_t at[2] = {0, INIT_AT};

    if (elf->type != ELF_TYPE_RELOCATABLE)
        return 0;
    int rc = elf_section_find(elf, ".text", &any); /* so that they have names */
    if (rc < 0 && rc != -ENOENT)
        return rc;
    rc = 0;
    for (int placeholders = 0; placeholders < 2; placeholders++)
        for (uint32_t i = 0; rc == 0 && i < elf->section_n; i++) {
            struct elf_section *s = &elf->sections[i];
            if (!(s->flags & ELF_SECTION_EXECUTE) || !(s->flags & ELF_SECTION_ALLOCATED) ||
                s->bytes > INIT_AT / 2 || is_placeholder(elf, s) != placeholders)
                continue;
            bool init = strncmp(elf_section_name(elf, s), ".init", 5) == 0;
            rc = place(s, init ? INIT_AT : 0, &at[init]);
        }
    return rc;
}

static bool is_for(const struct elf *elf, const struct elf_section *relocations,
                   const struct elf_section *section)
{
    return relocations->type == ELF_SECTION_RELA && relocations->info < elf->section_n &&
           &elf->sections[relocations->info] == section;
}

bool elf_is_relocated(const struct elf *elf, const struct elf_section *section)
{
    for (uint32_t i = 0; elf->type == ELF_TYPE_RELOCATABLE && i < elf->section_n; i++)
        if (is_for(elf, &elf->sections[i], section))
            return true;
    return false;
}

/* How many bytes of address it fills in; 0: nothing that debug information has. */
static unsigned width_of(uint16_t machine, uint32_t type)
{
    switch (machine) {
    case ELF_MACHINE_X86_64:
        return type == 1 ? 8 : type == 10 || type == 11 ? 4 : 0; /* 64; 32, 32S */
    case ELF_MACHINE_AARCH64:
        return type == 257 ? 8 : type == 258 ? 4 : 0; /* ABS64, ABS32 */
    default:
        return 0;
    }
}

static void apply(const struct elf *elf, const struct symtab *symbols, struct cursor *c, unsigned char *bytes,
                  size_t n)
{
    uint64_t offset = cursor_u64(c), info = cursor_u64(c), value = cursor_u64(c); /* the addend */
    unsigned width = width_of(elf->machine, (uint32_t)info);
    uint32_t number = (uint32_t)(info >> 32);

    if (width == 0 || offset > n || n - offset < width || number >= symbols->n)
        return;
    struct elf_symbol symbol = symtab_at(symbols, number);
    if (symbol.section && symbol.section < ELF_SECTIONS_RESERVED && symbol.section < elf->section_n)
        value += elf->sections[symbol.section].address + symbol.value;
    memcpy(bytes + offset, &value, width);
}

int elf_relocate(struct elf *elf, const struct elf_section *section, unsigned char *bytes, size_t n)
{
    struct symtab symbols = {0};
    uint64_t left = elf->size; /* sections of relocations don't overlap, except in a damaged file */

    if (elf->machine != ELF_MACHINE_X86_64 && elf->machine != ELF_MACHINE_AARCH64)
        return -ENOENT;
    int rc = symtab_load_entries(elf, ELF_SECTION_SYMTAB, &symbols);

    for (uint32_t i = 0; rc == 0 && i < elf->section_n; i++) {
        _cleanup_free_ void *entries = NULL;
        size_t bytes_n = 0;
        if (!is_for(elf, &elf->sections[i], section))
            continue;
        rc = elf_section_load(elf, &elf->sections[i], (size_t)left, &entries, &bytes_n);
        left -= rc == 0 ? bytes_n : 0;
        struct cursor c = cursor_of(entries, rc == 0 ? bytes_n : 0);
        while (cursor_left(&c) >= ENTRY_BYTES)
            apply(elf, &symbols, &c, bytes, n);
    }
    symtab_free(&symbols);
    return rc;
}

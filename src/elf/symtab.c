#include "elf/symtab.h"

#include <errno.h>

enum {
    SYMBOLS_MAX = 1 << 25, /* 800 MB of entries; the largest browsers have some two million */
    NAMES_MAX = 1 << 30,
};

static const struct elf_section *find_section(const struct elf *elf, uint32_t type)
{
    for (uint32_t i = 0; i < elf->section_n; i++)
        if (elf->sections[i].type == type)
            return &elf->sections[i];
    return NULL;
}

static int load(struct elf *elf, uint32_t section_type, bool with_names, struct symtab *ret)
{
    _cleanup_free_ void *entries_block = NULL, *names_block = NULL;
    int rc = elf_sections(elf);

    if (rc < 0)
        return rc;
    const struct elf_section *entries = find_section(elf, section_type);
    if (!entries || entries->bytes == 0)
        return -ENOENT;
    if (entries->entry_bytes != SYMBOL_BYTES || entries->link >= elf->section_n ||
        elf->sections[entries->link].type != ELF_SECTION_STRTAB)
        return -EBADMSG;
    const struct elf_section *names = &elf->sections[entries->link];

    rc = budget_fits(elf->budget, with_names ? entries->bytes + names->bytes : entries->bytes);
    if (rc == 0)
        rc = elf_load(elf, entries->offset, entries->bytes, (size_t)SYMBOLS_MAX * SYMBOL_BYTES,
                      &entries_block);
    if (rc == 0 && with_names)
        rc = elf_load(elf, names->offset, names->bytes, NAMES_MAX, &names_block);
    if (rc < 0)
        return rc;
    ret->n = (uint32_t)(entries->bytes / SYMBOL_BYTES);
    ret->names_bytes = with_names ? (uint32_t)names->bytes : 0;
    ret->entries = TAKE_PTR(entries_block);
    ret->names = TAKE_PTR(names_block);
    return 0;
}

int symtab_load(struct elf *elf, uint32_t section_type, struct symtab *ret)
{
    return load(elf, section_type, true, ret);
}

int symtab_load_entries(struct elf *elf, uint32_t section_type, struct symtab *ret)
{
    return load(elf, section_type, false, ret);
}

void symtab_free(struct symtab *table)
{
    free(table->entries);
    free(table->names);
    *table = (struct symtab){0};
}

static const char *defined_name(const struct symtab *table, const struct elf_symbol *symbol)
{
    bool known = symbol->type == SYMBOL_NOTYPE || symbol->type == SYMBOL_OBJECT ||
                 symbol->type == SYMBOL_FUNCTION || symbol->type == SYMBOL_IFUNC;

    return known && symbol->section && symbol->section < ELF_SECTIONS_RESERVED &&
                   symbol->name < table->names_bytes
               ? table->names + symbol->name
               : NULL;
}

int symtab_find(struct elf *elf, const char *name, size_t n, struct elf_symbol *ret,
                void (*offer)(void *context, const char *name), void *context)
{
    static const uint32_t kinds[] = {ELF_SECTION_SYMTAB, ELF_SECTION_DYNSYM};
    bool found = false;

    for (size_t k = 0; k < 2 && !found; k++) {
        struct symtab table = {0};
        int rc = symtab_load(elf, kinds[k], &table);
        if (rc == -ENOENT)
            continue;
        if (rc < 0)
            return rc;
        for (uint32_t i = 0; i < table.n; i++) {
            struct elf_symbol symbol = symtab_at(&table, i);
            const char *own = defined_name(&table, &symbol);
            if (!own || strncmp(own, name, n) != 0 || own[n] || (found && symbol.binding == SYMBOL_LOCAL))
                continue;
            *ret = symbol;
            found = true;
        }
        for (uint32_t i = 0; !found && offer && i < table.n; i++) {
            struct elf_symbol symbol = symtab_at(&table, i);
            const char *own = defined_name(&table, &symbol);
            if (own && *own)
                offer(context, own);
        }
        symtab_free(&table);
    }
    return found ? 0 : -ENOENT;
}

/*
 * A symbol table as it stands in the file: two blocks, entries and names, each read at once.
 */
#ifndef ELF_SYMTAB_H
#define ELF_SYMTAB_H

#include "elf/elf.h"

#include <string.h>

/* st_info & 15, st_info >> 4 */
enum {
    SYMBOL_NOTYPE = 0,
    SYMBOL_OBJECT = 1,
    SYMBOL_FUNCTION = 2,
    SYMBOL_IFUNC = 10,

    SYMBOL_LOCAL = 0,
    SYMBOL_GLOBAL = 1,
    SYMBOL_WEAK = 2,
    SYMBOL_UNIQUE = 10,
};

#define SYMBOL_BYTES 24

struct elf_symbol {
    uint32_t name; /* offset, not yet checked */
    uint8_t type, binding;
    uint16_t section; /* 0: undefined; ≥ ELF_SECTIONS_RESERVED: not a section's number */
    uint64_t value, size;
};

struct symtab {
    unsigned char *entries;
    uint32_t n;           /* entries */
    uint32_t names_bytes; /* names[names_bytes] is a NUL */
    char *names;
};

/* Loads the table of that section type (ELF_SECTION_SYMTAB or _DYNSYM). 0, -ENOENT: the file has none, -errno. */
int symtab_load(struct elf *elf, uint32_t section_type, struct symtab *ret);

/* The same without its names, which are NULL: for those who have them already. */
int symtab_load_entries(struct elf *elf, uint32_t section_type, struct symtab *ret);

/* The symbol of n bytes of name that the file itself defines, in .symtab or else in .dynsym, a global one before a
 * local one: 0, -ENOENT, or -errno. `offer`, where it is not NULL, is called with every name of that kind, which lives
 * until it returns, when there is none. */
int symtab_find(struct elf *elf, const char *name, size_t n, struct elf_symbol *ret,
                void (*offer)(void *context, const char *name), void *context);

void symtab_free(struct symtab *table);

/* i < n. */
static inline struct elf_symbol symtab_at(const struct symtab *table, uint32_t i)
{
    const unsigned char *at = table->entries + (size_t)i * SYMBOL_BYTES;
    struct elf_symbol symbol = {.type = at[4] & 15, .binding = at[4] >> 4};

    memcpy(&symbol.name, at, 4);
    memcpy(&symbol.section, at + 6, 2);
    memcpy(&symbol.value, at + 8, 8);
    memcpy(&symbol.size, at + 16, 8);
    return symbol;
}

#endif

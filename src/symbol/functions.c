#include "symbol/functions.h"

#include "elf/symtab.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <string.h>

/* Cuts every name at its '@', unless that begins it or follows a dot, as in nasm's local labels (..@4.loop). Names may share tails, so that a cut one may be another's too: that is the same
 * symbol's version then. One pass over the block is cheaper than one search per name. */
static void cut_versions(char *names, size_t n)
{
    char *end = names + n;

    for (char *at = memchr(names, '@', n); at; at = memchr(at, '@', (size_t)(end - at)))
        if (at > names && at[-1] && at[-1] != '.')
            *at = '\0';
        else
            at++;
}

static bool is_mapping_symbol(const char *name, uint16_t machine)
{
    if (machine != ELF_MACHINE_AARCH64 && machine != ELF_MACHINE_RISCV && machine != ELF_MACHINE_ARM)
        return false;
    return name[0] == '$' && name[1] && strchr("xdat", name[1]) &&
           (!name[2] || name[2] == '.' || strncmp(name + 2, "rv", 2) == 0);
}

static uint32_t rank_of(const struct elf_symbol *symbol)
{
    uint32_t rank = symbol->binding == SYMBOL_LOCAL  ? RANK_LOCAL
                    : symbol->binding == SYMBOL_WEAK ? RANK_WEAK
                                                     : RANK_GLOBAL;

    return rank + (symbol->type != SYMBOL_NOTYPE ? RANK_FUNCTION : 0) + (symbol->size ? RANK_SIZED : 0);
}

/* Whether the symbol is a function, and where. */
static bool take(const struct elf *elf, const struct symtab *table, const struct elf_symbol *symbol,
                 struct candidate *ret)
{
    if (symbol->type != SYMBOL_FUNCTION && symbol->type != SYMBOL_NOTYPE && symbol->type != SYMBOL_IFUNC)
        return false;
    if (symbol->section == 0 || symbol->section >= ELF_SECTIONS_RESERVED || symbol->section >= elf->section_n)
        return false;
    const struct elf_section *section = &elf->sections[symbol->section];
    if (!(section->flags & ELF_SECTION_EXECUTE) || symbol->name >= table->names_bytes)
        return false;
    bool relative = elf->type == ELF_TYPE_RELOCATABLE; /* to its section */
    uint64_t inside = relative ? symbol->value : symbol->value - section->address;
    if ((!relative && symbol->value < section->address) || inside >= section->bytes ||
        section->bytes > UINT64_MAX - section->address)
        return false;
    uint64_t start = section->address + inside;
    const char *name = table->names + symbol->name;
    if (!*name || strncmp(name, ".L", 2) == 0 || is_mapping_symbol(name, elf->machine))
        return false;

    uint64_t left = section->bytes - inside;
    uint64_t bytes = symbol->size && symbol->size < left ? symbol->size : left;
    uint32_t mangled = looks_mangled(name) ? NAME_MANGLED : 0;
    *ret = (struct candidate){start, start + bytes, symbol->name | mangled, rank_of(symbol)};
    return true;
}

int functions_load(struct elf *elf, uint32_t section_type, struct functions *ret)
{
    struct symtab table;
    struct functions functions = {0};
    uint32_t n = 0;
    int rc = symtab_load(elf, section_type, &table);

    if (rc < 0)
        return rc;
    cut_versions(table.names, table.names_bytes);
    struct candidate *candidates = reallocarray(NULL, table.n ? table.n : 1, sizeof *candidates);
    if (candidates) {
        for (uint32_t i = 0; i < table.n; i++) {
            struct elf_symbol symbol = symtab_at(&table, i);
            if (take(elf, &table, &symbol, &candidates[n]))
                n++;
        }
        rc = n ? index_build(&functions.index, candidates, n, table.names) : -ENOENT;
        free(candidates);
    } else {
        rc = -ENOMEM;
    }
    if (rc == 0) {
        functions.names = TAKE_PTR(table.names);
        functions.names_bytes = table.names_bytes;
        *ret = functions;
    }
    symtab_free(&table);
    return rc;
}

void functions_free(struct functions *functions)
{
    index_free(&functions->index);
    free(functions->names);
    functions->names = NULL;
}

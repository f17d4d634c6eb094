#include "symbol/functions.h"

#include "elf/symtab.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <string.h>

enum { NAME_BLOCK = 1 << 14 };

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

/* No name is longer than two of these: what would be is cut. A block without a NUL lies inside of one. */
static void cut_long(char *names, size_t n)
{
    for (size_t at = 0; at + NAME_BLOCK <= n; at += NAME_BLOCK)
        if (!memchr(names + at, 0, NAME_BLOCK))
            names[at] = '\0';
}

static bool is_mapping_symbol(const char *name, uint16_t machine)
{
    if (machine != ELF_MACHINE_AARCH64 && machine != ELF_MACHINE_RISCV && machine != ELF_MACHINE_ARM)
        return false;
    return name[0] == '$' && name[1] && strchr("xdat", name[1]) &&
           (!name[2] || name[2] == '.' || strncmp(name + 2, "rv", 2) == 0);
}

/* What no function is called: labels that only an assembler or a compiler's plugin knows. */
static bool is_no_name(const char *name)
{
    return !*name || (*name == '.' && (name[1] == 'L' || strncmp(name, ".annobin_", 9) == 0));
}

/* mold names the stub of an ifunc after it; the ifunc's own symbol is of a section where it does not lie. */
static void cut_stub(char *name)
{
    static const char tail[] = "$pltgot";
    size_t n = strlen(name), cut = sizeof tail - 1;

    if (n > cut && memcmp(name + n - cut, tail, cut) == 0)
        name[n - cut] = '\0';
}

static uint32_t rank_of(const struct elf_symbol *symbol)
{
    uint32_t rank = symbol->binding == SYMBOL_LOCAL  ? RANK_LOCAL
                    : symbol->binding == SYMBOL_WEAK ? RANK_WEAK
                                                     : RANK_GLOBAL;
    bool function = symbol->type == SYMBOL_FUNCTION || symbol->type == SYMBOL_IFUNC;

    return rank + (function ? RANK_FUNCTION : 0) + (symbol->size ? RANK_SIZED : 0);
}

/* Whether the symbol is a function, and where. */
static bool take(const struct elf *elf, const struct symtab *table, const struct elf_symbol *symbol,
                 struct candidate *ret)
{
    if (symbol->type > SYMBOL_FUNCTION && symbol->type != SYMBOL_IFUNC)
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
    char *name = table->names + symbol->name;
    if (symbol->size == 0 && symbol->type == SYMBOL_FUNCTION && symbol->binding == SYMBOL_LOCAL)
        cut_stub(name);
    if (is_no_name(name) || is_mapping_symbol(name, elf->machine))
        return false;

    uint64_t left = section->bytes - inside;
    uint64_t bytes = symbol->size && symbol->size < left ? symbol->size : left;
    uint32_t mangled = looks_mangled(name) ? NAME_MANGLED : 0;
    *ret = (struct candidate){start, start + bytes, symbol->name | mangled, rank_of(symbol)};
    return true;
}

/* Of one or more tables: their candidates, and one block with the names of all. */
struct gathered {
    struct candidate *candidates;
    uint32_t n, names_bytes;
    char *names;
};

static void gathered_free(struct gathered *g)
{
    free(g->candidates);
    free(g->names);
}

/* The names of a table, behind those of the tables before. `*ret`: where they begin. */
static int add_names(struct gathered *g, struct symtab *table, uint32_t *ret)
{
    uint64_t bytes = (uint64_t)g->names_bytes + 1 + table->names_bytes;

    if (!g->names) {
        g->names = TAKE_PTR(table->names);
        g->names_bytes = table->names_bytes;
        *ret = 0;
        return 0;
    }
    char *names = bytes < NAME_MANGLED ? realloc(g->names, (size_t)bytes + 1) : NULL;
    if (!names)
        return bytes < NAME_MANGLED ? -ENOMEM : -EBADMSG;
    memcpy(names + g->names_bytes + 1, table->names, (size_t)table->names_bytes + 1);
    *ret = g->names_bytes + 1;
    g->names = names;
    g->names_bytes = (uint32_t)bytes;
    return 0;
}

static int gather(struct gathered *g, struct elf *elf, uint32_t section_type)
{
    struct symtab table;
    uint32_t n = g->n, shift = 0;
    int rc = symtab_load(elf, section_type, &table);

    if (rc < 0)
        return rc;
    cut_versions(table.names, table.names_bytes);
    cut_long(table.names, table.names_bytes);
    struct candidate *candidates =
        table.n < UINT32_MAX - n ? reallocarray(g->candidates, (size_t)n + table.n + 1, sizeof *candidates)
                                 : NULL;
    if (candidates) {
        g->candidates = candidates;
        for (uint32_t i = 0; i < table.n; i++) {
            struct elf_symbol symbol = symtab_at(&table, i);
            if (take(elf, &table, &symbol, &candidates[n]))
                n++;
        }
        rc = n > g->n ? add_names(g, &table, &shift) : -ENOENT;
    } else {
        rc = -ENOMEM;
    }
    for (uint32_t i = g->n; rc == 0 && shift && i < n; i++)
        candidates[i].name += shift;
    g->n = rc == 0 ? n : g->n;
    symtab_free(&table);
    return rc;
}

/* Takes what was gathered, and holds it. */
static int build(struct gathered *g, struct budget *budget, struct functions *ret)
{
    struct functions functions = {0};
    int rc = budget_hold(budget, g->names_bytes + (uint64_t)g->n * sizeof *functions.index.entries);

    if (rc == 0)
        rc = g->n ? index_build(&functions.index, g->candidates, g->n, g->names) : -ENOENT;

    if (rc == 0) {
        functions.names = TAKE_PTR(g->names);
        functions.names_bytes = g->names_bytes;
        *ret = functions;
    }
    return rc;
}

int functions_load(struct elf *elf, uint32_t section_type, struct functions *ret)
{
    struct gathered g = {0};
    int rc = gather(&g, elf, section_type);

    if (rc == 0)
        rc = build(&g, elf->budget, ret);
    gathered_free(&g);
    return rc;
}

int functions_load_both(struct elf *elf, uint32_t section_type, struct elf *other, uint32_t other_type,
                        struct functions *ret)
{
    struct gathered g = {0};
    int first = gather(&g, elf, section_type);
    int second = first == -ENOMEM ? first : gather(&g, other, other_type);
    int rc = second == -ENOMEM ? second : build(&g, elf->budget, ret);

    gathered_free(&g);
    return rc;
}

void functions_free(struct functions *functions)
{
    index_free(&functions->index);
    free(functions->names);
    functions->names = NULL;
}

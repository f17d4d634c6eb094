/*
 * An ELF file's functions, indexed. Taken are FUNC and IFUNC symbols, and in executable sections labels without a type
 * and OBJECT symbols: older GHCs give these to code. Not taken are the mapping symbols of arm and riscv ($x, $d),
 * assembler-local labels (.L…), annobin's (.annobin_…) and what lies outside the section that it names. A version
 * (name@VER) is cut off.
 */
#ifndef SYMBOL_FUNCTIONS_H
#define SYMBOL_FUNCTIONS_H

#include "elf/elf.h"
#include "symbol/index.h"

struct functions {
    struct index index;
    char *names; /* the table's own block of texts */
    uint32_t names_bytes;
};

/* From the table of that section type (ELF_SECTION_SYMTAB or _DYNSYM). 0; -ENOENT: the file has none, or no
 * function in it; -errno. The elf may be closed afterwards. */
int functions_load(struct elf *elf, uint32_t section_type, struct functions *ret);

/* From a table each of two files that have the same addresses, as one: what has a size goes before what has none,
 * whichever has it. One of them may be missing or damaged. 0; -ENOENT: neither has a function; -ENOMEM. */
int functions_load_both(struct elf *elf, uint32_t section_type, struct elf *other, uint32_t other_type,
                        struct functions *ret);
void functions_free(struct functions *functions);

#endif

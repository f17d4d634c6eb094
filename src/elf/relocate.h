/*
 * Relocatable files: the kernel's modules (.ko), objects (.o). Nothing in them has an address yet, and what their debug
 * information refers to is for a linker to fill in.
 *
 * Code is placed as the kernel does when it loads a module: executable sections in their order, each aligned, from 0 on.
 * Those of its initialisation (.init…) go elsewhere, so that here they lie far above.
 */
#ifndef ELF_RELOCATE_H
#define ELF_RELOCATE_H

#include "elf/elf.h"

/* Gives the executable sections of a relocatable file their addresses; of any other file it does nothing. 0 or -errno. */
int elf_place(struct elf *elf);

/* Whether a section of a relocatable file has something to be filled in. */
bool elf_is_relocated(const struct elf *elf, const struct elf_section *section);

/* Fills it in, in a copy of its bytes, as the sections are placed. 0; -ENOENT: not for this processor, or there are no
 * symbols; -errno. */
int elf_relocate(struct elf *elf, const struct elf_section *section, unsigned char *bytes, size_t n);

#endif

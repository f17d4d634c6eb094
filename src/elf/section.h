/*
 * Sections by name, and their bytes, decompressed where they are compressed; and the other ELF files that belong to
 * one: its mini-debuginfo (.gnu_debugdata), its debug file, the vDSO.
 */
#ifndef ELF_SECTION_H
#define ELF_SECTION_H

#include "elf/note.h"

/* The first section of that name. ".debug_…" is found as ".zdebug_…" too. 0, -ENOENT, or -errno. */
int elf_section_find(struct elf *elf, const char *name, const struct elf_section **ret);

/* The next one of the same name; NULL: there is none. */
const struct elf_section *elf_section_next(const struct elf *elf, const struct elf_section *section);

/* Its name; "" where the file has none for it. Lives as long as the elf. Valid after elf_section_find(). */
const char *elf_section_name(const struct elf *elf, const struct elf_section *section);

/* Its bytes, as the linker had them, in new memory with a NUL behind them. 0; -EBADMSG damaged, or longer than `limit`;
 * -EOPNOTSUPP: compressed, and the library for that (libdeflate, libzstd) is not installed; -errno. As elf_load() asks
 * the budget. */
int elf_section_load(struct elf *elf, const struct elf_section *section, size_t limit, void **ret,
                     size_t *ret_n);

/* The files that belong to an elf are paid from its budget. */

/* The ELF file inside .gnu_debugdata, compressed by xz: symbols that distributions add to stripped files. 0; -ENOENT:
 * it has none; -EOPNOTSUPP: liblzma is not installed; -errno. */
int elf_open_debugdata(struct elf *elf, struct elf **ret);

/* /usr/lib/debug/.build-id/ab/cdef….debug below a root's descriptor, if it is there and has that build-id. 0, -ENOENT,
 * or -errno. And that path. */
int elf_open_debug(int root, const struct build_id *id, struct budget *budget, struct elf **ret);
#define DEBUG_PATH_BYTES (sizeof "/usr/lib/debug/.build-id/" + 2 * BUILD_ID_MAX + sizeof "/.debug")
void elf_debug_path(const struct build_id *id, char ret[DEBUG_PATH_BYTES]);

/* The file that .gnu_debuglink names, beside the file at `path`, in .debug there, or below /usr/lib/debug, if its bytes
 * have the checksum that is told: all of it is read for that. `ret_path`: where it was. 0, -ENOENT, or -errno. */
#define DEBUGLINK_PATH_BYTES (2 * 4096 + 32)
int elf_open_debuglink(int root, const char *path, struct elf *elf, char ret_path[DEBUGLINK_PATH_BYTES],
                       struct elf **ret);

/* The vDSO of the running kernel, as it is mapped into this process. 0, -ENOENT: there is none. */
int elf_open_vdso(struct elf **ret);

#endif

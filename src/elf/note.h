/*
 * Notes, and the one of them that matters: the build-id, which names a build whatever its path.
 */
#ifndef ELF_NOTE_H
#define ELF_NOTE_H

#include "elf/elf.h"

#define BUILD_ID_MAX 20 /* as much as perf's records and files have room for */

struct build_id {
    uint32_t bytes; /* 0: none */
    unsigned char id[BUILD_ID_MAX];
};

/* Whether two build-ids are one. Tools that know no sizes fill up with zeros. */
bool build_id_same(const struct build_id *a, const struct build_id *b);

/* The build-id among notes in memory: its bytes, 1 … 20 (a longer one is cut there, as the kernel and perf do);
 * -ENODATA: none; -EBADMSG: notes that overrun their end before one is found. */
int note_build_id(const void *notes, size_t n, struct build_id *ret);

/* The file's. As above, or -errno of reading it. */
int elf_build_id(struct elf *elf, struct build_id *ret);

/* Of a file by its path below a root's descriptor: opens, asks, closes. */
int elf_build_id_at(int root, const char *path, struct build_id *ret);

/* The running kernel's, from /sys/kernel/notes below a root's descriptor; a loaded module's, by its name, "[ext4]". */
int kernel_build_id(int root, struct build_id *ret);
int kernel_module_build_id(int root, const char *name, struct build_id *ret);

#endif

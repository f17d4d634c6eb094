/*
 * The file of a module, wherever it is to be had: reckon/module.h tells where is looked, and what is believed.
 */
#ifndef ELF_OBJECT_H
#define ELF_OBJECT_H

#include "elf/note.h"

#include <reckon/module.h>

#define OBJECT_PATH_MAX 4160 /* a path of 4096 bytes below /proc/PID/root */

/* Opens it below a root's descriptor. 1: proven to be the file that was mapped; 0: believed, since nothing is known
 * against it but perhaps its inode; then its own build-id is in *ret_id (0 bytes: none), the path it was found at in
 * `ret_path`. -ESTALE: what is there is not the file that was mapped; -ENOENT: gone; or -errno of opening or reading
 * what is at the path itself; -EDQUOT: the budget, which pays for all, is spent. Kinds: FILE and VDSO. */
int object_open(int root, const struct rk_module *module, struct budget *budget,
                char ret_path[OBJECT_PATH_MAX], struct elf **ret, struct build_id *ret_id);

/* The same from a descriptor that was opened for it before, and stays open. */
int object_open_kept(int fd, const struct rk_module *module, struct budget *budget,
                     char ret_path[OBJECT_PATH_MAX], struct elf **ret, struct build_id *ret_id);

/* Its build-id: as the module tells it, or the file's that is proven to be it, or may well be. 0, -ENODATA: it has none,
 * or -errno as above. */
int object_find_build_id(int root, const struct rk_module *module, struct build_id *ret);

/* The build-id that a module tells. */
struct build_id object_build_id(const struct rk_module *module);

#endif

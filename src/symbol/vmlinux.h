/*
 * The kernel's debug information: its vmlinux, which distributions install beside or below /usr/lib/debug, found by
 * its build-id. Its addresses are as it was linked; the running kernel lies elsewhere (KASLR), as far off as its
 * _text is.
 */
#ifndef SYMBOL_VMLINUX_H
#define SYMBOL_VMLINUX_H

#include "elf/note.h"
#include "symbol/functions.h"
#include "symbol/shelf.h"

/* One of a module has neither _text nor _stext. */
struct vmlinux {
    struct build_id id;
    uint64_t text, stext; /* addresses of _text and _stext; 0: not there */
    struct shelved lines;
    struct functions functions; /* of one that was named by its path */
    uint32_t miss;              /* why these are none */
};

/* Opens the one with that build-id, paths below the root's descriptor. 0, also where there is none to be had (lines.miss says
 * why), or -errno where it was not the file's fault: -ENOMEM, -EMFILE, -ENFILE. */
int vmlinux_open(int root, const struct build_id *id, struct budget *budget, struct vmlinux *ret);
/* Opens the one at a path, with its functions; `id` becomes its own. As above; `miss` says why there are no names. */
int vmlinux_open_path(const char *path, struct budget *budget, struct vmlinux *ret);
void vmlinux_close(struct vmlinux *vmlinux);

/* Why there is no dwarf, by what opening it said. */
uint32_t vmlinux_miss(int rc);

#endif

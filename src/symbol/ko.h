/*
 * Debug information of the kernel's modules: NAME.ko as it was built, or NAME.ko.debug, found by its build-id.
 */
#ifndef SYMBOL_KO_H
#define SYMBOL_KO_H

#include "symbol/vmlinux.h"

/* Opens that of a module, whose name is as /proc/modules has it, paths below the root's descriptor. Its code is from address
 * 0 on (elf/relocate.h). As vmlinux_open(). */
int ko_open(int root, const char *name, const struct build_id *id, struct budget *budget,
            struct vmlinux *ret);

#endif

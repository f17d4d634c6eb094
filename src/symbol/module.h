/*
 * A module's names, loaded: from its own .symtab, else from the debug file of its build-id, else from its mini-debuginfo
 * (.gnu_debugdata) and its .dynsym, of which neither has what the other has; and its stubs' (.plt).
 *
 *     offset in the file ─ segments → address ─ index → name
 */
#ifndef SYMBOL_MODULE_H
#define SYMBOL_MODULE_H

#include "elf/note.h"
#include "symbol/functions.h"

#include <reckon/module.h>
#include <reckon/symbol.h>

/* A stretch of the file that is loaded. */
struct load {
    uint64_t offset, bytes, address;
};

struct module {
    uint32_t miss;      /* RK_MISS_NONE: there are names; else there are none, for this reason */
    uint32_t elsewhere; /* why an address has no name though there are names */
    uint32_t load_n;
    struct load *loads; /* executable ones first */
    uint32_t table_n;
    struct functions tables[3]; /* asked in turn: the full or the mini one, what is exported, stubs */
};

/* Loads what `wanted` names, paths below the root's descriptor. 0, also where there is nothing to be had (miss says
 * why), or -errno where it was not the module's fault: -ENOMEM, -EMFILE, -ENFILE. */
int module_load(int root, const struct rk_module *wanted, struct module *ret);
void module_free(struct module *module);

/* The build-id that a caller's module tells. */
struct build_id build_id_of(const struct rk_module *module);

#endif

/*
 * A module's names, loaded: from its own .symtab, else from the debug file of its build-id, else from its mini-debuginfo
 * (.gnu_debugdata) and its .dynsym as one table, or the latter alone; and its stubs' (.plt).
 *
 *     offset in the file ─ segments → address ─ index → name
 */
#ifndef SYMBOL_MODULE_H
#define SYMBOL_MODULE_H

#include "elf/depot.h"
#include "elf/object.h"
#include "symbol/functions.h"
#include "symbol/origin.h"
#include "symbol/shelf.h"

#include <reckon/module.h>
#include <reckon/symbol.h>

/* A stretch of the file that is loaded. */
struct load {
    uint64_t offset, bytes, address;
};

struct tables;

struct module {
    struct build_id id; /* the file's own */
    uint32_t miss;      /* RK_MISS_NONE: there are names; else there are none, for this reason */
    uint32_t elsewhere; /* why an address has no name though there are names */
    uint32_t load_n;
    struct load *loads; /* executable ones first */
    uint32_t table_n;
    struct shelved lines;
    struct functions tables[2]; /* asked in turn: functions, stubs */
    bool described;             /* unwind tables were looked for */
    struct tables *unwind;      /* what they say of functions without a name; NULL: nothing */
};

/* Where its files are looked for. */
struct module_search {
    int root;                 /* a root's descriptor: paths are below it */
    int kept;                 /* its file, opened before; -1: it was not */
    struct depot *depot;      /* asked last, by build-id */
    struct budget *budget;    /* of the module; outlives it */
    struct provenance origin; /* what was not mapped here has to be proven to be the same */
};

/* Loads what `wanted` names. 0, also where there is nothing to be had (miss says
 * why), or -errno where it was not the module's fault: -ENOMEM, -EMFILE, -ENFILE. `by_address`: what is asked for are
 * addresses (RK_SYMBOLIZER_ADDRESSES). */
int module_load(const struct module_search *search, const struct rk_module *wanted, bool by_address,
                struct module *ret);
void module_free(struct module *module);

/* Opens its debug information, if it is not: in the file, or in its debug file. 0, also where there is none
 * (lines.miss says why), or -errno as above. */
int module_lines(const struct module_search *search, const struct rk_module *wanted, struct module *module);

/* The function that the file's unwind tables describe at an address; they are read at the first question. 0; -ENOENT:
 * none, or damaged; -EDQUOT; or -errno as above. */
int module_describe(const struct module_search *search, const struct rk_module *wanted, struct module *module,
                    uint64_t address, uint64_t *ret_start, uint64_t *ret_end);

/* Where a byte of the file lies in memory; false: nowhere. */
static inline bool module_address(const struct module *module, uint64_t offset, struct load *last,
                                  uint64_t *ret)
{
    if (offset - last->offset >= last->bytes)
        for (uint32_t i = 0; i < module->load_n; i++)
            if (offset - module->loads[i].offset < module->loads[i].bytes) {
                *last = module->loads[i];
                break;
            }
    *ret = last->address + (offset - last->offset);
    return offset - last->offset < last->bytes;
}

#endif

/*
 * The running kernel's functions, from the text of /proc/kallsyms: a line per symbol,
 *
 *     ffffffff81000000 T _text
 *     ffffffffc0201000 t ext4_sync_file\t[ext4]
 *
 * sorted for the kernel proper, in any order for each module. There are no sizes: a function reaches to the next
 * symbol of whatever kind, and not beyond its module's last page nor a mebibyte. A user who may not see addresses
 * gets zeros.
 */
#ifndef SYMBOL_KALLSYMS_H
#define SYMBOL_KALLSYMS_H

#include "symbol/index.h"

#include <string.h>

struct kallsyms {
    struct index kernel, modules; /* apart: modules lie far off, and would make one index's buckets wide */
    char *names;                  /* the text; names, and modules behind theirs, end with a NUL in place */
    uint64_t text, stext;         /* addresses of _text and _stext; 0: not there */
};

/* Reads proc/kallsyms, or a copy of one, below a root's descriptor. 0; -EACCES: hidden from this user; -ENOENT; -errno. */
int kallsyms_load(int root, const char *path, struct kallsyms *ret);

/* From n bytes of text, with a NUL behind them, that malloc gave: they belong to the kallsyms from here on, also on
 * failure. As above. */
int kallsyms_parse(char *text, size_t n, struct kallsyms *ret);

/* The function that covers the address, and the index that has it; or NULL. */
static inline const struct index_entry *kallsyms_find(const struct kallsyms *kallsyms, uint64_t address,
                                                      const struct index **ret_index)
{
    *ret_index = &kallsyms->kernel;
    const struct index_entry *entry = index_find(*ret_index, address);
    if (entry)
        return entry;
    *ret_index = &kallsyms->modules;
    return index_find(*ret_index, address);
}

/* The module of a name that came from an index: "[ext4]"; "" for the kernel proper. */
static inline const char *kallsyms_module(const char *name)
{
    const char *behind = name + strlen(name) + 1;

    return *behind == '[' ? behind : "";
}

void kallsyms_free(struct kallsyms *kallsyms);

#endif

/*
 * Answers of a symbolizer → the bytes that a recording stores: symbol/stored.h has their form.
 */
#ifndef NAMES_ENCODE_H
#define NAMES_ENCODE_H

#include "elf/note.h"
#include "perfdata/bytes.h"

#include <reckon/names.h>
#include <reckon/symbol.h>

/* One module's addresses, by rising offset. */
struct named_module {
    struct rk_module module;
    struct build_id id; /* the file's; 0 bytes: unknown */
    size_t n;
    uint64_t *offsets;
    uint32_t *rank;             /* in the order in which addresses were hit first, of all modules */
    struct rk_sources *sources; /* names mangled; NULL: it was not asked about */
};

/* How much of it is stored: addresses that were hit early have their names, and the earliest their lines too. */
struct encode_limits {
    uint32_t named, lined;
};

/* The section, packed, in *ret; the counts of what is in it, in *tally. 0 or -ENOMEM. */
int encode_names(const struct named_module *modules, size_t n, struct encode_limits limits,
                 perfdata_bytes *ret, struct rk_names *tally);

#endif

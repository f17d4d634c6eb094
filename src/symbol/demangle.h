/*
 * Mangled names → what people wrote: C++ (_Z…), Rust's legacy scheme and v0 (_R…). The work is libiberty's, linked
 * static where it is packaged; without it names stay as they are.
 *
 * A name comes from a file, and a short one can spell out a text of exabytes: what is longer than DEMANGLED_MAX
 * stays mangled, and the work ends there.
 */
#ifndef SYMBOL_DEMANGLE_H
#define SYMBOL_DEMANGLE_H

#include "base/arena.h"

#include <stdbool.h>

enum { DEMANGLED_MAX = 1 << 14 };

/* Whether names are demangled at all: libiberty was there at build time. */
bool demangle_available(void);

/* Whether it begins as mangled names do; few others do. */
static inline bool looks_mangled(const char *name)
{
    return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

/* The text, in the arena, or the name itself where it is none. NULL: out of memory. */
const char *demangle(const char *name, struct arena *arena);

#endif

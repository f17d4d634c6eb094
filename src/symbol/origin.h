/*
 * Whether addresses were taken on this machine and under its kernel, by what a recording says of that.
 */
#ifndef SYMBOL_ORIGIN_H
#define SYMBOL_ORIGIN_H

#include <stdint.h>

enum origin_is { ORIGIN_HERE, ORIGIN_UNKNOWN, ORIGIN_ELSEWHERE };

struct provenance {
    enum origin_is machine, kernel;
};

/* `host`, `release`: as recorded; NULL: here, "": unknown. Those of here are read below a root's descriptor, else asked of
 * the kernel. */
struct provenance provenance_find(int root, const char *host, const char *release);

#endif

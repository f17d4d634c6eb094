/*
 * tests/fault/debug.h: programs with debug information, put below the working directory.
 */
#ifndef FAULT_DEBUG_H
#define FAULT_DEBUG_H

#include <stdio.h>
#include <stdlib.h>

static inline int put(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "we");
    if (!file)
        return -1;
    size_t written = fwrite(bytes, 1, n, file);
    return fclose(file) == 0 && written == n ? 0 : -1;
}

/* One of the fuzz corpus. */
static inline int copy(const char *name, const char *path)
{
    char from[512], bytes[65536];
    snprintf(from, sizeof from, "%s/../fuzz/corpus/dwarf/%s", getenv("DATA") ? getenv("DATA") : "tests/data",
             name);
    FILE *file = fopen(from, "re");
    if (!file)
        return -1;
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return put(path, bytes, n);
}

#endif

/*
 * Debug information that stays open between calls, so that the next one need not find and open it again: the list of
 * what is open, the one used last first. What it holds is bounded, in bytes and in files, each of which has a
 * descriptor: what is behind that is closed, and opened again when it is asked for. The symbolizer's lock is held.
 */
#ifndef SYMBOL_SHELF_H
#define SYMBOL_SHELF_H

#include "dwarf/dwarf.h"

#include <stdbool.h>

#define SHELF_FILES 64u
#define SHELF_BYTES (UINT64_C(256) << 20)

/* Of one module, or of one kernel. */
struct shelved {
    struct shelved *next; /* in the list */
    struct dwarf *dwarf;  /* NULL: there is none, or it is not open */
    uint32_t miss;        /* once asked: why there is none */
    bool asked;
};

/* If it is open it becomes the first of the list. */
void shelf_use(struct shelved **shelf, struct shelved *lines);

/* Closes the last of the list, until the others hold no more than so many bytes and files. */
void shelf_trim(struct shelved **shelf, uint64_t bytes, uint32_t files);

#endif

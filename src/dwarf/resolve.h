/*
 * Many addresses of one file at once → functions, inlined ones innermost first, and lines.
 */
#ifndef DWARF_RESOLVE_H
#define DWARF_RESOLVE_H

#include "base/intern.h"
#include "dwarf/dwarf.h"

#define TEXT_NONE UINT32_MAX

struct line_frame {
    uint32_t function, file; /* numbers in the texts of its batch; TEXT_NONE */
    uint32_t line, column;   /* 0: unknown */
    uint32_t declared_file;  /* as `file` */
    uint32_t declared_line;  /* 0: unknown */
};

struct found_answer {
    uint32_t question; /* index of the address */
    uint32_t first, n; /* frames */
};

/* What one worker found out. */
struct found {
    struct intern texts;
    VECTOR(struct line_frame) frames;
    VECTOR(struct found_answer) answers;
};

/* Resolves n addresses, rising, each once, n < 2^32; `threads` of them work at once (0: this one alone), at most as many
 * as there are units to read. *ret is an array of as many founds as worked, in no order; an address of which nothing is
 * known is in none. The caller frees it by found_free(). 0, or -ENOMEM. */
int dwarf_resolve(struct dwarf *dwarf, const uint64_t *addresses, size_t n, unsigned threads,
                  struct found **ret, size_t *ret_n);
void found_free(struct found *found, size_t n);

#endif

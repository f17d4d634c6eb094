/*
 * Code made at run time, by the names that its maker writes to /tmp/perf-PID.map: a line per function,
 *
 *     7f32c0a01000 1c0 LazyCompile:~add /srv/sum.js:3
 *
 * start and size in hexadecimal. The file grows while the program runs: each call reads what was appended since the
 * last. Memory is used again, so that the last line wins where lines overlap; a line that makes no sense is skipped,
 * and one that has no end yet is left for the next time.
 *
 * A process in a container has its own /tmp and its own idea of its pid: its file is looked for below
 * /proc/PID/root first. Anyone can write to /tmp: a file is believed if root, this user or the process's own user
 * owns it.
 */
#ifndef SYMBOL_PERFMAP_H
#define SYMBOL_PERFMAP_H

#include "base/intern.h"
#include "symbol/index.h"

struct perfmap_line {
    uint64_t start, end;
    uint32_t name; /* number, perhaps with NAME_MANGLED */
};

struct perfmap {
    int32_t pid;
    uint32_t miss;                     /* why an address that is not in it has no name */
    uint64_t taken;                    /* bytes of the file */
    size_t indexed;                    /* lines */
    VECTOR(struct perfmap_line) lines; /* in the file's order */
    struct index index;                /* what is left of each line; names are numbers */
};

/* Reads what is new below the root's descriptor. 0, or -ENOMEM, -EMFILE, -ENFILE. */
int perfmap_update(struct perfmap *map, int root, struct intern *names);

/* Takes the whole lines of n bytes of text: how many bytes those were, or -ENOMEM. */
int64_t perfmap_parse(struct perfmap *map, const char *text, size_t n, struct intern *names);

/* Makes the index of the lines so far. 0 or -ENOMEM. */
int perfmap_index(struct perfmap *map);

void perfmap_free(struct perfmap *map);

#endif

/*
 * Code made at run time, by the records that its maker appends to jit-PID.dump (Linux, tools/perf/Documentation/
 * jitdump-specification.txt): node --perf-prof, Java's libperf-jvmti, .NET. It maps the file's first page, so that a
 * recording tells where the file is.
 *
 *     header   magic "JiTD" version bytes machine - pid time flags
 *     record   id bytes time, then
 *       LOAD         pid tid vma address bytes index, the name, the code itself
 *       MOVE         pid tid vma old new bytes index: the code of that index lies elsewhere from now on
 *       DEBUG_INFO   address n, n times an address, a line, a number and a file's name: of the LOAD that follows
 *       UNWINDING_INFO   counted, and not read
 *
 * A place in such code is a place in the file: where its bytes are. So an address that was used again is another place.
 *
 * The file is outside bytes. It is opened only where root, this user or the process's user owns it, and not through a
 * link; each size is checked against the file's; what is read of it has limits. It may grow: each call reads what was
 * appended. The other byte order is read.
 */
#ifndef SYMBOL_JITDUMP_H
#define SYMBOL_JITDUMP_H

#include "base/intern.h"
#include "base/table.h"
#include "base/vector.h"

#include <stdbool.h>
#include <stdint.h>

/* Code that lies at an address from a time on. */
struct jit_load {
    uint64_t time; /* by the clock of the file; never less than the one's before */
    uint64_t address, bytes;
    uint64_t code;  /* where the bytes are in the file */
    uint64_t debug; /* … and the record of its lines; 0: none */
    uint32_t name;  /* number in a struct intern */
    uint32_t reserved;
};

struct jitdump {
    VECTOR(struct jit_load) loads; /* in the file's order */
    VECTOR(uint32_t) places;       /* those that are no MOVE: `code` ascends */
    struct table by_index;         /* its maker's number of the code → the latest load */
    uint64_t taken;                /* bytes of the file */
    uint64_t begun;                /* when it was begun: the header's time, or that of the first record */
    uint64_t records;
    uint64_t unwinding;          /* records of UNWINDING_INFO */
    bool swapped;                /* the other byte order */
    bool untimed;                /* times are of a counter that nobody can convert: all are 0 */
    bool damaged;                /* nothing behind `taken` makes sense */
    uint64_t debug_at, debug_of; /* the last DEBUG_INFO, and the address that it is for */
    uint64_t debug_least; /* least distance of a function's first line from its address, plus 1; 0: unknown */
};

/* Bytes of the file: a descriptor's, or those in memory. */
struct jit_source {
    int fd;
    const unsigned char *bytes; /* NULL: the descriptor's */
    uint64_t size;
};

/* Whether a path is one that makers of code give to such a file: ".../jit-PID.dump". */
bool jitdump_is_path(const char *path);

/* Opens the file of a process as the recording names it; `inode`, unless 0, is its. A descriptor; -EPERM: another user's;
 * -ESTALE: another file; or -errno. */
int jitdump_open(int root, int32_t pid, const char *path, uint64_t inode, uint64_t *ret_size);

/* Takes what is whole of the file and was not taken before. 0; -ENOEXEC: it is no such file; -ENOMEM. What makes no sense
 * ends the reading: `damaged`. */
int jitdump_read(struct jitdump *dump, const struct jit_source *source, struct intern *names);

/* The load whose bytes lie at that place of the file, or NULL. */
const struct jit_load *jitdump_find(const struct jitdump *dump, uint64_t code);

/* The line of a place in the code of a load that is called `spelled`: 1 with the file's name, which the caller frees; 0: unknown; -ENOMEM. */
int jitdump_line(const struct jitdump *dump, const struct jit_source *source, const struct jit_load *load,
                 const char *spelled, uint64_t code, char **ret_file, uint32_t *ret_line);

void jitdump_free(struct jitdump *dump);

#endif

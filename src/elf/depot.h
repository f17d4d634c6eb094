/*
 * Files found by their build-id, wherever they lay when they ran: what perf keeps in its cache (~/.debug), then what
 * debuginfod servers have.
 */
#ifndef ELF_DEPOT_H
#define ELF_DEPOT_H

#include "elf/note.h"

struct depot {
    int cache;                  /* perf's, a directory; -1: there is none */
    bool fetches;               /* whether servers may be asked */
    bool begun;                 /* whether that was tried */
    struct debuginfod *servers; /* NULL: there are none */
};

enum depot_part { DEPOT_PROGRAM, DEPOT_DEBUG, DEPOT_VDSO };

/* perf's cache is $PERF_BUILDID_DIR, else ~/.debug. */
struct depot depot_open(bool fetches);
void depot_close(struct depot *depot);

/* A file that has that build-id itself. 0, -ENOENT, or -ENOMEM, -EMFILE, -ENFILE. */
int depot_find(struct depot *depot, const struct build_id *id, enum depot_part part, struct elf **ret);

/* The kernel's list of names that perf kept of the kernel with that build-id: its path below depot->cache. */
#define DEPOT_NAME_BYTES (sizeof ".build-id///kallsyms" + 2 * BUILD_ID_MAX)
void depot_kallsyms(const struct build_id *id, char ret[DEPOT_NAME_BYTES]);

#endif

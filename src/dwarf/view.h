/*
 * A section's bytes, read as they are needed: a region as long as the section, whose blocks are filled by pread(2) when
 * first asked for. What is never asked for costs address space alone, and a file that shrinks meanwhile costs an error.
 * A compressed section is unpacked whole when it is opened, one of a relocatable file is filled in. A zeroed view is an empty section.
 *
 * Threads may share a view: a block is filled under the lock, and marked afterwards.
 */
#ifndef DWARF_VIEW_H
#define DWARF_VIEW_H

#include "elf/section.h"

#include <pthread.h>
#include <stdatomic.h>

enum { VIEW_BLOCK = 4096 };

struct view {
    unsigned char *bytes;
    uint64_t n;
    uint64_t held;            /* bytes of it in memory */
    const struct elf *elf;    /* where blocks come from; NULL: all are there */
    struct budget *budget;    /* what pays for those; NULL: none */
    uint64_t offset;          /* of the section in the file */
    _Atomic uint64_t *filled; /* a bit per block */
    pthread_mutex_t *lock;
};

/* Opens a section; one that is not there is empty. The elf and the lock must outlive it. 0, -ENOMEM; -EOPNOTSUPP:
 * compressed, and there is no library for that; -EDQUOT: too long for its budget, or for the address space; -EBADMSG. */
int view_open(struct view *view, struct elf *elf, const char *name, pthread_mutex_t *lock);
void view_close(struct view *view);

/* n bytes at an offset, or NULL: the section, or the file, has not so many, or the budget is spent. n > 0. */
const unsigned char *view_get(struct view *view, uint64_t offset, uint64_t n);

/* The text at an offset, up to its NUL; NULL: there is none. */
const char *view_text(struct view *view, uint64_t offset);

/* Copies n bytes past all of this into memory that grows as needed: for what one reader needs once. Where the bytes
 * are there already they are given in place. 0; -EBADMSG: there are not so many; -EDQUOT; -ENOMEM. */
struct scratch {
    unsigned char *bytes;
    size_t room;
};
int view_copy(const struct view *view, uint64_t offset, uint64_t n, struct scratch *scratch,
              const unsigned char **ret);

#endif

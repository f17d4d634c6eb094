/*
 * Places in programs and in the kernel, for probes and breakpoints: path and symbol → offset or address.
 */
#ifndef EVENT_PLACE_H
#define EVENT_PLACE_H

#include "event/parse.h"

/* A part of a text whose parts are separated by ':'; in quotes it may have anything but these. */
struct part {
    const char *text;
    size_t n;
    const char *end; /* behind it, and its quotes */
};

/* The part at `at`: 0, or -EINVAL with p->e filled where its quote is not closed, or nothing is there (`what` was
 * expected). `more`: bytes that end it besides , { } : and blanks. */
int part_take(struct parser *p, const char *at, const char *what, const char *more, struct part *ret);

/* A part as it is to be printed: in quotes where it needs them; `more` as above. In the arena; NULL: p->e is filled. */
char *part_print(struct parser *p, const char *text, const char *more);

/* Splits "name+0x10": bytes of the name, and the offset (0 where there is none). */
size_t part_offset(const struct part *part, uint64_t *ret_offset);

/* An absolute path, from the working directory where it is none, in the arena; NULL: p->e is filled. */
char *place_path(struct parser *p, const struct part *path, int *ret_rc);

struct place {
    uint64_t address; /* as linked */
    uint64_t offset;  /* in the file; meaningless where !in_file */
    uint64_t size;    /* of the symbol, 0: not known */
    bool in_file;     /* false: .bss */
    bool fixed;       /* address is where it will be: not a PIE, not a library */
};

/* A symbol of a file: 0, or -errno with p->e filled. */
int place_in_file(struct parser *p, const char *path, const char *at, const char *symbol, size_t n,
                  struct place *ret);

/* Where in a process (pid as text, or "self") what is linked at an address of the file lies: 0 or -errno, p->e filled. */
int place_in_process(struct parser *p, const char *path, const char *at, const char *pid, size_t n,
                     const struct place *place, uint64_t *ret);

/* The kernel's symbol: 0 or -errno with p->e filled. */
int place_in_kernel(struct parser *p, const char *symbol, size_t n, uint64_t *ret);

#endif

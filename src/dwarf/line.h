/*
 * A unit's line program, run once: each question gets the row that covers it. No row is kept.
 */
#ifndef DWARF_LINE_H
#define DWARF_LINE_H

#include "base/cursor.h"
#include "dwarf/walk.h"

struct line_file {
    const char *name;
    uint64_t directory;
};

struct lines {
    struct scratch scratch;
    /* The header's tables; texts live as long as the next program is not loaded. */
    VECTOR(const char *) directories;
    VECTOR(struct line_file) files;
    uint8_t version;
};

/* Answers questions of the unit, sorted by address: file, line, column. 0; -ENOMEM; -EBADMSG: damaged, and what lies
 * before the damage is answered; -ENOENT: the unit has no lines. */
int line_answer(struct lines *lines, const struct unit *unit, struct question *questions, size_t n);

/* A file of the program that was run last: its path, as far as it is told, into the buffer; its length, or 0: there is
 * none, or it does not fit. */
size_t line_path(const struct lines *lines, const struct unit *unit, uint64_t number, char *buffer,
                 size_t bytes);

/* How long the unit's line program is; 0: it has none. */
uint64_t line_bytes(const struct unit *unit);

/* Tells each sequence's stretch of code. 0, or what `tell` returned below 0, or -errno. */
int line_sequences(const struct unit *unit, int (*tell)(void *context, uint64_t low, uint64_t high),
                   void *context);

void lines_free(struct lines *lines);

#endif

/*
 * A unit's line program, run once: each question gets the row that covers it. No row is kept.
 */
#ifndef DWARF_LINE_H
#define DWARF_LINE_H

#include "dwarf/line_header.h"
#include "dwarf/walk.h"

/* Answers questions of the unit, sorted by address: file, line, column. 0; -ENOMEM; -EBADMSG: damaged, and what lies
 * before the damage is answered; -ENOENT: the unit has no lines. */
int line_answer(struct lines *lines, const struct unit *unit, struct question *questions, size_t n);

/* How long the unit's line program is; 0: it has none. */
uint64_t line_bytes(const struct unit *unit);

/* Tells each sequence's stretch of code. 0, or what `tell` returned below 0, or -errno. */
int line_sequences(const struct unit *unit, int (*tell)(void *context, uint64_t low, uint64_t high),
                   void *context);

#endif

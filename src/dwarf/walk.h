/*
 * Which function, and which functions inlined into it, each question of a unit lies in: one walk over the unit's DIEs,
 * which looks into those alone that contain a question.
 *
 *     nodes    a subprogram or an inlined subroutine in which some question lies, behind the one that it is in
 */
#ifndef DWARF_WALK_H
#define DWARF_WALK_H

#include "dwarf/abbrev.h"

#define NODE_NONE UINT32_MAX

/* An address, and what is found out about it. */
struct question {
    uint64_t address;
    uint32_t number; /* the asker's */
    uint32_t node;   /* innermost; NODE_NONE */
    uint32_t file, line, column;
    uint32_t answered; /* file, line and column were found */
};

struct node {
    uint64_t die;                /* offset in .debug_info */
    uint32_t parent;             /* what it is inlined into; NODE_NONE: it is not */
    uint32_t top;                /* of it and its parents, the one that is inlined into the outermost */
    uint32_t file, line, column; /* where it is called from, if it is inlined */
};

struct level {
    uint32_t node;        /* the function that we are in */
    uint32_t function;    /* the level inside the function that is not inlined */
    uint32_t first, last; /* questions that may lie in it */
};

struct walk {
    struct abbrevs abbrevs;
    struct scratch scratch;
    const unsigned char *bytes; /* of the unit, from its first DIE on; NULL: none */
    /* Functions without questions are looked into: others may lie in them, not in their code. */
    bool thorough;
    int64_t ranges_left; /* entries of lists that may yet be read: many DIEs with one long list are damage */
    VECTOR(struct node) nodes;
    VECTOR(struct level) levels;
};

/* Answers n questions, sorted by address: their nodes. 0; -ENOMEM; -EBADMSG: the unit is damaged, and the questions that
 * lie before the damage are answered. */
int walk_unit(struct walk *walk, const struct unit *unit, struct question *questions, size_t n);
void walk_free(struct walk *walk);

#endif

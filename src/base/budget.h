/*
 * What reading somebody else's files may cost: bytes read, bytes held, steps run. A module has a budget of its own inside
 * its session's, and pays from both; a spent one stays spent, so that what is too dear is tried once.
 *
 *     session ─┬─ module      -EDQUOT from here on: its names are missing, with a reason
 *              └─ module      goes on
 *
 * Whoever reads pays first. A budget that is NULL has no end. Several threads may pay at a time.
 *
 *              session    module     of RECKON_BUDGET (in MB), which is 512
 *     held     1          3/4        bytes in memory at a time
 *     read     32         8          bytes, read again counted again
 *     steps    16         4          bytes that were looked through one by one, or unpacked
 *
 * A module's bytes read and steps are whole again with each call that asks about it; the session gets back a piece for each
 * question, up to what it began with: it may last for days.
 */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define BUDGET_PIECE (UINT64_C(4) << 20) /* looked at between two of these: budget_go_on() */

struct budget {
    struct budget *session;  /* NULL: it is one, or stands alone */
    const atomic_bool *stop; /* of a session: once true, nothing more is read; NULL: nobody says so */
    uint64_t unit;           /* bytes: RECKON_BUDGET */
    _Atomic int64_t read, held, steps; /* left */
    _Atomic bool spent;
};

/* `bytes`: 0: as RECKON_BUDGET says. */
void budget_session(struct budget *budget, uint64_t bytes);
void budget_module(struct budget *budget, struct budget *session);

/* Before a call that asks n questions about a module. */
void budget_refill(struct budget *module, uint64_t n);

/* 0, or -EDQUOT. Of what is held: asked before memory is taken; once it is kept; given back. */
int budget_read(struct budget *budget, uint64_t bytes);
int budget_step(struct budget *budget, uint64_t steps);
int budget_fits(struct budget *budget, uint64_t bytes);
int budget_hold(struct budget *budget, uint64_t bytes);
void budget_give_back(struct budget *budget, uint64_t bytes);

/* The most bytes that fit, and how many may be read. */
uint64_t budget_room(const struct budget *budget);
uint64_t budget_readable(const struct budget *budget);

/* Whether it, or its session, was spent. */
bool budget_spent(const struct budget *budget);

#endif

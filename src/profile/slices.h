/*
 * Samples' times in bounded memory. A cell is what a sample is but for its time: (stack, thread, event, CPU, cgroup). A
 * row is a cell in a slice of time. Slices are 1 << shift ns wide and begin at its multiples. There may be SLICES_EXTRA
 * rows more than twice as many as cells; when there are, slices double until they are well below, and rows of one cell that
 * have come to lie in one slice are summed. There stay SLICES_FEWEST slices, whatever that takes: so a short recording has exact
 * times, a long one a fine time line, one of very many stacks a coarse one; and memory goes with what is distinct.
 */
#ifndef PROFILE_SLICES_H
#define PROFILE_SLICES_H

#include "profile/maker.h"

#define SLICES_EXTRA 262144u
#define SLICES_FEWEST 32u

struct slices_row {
    uint64_t time;
    struct amount amount;
    uint32_t cell;
};

struct slices {
    uint32_t times; /* enum rk_times */
    unsigned shift;
    uint64_t base, last; /* the first sample's time, and the latest */
    uint64_t samples;
    VECTOR(struct slices_row) rows;
    uint32_t *slots; /* row + 1 by (cell, time); 0: free */
    size_t room;
};

/* Adds to a cell at a time (0: it has none); there are `cells` cells by now. 0 or -errno. */
int slices_add(struct slices *slices, uint32_t cell, uint64_t time, struct amount amount, size_t cells);

/* No more is added: what finds rows goes, they stay. */
void slices_settle(struct slices *slices);

void slices_free(struct slices *slices);

#endif

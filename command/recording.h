/*
 * What was read of a file named on the command line (view.h): a profile for each of its events, since sums of different
 * events mean nothing.
 */
#ifndef COMMAND_RECORDING_H
#define COMMAND_RECORDING_H

#include <reckon/profile.h>

#include <stdbool.h>
#include <stdio.h>

#define RECORDING_DEFAULT "perf.data"

struct recording {
    struct rk_profile **profiles; /* of the events that have samples; of the first event where none has */
    size_t n;
    const char *again; /* the command that it is for, as struct view has it */
    /* How many samples there are where none matched, which is printed already; 0: some matched, or there are none. */
    uint64_t filtered;
    bool damaged; /* not all of it could be read; what was wrong is printed already */
};

/* Options as they are by default: inlined functions shown, as many threads as there are CPUs, but eight at most. */
struct rk_profile_options recording_options(void);

/* The only profile; where there are several, NULL, with the message printed that one must be chosen. */
const struct rk_profile *recording_only(const char *verb, const struct recording *recording);

void recording_free(struct recording *recording);
#define handle_recording __attribute__((cleanup(recording_free)))

/* Samples kept, lost, skipped; what could not be known is said so. One line, without its end. */
void recording_print_loss(FILE *to, const struct rk_loss *loss);

#endif

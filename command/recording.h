/*
 * A recording named on the command line, read into a profile.
 */
#ifndef COMMAND_RECORDING_H
#define COMMAND_RECORDING_H

#include <reckon/profile.h>

#include <stdio.h>

#define RECORDING_DEFAULT "perf.data"

/* The profile of the recording at `path` (NULL: perf.data), or NULL with the message printed. */
struct rk_profile *recording_profile(const char *verb, const char *path);

/* Samples kept, lost, skipped; what could not be known is said so. One line, without its end. */
void recording_print_loss(FILE *to, const struct rk_loss *loss);

#endif

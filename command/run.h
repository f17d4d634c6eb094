/*
 * Running the measured command from a terminal: what Ctrl-C means while it runs, and how its end is told.
 */
#ifndef COMMAND_RUN_H
#define COMMAND_RUN_H

#include <reckon/target.h>

/*
 * Call after the command was forked: from now on an interrupt from the terminal, which the command gets as well,
 * does not end reckon, so that what was measured is still told; a SIGTERM or SIGHUP to reckon alone is passed on to
 * the command. With 0, between commands: it is passed on to nobody.
 */
void run_shield(int32_t pid);

/* Number of signals that came since, and the last of them. */
int run_signals(void);
int run_last_signal(void);

/* The exit status for a command that could not be found, executed or started. */
int run_failed(const char *verb, const struct rk_error *e);

#endif

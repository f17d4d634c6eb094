/*
 * Running the measured command from a terminal: what Ctrl-C means while it runs, and how its end is told.
 */
#ifndef COMMAND_RUN_H
#define COMMAND_RUN_H

#include <reckon/target.h>

#include <stdbool.h>

/*
 * Call after the command was forked (0: there is none): from now on an interrupt from the terminal, which the command
 * gets as well, does not end reckon, so that what was measured is still told; a SIGTERM or SIGHUP to reckon alone is
 * passed on to the command. A pipe whose reader is gone is an error of write(2), too.
 */
void run_shield(int32_t pid);

/* Number of signals that came since; the last of them, or 0; how many were interrupts. */
int run_signals(void);
int run_last_signal(void);
int run_interrupts(void);

/* Whether an interrupt came from kill(1) or the like. One from the terminal has reached the command as well. */
bool run_sent(void);

/* Makes a command end that has not: SIGINT if reckon was sent one, a second later SIGTERM, and 10 seconds or an interrupt later SIGKILL, which is said. 1 and *ret;
 * 0: it can't be killed; -errno. */
int run_end(const char *verb, struct rk_target *command, const char *name, struct rk_exit *ret);

/* Where nothing but an interrupt ends it: SIGINT counts even if it was ignored, as it is in a script's background jobs. */
void run_want_interrupt(void);

/* From now on SIGUSR2 asks for a snapshot, even if it was ignored; how often it did. */
void run_watch_snapshots(void);
int run_snapshots(void);

/* Readable once a signal came since run_shield(); run_fd_drain() makes it wait for the next. -1: none could be made,
 * look at run_signals() from time to time. */
int run_fd(void);
void run_fd_drain(void);

/* The exit status for a command that could not be found, executed or started. */
int run_failed(const char *verb, const struct rk_error *e);

#endif

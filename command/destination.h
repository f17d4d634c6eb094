/*
 * Where results are written: stderr, stdout or a file. It is opened before anything is measured, so that a name that
 * can't be written is told at once. Each result is made in memory and written at once; what can't be written goes to
 * stderr, so that nothing that was measured is lost.
 */
#ifndef COMMAND_DESTINATION_H
#define COMMAND_DESTINATION_H

#include <stdbool.h>
#include <stdio.h>

struct destination {
    const char *verb;
    const char *name; /* "stderr", or -o's */
    FILE *file;
    bool failed; /* said already; from then on it is stderr */
    bool gone;   /* … since nobody reads it any more: a pipe's other end is closed */
    bool behind; /* there was something in the file before: a line of names stands there already */
};

/* `name` NULL: stderr; "-": stdout. 0, or -1 with the message printed. */
int destination_open(struct destination *to, const char *verb, const char *name, bool append);

/* Whether what is written there shows on a terminal; NULL and "-": standard output. */
bool destination_is_terminal(const char *path);

/* Takes what was written with open_memstream(3). 0, or -1: it went to stderr, and why is said there. */
int destination_write(struct destination *to, const char *text, size_t n);

/* Whether the file is a recording: nobody means to write a result over one, but who leaves out an option's value does. */
bool destination_is_recording(const char *path);

/* 0, or -1 where something could not be written, now or before. */
int destination_close(struct destination *to);

#endif

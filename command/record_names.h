/*
 * Names for a recording that is complete: a child process finds them, so that what goes wrong there, or takes too much,
 * costs names and no more.
 */
#ifndef COMMAND_RECORD_NAMES_H
#define COMMAND_RECORD_NAMES_H

#include <reckon/reckon.h>

#include <sys/types.h>

struct record_names {
    pid_t child; /* 0: none */
    int fd;
    uint64_t begun_ns;
    char path[4200]; /* of the recording */
    unsigned char *bytes;
    size_t n, room;

    uint64_t stored; /* bytes, of all recordings */
    char note[256];  /* what is missing; "": nothing */
};

/* Begins to name what the capture's file has. What was begun before must have ended. */
void record_names_begin(struct record_names *names, struct rk_capture *capture);

/* Readable when record_names_step() has something to do; -1: nothing is under way. */
int record_names_fd(const struct record_names *names);

/* Takes what the child has written. 1: there is more to come. */
int record_names_step(struct record_names *names);

/* Waits for the child and stores the names in the file at `path`. What is missing is noted. */
void record_names_end(struct record_names *names, const char *path);

/* Says what is missing, once. */
void record_names_say(struct record_names *names);

#endif

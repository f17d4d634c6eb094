/*
 * --control: another program switches the measuring on and off, by perf's protocol. It writes a word and a newline
 * into a FIFO or a descriptor, and where there is a second one, "ack\n" and a zero byte come back through it when the
 * word was obeyed, as perf writes it.
 *
 *     fifo:ctl[,ack]    the names of two FIFOs
 *     fd:ctl[,ack]      the numbers of two descriptors that are open already
 */
#ifndef COMMAND_CONTROL_H
#define COMMAND_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

enum control_word {
    CONTROL_NONE,     /* nothing (more) to do now */
    CONTROL_ENABLE,   /* "enable" */
    CONTROL_DISABLE,  /* "disable" */
    CONTROL_PING,     /* "ping": only answered */
    CONTROL_SNAPSHOT, /* "snapshot": tell what there is so far */
    CONTROL_STOP,     /* "stop": end as if the time were over */
    CONTROL_UNKNOWN,  /* anything else: `line` has it */
    CONTROL_END,      /* the writer's end is gone for good: don't poll any more */
};

struct control {
    int in, ack; /* -1: none */
    bool own;    /* opened here: close them */
    bool over;   /* a line too long is being skipped */
    char line[64];
    char bytes[256]; /* read and not yet looked at: from `at` to `n` */
    size_t at, n, line_n;
};

/* 0, or with the reason in `why`: -1, or CONTROL_MISTAKE where `where` itself is wrong. */
#define CONTROL_MISTAKE (-2)
int control_open(struct control *control, const char *where, char *why, size_t size);

/* The next word that has come, never blocking. Each but NONE, UNKNOWN and END is answered by control_answer(). */
enum control_word control_next(struct control *control);

/* Tells the user of reckon VERB that the word of CONTROL_UNKNOWN is none. */
void control_unknown(const struct control *control, const char *verb);
void control_answer(struct control *control);

void control_close(struct control *control);

#endif

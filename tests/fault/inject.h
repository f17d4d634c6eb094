/*
 * tests/fault/inject.h: which call fails, how, and what is still held.
 */
#ifndef FAULT_INJECT_H
#define FAULT_INJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAULT_TRACE 65536 /* calls whose stacks are noted */

enum fault_kind {
    FAULT_NONE,
    FAULT_MEMORY,
    FAULT_CALL,
    FAULT_STRIKE /* no call fails: something happens before it */
};

/* In memory shared with the children that a scenario forks: a call is numbered once, whoever makes it. */
struct fault_state {
    enum fault_kind kind;
    uint32_t nth;         /* the call of this kind that fails, from 1 */
    uint32_t variant;     /* … with this one of its errors */
    uint32_t any_variant; /* … or by any one of them */
    uint32_t armed;
    uint32_t calls;
    uint32_t hit;         /* the nth call came */
    uint32_t exhausted;   /* … and has no such variant: nothing was injected */
    uint32_t transparent; /* the fault must not be noticed: EINTR, a short read or write */
    int error;
    char name[32];
    uint64_t caller; /* return address, less where the program was loaded */
    char wrong[600];
    uint32_t tracing; /* no fault: each call's stack is noted */
    uint64_t stacks[FAULT_TRACE];
};
extern struct fault_state *fault;
extern bool
    fault_inside; /* this process is the scenario's, or a child of its: not the harness, which calls beside it */
extern void (*fault_strike)(void); /* what happens then */

/* What the process holds that it got while armed. */
struct fault_held {
    size_t blocks, mappings;
    uint64_t caller; /* of one of them */
};
struct fault_held fault_held(void);

#endif

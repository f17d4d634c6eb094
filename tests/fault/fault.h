/*
 * tests/fault/fault.h: fails every allocation and every system call of a path once, one by one.
 *
 * A scenario is a function over the public API. The harness runs it again and again, each time in a fresh
 * process: first with no fault; then with the 1st, 2nd, 3rd … allocation failing, until a run comes to its
 * end with no fault left to give; then the same with system calls, each with several errors (inject.c says
 * which), one after the other. After each run it looks that
 *   - a failing call gave a negative number, filled its rk_error with the same code and a sentence, and left
 *     its result alone;
 *   - an interruption (EINTR) or a short read or write changed nothing: the same success, the same digest;
 *   - no descriptor, memory, mapping or child was left behind, and nothing hung or crashed.
 *
 * A scenario with a `strike` is run with that before each system call instead: the target dies there, say.
 *
 * A scenario that calls the same place very often may say how many of these suffice (`repeats`), and a slow one
 * that one error each will do (`one_error`).
 *
 * The scenario releases all it made, whatever happened; what it computed goes into *digest.
 *
 *     static int scenario(uint64_t *digest)
 *     {
 *         struct rk_host *host = NULL;
 *         int rc = 0;
 *         NEW(host, rk_host_open(NULL, &host, e));
 *     end:
 *         rk_host_free(host);
 *         return rc;
 *     }
 */
#ifndef FAULT_H
#define FAULT_H

#include <reckon/reckon.h>
#include <stdbool.h>
#include <stdint.h>

struct fault_scenario {
    const char *name;
    int (*prepare)(void); /* once, no fault injected, in an empty working directory; may be NULL */
    int (*run)(uint64_t *digest);
    /* Not NULL: no call fails; this happens before each of them in turn, such as the target's end. */
    void (*strike)(void);
    /* Allocations whose failure means less, and is said in the result, not an error. */
    unsigned absorbed_memory;
    unsigned limit_s; /* of one run; 0: 20 */
    unsigned repeats; /* faults at one place (the same callers, all the way up); 0: every one */
    bool one_error;   /* each fault with one of its errors, in turn; else with each of them */
    const char *skip; /* set by prepare: why this can't be run here */
};

/* main() is `return fault_main(&scenario, argc, argv)`. */
int fault_main(struct fault_scenario *scenario, int argc, char **argv);

/* Ends the run as failed. */
void fault_wrong(const char *file, int line, const char *what) __attribute__((noreturn));

/* A call that failed: its code and its error must agree. */
void fault_check_error(const char *file, int line, const char *call, int rc, const struct rk_error *e);

/* The fault of this run is still to come, so that a call which fails may be right to. */
bool fault_pending(void);

/* What the scenario does itself meanwhile is neither failed nor counted. */
void fault_pause(bool pause);

/* Folds bytes into a digest. */
uint64_t fault_fold(uint64_t digest, const void *bytes, size_t n);

#define EXPECT(condition)                                \
    do {                                                 \
        if (!(condition))                                \
            fault_wrong(__FILE__, __LINE__, #condition); \
    } while (0)

/* A call that takes an error object, in the scope as `e`: on failure the scenario goes to its end. */
#define TRY(call)                                                \
    do {                                                         \
        struct rk_error e_ = {.size = sizeof e_}, *e = &e_;      \
        rc = (call);                                             \
        if (rc < 0) {                                            \
            fault_check_error(__FILE__, __LINE__, #call, rc, e); \
            goto end;                                            \
        }                                                        \
    } while (0)

/* TRY with a result, which must be untouched on failure. */
#define NEW(result, call)                                        \
    do {                                                         \
        struct rk_error e_ = {.size = sizeof e_}, *e = &e_;      \
        result = NULL;                                           \
        rc = (call);                                             \
        if (rc < 0) {                                            \
            EXPECT(result == NULL);                              \
            fault_check_error(__FILE__, __LINE__, #call, rc, e); \
            goto end;                                            \
        }                                                        \
        EXPECT(result != NULL);                                  \
    } while (0)

/* A hot call, without an error object. */
#define HOT(call)     \
    do {              \
        rc = (call);  \
        if (rc < 0)   \
            goto end; \
    } while (0)

#endif

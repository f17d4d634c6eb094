/*
 * Filling a caller's rk_error, and taking and giving structs that begin with their size.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <reckon/error.h>

/*
 * Fills *e (NULL: nothing) and returns `code`, so that a failing function ends with
 *     return fail(e, -ENOENT, RK_STAGE_EVENT, RK_CAUSE_NO_EVENT, "run: reckon list", "no event %s", name);
 * `remedy` may be NULL. pid and cpu become -1, event "", position 0: set them on *e afterwards through
 * fail_event(), fail_slot(), fail_position(), which take NULL too.
 */
int fail(struct rk_error *e, int code, uint32_t stage, uint32_t cause, const char *remedy, const char *format,
         ...) __attribute__((format(printf, 6, 7)));

/* Out of memory at a stage: returns -ENOMEM. */
int fail_memory(struct rk_error *e, uint32_t stage);

/* The caller's mistake: -EINVAL, RK_CAUSE_ARGUMENT. */
int fail_argument(struct rk_error *e, uint32_t stage, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* … with the name of what is NULL: fail_null(e, stage, "rk_set_open", host ? "events" : "host"). */
int fail_null(struct rk_error *e, uint32_t stage, const char *function, const char *argument);

void fail_event(struct rk_error *e, const char *event);
void fail_slot(struct rk_error *e, int32_t pid, int32_t cpu);
void fail_position(struct rk_error *e, uint32_t position);

/* Hands a complete error to the caller's *e (NULL: nothing), no byte beyond its size. Returns from->code. */
int error_give(struct rk_error *e, const struct rk_error *from);

/*
 * Options in: copies the caller's struct (NULL: all zero) to `to`, which has `size` bytes and gets that size.
 * -EINVAL: the caller's size is below 4 or above 4096, so it was never set. -E2BIG: the caller's struct is longer
 * than ours and its tail is not zero.
 */
int options_take(void *to, size_t size, const void *from);

/* Refuses a reserved member that is not 0: a newer release may give it a meaning. 0 or -EINVAL. */
int options_reserved(uint64_t value, const char *name, uint32_t stage, struct rk_error *e);

/* options_take() with the error filled in. `name` is the struct's, for the message. */
int options_check(void *to, size_t size, const void *from, const char *name, uint32_t stage,
                  struct rk_error *e);

/* Results out: copies what fits into the caller's struct, zeroes what we don't know, keeps its size. -EINVAL: the
 * caller's size is below 4 or above 4096. */
int result_give(void *to, const void *from, size_t size);

#endif

/*
 * The inside of rk_explain(): explain.c has one row per errno, permission.c what EACCES and EPERM may mean.
 */
#ifndef SET_EXPLAIN_H
#define SET_EXPLAIN_H

#include <reckon/explain.h>
#include <stdbool.h>

/* rk_explain() with an attempt that is whole. Returns 0. */
int explain(struct rk_host *host, const struct rk_attempt *attempt, struct rk_error *ret);

/* The capability that lifts the paranoid level on this kernel: "cap_perfmon", "cap_sys_admin" before 5.8. */
const char *explain_capability(struct rk_host *host);

/* An attempt while it is being explained. */
struct attempt {
    struct rk_host *host;
    struct rk_attempt asked;
    struct rk_error *ret;
};

/* Fills a->ret: "EVENT: sentence". Returns 0. */
int explain_say(const struct attempt *a, uint32_t cause, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A limit, or `otherwise` where this kernel has none. */
int64_t explain_limit(const struct attempt *a, uint32_t limit, int64_t otherwise);
bool explain_is(const struct attempt *a, uint32_t fact);

/* A type whose events land on a core PMU, and what is said where there is none. */
bool explain_is_hardware(uint32_t type);
bool explain_is_probe(const struct attempt *a); /* kprobe, uprobe: never a plain user's, whatever the level */
int explain_no_hardware(const struct attempt *a);

/* permission.c */
int explain_denied(const struct attempt *a);
bool explain_filtered(const struct attempt *a); /* a seccomp filter is active */

#endif

/*
 * The inside of rk_explain().
 */
#ifndef OPEN_EXPLAIN_H
#define OPEN_EXPLAIN_H

#include <reckon/explain.h>

/* rk_explain() with an attempt that is whole. Returns 0. */
int explain(struct rk_host *host, const struct rk_attempt *attempt, struct rk_error *ret);

/* The capability that lifts the paranoid level on this kernel: "cap_perfmon", "cap_sys_admin" before 5.8. */
const char *explain_capability(struct rk_host *host);

#endif

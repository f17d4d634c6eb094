/*
 * reckon/explain.h: errno and its context → cause and remedy.
 *
 * The one place where the kernel's short word becomes a sentence. rk_set_open() and `reckon doctor` use
 * it; a program with perf_event_open(2) calls of its own can too:
 *
 *     struct rk_attempt a = {.size = sizeof a, .stage = RK_STAGE_OPEN, .code = -EACCES, .pid = 0,
 *                            .cpu = -1, .type = 0, .flags = RK_ATTEMPT_KERNEL, .event = "cycles"};
 *     struct rk_error e = {.size = sizeof e};
 *     rk_explain(host, &a, &e);
 *     puts(e.what);
 *     puts(e.remedy);
 */
#ifndef RECKON_EXPLAIN_H
#define RECKON_EXPLAIN_H

#include <reckon/error.h>
#include <reckon/host.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What was asked of the kernel: rk_attempt.flags. */
#define RK_ATTEMPT_KERNEL 0x01u   /* counting in the kernel was not excluded */
#define RK_ATTEMPT_SAMPLING 0x02u /* a period or a frequency was set */
#define RK_ATTEMPT_PRECISE 0x04u  /* precise_ip > 0 */
#define RK_ATTEMPT_BRANCHES 0x08u /* a branch stack was asked for */
#define RK_ATTEMPT_GROUP 0x10u    /* not the first of its group */
#define RK_ATTEMPT_CGROUP 0x20u
#define RK_ATTEMPT_PINNED 0x40u
#define RK_ATTEMPT_AUX 0x80u
#define RK_ATTEMPT_MODES 0x100u    /* user space, kernel, hypervisor, guest, host or idle was excluded */
#define RK_ATTEMPT_PHYSICAL 0x200u /* physical addresses were asked for */

struct rk_attempt {
    uint32_t size;  /* set by the caller */
    uint32_t stage; /* RK_STAGE_OPEN, _MAP, _CONTROL, _READ */
    int32_t code;   /* -errno; 0 with RK_STAGE_READ: a read that returned no byte */
    int32_t pid, cpu;
    uint32_t type;   /* perf_event_attr.type */
    uint32_t flags;  /* RK_ATTEMPT_… */
    uint32_t lacks;  /* 1 + the enum rk_feature that was asked for and rk_host_feature() says 0 to; or 0 */
    uint64_t config; /* perf_event_attr.config */
    uint64_t frequency;
    uint64_t needed;   /* descriptors or bytes, where the caller knows; else 0 */
    const char *event; /* name for the message; NULL: none */
    const char *
        field; /* what of the attr the kernel refuses, where that was found out ("clockid"; "cgroup": it opens without); NULL: not known */
};

/* Fills *ret with cause, what and remedy. 0, or -EINVAL for a bad size. Asks the host, never guesses. */
RK_API int rk_explain(struct rk_host *host, const struct rk_attempt *attempt, struct rk_error *ret);

#ifdef __cplusplus
}
#endif
#endif

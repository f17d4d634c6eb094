/*
 * reckon/explain.h: explains an errno of perf_event_open(2): its cause, and what to do about it.
 *
 * rk_set_open() and `reckon doctor` explain failures with it. A program that calls perf_event_open(2) itself
 * can use it too:
 *
 *     struct rk_attempt a = RK_INIT(a, .stage = RK_STAGE_OPEN, .code = -EACCES, .pid = 0, .cpu = -1,
 *                                   .flags = RK_ATTEMPT_KERNEL, .event = "cycles");
 *     struct rk_error e = RK_INIT(e);
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

/* A system call that failed, and what it was given. */
struct rk_attempt {
    uint32_t size;  /* set by the caller */
    uint32_t stage; /* RK_STAGE_OPEN, _MAP, _CONTROL, _READ */
    int32_t code;   /* -errno; 0 with RK_STAGE_READ: read(2) returned no byte */
    int32_t pid, cpu;
    uint32_t type;  /* perf_event_attr.type */
    uint32_t flags; /* RK_ATTEMPT_… */
    /* 1 + the enum rk_feature that this kernel lacks, as rk_host_feature() says; 0: none. */
    uint32_t lacks;
    uint64_t config; /* perf_event_attr.config */
    uint64_t frequency;
    uint64_t needed;   /* descriptors or bytes, if the caller knows; else 0 */
    const char *event; /* name for the message; NULL: none */
    /* The part of the request that the kernel refuses: the event opens without it. "clockid", "cgroup";
     * NULL: unknown. */
    const char *field;
};

/* Fills in cause, what and remedy. It asks the host and never guesses. Returns 0; -EINVAL: an unknown flag
 * or stage, or a code above 0. */
RK_API int rk_explain(struct rk_host *host, const struct rk_attempt *attempt, struct rk_error *ret);

#ifdef __cplusplus
}
#endif
#endif

/*
 * Trying an event out on this very thread (or wherever the trial says): really opened, really mapped, with
 * work under it that must show. What is refused is explained.
 */
#ifndef DOCTOR_TRIAL_H
#define DOCTOR_TRIAL_H

#include <reckon/error.h>
#include <reckon/host.h>
#include <stdbool.h>
#include <stddef.h>

struct trial {
    const char *event; /* for messages */
    uint32_t type;
    uint64_t config;
    int32_t pid, cpu;     /* as perf_event_open(2) takes them */
    bool kernel;          /* the kernel included; else user space alone */
    uint64_t period;      /* sample so often; 0: count */
    uint64_t sample_type; /* RK_SAMPLE_… */
};

/* Opened and disabled: a descriptor, or -errno and *why. */
int trial_open(struct rk_host *host, const struct trial *trial, struct rk_error *why);

/* What is done meanwhile: some page faults; some milliseconds of CPU time, in user space or in the kernel. */
void trial_work_brief(void);
void trial_work_user(void);
void trial_work_kernel(void);

/* What the event counted during the work, 0 where it never ran; or -errno and *why. */
int trial_count(struct rk_host *host, const struct trial *trial, int fd, void (*work)(void), uint64_t *ret,
                struct rk_error *why);

struct trial_samples {
    size_t ring_bytes; /* that could be mapped: the size asked for, or less */
    uint64_t kernel, user;
    struct rk_error why; /* why it is less */
};

/* The samples that came during the work, through a ring of `ring_bytes`, or of the largest that may be
 * mapped. 0, or -errno and *why. */
int trial_sample(struct rk_host *host, const struct trial *trial, int fd, size_t ring_bytes,
                 void (*work)(void), struct trial_samples *ret, struct rk_error *why);

#endif

#include "doctor/trial.h"

#include "ring/ring.h"
#include "set/policy.h"
#include "sys/memory.h"
#include "sys/perf.h"

#include <errno.h>
#include <reckon/explain.h>
#include <reckon/record.h>
#include <time.h>

#define WORK_NS 10000000        /* of CPU time: some twenty samples … */
#define WORK_LIMIT_NS 500000000 /* … on a machine so busy that it may take long */

static int refuse(struct rk_host *host, const struct trial *trial, uint32_t stage, int code, uint64_t needed,
                  struct rk_error *why)
{
    struct rk_attempt attempt = {
        .size = sizeof attempt,
        .stage = stage,
        .code = code,
        .pid = trial->pid,
        .cpu = trial->cpu,
        .type = trial->type,
        .config = trial->config,
        .flags = (trial->kernel ? RK_ATTEMPT_KERNEL : 0) | (trial->period ? RK_ATTEMPT_SAMPLING : 0),
        .needed = needed,
        .event = trial->event,
    };
    *why = (struct rk_error){.size = sizeof *why};
    rk_explain(host, &attempt, why);
    return code;
}

int trial_open(struct rk_host *host, const struct trial *trial, struct rk_error *why)
{
    const struct rk_event event = {
        .size = sizeof event,
        .type = trial->type,
        .config = trial->config,
        .name = trial->event,
        .unit = "",
        .pmu = "",
        .probe = "",
        .filter = "",
    };
    const struct policy_trial tried = {.host = host,
                                       .event = &event,
                                       .kernel = trial->kernel,
                                       .period = trial->period,
                                       .sample = trial->sample_type};
    struct perf_attr attr;

    policy_trial(&tried, &attr);
    int fd = sys_perf_open(&attr, trial->pid, trial->cpu, -1, 0);

    return fd < 0 ? refuse(host, trial, RK_STAGE_OPEN, fd, 1, why) : fd;
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now = {0};

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether the thread has had its share of CPU time; the wall clock ends it where that does not come. */
static bool done(uint64_t cpu_end, uint64_t wall_end)
{
    return now_ns(CLOCK_THREAD_CPUTIME_ID) >= cpu_end || now_ns(CLOCK_MONOTONIC) >= wall_end;
}

/* Touches fresh memory, for the sake of page faults; malloc's may have been touched before. */
void trial_work_brief(void)
{
    size_t page = sys_page_size(), n = 64 * page;
    unsigned char *memory = sys_memory_new(n);

    for (size_t i = 0; memory && i < n; i += page)
        *(volatile unsigned char *)&memory[i] = 1;
    sys_memory_free(memory, n);
}

void trial_work_user(void)
{
    uint64_t cpu_end = now_ns(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;
    uint64_t wall_end = now_ns(CLOCK_MONOTONIC) + WORK_LIMIT_NS;

    do
        for (volatile unsigned i = 0; i < 20000; i++)
            ;
    while (!done(cpu_end, wall_end));
}

/* Asking for a thread's CPU time is a real system call, needs no right and can't fail. */
void trial_work_kernel(void)
{
    uint64_t cpu_end = now_ns(CLOCK_THREAD_CPUTIME_ID) + WORK_NS;
    uint64_t wall_end = now_ns(CLOCK_MONOTONIC) + WORK_LIMIT_NS;

    while (!done(cpu_end, wall_end))
        ;
}

static int run(struct rk_host *host, const struct trial *trial, int fd, void (*work)(void),
               struct rk_error *why)
{
    int rc = sys_perf_control(fd, IOC_ENABLE, 0);

    if (rc < 0)
        return refuse(host, trial, RK_STAGE_CONTROL, rc, 0, why);
    work();
    rc = sys_perf_control(fd, IOC_DISABLE, 0);
    return rc < 0 ? refuse(host, trial, RK_STAGE_CONTROL, rc, 0, why) : 0;
}

int trial_count(struct rk_host *host, const struct trial *trial, int fd, void (*work)(void), uint64_t *ret,
                struct rk_error *why)
{
    uint64_t words[3] = {0}; /* value, enabled, running */
    int rc = run(host, trial, fd, work, why);

    if (rc < 0)
        return rc;
    rc = sys_perf_read(fd, words, 3);
    if (rc < 0)
        return refuse(host, trial, RK_STAGE_READ, rc, 0, why);
    *ret = rc == sizeof words && words[2] ? words[0] : 0;
    return 0;
}

static int map(struct rk_host *host, const struct trial *trial, int fd, size_t bytes, struct ring **ret,
               struct trial_samples *samples, struct rk_error *why)
{
    for (size_t asked = bytes;; bytes /= 2) {
        int rc = ring_map(fd, bytes, ret);
        if (rc == 0) {
            samples->ring_bytes = bytes;
            return 0;
        }
        refuse(host, trial, RK_STAGE_MAP, rc, bytes, why);
        if (rc != -EPERM || bytes / 2 < sys_page_size())
            return rc;
        if (bytes == asked)
            samples->why = *why;
    }
}

int trial_sample(struct rk_host *host, const struct trial *trial, int fd, size_t ring_bytes,
                 void (*work)(void), struct trial_samples *ret, struct rk_error *why)
{
    struct trial_samples samples = {0};
    const struct perf_header *record;
    struct ring *ring = NULL;

    int rc = map(host, trial, fd, ring_bytes, &ring, &samples, why);
    if (rc < 0)
        return rc;
    rc = run(host, trial, fd, work, why);
    while (rc >= 0 && ring_next(ring, &record) == 1) {
        if (record->type != RK_RECORD_SAMPLE)
            continue;
        if ((record->misc & RK_MISC_MODE) == 1)
            samples.kernel++;
        else
            samples.user++;
    }
    ring_unmap(ring);
    if (rc < 0)
        return rc;
    *ret = samples;
    return 0;
}

/*
 * A recording's samples as columns: they are those that next() and sample() give, row by row, whatever sizes the arrays have
 * and whichever of them are there. The last byte of the input says which, and how long they are.
 */
#include "mutate_perfdata.h"

#include <reckon/stream.h>

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 16, CHAINS = 48, SAMPLES_MAX = 4096 };

/* What stands for a sample: a sum over what a column has of it. */
struct seen {
    uint64_t sums[SAMPLES_MAX];
    size_t n, damaged, others;
};

static uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * UINT64_C(0x100000001b3);
}

static uint64_t sum_of(const struct rk_record *r, const struct rk_sample *s, uint64_t chains_max)
{
    uint64_t sum = mix(mix(mix(mix(0, s->time), s->ip), s->addr), s->period);

    sum = mix(mix(mix(mix(sum, s->id), s->weight), s->phys_addr), s->cgroup);
    sum = mix(mix(mix(mix(sum, s->present), (uint32_t)s->pid), (uint32_t)s->tid), s->cpu);
    sum = mix(mix(sum, r->event), r->misc);
    for (uint64_t i = 0; i < s->chain_n && i < chains_max; i++)
        sum = mix(sum, s->chain[i]);
    return sum;
}

static void one_by_one(struct rk_stream *st, uint64_t chains_max, struct seen *seen)
{
    const struct rk_record *r;
    int rc;

    while ((rc = rk_stream_next(st, &r)) == 1 || (rc == -EBADMSG && seen->damaged < 1000)) {
        struct rk_sample s = {.size = sizeof s};
        if (rc < 0) {
            seen->damaged++;
            continue;
        }
        if (r->type != RK_RECORD_SAMPLE)
            seen->others++;
        else if (rk_stream_sample(st, r, &s) < 0)
            seen->damaged++;
        else if (seen->n < SAMPLES_MAX)
            seen->sums[seen->n++] = sum_of(r, &s, chains_max);
        rk_stream_release(st);
    }
}

static void count(void *context, const struct rk_record *record)
{
    fuzz_touch(record->data, record->bytes);
    ++*(size_t *)context;
}

static void by_columns(struct rk_stream *st, uint64_t rows, uint64_t chains_max, struct seen *seen)
{
    static uint64_t words[9][ROWS], chain_start[ROWS + 1], chains[CHAINS];
    static int32_t ids[2][ROWS];
    static uint32_t numbers[3][ROWS];
    struct rk_columns c = {
        .size = sizeof c, .max = rows, .chains_max = chains_max, .each = count, .context = &seen->others};
    int64_t n;

    c.time = words[0], c.ip = words[1], c.addr = words[2], c.period = words[3], c.id = words[4],
    c.weight = words[5];
    c.phys_addr = words[6], c.cgroup = words[7], c.present = words[8], c.pid = ids[0], c.tid = ids[1];
    c.cpu = numbers[0], c.event = numbers[1], c.misc = numbers[2], c.chain_start = chain_start,
    c.chains = chains;
    while ((n = rk_stream_columns(st, &c)) > 0) {
        HOLDS((uint64_t)n <= rows && chain_start[0] == 0);
        for (int64_t i = 0; i < n && seen->n < SAMPLES_MAX; i++) {
            HOLDS(chain_start[i] <= chain_start[i + 1] && chain_start[i + 1] <= chains_max);
            const struct rk_record r = {.event = c.event[i], .misc = (uint16_t)c.misc[i]};
            const struct rk_sample s = {.time = c.time[i],
                                        .ip = c.ip[i],
                                        .addr = c.addr[i],
                                        .period = c.period[i],
                                        .id = c.id[i],
                                        .weight = c.weight[i],
                                        .phys_addr = c.phys_addr[i],
                                        .cgroup = c.cgroup[i],
                                        .present = c.present[i],
                                        .pid = c.pid[i],
                                        .tid = c.tid[i],
                                        .cpu = c.cpu[i],
                                        .chain = chains + chain_start[i],
                                        .chain_n = chain_start[i + 1] - chain_start[i]};
            seen->sums[seen->n++] = sum_of(&r, &s, chains_max);
        }
        seen->damaged += c.damaged;
    }
}

static struct rk_stream *opened(const char *path)
{
    struct rk_stream *st = NULL;

    return rk_stream_file(path, &st, NULL) < 0 ? NULL : st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seen a, b;
    static char path[64];
    static int fd = -1;
    uint8_t how = size ? data[size - 1] : 0;
    uint64_t rows = 1 + how % ROWS, chains_max = how / 16 % 4 ? CHAINS : 1 + how % 5;

    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    HOLDS(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    a.n = a.damaged = a.others = b.n = b.damaged = b.others = 0;
    struct rk_stream *st = opened(path);
    if (!st)
        return 0;
    one_by_one(st, chains_max, &a);
    rk_stream_free(st);
    st = opened(path);
    HOLDS(st);
    by_columns(st, rows, chains_max, &b);
    rk_stream_free(st);
    HOLDS(a.n == b.n && a.others == b.others);
    HOLDS(memcmp(a.sums, b.sums, a.n * sizeof *a.sums) == 0);
    return 0;
}

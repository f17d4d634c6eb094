/*
 * Samples of page faults, left in a ring of 4 MiB, then taken out of a live stream: the best of three, in millions a second
 * of CPU time. bench/peers/iterator does the same with the Rust crate perf-event-open, both without chains and with them:
 *
 *     raw     the bytes of each record, nothing decoded
 *     typed   each record decoded, one by one
 *     batch   all of the same fields as columns (the crate has no such way: beside it stands its typed one)
 *
 * A line each: fields, way, millions a second, samples.
 */
#include <reckon/reckon.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PAGES 1000
#define ROWS 1024
#define WORDS (ROWS * 64)

static double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fault(char *at, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        for (size_t i = 0; i < PAGES; i++)
            ((volatile char *)at)[i * 4096] = 1;
        madvise(at, PAGES * 4096, MADV_DONTNEED);
    }
}

/* So that chains have some length. */
static __attribute__((noinline)) int fault_below(char *at, int rounds, int depth)
{
    if (depth == 0)
        fault(at, rounds);
    else
        return fault_below(at, rounds, depth - 1) + 1;
    return 0;
}

static uint64_t sum;

static uint64_t raw(struct rk_stream *stream)
{
    const struct rk_record *r;
    uint64_t n = 0;

    while (rk_stream_next(stream, &r) == 1) {
        sum += r->data[8];
        if (++n % 256 == 0)
            rk_stream_release(stream);
    }
    return n;
}

static uint64_t typed(struct rk_stream *stream)
{
    struct rk_sample s = {.size = sizeof s};
    const struct rk_record *r;
    uint64_t n = 0;

    while (rk_stream_next(stream, &r) == 1) {
        if (rk_stream_sample(stream, r, &s) == 0) {
            sum += s.ip + s.chain_n;
            n++;
        }
        if (n % 256 == 0)
            rk_stream_release(stream);
    }
    return n;
}

static uint64_t batch(struct rk_stream *stream)
{
    static uint64_t time[ROWS], ip[ROWS], period[ROWS], id[ROWS], starts[ROWS + 1], chains[WORDS];
    static int32_t pid[ROWS], tid[ROWS];
    static uint32_t cpu[ROWS];
    struct rk_columns columns = {.size = sizeof columns,
                                 .max = ROWS,
                                 .time = time,
                                 .ip = ip,
                                 .period = period,
                                 .id = id,
                                 .pid = pid,
                                 .tid = tid,
                                 .cpu = cpu,
                                 .chain_start = starts,
                                 .chains = chains,
                                 .chains_max = WORDS};
    uint64_t n = 0;
    int64_t rows;

    while ((rows = rk_stream_columns(stream, &columns)) > 0) {
        sum += ip[rows - 1] + starts[rows];
        n += (uint64_t)rows;
    }
    return n;
}

static int run(struct rk_host *host, const char *fields, uint64_t sample, char *at)
{
    static const struct {
        const char *name;
        uint64_t (*work)(struct rk_stream *stream);
    } ways[] = {{"raw", raw}, {"typed", typed}, {"batch", batch}};
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {.size = sizeof options,
                                     .period = 1,
                                     .flags = RK_SET_NO_INHERIT,
                                     .ring_bytes = 4 << 20,
                                     .sample = sample | RK_SAMPLE_PERIOD};
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;
    struct rk_stream *stream = NULL;
    int r = -1;

    if (rk_events_parse(host, "page-faults", &events, &e) < 0 || rk_target_self(&self, &e) < 0 ||
        rk_set_open(host, events, self, &options, &set, &e) < 0 || rk_stream_live(set, &stream, &e) < 0) {
        printf("%s\n", e.what);
        goto out;
    }
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        double best = 0;
        uint64_t most = 0;
        for (int i = 0; i < 3; i++) {
            rk_set_enable(set);
            fault_below(at, sample ? 10 : 60, 16);
            rk_set_disable(set);
            double begin = cpu_time();
            uint64_t n = ways[way].work(stream);
            double rate = (double)n / (cpu_time() - begin) / 1e6;
            rk_stream_release(stream);
            best = rate > best ? rate : best;
            most = n > most ? n : most;
        }
        printf("%s\t%s\t%.2f\t%ju\n", fields, ways[way].name, best, (uintmax_t)most);
    }
    r = 0;
out:
    rk_stream_free(stream);
    rk_set_free(set);
    rk_target_free(self);
    rk_events_free(events);
    return r;
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;

    if (rk_host_open(NULL, &host, &e) < 0) {
        printf("%s\n", e.what);
        return 77;
    }
    char *at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
    int status = run(host, "small", 0, at) || run(host, "chains", RK_SAMPLE_CALLCHAIN, at) ? 77 : 0;
    rk_host_free(host);
    return sum == 1 ? 1 : status; /* 1: never */
}

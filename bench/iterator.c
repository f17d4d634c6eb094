/*
 * Samples of page faults, left in a ring of 4 MiB, then taken out one by one through a live stream: the best of five, in
 * millions a second of CPU time. bench/iterator/ does the same with the Rust crate perf-event-open.
 */
#include <reckon/reckon.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PAGES 1000

static double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void fault(char *at)
{
    for (int round = 0; round < 60; round++) {
        for (size_t i = 0; i < PAGES; i++)
            ((volatile char *)at)[i * 4096] = 1;
        madvise(at, PAGES * 4096, MADV_DONTNEED);
    }
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options, .period = 1, .no_inherit = 1, .ring_bytes = 4 << 20};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;
    struct rk_stream *stream = NULL;
    double best = 0;
    uint64_t sum = 0, most = 0;

    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, "page-faults", &events, &e) < 0 ||
        rk_target_self(&self, &e) < 0 || rk_set_open(host, events, self, &options, &set, &e) < 0 ||
        rk_stream_live(set, &stream, &e) < 0) {
        printf("reckon - - (%s)\n", e.what);
        return 0;
    }
    char *at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return 1;
    madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
    for (int i = 0; i < 5; i++) {
        const struct rk_record *r;
        uint64_t n = 0;

        rk_set_enable(set);
        fault(at);
        rk_set_disable(set);
        double begin = cpu_time();
        while (rk_stream_next(stream, &r) == 1) {
            struct rk_sample s;
            s.size = sizeof s;
            if (rk_stream_sample(stream, r, &s) == 0) {
                sum += s.ip;
                n++;
            }
            if (n % 256 == 0)
                rk_stream_release(stream);
        }
        rk_stream_release(stream);
        double rate = (double)n / (cpu_time() - begin) / 1e6;
        best = rate > best ? rate : best;
        most = n > most ? n : most;
    }
    printf("reckon %.2f %ju\n", best, (uintmax_t)most);
    rk_stream_close(stream);
    rk_set_close(set);
    rk_target_free(self);
    rk_events_free(events);
    rk_host_close(host);
    return sum == 0;
}

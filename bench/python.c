/* The C call under Counter.read() of Python's, in C's own loop: bench/python loads this and sets it beside its own. */
#include <reckon/reckon.h>

#include <time.h>

double bench_read(const char *events, unsigned n, unsigned times);

/* The calling thread's alone, as reckon.count() opens it. */
static int open_set(struct rk_host *host, const char *text, struct rk_set **ret)
{
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    int rc = rk_events_parse(host, text, &events, NULL);

    if (rc == 0)
        rc = rk_target_self(&target, NULL);
    if (rc == 0)
        rc = rk_set_open(host, events, target, &options, ret, NULL);
    rk_target_free(target);
    rk_events_free(events);
    return rc;
}

/* Nanoseconds of one rk_set_total() of n events; below 0: they can't be opened. */
__attribute__((visibility("default"))) double bench_read(const char *events, unsigned n, unsigned times)
{
    struct rk_value values[16];
    struct timespec begin, end;
    struct rk_set *set = NULL;
    struct rk_host *host = NULL;

    if (n > 16 || rk_host_open(NULL, &host, NULL) < 0 || open_set(host, events, &set) < 0) {
        rk_host_free(host);
        return -1;
    }
    rk_set_enable(set);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (unsigned i = 0; i < times; i++)
        rk_set_total(set, values, NULL, n);
    clock_gettime(CLOCK_MONOTONIC, &end);
    rk_set_free(set);
    rk_host_free(host);
    return ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / times;
}

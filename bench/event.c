/*
 * Text to event on an open host, and back to nothing: microseconds of CPU, the best of fifty rounds. The bar is 2.
 */
#include <reckon/reckon.h>

#include <stdio.h>
#include <time.h>

#define EACH 200

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int measure(struct rk_host *host, const char *text)
{
    double best = 1e9;

    for (int round = 0; round < 50; round++) {
        double begin = now();
        for (int i = 0; i < EACH; i++) {
            struct rk_events *events = NULL;
            if (rk_events_parse(host, text, &events, NULL) < 0)
                return 1;
            rk_events_free(events);
        }
        double each = (now() - begin) / EACH;
        best = each < best ? each : best;
    }
    printf("  %-28s %6.2f us\n", text, best);
    return 0;
}

int main(void)
{
    static const char *const texts[] = {"cycles", "instructions:u", "L1-dcache-load-misses", "page-faults",
                                        "r1a8"};
    struct rk_host *host;
    int failed = rk_host_open(NULL, &host, NULL) < 0;

    for (size_t i = 0; i < sizeof texts / sizeof *texts && !failed; i++)
        failed = measure(host, texts[i]);
    if (!failed)
        rk_host_close(host);
    return failed;
}

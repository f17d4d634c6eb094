/*
 * Text to event on an open host, and back to nothing: a line per event, text and microseconds of CPU, the best of fifty
 * rounds. Events that the machine lacks are left out. An argument is the root of another machine.
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

static void measure(struct rk_host *host, const char *text)
{
    double best = 1e9;

    for (int round = 0; round < 50; round++) {
        double begin = now();
        for (int i = 0; i < EACH; i++) {
            struct rk_events *events = NULL;
            if (rk_events_parse(host, text, &events, NULL) < 0)
                return;
            rk_events_free(events);
        }
        double each = (now() - begin) / EACH;
        best = each < best ? each : best;
    }
    printf("%s\t%.3f\n", text, best);
}

int main(int argc, char **argv)
{
    static const char *const texts[] = {
        "cycles",
        "instructions:u",
        "L1-dcache-load-misses",
        "page-faults",
        "r1a8",
        "cpu/event=0x3c/",
        "msr/tsc/",
        "software/config=2/",
        "page-faults/name=x,period=9/",
        "{page-faults,cs}:u",
        "mem:0x1000:w",
        "sched:sched_switch",
        "uprobe:/bin/bash:readline",
        "RETIRED_INSTRUCTIONS",
    };
    struct rk_host *host;

    if (rk_host_open(argc > 1 ? argv[1] : NULL, &host, NULL) < 0)
        return 1;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        measure(host, texts[i]);
    rk_host_free(host);
    return 0;
}

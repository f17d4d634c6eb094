/*
 * Counting eight software events of the calling thread, beside the bare system calls and PAPI, in one interleaved run:
 * nanoseconds, the least and the median of many rounds. The bars: start and stop at most 0.4 of PAPI's, opening at most
 * a tenth of PAPI's adding them. PAPI is loaded where it is installed; else its rows are absent, with the reason.
 */
#include <reckon/reckon.h>

#include "base/abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 8
#define ROUNDS 300
#define PAPI_VERSION 0x07000000
#define PAPI_NONE (-1)

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---------------------------------------------------------------- the kernel alone */

static const uint64_t numbers[EVENTS] = {1, 0, 2, 5,
                                         6, 3, 4, 7}; /* PERF_COUNT_SW_…, in the order of `text` */
static int fds[EVENTS];

static int raw_open(void)
{
    for (int i = 0; i < EVENTS; i++) {
        struct perf_attr attr = {.type = PERF_SOFTWARE, .size = sizeof attr, .config = numbers[i]};
        attr.read_format =
            i ? FORMAT_ENABLED | FORMAT_RUNNING : FORMAT_GROUP | FORMAT_ENABLED | FORMAT_RUNNING;
        attr.flags = i ? 0 : ATTR_DISABLED;
        fds[i] = (int)syscall(SYS_perf_event_open, &attr, 0, -1, i ? fds[0] : -1, 8UL);
        if (fds[i] < 0)
            return -1;
    }
    return 0;
}

static int raw_close(void)
{
    for (int i = EVENTS; i-- > 0;)
        close(fds[i]);
    return 0;
}

static int raw_toggle(void)
{
    return ioctl(fds[0], IOC_ENABLE, 0) | ioctl(fds[0], IOC_DISABLE, 0);
}

static int raw_read(void)
{
    uint64_t words[3 + EVENTS];

    return read(fds[0], words, sizeof words) == (ssize_t)sizeof words ? 0 : -1;
}

/* ---------------------------------------------------------------- reckon */

static const char text[] =
    "{task-clock,cpu-clock,page-faults,minor-faults,major-faults,context-switches,cpu-migrations,"
    "cgroup-switches}";
static struct rk_host *host;
static struct rk_events *events;
static struct rk_target *target;
static struct rk_set *set;

static int our_open(void)
{
    const struct rk_set_options options = {.size = sizeof options, .no_inherit = 1};

    return rk_set_open(host, events, target, &options, &set, NULL);
}

static int our_close(void)
{
    set = rk_set_close(set);
    return 0;
}

static int our_toggle(void)
{
    return rk_set_enable(set) | rk_set_disable(set);
}

static int our_read(void)
{
    struct rk_value v[EVENTS];

    return rk_set_read(set, 0, v, EVENTS);
}

/* ---------------------------------------------------------------- PAPI */

static const char *const names[EVENTS] = {
    "perf::TASK-CLOCK",   "perf::CPU-CLOCK",        "perf::PAGE-FAULTS",    "perf::MINOR-FAULTS",
    "perf::MAJOR-FAULTS", "perf::CONTEXT-SWITCHES", "perf::CPU-MIGRATIONS", "perf::CGROUP-SWITCHES",
};
static struct {
    int (*library_init)(int);
    int (*create_eventset)(int *);
    int (*add_named_event)(int, const char *);
    int (*start)(int);
    int (*stop)(int, long long *);
    int (*read)(int, long long *);
    int (*cleanup_eventset)(int);
    int (*destroy_eventset)(int *);
    int eventset;
} papi;

static int papi_open(void)
{
    papi.eventset = PAPI_NONE;
    if (papi.create_eventset(&papi.eventset) != 0)
        return -1;
    for (int i = 0; i < EVENTS; i++)
        if (papi.add_named_event(papi.eventset, names[i]) != 0)
            return -1;
    return 0;
}

static int papi_close(void)
{
    return papi.cleanup_eventset(papi.eventset) | papi.destroy_eventset(&papi.eventset);
}

static int papi_toggle(void)
{
    long long v[EVENTS];

    return papi.start(papi.eventset) | papi.stop(papi.eventset, v);
}

static int papi_read(void)
{
    long long v[EVENTS];

    return papi.read(papi.eventset, v);
}

/* NULL, or why it can't be. */
static const char *papi_load(void)
{
    void *library = dlopen("libpapi.so", RTLD_NOW);

    if (!library)
        library = dlopen("libpapi.so.7.0", RTLD_NOW);
    if (!library)
        return "libpapi is not installed (tools/setup --bench)";
#define LOAD(name)                                            \
    do {                                                      \
        *(void **)&papi.name = dlsym(library, "PAPI_" #name); \
        if (!papi.name)                                       \
            return "this libpapi has no PAPI_" #name;         \
    } while (0)
    LOAD(library_init);
    LOAD(create_eventset);
    LOAD(add_named_event);
    LOAD(start);
    LOAD(stop);
    LOAD(read);
    LOAD(cleanup_eventset);
    LOAD(destroy_eventset);
    if (papi.library_init(PAPI_VERSION) != PAPI_VERSION)
        return "this libpapi is not of version 7.0";
    if (papi_open() < 0)
        return "PAPI does not know these events here";
    papi_close();
    return NULL;
}

/* ---------------------------------------------------------------- the run */

enum { RAW, OURS, PAPI, WHO };
enum { OPEN, TOGGLE, READ, WHAT };

static const struct who {
    const char *name;
    int (*open)(void), (*toggle)(void), (*read)(void), (*close)(void);
} who[WHO] = {
    {"system calls", raw_open, raw_toggle, raw_read, raw_close},
    {"reckon", our_open, our_toggle, our_read, our_close},
    {"PAPI", papi_open, papi_toggle, papi_read, papi_close},
};
static double times[WHO][WHAT][ROUNDS];

static int round_of(const struct who *w, int at, double (*to)[ROUNDS])
{
    double a = now();
    int rc = w->open();
    double b = now();
    to[OPEN][at] = b - a;
    if (rc < 0)
        return rc;
    rc |= w->toggle(); /* the first warms up */
    a = now();
    rc |= w->toggle();
    b = now();
    to[TOGGLE][at] = b - a;
    if (w->name[0] == 'P')
        papi.start(papi.eventset);
    rc |= w->read();
    a = now();
    rc |= w->read();
    b = now();
    to[READ][at] = b - a;
    if (w->name[0] == 'P') {
        long long v[EVENTS];
        papi.stop(papi.eventset, v);
    }
    return rc | w->close();
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

int main(void)
{
    static const char *const what[WHAT] = {"open", "start+stop", "read"};
    struct rk_error e = {.size = sizeof e};
    const char *missing = papi_load();

    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, text, &events, &e) < 0 ||
        rk_target_self(&target, &e) < 0) {
        printf("%s\n", e.what);
        return 1;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WHO; i++) {
            int k = (i + round) % WHO;
            if (k == PAPI && missing)
                continue;
            if (round_of(&who[k], round, times[k]) < 0) {
                printf("%s: fails here (8 events with the kernel's part need privilege)\n", who[k].name);
                return 1;
            }
        }
    printf("8 software events, ns, least and median of %d interleaved rounds:\n", ROUNDS);
    for (int k = 0; k < WHO; k++) {
        if (k == PAPI && missing) {
            printf("  %-14s absent: %s\n", who[k].name, missing);
            continue;
        }
        printf("  %-14s", who[k].name);
        for (int w = 0; w < WHAT; w++) {
            qsort(times[k][w], ROUNDS, sizeof(double), by_value);
            printf("  %s %9.0f %9.0f", what[w], times[k][w][0], times[k][w][ROUNDS / 2]);
        }
        putchar('\n');
    }
    printf("  perf-event-open (Rust)  absent: not built by this bench\n");
    if (!missing)
        printf("medians beside PAPI's: open %.3f (bar 0.1), start+stop %.3f (bar 0.4), read %.3f\n",
               times[OURS][OPEN][ROUNDS / 2] / times[PAPI][OPEN][ROUNDS / 2],
               times[OURS][TOGGLE][ROUNDS / 2] / times[PAPI][TOGGLE][ROUNDS / 2],
               times[OURS][READ][ROUNDS / 2] / times[PAPI][READ][ROUNDS / 2]);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_close(host);
    return 0;
}

/*
 * Counting eight software events of the calling thread, by the bare system calls, reckon, PAPI and the Rust crate
 * perf-event-open, in turns. bench/count has the ratios and the goals. Prints a line per setting, library and step:
 * "alone" or "beside", the library, the step, ns least, ns median; or "missing", the library and why.
 *
 *     bench-count [LIBRARY]       what cargo makes of bench/peers/count
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
                                         6, 3, 4, 11}; /* PERF_COUNT_SW_…, in the order of `text` */
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
    const struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};

    return rk_set_open(host, events, target, &options, &set, NULL);
}

static int our_close(void)
{
    set = rk_set_free(set);
    return 0;
}

static int our_toggle(void)
{
    return rk_set_enable(set) | rk_set_disable(set);
}

static int our_read(void)
{
    struct rk_value v[EVENTS];

    return rk_set_read(set, 0, v, NULL, EVENTS);
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

/* NULL, or the reason for its absence. */
static const char *papi_load(void)
{
    void *library = dlopen("libpapi.so", RTLD_NOW);

    if (!library)
        library = dlopen("libpapi.so.7.0", RTLD_NOW);
    if (!library)
        return "PAPI is not installed";
#define LOAD(name)                                            \
    do {                                                      \
        *(void **)&papi.name = dlsym(library, "PAPI_" #name); \
        if (!papi.name)                                       \
            return "PAPI: this libpapi has no PAPI_" #name;   \
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
        return "PAPI: this libpapi is not of version 7.0";
    if (papi_open() < 0)
        return "PAPI does not know these events here";
    papi_close();
    return NULL;
}

/* ---------------------------------------------------------------- the Rust crate */

static struct {
    int (*open)(void), (*toggle)(void), (*read)(void), (*close)(void);
} rust;

static int rust_open(void)
{
    return rust.open();
}

static int rust_toggle(void)
{
    return rust.toggle();
}

static int rust_read(void)
{
    return rust.read();
}

static int rust_close(void)
{
    return rust.close();
}

/* NULL, or the reason for its absence. */
static const char *rust_load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);

    if (!library)
        return dlerror();
    *(void **)&rust.open = dlsym(library, "peer_open");
    *(void **)&rust.toggle = dlsym(library, "peer_toggle");
    *(void **)&rust.read = dlsym(library, "peer_read");
    *(void **)&rust.close = dlsym(library, "peer_close");
    if (!rust.open || !rust.toggle || !rust.read || !rust.close)
        return "the library is not that of bench/peers/count";
    if (rust.open() < 0)
        return "perf-event-open can't open these events here";
    rust.close();
    return NULL;
}

/* ---------------------------------------------------------------- the run */

enum { RAW, OURS, PAPI, RUST, WHO };
enum { OPEN, TOGGLE, READ, WHAT };

static const struct who {
    const char *name;
    int (*open)(void), (*toggle)(void), (*read)(void), (*close)(void);
} who[WHO] = {
    {"system calls", raw_open, raw_toggle, raw_read, raw_close},
    {"reckon", our_open, our_toggle, our_read, our_close},
    {"PAPI", papi_open, papi_toggle, papi_read, papi_close},
    {"perf-event-open", rust_open, rust_toggle, rust_read, rust_close},
};
static const char *missing[WHO]; /* the reason; "": not asked for; NULL: present */
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
    if (w == &who[PAPI])
        papi.start(papi.eventset);
    rc |= w->read();
    a = now();
    rc |= w->read();
    b = now();
    to[READ][at] = b - a;
    if (w == &who[PAPI]) {
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

/* All of them, ROUNDS times, each round in another order. */
static int measure(void)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < WHO; i++) {
            int k = (i + round) % WHO;
            if (missing[k])
                continue;
            if (round_of(&who[k], round, times[k]) < 0) {
                printf("%s can't count these events with the kernel's part: root can\n", who[k].name);
                return -1;
            }
        }
    return 0;
}

static void print_rows(const char *setting)
{
    static const char *const what[WHAT] = {"open", "start+stop", "read"};

    for (int w = 0; w < WHAT; w++)
        for (int i = 0; i < WHO; i++) {
            int k = i == 0 ? OURS : i == OURS ? RAW : i; /* ours first */
            if (missing[k])
                continue;
            qsort(times[k][w], ROUNDS, sizeof(double), by_value);
            printf("%s\t%s\t%s\t%.0f\t%.0f\n", setting, who[k].name, what[w], times[k][w][0],
                   times[k][w][ROUNDS / 2]);
        }
}

/* Somebody else: a process that has the events open until its end of the pipe closes. */
static int neighbour(void)
{
    int fd[2];

    if (pipe(fd) < 0)
        return -1;
    pid_t pid = fork();
    if (pid == 0) {
        close(fd[1]);
        if (raw_open() < 0 || read(fd[0], &(char){0}, 1) < 0)
            _exit(1);
        _exit(0);
    }
    close(fd[0]);
    usleep(100000);
    return pid < 0 ? -1 : fd[1];
}

int main(int argc, char **argv)
{
    struct rk_error e = {.size = sizeof e};

    missing[PAPI] = papi_load();
    missing[RUST] = argc > 1 ? rust_load(argv[1]) : "";
    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, text, &events, &e) < 0 ||
        rk_target_self(&target, &e) < 0) {
        printf("%s\n", e.what);
        return 1;
    }
    for (int k = 0; k < WHO; k++)
        if (missing[k] && *missing[k])
            printf("missing\t%s\n", missing[k]);
    for (int beside = 0; beside < 2; beside++) {
        int hold = beside ? neighbour() : -1;
        if (measure() < 0)
            return 77;
        print_rows(beside ? "beside" : "alone");
        close(hold);
    }
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return 0;
}

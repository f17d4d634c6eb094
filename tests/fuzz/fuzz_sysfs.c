/*
 * The texts of sysfs, tracefs and /proc that the host and the grammar read: the input, cut at its NULs, becomes the files of
 * a machine, of which everything is then asked. What is understood must print and parse again; what is not says why.
 */
#include "../temporary.h"
#include "fuzz.h"

#include <reckon/event.h>
#include <reckon/list.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PMU "sys/bus/event_source/devices/box/"
#define TRACING "sys/kernel/tracing/"

static const char *const files[] = {
    PMU "events/a",
    PMU "format/f",
    PMU "events/a.scale",
    PMU "events/a.unit",
    PMU "cpumask",
    PMU "type",
    TRACING "events/sched/s/format",
    TRACING "events/sched/s/id",
    TRACING "available_events",
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/possible",
    "sys/devices/system/cpu/cpu0/topology/core_id",
    "proc/self/mountinfo",
    "proc/kallsyms",
    "proc/self/status",
    "proc/cpuinfo",
};
#define N_FILES (sizeof files / sizeof *files)

static char root[TEMPORARY];
static size_t written[N_FILES]; /* bytes that are there from the last time */

static void remove_all(void)
{
    char command[TEMPORARY + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    (void)!system(command);
}

static void make_root(void)
{
    char path[256];
    HOLDS(mkdtemp(temporary(root, "reckon-fuzz-XXXXXX")));
    atexit(remove_all);
    for (size_t i = 0; i < N_FILES; i++)
        for (const char *at = files[i]; (at = strchr(at, '/')); at++) {
            snprintf(path, sizeof path, "%s/%.*s", root, (int)(at - files[i]), files[i]);
            mkdir(path, 0755);
        }
}

/* A file that has no part of the input is empty. */
static void put(size_t i, const uint8_t *bytes, size_t n)
{
    char path[256];
    if (n == 0 && written[i] == 0)
        return;
    snprintf(path, sizeof path, "%s/%s", root, files[i]);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    HOLDS(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    close(fd);
    written[i] = n;
}

static void ask(struct rk_host *host)
{
    static const char *const texts[] = {
        "box/a/",        "box/f=1,a/", "box/config=1/",
        "sched:s",       "sched:*",    "sched:s/filter='pid==1 && comm~\"a*\"'/",
        "mem:jiffies:w", "cycles",     "a"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rk_events *events = NULL, *again = NULL;
        struct rk_error e = {.size = sizeof e};
        if (rk_events_parse(host, texts[i], &events, &e) < 0) {
            HOLDS(e.what[0] && !events);
            continue;
        }
        if (rk_events_parse(host, rk_events_print(events), &again, &e) < 0) {
            fprintf(stderr, "%s was printed as \"%s\": %s\n", texts[i], rk_events_print(events), e.what);
            abort();
        }
        HOLDS(strcmp(rk_events_print(events), rk_events_print(again)) == 0);
        rk_events_free(events);
        rk_events_free(again);
    }
}

static int discard(void *context, const void *data, size_t n)
{
    (void)context;
    fuzz_touch(data, n);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_list_options options = {
        .size = sizeof options, .flags = RK_LIST_LONG | RK_LIST_UNTRIED | RK_LIST_ALL, .pmu = "box"};
    struct rk_sink sink = {sizeof sink, 0, discard, NULL};
    struct rk_host *host = NULL;
    struct rk_list *list = NULL;
    const int32_t *cpus;
    const char *path = "";
    size_t n;

    if (!root[0])
        make_root();
    for (size_t i = 0, at = 0; i < N_FILES; i++) {
        const uint8_t *end = at < size ? memchr(data + at, 0, size - at) : NULL;
        n = at >= size ? 0 : end ? (size_t)(end - data) - at : size - at;
        put(i, data + (at < size ? at : 0), n);
        at += n + 1;
    }
    HOLDS(rk_host_open(root, &host, NULL) == 0);
    if (rk_host_cpus(host, &cpus, &n) == 0)
        HOLDS(n > 0);
    if (rk_host_cpus_possible(host, &cpus, &n) == 0)
        for (size_t i = 0; i < n && i < 4; i++) {
            struct rk_cpu cpu = {.size = sizeof cpu};
            rk_host_cpu(host, cpus[i], &cpu);
        }
    for (uint32_t fact = RK_FACT_CORE_PMU; fact <= RK_FACT_USER_NAMESPACE; fact++)
        rk_host_fact(host, fact);
    for (uint32_t mount = RK_MOUNT_TRACEFS; mount <= RK_MOUNT_CGROUP1; mount++)
        if (rk_host_mount(host, mount, &path) == 0)
            fuzz_touch_text(path);
    ask(host);
    if (rk_list_open(host, &options, &list, NULL) == 0)
        HOLDS(rk_list_export(list, "json", &sink, NULL) == 0);
    rk_list_free(list);
    options.pmu = "tracepoint";
    list = NULL;
    if (rk_list_open(host, &options, &list, NULL) == 0)
        HOLDS(rk_list_export(list, "json", &sink, NULL) == 0);
    rk_list_free(list);
    rk_host_free(host);
    return 0;
}

/*
 * Attaching to a process of many threads: rk_set_open() beside a bare loop of the same perf_event_open(2) calls, in one
 * interleaved run. Prints CPU seconds of the loop and of ours, and their ratio; medians of the rounds.
 *
 *     bench-attach [THREADS [EVENTS [ROUNDS]]]      4000 4 7
 */
#include "base/abi.h"

#include <dirent.h>
#include <pthread.h>
#include <reckon/reckon.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int threads = 4000, events = 4, rounds = 7;

static void *wait_for_ever(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static pid_t start(void)
{
    int ready[2];
    char c;

    if (pipe(ready) < 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_attr_t attr;
        pthread_t thread;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pthread_attr_init(&attr);
        pthread_attr_setstacksize(&attr, 16384);
        int n = 1;
        while (n < threads && pthread_create(&thread, &attr, wait_for_ever, NULL) == 0)
            n++;
        if (n < threads || write(ready[1], "r", 1) != 1)
            _exit(1);
        wait_for_ever(NULL);
    }
    close(ready[1]);
    if (read(ready[0], &c, 1) != 1) {
        printf("a process can't have %d threads here\n", threads);
        exit(77);
    }
    close(ready[0]);
    return pid;
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int bare_open(uint64_t config, pid_t tid, int leader)
{
    struct perf_attr attr = {.type = PERF_SOFTWARE,
                             .size = 64,
                             .config = config,
                             .flags = ATTR_INHERIT | (leader < 0 ? ATTR_DISABLED : 0),
                             .read_format =
                                 FORMAT_ENABLED | FORMAT_RUNNING | (leader < 0 ? FORMAT_GROUP : 0)};

    return (int)syscall(SYS_perf_event_open, &attr, tid, -1, leader, 8);
}

/* What a program of one's own would do: list the threads, open a group on each. */
static double bare(pid_t pid, int *fds)
{
    char path[64];
    double begin = cpu_ms();
    int n = 0;

    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *dir = opendir(path);
    for (struct dirent *at; (at = readdir(dir));) {
        if (at->d_name[0] == '.')
            continue;
        int leader = -1;
        for (int i = 0; i < events; i++) {
            fds[n] = bare_open((uint64_t)(i % 7), atoi(at->d_name), leader);
            if (fds[n] < 0) {
                perror("perf_event_open");
                exit(1);
            }
            leader = i == 0 ? fds[n] : leader;
            n++;
        }
    }
    closedir(dir);
    double took = cpu_ms() - begin;
    while (n > 0)
        close(fds[--n]);
    return took;
}

static double ours(struct rk_host *host, const struct rk_events *parsed, pid_t pid)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *target;
    struct rk_set *set;
    double begin = cpu_ms();

    if (rk_target_process(pid, &target, &e) < 0 || rk_set_open(host, parsed, target, NULL, &set, &e) < 0) {
        fprintf(stderr, "%s\n", e.what);
        exit(1);
    }
    double took = cpu_ms() - begin;
    if (rk_set_slot_count(set) != (size_t)threads)
        exit(1);
    rk_set_free(set);
    rk_target_free(target);
    return took;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"cpu-clock",      "task-clock",   "page-faults", "context-switches",
                                        "cpu-migrations", "minor-faults", "major-faults"};
    char text[512] = "{";
    double one[64], other[64], ratio[64];
    struct rlimit limit;
    struct rk_host *host;
    struct rk_events *parsed;
    struct rk_error e = {.size = sizeof e};

    threads = argc > 1 ? atoi(argv[1]) : threads;
    events = argc > 2 ? atoi(argv[2]) : events;
    rounds = argc > 3 ? atoi(argv[3]) : rounds;
    if (threads < 1 || events < 1 || rounds < 1 || rounds > 64)
        return 2;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if ((rlim_t)threads * (rlim_t)events + 64 > limit.rlim_max) {
        printf("%d descriptors are more than the hard limit, %ju\n", threads * events,
               (uintmax_t)limit.rlim_max);
        return 77;
    }
    for (int i = 0; i < events; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? "," : "", names[i % 7]);
    strcat(text, "}");
    int *fds = calloc((size_t)threads * (size_t)events, sizeof *fds);
    if (!fds || rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, text, &parsed, &e) < 0)
        return 1;
    pid_t pid = start();
    bare(pid, fds); /* the first open of some events costs more */
    for (int i = 0; i < rounds; i++) {
        one[i] = bare(pid, fds);
        other[i] = ours(host, parsed, pid);
        ratio[i] = other[i] / one[i];
    }
    qsort(one, (size_t)rounds, sizeof *one, by_size);
    qsort(other, (size_t)rounds, sizeof *other, by_size);
    qsort(ratio, (size_t)rounds, sizeof *ratio, by_size);
    printf("%.6f\t%.6f\t%.3f\n", one[rounds / 2] / 1e3, other[rounds / 2] / 1e3, ratio[rounds / 2]);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    rk_events_free(parsed);
    rk_host_free(host);
    free(fds);
    return 0;
}

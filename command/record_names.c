/*
 * The child is a copy of this process and has the capture as it was: addresses, mappings, and files that are open. It writes
 * what it has found into a pipe:
 *
 *     struct report, then the bytes to store
 *
 * Limits: CPU_SOFT_S, after which it begins no other module; CPU_HARD_S and as much memory as memory_limit() says, where the
 * kernel ends it; WALL_S, where we do. An interrupt from the terminal ends it too.
 */
#include "record_names.h"

#include "print.h"
#include "privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU_SOFT_S 10
#define CPU_HARD_S 30
#define WALL_S 60
#define MEMORY_LEAST (UINT64_C(256) << 20)
#define MEMORY_MOST (UINT64_C(4) << 30)
#define THREADS_MOST 4
#define NS UINT64_C(1000000000)

struct report {
    uint64_t bytes, addresses, left_out, unlined;
    int32_t rc, reserved;
};

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS + (uint64_t)t.tv_nsec;
}

/* ---- the child ---- */

/* What this process has mapped already, and half of the machine's memory, within bounds. */
static uint64_t memory_limit(void)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), half = (uint64_t)sysconf(_SC_PHYS_PAGES) / 2 * page;
    unsigned long long mapped = 0;
    FILE *f = fopen("/proc/self/statm", "re");

    if (!f || fscanf(f, "%llu", &mapped) != 1)
        mapped = (unsigned long long)(MEMORY_MOST / page);
    if (f)
        fclose(f);
    half = half < MEMORY_LEAST ? MEMORY_LEAST : half > MEMORY_MOST ? MEMORY_MOST : half;
    return (uint64_t)mapped * page + half;
}

#ifdef __GLIBC__
typedef __rlimit_resource_t resource;
#else
typedef int resource;
#endif

static void limit(resource what, uint64_t soft, uint64_t hard)
{
    struct rlimit now;

    if (getrlimit(what, &now) < 0)
        return;
    now.rlim_max = hard < now.rlim_max ? hard : now.rlim_max;
    now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
    setrlimit(what, &now);
}

static int write_all(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;

    while (n) {
        ssize_t done = write(fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

_Noreturn static void run_child(struct rk_capture *capture, int fd, pid_t parent)
{
    struct rk_names_options options = {.size = sizeof options, .cpu_ns = CPU_SOFT_S * NS};
    struct rk_names *names = NULL;
    struct report report = {0};
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], SIG_DFL);
    signal(SIGUSR2, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    limit(RLIMIT_CPU, CPU_HARD_S, CPU_HARD_S + 1);
    limit(RLIMIT_CORE, 0, 0);
    limit(RLIMIT_AS, memory_limit(), RLIM_INFINITY);
    options.threads = cpus < THREADS_MOST ? (uint32_t)cpus : THREADS_MOST;
    privilege_read();
    report.rc = rk_names_capture(capture, &options, &names, NULL);
    if (report.rc == 0) {
        report.bytes = names->bytes;
        report.addresses = names->addresses;
        report.left_out = names->left_out;
        report.unlined = names->unlined;
    }
    int rc = write_all(fd, &report, sizeof report);
    if (rc == 0 && report.rc == 0)
        rc = write_all(fd, names->data, names->bytes);
    _exit(rc < 0);
}

/* ---- the parent ---- */

void record_names_begin(struct record_names *names, struct rk_capture *capture)
{
    int ends[2];
    pid_t parent = getpid();

    if (pipe2(ends, O_CLOEXEC) < 0)
        return;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        run_child(capture, ends[1], parent);
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return;
    }
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    names->child = pid;
    names->fd = ends[0];
    names->begun_ns = clock_ns();
    names->n = 0;
}

int record_names_fd(const struct record_names *names)
{
    return names->child ? names->fd : -1;
}

int record_names_step(struct record_names *names)
{
    while (names->child) {
        if (names->room - names->n < 65536) {
            size_t room = names->room ? names->room * 2 : 1 << 18;
            unsigned char *longer = realloc(names->bytes, room);
            if (!longer)
                return 0;
            names->bytes = longer;
            names->room = room;
        }
        ssize_t n = read(names->fd, names->bytes + names->n, names->room - names->n);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 1;
        if (n <= 0)
            return 0;
        names->n += (size_t)n;
    }
    return 0;
}

static void note(struct record_names *names, const struct report *report, int status)
{
    char number[32], all[32];
    const char *why = NULL;

    print_count(report->addresses, all, sizeof all);
    if (WIFSIGNALED(status))
        why = WTERMSIG(status) == SIGINT                                   ? "it was interrupted"
              : WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? "it took too long"
                                                                           : "it crashed";
    else if (names->n < sizeof *report)
        why = "it could not begin";
    else if (report->rc < 0)
        why = strerror(-report->rc);
    else if (names->n - sizeof *report != report->bytes)
        why = "it ended early";
    if (why)
        snprintf(names->note, sizeof names->note,
                 "names were not stored with it, because %s: keep the programs that were sampled", why);
    else if (report->left_out)
        snprintf(
            names->note, sizeof names->note,
            "names of %s of %s addresses were not stored, for want of room or time: keep the programs that "
            "were sampled",
            print_count(report->left_out, number, sizeof number), all);
    else if (report->unlined)
        snprintf(names->note, sizeof names->note,
                 "lines of %s of %s addresses were not stored, for want of room",
                 print_count(report->unlined, number, sizeof number), all);
}

void record_names_say(struct record_names *names)
{
    if (names->note[0])
        fprintf(stderr, "  %s\n", names->note);
    names->note[0] = '\0';
}

/* Until its pipe ends, or its time is over. */
static void wait_child(struct record_names *names)
{
    while (record_names_step(names)) {
        struct pollfd poller = {.fd = names->fd, .events = POLLIN};
        uint64_t passed = clock_ns() - names->begun_ns;
        if (passed >= WALL_S * NS)
            break;
        poll(&poller, 1, (int)((WALL_S * NS - passed) / 1000000) + 1);
    }
}

void record_names_end(struct record_names *names, const char *path)
{
    struct report report = {0};
    struct rk_error e = {.size = sizeof e};
    int status = 0;

    if (!names->child)
        return;
    wait_child(names);
    kill(names->child, SIGKILL); /* it has ended, or shall */
    close(names->fd);
    while (waitpid(names->child, &status, 0) < 0 && errno == EINTR)
        ;
    if (names->n >= sizeof report)
        memcpy(&report, names->bytes, sizeof report);
    bool whole = names->n >= sizeof report && report.rc == 0 && names->n - sizeof report == report.bytes;
    if (whole)
        status = 0; /* it was killed while it ended */
    if (whole && rk_names_store(path, names->bytes + sizeof report, (size_t)report.bytes, &e) < 0) {
        snprintf(names->note, sizeof names->note, "%s", e.what);
    } else {
        names->stored += whole ? report.bytes : 0;
        note(names, &report, status);
    }
    free(names->bytes);
    names->bytes = NULL;
    names->n = names->room = 0;
    names->child = 0;
}

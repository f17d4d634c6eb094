/*
 * tests/live/session.h: a sampling set on a command (this very program with other arguments), or on the
 * calling thread; a working directory of its own; the same once more as a plain user.
 */
#ifndef SESSION_H
#define SESSION_H

#include "live.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct session {
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
};

static inline uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Hits of breakpoints that the kernel does not count: on some virtual processors a few of a million come with an empty
 * DR6, which Linux takes for INT1. The program gets SIGTRAP with TRAP_BRKPT for each. Counted here for this process
 * and those that it forks, so that hits + strays() is exact.
 */
static _Atomic uint64_t *stray_hits;

static inline void stray_hit(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == TRAP_BRKPT)
        ++*stray_hits;
    else
        signal(number, SIG_DFL), raise(number);
}

/* From here on such hits don't end this process. */
static inline void catch_strays(void)
{
    struct sigaction action = {.sa_sigaction = stray_hit, .sa_flags = SA_SIGINFO};
    sigset_t trap;

    if (!stray_hits) {
        stray_hits =
            mmap(NULL, sizeof *stray_hits, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        CHECK(stray_hits != MAP_FAILED);
    }
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0 && sigprocmask(SIG_UNBLOCK, &trap, NULL) == 0);
}

static inline uint64_t strays(void)
{
    return stray_hits ? *stray_hits : 0;
}

/* Touches so many fresh pages: as many page faults. */
__attribute__((unused)) static void touch(size_t pages)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, pages * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(at != MAP_FAILED);
    madvise(at, pages * size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < pages; i++)
        ((volatile char *)at)[i * size] = 1;
    munmap(at, pages * size);
}

/* So much CPU time of the calling thread, however busy the machine is. */
static inline void busy_ms(uint64_t ms)
{
    struct timespec t;
    do {
        spin(100000);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < ms);
}

/* argv NULL: the calling thread. */
static inline struct session session_open(const char *events, char *const argv[],
                                          const struct rk_set_options *options)
{
    struct session s = {0};
    struct rk_error e = {.size = sizeof e};
    OK(rk_host_open(NULL, &s.host, &e));
    int r = rk_events_parse(s.host, events, &s.events, &e);
    if (r < 0 &&
        (r == -EACCES || e.cause == RK_CAUSE_NO_FILE)) /* tracefs: closed to this user, or not mounted */
        SKIP("%s: %s", e.what, e.remedy);
    OK(r);
    if (argv)
        OK(rk_target_command(argv, NULL, &s.target, &e));
    else
        OK(rk_target_self(&s.target, &e));
    r = rk_set_open(s.host, s.events, s.target, options, &s.set, &e);
    if (r == -EACCES || r == -EPERM || r == -ENOENT || r == -ENOSYS)
        SKIP("%s can't be sampled here: %s", events, e.what);
    OK(r);
    return s;
}

static inline void session_close(struct session *s)
{
    rk_set_free(s->set);
    rk_target_free(s->target);
    rk_events_free(s->events);
    rk_host_free(s->host);
}

/* Waits for a command and wants its status. */
static inline void session_wait(struct session *s, int status)
{
    struct rk_exit x = {.size = sizeof x};
    EQUAL(rk_target_wait(s->target, -1, &x), 1);
    EQUAL(x.status, status);
}

/* An empty directory to work in, for anyone; gone at exit. */
static char live_directory[TEMPORARY];
static inline void remove_directory(void)
{
    DIR *d = opendir(live_directory);
    if (!d || chdir(live_directory) < 0)
        return;
    for (struct dirent *at; (at = readdir(d));)
        if (at->d_name[0] != '.')
            unlink(at->d_name);
    closedir(d);
    if (chdir("/") == 0)
        rmdir(live_directory);
}

static inline void use_directory(void)
{
    CHECK(mkdtemp(temporary(live_directory, "reckon-live-XXXXXX")) && chmod(live_directory, 0777) == 0 &&
          chdir(live_directory) == 0);
    atexit(remove_directory);
}

/* … and in it a copy of this program, `self`, that a plain user can execute wherever the tree lies. */
static inline void use_directory_and_self(char *self, size_t size)
{
    char exe[4096], bytes[65536];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    CHECK(n > 0);
    exe[n] = '\0';
    use_directory();
    CHECK((size_t)snprintf(self, size, "%s%s", live_directory, strrchr(exe, '/')) < size);
    int from = open(exe, O_RDONLY | O_CLOEXEC), to = open(self, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    CHECK(from >= 0 && to >= 0 && fchmod(to, 0755) == 0);
    while ((n = read(from, bytes, sizeof bytes)) > 0)
        CHECK(write(to, bytes, (size_t)n) == n);
    CHECK(n == 0 && close(from) == 0 && close(to) == 0);
}

/* This program's file, for mappings of code. Opened once: where it is for its owner alone, root's child below has it. */
static inline int own_file(void)
{
    static int fd = -1;
    if (fd < 0)
        fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

/* Root runs the test once more, in a child that becomes a plain user; its verdict is ours. */
static inline void as_plain_user(void (*test)(void))
{
    if (geteuid() != 0)
        return;
    if (!can_become(65534)) {
        printf("this root can't become a plain user: not tried as one\n");
        return;
    }
    fflush(stdout);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        live_directory[0] = 0; /* the parent's to remove */
        CHECK(become(65534));
        test();
        fflush(stdout);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status))
        FAIL("as a plain user: signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == 77)
        printf("as a plain user: skipped, for the reason above\n");
    else if (WEXITSTATUS(status))
        FAIL("as a plain user: failed, see above");
}

/* Whether a program is here and runs: Ubuntu has a perf that says only that there is none for this kernel. */
static inline bool have(const char *program)
{
    char command[128];
    snprintf(command, sizeof command, "%s --version >/dev/null 2>&1", program);
    return system(command) == 0;
}

/*
 * Runs a `perf record` (a line for the shell) until perf can read what it wrote; from: "-i FILE", or "-i - <FILE".
 * False: it can't record that here. Why perf may be unable to read a file of its own: tests/perf-record.
 */
static inline bool perf_recorded(const char *command, const char *from)
{
    char script[512];
    snprintf(script, sizeof script, "perf script -F tid %s >/dev/null 2>&1", from);
    for (int i = 0; i < 30; i++) {
        int status = system(command); /* at its end it reads the file too, for build-ids */
        bool recorded = status == 0;
        if (recorded)
            status = system(script);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 128 + SIGABRT)
            return recorded;
        sleep(1);
    }
    FAIL("perf aborts on each of thirty files that it recorded: %s", command);
}

#endif

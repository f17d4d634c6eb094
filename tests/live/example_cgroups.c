/*
 * examples/cgroups.c, as it stands there: its figures for two cgroups, each second, are all that they did, and nothing
 * twice, while a CPU goes offline and comes back: seen by a call, and between two calls. CPUs are taken off only in the
 * guest: tests/guest/run -s 2 -i off -- example_cgroups
 */
int example_main(int argc, char **argv);
#define main example_main
#include "../../examples/cgroups.c"
#undef main

#include "session.h"

#include <sched.h>

#define PAGES 1000
#define FEW 200 /* of the process itself */

static struct rk_error e = {.size = sizeof e};
static char paths[2][200];
static const char *names[2];
static int go[2], done[2];
static pid_t pids[2], owner; /* the example, the worker */

static void clean(void)
{
    if (getpid() != owner)
        return;
    for (int i = 0; i < 2; i++)
        if (pids[i] > 0) {
            kill(pids[i], SIGKILL);
            waitpid(pids[i], NULL, 0);
        }
    for (int i = 0; i < 2; i++)
        for (int times = 0; *paths[i] && rmdir(paths[i]) < 0 && errno == EBUSY && times < 1000; times++)
            usleep(10000); /* who was in it has just ended */
}

static void make_cgroups(void)
{
    struct rk_host *host;
    const char *mount;

    OK(rk_host_open(NULL, &host, &e));
    if (rk_host_mount(host, RK_MOUNT_CGROUP1, &mount) < 0 &&
        rk_host_mount(host, RK_MOUNT_CGROUP2, &mount) < 0)
        SKIP("no cgroups are mounted here");
    for (int i = 0; i < 2; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/reckon-%s-%c-%d", mount, test_mark(), 'a' + i, getpid());
        if (mkdir(path, 0755) < 0)
            SKIP("no cgroup may be made here: %s", strerror(errno));
        memcpy(paths[i], path, sizeof path);
        names[i] = paths[i] + strlen(mount) + 1;
    }
    rk_host_free(host);
    /* cgroup v2 gives its children a perf_event controller once any other is on. */
    int fd =
        getenv("RECKON_HOTPLUG") ? open("/sys/fs/cgroup/cgroup.subtree_control", O_WRONLY | O_CLOEXEC) : -1;
    if (fd >= 0)
        CHECK(write(fd, "+pids", 5) == 5 && close(fd) == 0);
}

/* In the first cgroup: touches pages on the CPU that it is told. */
static void work(void)
{
    char file[256];
    int8_t cpu;
    cpu_set_t one;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(file, sizeof file, "%s/cgroup.procs", paths[0]);
    int fd = open(file, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, "0", 1) == 1 && close(fd) == 0);
    CHECK(write(done[1], "r", 1) == 1);
    while (read(go[0], &cpu, 1) == 1) {
        CPU_ZERO(&one);
        CPU_SET((size_t)cpu, &one);
        CHECK(cpu < 0 || sched_setaffinity(0, sizeof one, &one) == 0);
        touch(PAGES);
        CHECK(write(done[1], "d", 1) == 1);
    }
}

static void put(int cpu, bool online)
{
    char path[64];

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, online ? "1" : "0", 1) == 1);
    close(fd);
}

static uint64_t faults[2];

/* The lines of one second. */
static void read_second(FILE *from)
{
    for (int i = 0; i < 2; i++) {
        char name[200], line[300] = "";
        double ms;
        uint64_t n;
        CHECK(fgets(line, sizeof line, from));
        if (sscanf(line, "%199s %lf ms %" SCNu64 " page faults", name, &ms, &n) != 3)
            FAIL("the example prints: %s", line);
        CHECK(strcmp(name, names[i]) == 0 && ms >= 0);
        faults[i] += n;
    }
}

/* The worker works on that CPU (-1: any): the example's next seconds show it. */
static void works(FILE *from, int8_t cpu, uint64_t sum)
{
    char c;

    CHECK(write(go[1], &cpu, 1) == 1 && read(done[0], &c, 1) == 1);
    for (int seconds = 0; seconds < 30 && faults[0] < sum; seconds++)
        read_second(from);
    if (faults[0] < sum || faults[0] > sum + FEW || faults[1] > FEW)
        FAIL("%" PRIu64 " faults made, %" PRIu64 " shown; in the other cgroup %" PRIu64, sum, faults[0],
             faults[1]);
}

static void hotplug(FILE *from)
{
    works(from, 1, 2 * PAGES);
    put(1, false); /* away and back between two looks */
    put(1, true);
    read_second(from);
    read_second(from);
    works(from, 1, 3 * PAGES);
    put(1, false);
    read_second(from);
    read_second(from);
    works(from, 0, 4 * PAGES);
    put(1, true);
    read_second(from);
    read_second(from);
    works(from, 1, 5 * PAGES);
}

int main(void)
{
    int tube[2];
    char c;

    live_needs_counters();
    owner = getpid();
    atexit(clean);
    make_cgroups();
    CHECK(pipe(go) == 0 && pipe(done) == 0);
    pids[1] = fork();
    if (pids[1] == 0) {
        work();
        _exit(0);
    }
    CHECK(pids[1] > 0 && read(done[0], &c, 1) == 1);
    CHECK(pipe(tube) == 0);
    pids[0] = fork();
    if (pids[0] == 0) {
        char *argv[] = {(char *)"cgroups", (char *)(uintptr_t)names[0], (char *)(uintptr_t)names[1], NULL};
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        CHECK(dup2(tube[1], STDOUT_FILENO) >= 0);
        _exit(example_main(3, argv));
    }
    close(tube[1]);
    FILE *from = fdopen(tube[0], "re");
    if ((c = (char)fgetc(from), feof(from))) {
        int status = -1;
        CHECK(waitpid(pids[0], &status, 0) == pids[0]);
        pids[0] = 0;
        SKIP("cgroups can't be counted here: the example ends with %d", WEXITSTATUS(status));
    }
    ungetc(c, from);
    works(from, -1, PAGES);
    bool can = getenv("RECKON_HOTPLUG") && access("/sys/devices/system/cpu/cpu1/online", W_OK) == 0;
    if (can)
        hotplug(from);
    printf("%" PRIu64 " faults shown, in the other cgroup %" PRIu64 "\n", faults[0], faults[1]);
    fclose(from);
    if (!can)
        printf("no CPU was taken off: only in the guest with two of them\n");
    return 0;
}

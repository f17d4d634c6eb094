/*
 * The whole machine, its CPUs followed: what one counted before it went is kept, what comes is counted, totals never go
 * backwards. CPUs are taken off and put back only in the guest (-s 2 -i off); elsewhere nobody asked for that.
 */
#include "session.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct rk_error e = {.size = sizeof e};
static struct rk_set *set;
static uint64_t last;

static void put(int cpu, bool online)
{
    char path[64];

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    CHECK(fd >= 0 && write(fd, online ? "1" : "0", 1) == 1);
    close(fd);
}

/* So many faults on that CPU, and no fewer in the total. */
static void fault_on(int cpu, size_t pages)
{
    cpu_set_t one;
    struct rk_value v[2];

    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    touch(pages);
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(rk_set_total(set, v, NULL, 2) == 0);
    if (v[0].value < last + pages || v[0].running == 0)
        FAIL("CPU %d: %" PRIu64 " faults before, %zu more made, %" PRIu64 " counted", cpu, last, pages,
             v[0].value);
    last = v[0].value;
}

static void hotplug(void)
{
    size_t slots = rk_set_slot_count(set);
    struct rk_value v[2];

    fault_on(1, 100);
    put(1, false);
    CHECK(rk_set_total(set, v, NULL, 2) == 0 && v[0].value >= last);
    EQUAL(rk_set_refresh(set, &e), 1);
    EQUAL(rk_set_refresh(set, &e), 0);
    fault_on(0, 100);
    CHECK(rk_set_disable(set) == 0 && rk_set_enable(set) == 0);
    put(1, true);
    EQUAL(rk_set_refresh(set, &e), 1);
    EQUAL(rk_set_slot_count(set), slots);
    fault_on(1, 1000);
    EQUAL(rk_set_refresh(set, &e), 0);
    put(1, false); /* away and back between two looks */
    put(1, true);
    EQUAL(rk_set_refresh(set, &e), 2);
    fault_on(1, 1000);
}

/* `reckon stat -A -a`: a CPU that comes while a command runs is counted, and has its line. The command is this program. */
static void rows_that_come(char *self)
{
    char *reckon = getenv("RECKON"), text[4096] = "";
    int status = -1;

    if (!reckon)
        return;
    put(1, false);
    pid_t pid = fork();
    if (pid == 0) {
        execl(reckon, "reckon", "stat", "-A", "-a", "-x", ",", "-e", "page-faults", "-o", "rows", self,
              "plug", (char *)NULL);
        _exit(127);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    int fd = open("rows", O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    const char *row = strstr(text, "\nCPU1,");
    if (strncmp(text, "CPU0,", 5) != 0 || !row || strtoull(row + 6, NULL, 10) < 500)
        FAIL("CPU 1 came and had 500 faults:\n%s", text);
}

/* What it runs. */
static int plug(void)
{
    cpu_set_t one;

    put(1, true);
    nanosleep(&(struct timespec){.tv_sec = 2}, NULL); /* it is looked for every half second */
    CPU_ZERO(&one);
    CPU_SET(1, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    touch(500);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "plug") == 0)
        return plug();
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *machine;
    const int32_t *cpus;
    size_t n;

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "{page-faults,cpu-clock}", &events, &e));
    OK(rk_target_cpus(host, NULL, &machine, &e));
    int r = rk_set_open(host, events, machine, NULL, &set, &e);
    if (r == -EACCES || r == -EPERM)
        SKIP("%s", e.what);
    OK(r);
    rk_target_free(machine);
    CHECK(rk_host_cpus(host, &cpus, &n) == 0);
    EQUAL(rk_set_slot_count(set), n);
    CHECK(rk_set_enable(set) == 0);
    EQUAL(rk_set_refresh(set, &e), 0);
    EQUAL(rk_set_refresh(set, &e), 0);
    cpu_set_t before, after;
    struct rk_value v[2];
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0 && rk_set_total(set, v, NULL, 2) == 0);
    CHECK(sched_getaffinity(0, sizeof after, &after) == 0 && CPU_EQUAL(&before, &after));
    fault_on(0, 100);
    bool can = getenv("RECKON_HOTPLUG") && n == 2 && access("/sys/devices/system/cpu/cpu1/online", W_OK) == 0;
    if (can) {
        hotplug();
        rows_that_come(argv[0]);
    }
    rk_set_free(set);
    rk_events_free(events);
    rk_host_free(host);
    if (!can)
        SKIP("CPUs are taken off only in the guest with two of them: tests/guest/run -s 2 -i off -- "
             "target_machine");
    return 0;
}

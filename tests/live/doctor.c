/*
 * The doctor on the machine itself, as root and as a plain user: what it says must be what opening a set says.
 */
#include "live.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534
#define PERFMON 38
#define UNKNOWN 99

static struct rk_check find(const struct rk_doctor *doctor, const char *name)
{
    struct rk_check c = {.size = sizeof c};
    for (size_t i = 0; i < rk_doctor_check_count(doctor); i++) {
        CHECK(rk_doctor_check_get(doctor, i, &c) == 0);
        if (strcmp(c.name, name) == 0)
            return c;
    }
    FAIL("no check %s", name);
}

/* The verdict against a set that asks the same, exactly. */
static void agrees(struct rk_host *host, const struct rk_doctor *doctor, const char *name, const char *text,
                   struct rk_target *target, bool sampling)
{
    struct rk_set_options options = {
        .size = sizeof options, .flags = RK_SET_EXACT | RK_SET_NO_INHERIT, .period = sampling ? 1000000 : 0};
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events;
    struct rk_set *set = NULL;
    struct rk_check c = find(doctor, name);

    OK(rk_events_parse(host, text, &events, &e));
    int rc = rk_set_open(host, events, target, &options, &set, &e);
    if ((rc >= 0) != (c.verdict == RK_VERDICT_YES))
        FAIL("%s: verdict %u (%s), but opening %s gave %d (%s)", name, c.verdict, c.what, text, rc, e.what);
    if (rc < 0 && c.cause != e.cause)
        FAIL("%s: cause %s, but opening %s has cause %s", name, rk_cause_name(c.cause), text,
             rk_cause_name(e.cause));
    if (rc < 0)
        CHECK(c.remedy[0]);
    rk_set_free(set);
    rk_events_free(events);
}

/* The table of reckon-permissions(7), for a user without rights and a kernel of Debian's, as the guest's is. */
static void by_the_table(const struct rk_doctor *doctor, int level)
{
    static const struct {
        const char *name;
        int most; /* the highest level at which it goes */
    } rows[] = {{"count", 2}, {"sample", 2}, {"kernel", 1}, {"machine", 0}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_check c = find(doctor, rows[i].name);
        char lower[64];
        snprintf(lower, sizeof lower, "kernel.perf_event_paranoid=%d ", rows[i].most);
        if ((c.verdict == RK_VERDICT_YES) != (level <= rows[i].most) ||
            (level > rows[i].most && (c.cause != RK_CAUSE_PARANOID || !strstr(c.remedy, lower))))
            FAIL("level %d: %s: verdict %u: %s: %s", level, c.name, c.verdict, c.what, c.remedy);
        if (level >= 3)
            CHECK(strstr(c.remedy, "cap_sys_admin+ep"));
    }
    CHECK(find(doctor, "tracepoints").verdict != RK_VERDICT_YES || level == -1);
}

/* With CAP_PERFMON alone: all, but for the level at which Debian's kernels want CAP_SYS_ADMIN. */
static void by_the_capability(const struct rk_doctor *doctor, int level)
{
    static const char *const names[] = {"count", "sample", "kernel", "machine"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct rk_check c = find(doctor, names[i]);
        if ((c.verdict == RK_VERDICT_YES) != (level <= 2) ||
            (level > 2 && (!strstr(c.what, "CAP_PERFMON is not enough") || !strstr(c.remedy, "paranoid=2 "))))
            FAIL("level %d, CAP_PERFMON: %s: verdict %u: %s: %s", level, c.name, c.verdict, c.what, c.remedy);
    }
}

/* `level` of a user who has no rights, or CAP_PERFMON alone: UNKNOWN where the verdicts are only compared. */
static void examine(const char *who, int level, bool capable)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *self, *cpus = NULL;
    struct rk_doctor *doctor;
    struct rk_host *host;

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_doctor_run(host, &doctor, &e));
    for (size_t i = 0; i < rk_doctor_check_count(doctor); i++) {
        struct rk_check c = {.size = sizeof c};
        CHECK(rk_doctor_check_get(doctor, i, &c) == 0);
        printf("%s: %s: %s: %s\n", who, c.name, (const char *[]){"yes", "partly", "no"}[c.verdict], c.what);
        CHECK(c.what[0]);
    }
    OK(rk_target_self(&self, &e));
    agrees(host, doctor, "count", "task-clock:u,page-faults:u", self, false);
    if (find(doctor, "sample").verdict != RK_VERDICT_PARTLY)
        agrees(host, doctor, "sample", "cpu-clock:u", self, true);
    if (find(doctor, "kernel").verdict != RK_VERDICT_PARTLY)
        agrees(host, doctor, "kernel", "cpu-clock", self, true);
    if (find(doctor, "hardware").verdict != RK_VERDICT_PARTLY)
        agrees(host, doctor, "hardware", "cycles", self, false);
    OK(rk_target_cpus(host, NULL, &cpus, &e));
    agrees(host, doctor, "machine", "cpu-clock", cpus, false);
    EQUAL(find(doctor, "symbols").verdict == RK_VERDICT_YES, rk_host_fact(host, RK_FACT_KERNEL_SYMBOLS) == 1);
    if (level != UNKNOWN && capable)
        by_the_capability(doctor, level);
    else if (level != UNKNOWN)
        by_the_table(doctor, level);
    rk_target_free(cpus);
    rk_target_free(self);
    rk_doctor_free(doctor);
    rk_host_free(host);
}

static void keep_perfmon(void)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {{0}, {0}};

    data[PERFMON / 32].effective = data[PERFMON / 32].permitted = 1U << PERFMON % 32;
    CHECK(syscall(SYS_capset, &header, data) == 0);
    CHECK(prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* As a plain user, whose /proc/self says so: exec would be needed for no more. */
static void examine_as_nobody(int level, bool capable)
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(!capable || prctl(PR_SET_KEEPCAPS, 1) == 0);
        CHECK(become(NOBODY));
        if (capable)
            keep_perfmon();
        examine(capable ? "CAP_PERFMON" : "plain user", level, capable);
        exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Each level in turn, in the guest alone: nobody's machine is set otherwise by a test. */
static void every_level(void)
{
    static const char path[] = "/proc/sys/kernel/perf_event_paranoid";

    if (!getenv("RECKON_GUEST"))
        return;
    int before = 0;
    FILE *was = fopen(path, "re");
    CHECK(was && fscanf(was, "%d", &before) == 1 && fclose(was) == 0);
    for (int level = -1; level <= 4; level++) {
        FILE *file = fopen(path, "we");
        CHECK(file && fprintf(file, "%d\n", level) > 0 && fclose(file) == 0);
        printf("perf_event_paranoid = %d\n", level);
        examine("root", UNKNOWN, true);
        examine_as_nobody(level, false);
        examine_as_nobody(level, true);
    }
    FILE *file = fopen(path, "we");
    CHECK(file && fprintf(file, "%d\n", before) > 0 && fclose(file) == 0);
}

int main(void)
{
    if (!can_become(NOBODY)) {
        examine(geteuid() == 0 ? "root that can't become another user" : "plain user", UNKNOWN, false);
        return 0;
    }
    /* Someone else, to look into. */
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        CHECK(become(NOBODY));
        for (;;)
            pause();
    }
    examine("root", UNKNOWN, true);
    kill(other, SIGKILL);
    CHECK(waitpid(other, NULL, 0) == other);
    examine_as_nobody(UNKNOWN, false);
    every_level();
    return 0;
}

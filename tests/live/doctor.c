/*
 * The doctor on the machine itself, as root and as a plain user: what it says must be what opening a set says.
 */
#include "live.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static struct rk_check find(const struct rk_doctor *doctor, const char *name)
{
    struct rk_check c = {.size = sizeof c};
    for (size_t i = 0; i < rk_doctor_checks(doctor); i++) {
        CHECK(rk_doctor_check(doctor, i, &c) == 0);
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
        .size = sizeof options, .exact = 1, .no_inherit = 1, .period = sampling ? 1000000 : 0};
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
    rk_set_close(set);
    rk_events_free(events);
}

static void examine(const char *who)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_target *self, *cpus = NULL;
    struct rk_doctor *doctor;
    struct rk_host *host;

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_doctor_run(host, &doctor, &e));
    for (size_t i = 0; i < rk_doctor_checks(doctor); i++) {
        struct rk_check c = {.size = sizeof c};
        CHECK(rk_doctor_check(doctor, i, &c) == 0);
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
    rk_target_free(cpus);
    rk_target_free(self);
    rk_doctor_free(doctor);
    rk_host_close(host);
}

/* As a plain user, whose /proc/self says so: exec would be needed for no more. */
static void examine_as_nobody(void)
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
        examine("plain user");
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
        examine("root");
        examine_as_nobody();
    }
    FILE *file = fopen(path, "we");
    CHECK(file && fprintf(file, "%d\n", before) > 0 && fclose(file) == 0);
}

int main(void)
{
    if (geteuid() != 0) {
        examine("plain user");
        return 0;
    }
    /* Someone else, to look into. */
    pid_t other = fork();
    CHECK(other >= 0);
    if (other == 0) {
        CHECK(setresgid(NOBODY, NOBODY, NOBODY) == 0 && setresuid(NOBODY, NOBODY, NOBODY) == 0);
        for (;;)
            pause();
    }
    examine("root");
    kill(other, SIGKILL);
    CHECK(waitpid(other, NULL, 0) == other);
    examine_as_nobody();
    every_level();
    return 0;
}

/*
 * The doctor where perf_event_open is taken away, where /sys is not there, and in a user namespace: it must blame what
 * is really in the way. Each in a child, since none of it can be undone.
 */
#include "live.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANT 77

static struct rk_host *host;
static struct rk_doctor *doctor;
static char root[TEMPORARY], proc[TEMPORARY + 8];

static void diagnose(void)
{
    struct rk_error e = {.size = sizeof e};
    OK(rk_host_open(NULL, &host, &e));
    OK(rk_doctor_run(host, &doctor, &e));
}

static struct rk_check find(const char *name)
{
    struct rk_check c = {.size = sizeof c};
    for (size_t i = 0; i < rk_doctor_check_count(doctor); i++) {
        CHECK(rk_doctor_check_get(doctor, i, &c) == 0);
        if (strcmp(c.name, name) == 0)
            return c;
    }
    FAIL("no check %s", name);
}

static void expect(const char *name, uint32_t verdict, uint32_t cause, const char *remedy)
{
    struct rk_check c = find(name);
    if (c.verdict != verdict || (verdict != RK_VERDICT_YES && c.cause != cause) || !strstr(c.remedy, remedy))
        FAIL("%s: verdict %u, cause %s: %s\n%s", name, c.verdict, rk_cause_name(c.cause), c.what, c.remedy);
}

/* perf_event_open answers with this errno, as container managers make it. */
static int filter(int answer)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0) {
        printf("no seccomp filters here: %s\n", strerror(errno));
        return CANT;
    }
    return 0;
}

static int filtered(int answer)
{
    static const char *const names[] = {"count",   "sample",   "kernel",   "others",
                                        "machine", "hardware", "user-read"};

    if (filter(answer))
        return CANT;
    diagnose();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect(names[i], RK_VERDICT_NO, RK_CAUSE_SECCOMP, "seccomp=unconfined");
    if (rk_host_fact(host, RK_FACT_TRACEFS) == 1)
        expect("tracepoints", RK_VERDICT_NO, RK_CAUSE_SECCOMP, "seccomp=unconfined");
    return 0;
}

static int filtered_eperm(void)
{
    return filtered(EPERM);
}

static int filtered_enosys(void)
{
    return filtered(ENOSYS);
}

static bool put(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0)
        close(fd);
    return done;
}

/* Into a user namespace, whose root this process then is. */
static bool enter_namespace(int more)
{
    char map[64];
    unsigned uid = geteuid();

    if (unshare(CLONE_NEWUSER | more) < 0) {
        printf("no user namespaces here: %s\n", strerror(errno));
        return false;
    }
    snprintf(map, sizeof map, "0 %u 1", uid);
    return put("/proc/self/uid_map", map);
}

/* Every capability, none of which counts. */
static int user_namespace(void)
{
    int64_t level;
    struct rk_error e = {.size = sizeof e};

    OK(rk_host_open(NULL, &host, &e));
    if (rk_host_limit(host, RK_LIMIT_PARANOID, &level) < 0 || level < 2) {
        printf("perf_event_paranoid is below 2\n");
        return CANT;
    }
    host = rk_host_free(host);
    if (geteuid() == 0 && !become(65534)) {
        printf("this root can't become a plain user\n");
        return CANT;
    }
    if (!enter_namespace(0))
        return CANT;
    diagnose();
    EQUAL(rk_host_fact(host, RK_FACT_USER_NAMESPACE), 1);
    EQUAL(rk_host_fact(host, RK_FACT_CAP_PERFMON), 0);
    if (level == 2)
        expect("count", RK_VERDICT_YES, 0, "");
    expect("kernel", RK_VERDICT_NO, RK_CAUSE_PARANOID, "kernel.perf_event_paranoid=1");
    expect("machine", RK_VERDICT_NO, RK_CAUSE_PARANOID, "kernel.perf_event_paranoid=0");
    CHECK(!strstr(find("kernel").remedy, "setcap"));
    return 0;
}

/* A root directory with a /proc and nothing else. */
static int without_sysfs(void)
{
    bool is_root = geteuid() == 0, all = can_measure_all();

    bool inside = (is_root ? unshare(CLONE_NEWNS) == 0 : enter_namespace(CLONE_NEWNS)) &&
                  mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                  mount("/proc", proc, NULL, MS_BIND | MS_REC, NULL) == 0 && chroot(root) == 0 &&
                  chdir("/") == 0;
    if (!inside) {
        printf("no root directory of one's own here: %s\n", strerror(errno));
        return CANT;
    }
    diagnose();
    expect("count", RK_VERDICT_YES, 0, "");
    expect("machine", all ? RK_VERDICT_YES : RK_VERDICT_NO, RK_CAUSE_PARANOID, ""); /* by /proc/stat */
    expect("tracepoints", RK_VERDICT_NO, RK_CAUSE_NO_FILE, "");
    CHECK(find("hardware").what[0]);
    EQUAL(rk_host_pmu_count(host), 0);
    EQUAL(rk_host_pmu_get(host, 0, &(struct rk_pmu){.size = sizeof(struct rk_pmu)}), -ENOENT);
    return 0;
}

static int run(const char *name, int (*part)(void))
{
    int status;

    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        int done = part();
        rk_doctor_free(doctor);
        rk_host_free(host);
        exit(done);
    }
    CHECK(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANT)
        return CANT;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        FAIL("%s: status %#x", name, status);
    printf("%s: right\n", name);
    return 0;
}

int main(void)
{
    CHECK(mkdtemp(temporary(root, "reckon-bare-XXXXXX")));
    snprintf(proc, sizeof proc, "%s/proc", root);
    CHECK(mkdir(proc, 0755) == 0);
    int left_out = run("EPERM by seccomp", filtered_eperm) + run("ENOSYS by seccomp", filtered_enosys) +
                   run("in a user namespace", user_namespace) + run("without /sys", without_sysfs);

    rmdir(proc);
    rmdir(root);
    return left_out == 4 * CANT ? CANT : 0;
}

/*
 * Events by name that are counted to the last one: a tracepoint, a probe on a function's entry and return,
 * breakpoints on a variable and on a function, each a thousand times. Each that this kernel or user can't have is
 * left out, and said.
 */
#include "session.h"

#include <sys/syscall.h>

#define TIMES 1000

extern volatile uint32_t counter;
volatile uint32_t counter;

void probed(void);
__attribute__((noinline)) void probed(void)
{
    __asm__ volatile("" ::: "memory");
}

static void work(void)
{
    for (int i = 0; i < TIMES; i++) {
        counter = (uint32_t)i;
        probed();
        syscall(SYS_getppid);
    }
}

static int done;

/* Exactly `wanted` of the first event in work(). */
static void expect(struct rk_host *host, const char *text, uint64_t wanted)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events = NULL, *again = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;
    struct rk_value v[2] = {{0}};
    int rc = rk_events_parse(host, text, &events, &e);
    if (rc == 0) {
        OK(rk_target_self(&self, &e));
        rc = rk_set_open(host, events, self, NULL, &set, &e);
    }
    if (rc < 0 &&
        (e.cause == RK_CAUSE_NO_PMU || e.cause == RK_CAUSE_NO_FILE || e.cause == RK_CAUSE_CAPABILITY ||
         e.cause == RK_CAUSE_PARANOID || e.cause == RK_CAUSE_BUSY)) {
        printf("left out: %s\n", e.what);
    } else {
        if (rc < 0)
            FAIL("%s: %s", text, e.what);
        OK(rk_events_parse(host, rk_events_print(events), &again, &e));
        EQUAL(strcmp(rk_events_print(events), rk_events_print(again)), 0);
        EQUAL(rk_set_enable(set), 0);
        uint64_t before = strays();
        work();
        uint64_t missed = strays() - before;
        EQUAL(rk_set_disable(set), 0);
        EQUAL(rk_set_total(set, v, NULL, rk_events_count(events)), 0);
        if (v[0].value + missed != wanted)
            FAIL("%s (%s) counted %" PRIu64 " and missed %" PRIu64 ", not %" PRIu64, text,
                 rk_events_print(events), v[0].value, missed, wanted);
        printf("%s: %" PRIu64 "\n", text, v[0].value);
        done++;
    }
    rk_set_free(set);
    rk_target_free(self);
    rk_events_free(events);
    rk_events_free(again);
}

static void all(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    char exe[1024], text[2048];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    CHECK(n > 0);
    exe[n] = '\0';
    OK(rk_host_open(NULL, &host, &e));

    expect(host, "syscalls:sys_enter_getppid", TIMES);
    expect(host, "syscalls:sys_enter_getpp*", TIMES);
    expect(host, "raw_syscalls:sys_enter/name=entered/k", TIMES + 1); /* and the ioctl that disables */
    /* Filters: only what they let through is counted. */
    snprintf(text, sizeof text, "raw_syscalls:sys_enter/filter='id==%d'/", (int)SYS_getppid);
    expect(host, text, TIMES);
    snprintf(text, sizeof text, "raw_syscalls:sys_enter/filter='id==%d || id == %d',name=two/",
             (int)SYS_getppid, (int)SYS_ioctl);
    expect(host, text, TIMES + 1);
    snprintf(text, sizeof text, "{raw_syscalls:sys_enter/filter='id!=%d'/,raw_syscalls:sys_enter}",
             (int)SYS_getppid);
    expect(host, text, 1); /* the ioctl that disables */
    expect(host, "syscalls:sys_enter_getppid/filter='common_pid==0'/", 0);
    snprintf(text, sizeof text, "uprobe:'%s':probed/filter='common_pid==%d'/", exe, (int)getpid());
    if (live_global_pids())
        expect(host, text, TIMES);
    snprintf(text, sizeof text, "uprobe:'%s':probed/filter='common_pid==0'/", exe);
    expect(host, text, 0);
    snprintf(text, sizeof text, "uprobe:'%s':probed", exe);
    expect(host, text, TIMES);
    snprintf(text, sizeof text, "uretprobe:'%s':probed", exe);
    expect(host, text, TIMES);
#if defined(__x86_64__)
    expect(host, "kprobe:__x64_sys_getppid", TIMES);
    expect(host, "kretprobe:__x64_sys_getppid", TIMES);
#elif defined(__aarch64__)
    expect(host, "kprobe:__arm64_sys_getppid", TIMES);
    expect(host, "kretprobe:__arm64_sys_getppid", TIMES);
#endif
    snprintf(text, sizeof text, "mem:%#" PRIxPTR ":w:u", (uintptr_t)&counter);
    expect(host, text, TIMES);
    snprintf(text, sizeof text, "mem:'%s':counter@self:w:u", exe);
    expect(host, text, TIMES);
    snprintf(text, sizeof text, "mem:'%s':counter@%d/4:rw:u", exe, (int)getpid());
    expect(host, text, TIMES);
    snprintf(text, sizeof text, "mem:%#" PRIxPTR ":x:u", (uintptr_t)probed);
    expect(host, text, TIMES);
    rk_host_free(host);
}

/* What the kernel alone can refuse, it refuses with the filter named; the API is the same as the term. */
static void filters(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;
    struct rk_set_options enabled = {.size = sizeof enabled, .flags = RK_SET_ENABLED};
    struct rk_value v = {0};

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_target_self(&self, &e));
    if (rk_events_parse(host, "sched:sched_switch/filter='prev_pid~1'/", &events, &e) < 0 ||
        (rk_set_open(host, events, self, NULL, &set, &e) < 0 && e.stage == RK_STAGE_OPEN)) {
        printf("left out: %s\n", e.what);
    } else {
        CHECK(!set && e.code == -EINVAL && e.cause == RK_CAUSE_SYNTAX && strstr(e.what, "prev_pid~1"));
        rk_events_free(events);
        OK(rk_events_parse(host, "raw_syscalls:sys_enter", &events, &e));
        char text[64];
        snprintf(text, sizeof text, "id==%d", (int)SYS_getppid);
        OK(rk_events_filter(host, events, 0, text, &e));
        OK(rk_events_filter(host, events, 0, "comm!='nobody'", &e));
        OK(rk_set_open(host, events, self, &enabled, &set, &e));
        work();
        EQUAL(rk_set_total(set, &v, NULL, 1), 0);
        EQUAL(v.value, TIMES);
        set = rk_set_free(set);
    }
    rk_target_free(self);
    rk_events_free(events);
    rk_host_free(host);
}

/* A symbol that moves is refused with the reason; one that is not there, with the nearest. */
static void refusals(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    char exe[1024], text[2048];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    CHECK(n > 0);
    exe[n] = '\0';
    OK(rk_host_open(NULL, &host, &e));
    snprintf(text, sizeof text, "mem:'%s':counter:w", exe);
    int rc = rk_events_parse(host, text, &events, &e);
    unsigned char header[18] = {0}; /* e_type at 16: 2 is an executable, 3 may lie anywhere */
    int fd = open(exe, O_RDONLY | O_CLOEXEC);
    CHECK(fd >= 0 && read(fd, header, sizeof header) == sizeof header && close(fd) == 0);
    if (header[16] == 3) {
        EQUAL(rc, -EINVAL);
        CHECK(strstr(e.what, "position-independent") && strstr(e.remedy, "@PID"));
    } else {
        EQUAL(rc, 0);
        rk_events_free(events);
    }
    snprintf(text, sizeof text, "mem:'%s':countr@self:w", exe);
    EQUAL(rk_events_parse(host, text, &events, &e), -ENOENT);
    CHECK(strstr(e.remedy, "counter"));
    snprintf(text, sizeof text, "mem:'%s':counter@self:wr:q", exe);
    EQUAL(rk_events_parse(host, text, &events, &e), -EINVAL);
    EQUAL(rk_events_parse(host, "uprobe:/nonexistent:main", &events, &e), -ENOENT);
    EQUAL(e.cause, strstr(e.what, "no such PMU") ? RK_CAUSE_NO_PMU : RK_CAUSE_NO_FILE);
    rk_host_free(host);
}

int main(void)
{
    live_needs_counters();
    catch_strays();
    all();
    filters();
    refusals();
    if (done == 0)
        SKIP("neither tracepoints nor probes nor breakpoints can be opened here");
    return 0;
}

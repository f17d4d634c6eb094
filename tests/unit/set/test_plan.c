/* What opening will take, told before. */
#include "fake_kernel.h"
#include "fake_root.h"
#include "set/plan.h"

#include <sys/resource.h>
#include <unistd.h>

static int plan(const char *machine, const char *events, struct rk_target *target,
                const struct rk_set_options *options, struct rk_plan *ret)
{
    struct scene s;
    int rc;

    kernel_reset();
    scene_open(&s, machine, events, target, options);
    *ret = (struct rk_plan){.size = sizeof *ret};
    rc = rk_set_plan(s.host, s.events, target, options, ret, &s.e);
    if (rc == 0 && s.set) /* the plan was the truth */
        assert_int_equal(kernel.n, ret->descriptors);
    scene_close(&s);
    return rc;
}

static void test_slots(void **state)
{
    struct rk_plan p;

    (void)state;
    assert_int_equal(plan("bare-metal", "cycles,{r1,r2}", target_new(TARGET_SELF, 0), NULL, &p), 0);
    assert_int_equal(p.events, 3);
    assert_int_equal(p.slots, 1);
    assert_int_equal(p.rings, 0);
    assert_int_equal(p.descriptors, 3);
    assert_int_equal(p.ring_bytes, 0);
    assert_true(p.allowed > 0);

    assert_int_equal(plan("bare-metal", "cycles,r1", target_new(TARGET_THREAD, 1), OPTIONS(.period = 9), &p),
                     0);
    assert_int_equal(p.slots, 8);
    assert_int_equal(p.rings, 8);
    assert_int_equal(p.descriptors, 16);
    assert_int_equal(p.ring_bytes, 8 * (524288 + 4096));

    assert_int_equal(plan("bare-metal", "cycles", target_new(TARGET_THREAD, 1),
                          OPTIONS(.period = 9, .flags = RK_SET_NO_INHERIT), &p),
                     0);
    assert_int_equal(p.slots, 1);
    assert_int_equal(p.rings, 1);

    /* records alone need rings too */
    assert_int_equal(
        plan("bare-metal", "dummy", target_new(TARGET_THREAD, 1), OPTIONS(.records = RK_RECORDS_TASKS), &p),
        0);
    assert_int_equal(p.rings, 8);
}

/* Sizes are not guessed. */
static void test_options(void **state)
{
    struct rk_plan p = {.size = 0};
    struct scene s;

    (void)state;
    kernel_reset();
    assert_int_equal(scene_open(&s, "bare-metal", "cycles", target_new(TARGET_SELF, 0), NULL), 0);
    assert_int_equal(rk_set_plan(s.host, s.events, s.target, NULL, &p, &s.e), -EINVAL);
    p.size = sizeof p;
    assert_int_equal(rk_set_plan(s.host, s.events, s.target, &(struct rk_set_options){.size = 0}, &p, &s.e),
                     -EINVAL);
    scene_close(&s);
}

/* Without the privilege, rings share what the user may lock: 516 KiB for each CPU, and RLIMIT_MEMLOCK. */
static void test_ring_size(void **state)
{
    struct rk_plan p;
    struct rlimit memlock, none = {0, 0};

    (void)state;
    getrlimit(RLIMIT_MEMLOCK, &memlock);
    none.rlim_max = memlock.rlim_max;
    setrlimit(RLIMIT_MEMLOCK, &none);
    assert_int_equal(
        plan("paranoid-2-user", "cpu-clock", target_new(TARGET_THREAD, 1), OPTIONS(.period = 9), &p), 0);
    assert_int_equal(p.ring_bytes, 4 * (524288 + 4096)); /* exactly all of it */
    setrlimit(RLIMIT_MEMLOCK, &memlock);

    char root[TEMPORARY], command[4600];
    assert_non_null(mkdtemp(temporary(root, "reckon-plan-XXXXXX")));
    snprintf(command, sizeof command,
             "cp -r '%s/host/paranoid-2-user/.' '%s' && echo 100 > '%s'/proc/sys/kernel/perf_event_mlock_kb",
             getenv("DATA"), root, root);
    assert_int_equal(system(command), 0);
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target = target_new(TARGET_THREAD, 1);
    struct plan made;
    assert_int_equal(rk_host_open(root, &host, NULL), 0);
    assert_int_equal(rk_events_parse(host, "cpu-clock", &events, NULL), 0);
    setrlimit(RLIMIT_MEMLOCK, &none);
    assert_int_equal(plan_make(host, events, target, OPTIONS(.period = 9), &made, NULL), 0);
    setrlimit(RLIMIT_MEMLOCK, &memlock);
    assert_int_equal(made.ring_bytes, 65536); /* 4 × (64 + 4) KiB of 400 */
    plan_free(&made);
    rk_events_free(events);
    rk_target_free(target);
    rk_host_free(host);
    snprintf(command, sizeof command, "rm -r '%s'", root);
    assert_int_equal(system(command), 0);
}

/* The soft limit is raised as far as needed; the hard one is where it ends. */
static void test_descriptors(void **state)
{
    struct rlimit was, now;
    uint64_t needed = 0, allowed = 0;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &was);
    struct rlimit low = {64, was.rlim_max};
    setrlimit(RLIMIT_NOFILE, &low);
    assert_int_equal(plan_descriptors(false, 10, &needed, &allowed), 0);
    getrlimit(RLIMIT_NOFILE, &now);
    assert_int_equal(now.rlim_cur, 64);
    assert_int_equal(plan_descriptors(false, 100, &needed, &allowed), 0);
    getrlimit(RLIMIT_NOFILE, &now);
    assert_in_range(now.rlim_cur, 103, 130);
    assert_int_equal(needed, 0);
    assert_int_equal(plan_descriptors(false, was.rlim_max, &needed, &allowed), -EMFILE);
    assert_true(needed > was.rlim_max);
    assert_int_equal(allowed, was.rlim_max);
    setrlimit(RLIMIT_NOFILE, &was);
}

/* A large server, dry: nothing is opened, the budget is told, and a way that fits. */
static void test_many_cgroups(void **state)
{
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_error e = {.size = sizeof e};
    struct rk_plan p = {.size = sizeof p};
    char names[200][32], path[128];
    const char *list[200];

    (void)state;
    kernel_reset();
    fake_root();
    fake_file("sys/devices/system/cpu/online", "0-1023\n");
    fake_file("proc/self/mountinfo", "36 35 98:0 / /sys/fs/cgroup rw,noatime - cgroup2 none rw\n");
    for (int i = 0; i < 200; i++) {
        snprintf(names[i], sizeof names[i], "pods/pod%d", i);
        snprintf(path, sizeof path, "sys/fs/cgroup/pods/pod%d/", i);
        fake_file(path, "");
        list[i] = names[i];
    }
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_events_parse(host,
                                     "page-faults,task-clock,cpu-clock,minor-faults,major-faults,"
                                     "context-switches,cpu-migrations,alignment-faults",
                                     &events, &e),
                     0);
    assert_int_equal(rk_target_cgroups(host, list, 200, NULL, &target, &e), 0);
    assert_int_equal(rk_set_plan(host, events, target, NULL, &p, &e), 0);
    assert_int_equal(p.slots, 1024 * 200);
    assert_int_equal(p.descriptors, 1024 * 200 * 8 + 1 + 1024); /* a watch for each CPU */
    if (p.allowed < p.descriptors) {
        assert_non_null(strstr(p.cheaper, "a cgroup above the 200: 8192 descriptors"));
        assert_int_equal(rk_set_open(host, events, target, NULL, &(struct rk_set *){0}, &e), -EMFILE);
        assert_non_null(strstr(e.what, "1639"));
    }
    assert_int_equal(kernel.n + kernel.refused, 0);
    rk_target_free(target);

    /* v1's controller is where perf counts, once it is mounted; whole paths and the topmost are taken too */
    fake_file("proc/self/mountinfo", "36 35 98:0 / /sys/fs/cgroup rw - cgroup2 none rw\n"
                                     "37 35 98:1 / /cg\\040one rw - cgroup none rw,perf_event\n");
    fake_file("cg one/web/", "");
    rk_host_free(host);
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_target_cgroups(host, (const char *const[]){"web", "/web", "/cg one/web", "/"}, 4, "5",
                                       &target, &e),
                     0);
    assert_string_equal(target->cgroups[0].path, "/cg one/web");
    assert_string_equal(target->cgroups[1].path, "/cg one/web");
    assert_string_equal(target->cgroups[2].path, "/cg one/web");
    assert_int_equal(rk_set_plan(host, events, target, NULL, &p, &e), 0);
    assert_int_equal(p.slots, 4);
    assert_string_equal(p.cheaper, "");
    rk_target_free(target);
    target = NULL;
    assert_int_equal(rk_target_cgroups(host, (const char *const[]){"pods/pod1"}, 1, NULL, &target, &e),
                     -ENOENT);
    assert_null(target);
    rk_events_free(events);
    rk_host_free(host);
    fake_end();
}

/* The kernel knows the event, and not the cgroup: it is that which is told. With neither, it is the event. */
static int cgroup_code, bare_code;

static int no_cgroups(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd)
{
    (void)attr, (void)cpu, (void)group_fd;
    return pid >= 0 ? cgroup_code : bare_code; /* the cgroup's directory stands in the place of the thread */
}

static void test_uncounted_cgroup(void **state)
{
    static const struct {
        int cgroup, bare;
        const char *what;
    } rows[] = {{-ENOENT, 0, "no perf_event controller"},
                {-EINVAL, 0, "counts for no cgroup"},
                {-ENOENT, -ENOENT, "does not know this software event"}};
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;
    struct rk_error e = {.size = sizeof e};

    (void)state;
    fake_root();
    fake_file("sys/devices/system/cpu/online", "0-1\n");
    fake_file("proc/self/mountinfo", "36 35 98:0 / /sys/fs/cgroup rw,noatime - cgroup2 none rw\n");
    fake_file("sys/fs/cgroup/web/", "");
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_events_parse(host, "page-faults", &events, &e), 0);
    assert_int_equal(rk_target_cgroups(host, (const char *const[]){"web"}, 1, NULL, &target, &e), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kernel_reset();
        kernel.open = no_cgroups;
        cgroup_code = rows[i].cgroup, bare_code = rows[i].bare;
        assert_int_equal(rk_set_open(host, events, target, NULL, &set, &e), rows[i].cgroup);
        assert_null(set);
        if (!strstr(e.what, rows[i].what))
            fail_msg("%s", e.what);
    }
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots),        cmocka_unit_test(test_options),
        cmocka_unit_test(test_ring_size),    cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_many_cgroups), cmocka_unit_test(test_uncounted_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Targets without measuring: CPUs on fake machines, PATH search, threads and processes that are and are not. */
#include "../fake_root.h"
#include "target/command.h"
#include "target/target.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static int set_up(void **state)
{
    (void)state;
    fake_root();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fake_end();
    return 0;
}

static void cpus_of_a_machine(void **state)
{
    (void)state;
    static const struct {
        const char *list;
        int rc;
        uint32_t cause;
        int32_t cpu;
        const char *what;
    } rows[] = {
        {"4", -ENODEV, RK_CAUSE_NO_CPU, 4, "CPU 4 is not online or does not exist; online: 0-3,8"},
        {"0-9", -ENODEV, RK_CAUSE_NO_CPU, 4, "online: 0-3,8"},
        {"9", -ENODEV, RK_CAUSE_NO_CPU, 9, "online: 0-3,8"},
        {"", -EINVAL, RK_CAUSE_SYNTAX, -1, "not a list of CPUs"},
        {"0,x\x01", -EINVAL, RK_CAUSE_SYNTAX, -1, "0,x\\x01: byte 2: not a list of CPUs"},
        {"99999999", -ERANGE, RK_CAUSE_NO_CPU, -1, "no machine has so many"},
    };
    struct rk_host *host;
    struct rk_target *target;
    struct rk_error e = {.size = sizeof e};
    int32_t *ids;
    size_t n;
    fake_file("sys/devices/system/cpu/online", "0-3,8\n");
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_target_cpus(host, NULL, &target, &e), 0);
    assert_int_equal(target->kind, TARGET_CPUS);
    assert_int_equal(rk_target_pid(target), -1);
    assert_int_equal(rk_target_fd(target), -EINVAL);
    assert_int_equal(rk_target_start(target, &e), -EINVAL);
    assert_int_equal(rk_target_wait(target, 0, &(struct rk_exit){.size = 8}), -EINVAL);
    assert_int_equal(target_ids(target, &ids, &n, &e), 0);
    assert_int_equal(n, 5);
    assert_int_equal(ids[4], 8);
    free(ids);
    rk_target_free(target);
    assert_int_equal(rk_target_cpus(host, "8,1-2", &target, &e), 0);
    assert_int_equal(target_ids(target, &ids, &n, &e), 0);
    assert_int_equal(n, 3);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[2], 8);
    free(ids);
    rk_target_free(target);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        target = (struct rk_target *)1;
        int rc = rk_target_cpus(host, rows[i].list, &target, &e);
        if (rc != rows[i].rc || e.cause != rows[i].cause || e.cpu != rows[i].cpu ||
            !strstr(e.what, rows[i].what))
            fail_msg("%s: %d, cpu %d: %s", rows[i].list, rc, e.cpu, e.what);
        assert_ptr_equal(target, (struct rk_target *)1);
    }
    rk_host_free(host);
    assert_int_equal(rk_target_cpus(NULL, NULL, &target, &e), -EINVAL);
}

/* Threads split by CPU: the list is checked as a machine's is, and a refused one leaves the target as it was. */
static void threads_on_cpus(void **state)
{
    (void)state;
    struct rk_host *host;
    struct rk_target *self, *machine;
    struct rk_error e = {.size = sizeof e};
    fake_file("sys/devices/system/cpu/online", "0-3,8\n");
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_target_self(&self, &e), 0);
    assert_int_equal(rk_target_cpus(host, NULL, &machine, &e), 0);
    assert_int_equal(rk_target_on_cpus(NULL, host, NULL, &e), -EINVAL);
    assert_int_equal(rk_target_on_cpus(self, NULL, NULL, &e), -EINVAL);
    assert_int_equal(rk_target_on_cpus(machine, host, "0", &e), -EINVAL);
    assert_non_null(strstr(e.what, "a list of their own"));
    assert_false(machine->on_cpus);
    assert_int_equal(rk_target_on_cpus(self, host, "4", &e), -ENODEV);
    assert_int_equal(e.cause, RK_CAUSE_NO_CPU);
    assert_false(self->on_cpus);
    assert_int_equal(rk_target_on_cpus(self, host, "8,0", &e), 0);
    assert_true(self->on_cpus);
    assert_int_equal(self->n_cpus, 2);
    assert_int_equal(self->cpus[1], 8);
    assert_int_equal(rk_target_on_cpus(self, host, "4", &e), -ENODEV);
    assert_int_equal(self->n_cpus, 2);
    assert_int_equal(rk_target_on_cpus(self, host, NULL, &e), 0);
    assert_null(self->cpus);
    assert_int_equal(rk_target_pid(self), 0);
    rk_target_free(self);
    rk_target_free(machine);
    rk_host_free(host);
}

static void no_cpus_to_be_read(void **state)
{
    (void)state;
    struct rk_host *host;
    struct rk_target *target;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
    assert_int_equal(rk_target_cpus(host, "0", &target, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_FILE);
    rk_host_free(host);
}

static void self_is_zero(void **state)
{
    (void)state;
    struct rk_target *target;
    int32_t *ids;
    size_t n;
    assert_int_equal(rk_target_self(&target, NULL), 0);
    assert_int_equal(rk_target_pid(target), 0);
    assert_int_equal(rk_target_fd(target), -EINVAL);
    assert_int_equal(target_ids(target, &ids, &n, NULL), 0);
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], 0);
    free(ids);
    rk_target_free(target);
    assert_null(rk_target_free(NULL));
    assert_int_equal(rk_target_self(NULL, NULL), -EINVAL);
}

static pthread_barrier_t born, may_end;
static int32_t thread_id;

static void *thread(void *unused)
{
    thread_id = (int32_t)syscall(SYS_gettid);
    pthread_barrier_wait(&born);
    pthread_barrier_wait(&may_end);
    return unused;
}

static void processes_are_read_when_asked(void **state)
{
    (void)state;
    struct rk_target *process, *one, *by_thread;
    struct rk_error e = {.size = sizeof e};
    int32_t *ids;
    size_t n;
    assert_int_equal(rk_target_process(getpid(), &process, &e), 0);
    assert_int_equal(target_ids(process, &ids, &n, &e), 0);
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], getpid());
    free(ids);
    pthread_t other;
    pthread_barrier_init(&born, NULL, 2);
    pthread_barrier_init(&may_end, NULL, 2);
    assert_int_equal(pthread_create(&other, NULL, thread, NULL), 0);
    pthread_barrier_wait(&born);
    assert_int_equal(target_ids(process, &ids, &n, &e), 0); /* the same target sees the new thread */
    assert_int_equal(n, 2);
    assert_true(ids[0] < ids[1]);
    assert_true(ids[0] == thread_id || ids[1] == thread_id);
    free(ids);
    /* What is there of several, each thread once, also of one that is named twice; none is no error. */
    int32_t pids[] = {getpid(), INT32_MAX, getpid()};
    assert_int_equal(target_tasks(pids, 3, false, &ids, &n), 0);
    assert_int_equal(n, 2);
    assert_true(ids[0] < ids[1]);
    free(ids);
    assert_int_equal(target_tasks(pids + 1, 1, true, &ids, &n), 0);
    assert_int_equal(n, 0);
    free(ids);
    pid_t child = fork();
    if (child == 0)
        pause();
    assert_int_equal(target_tasks(pids, 1, false, &ids, &n), 0);
    assert_int_equal(n, 2);
    free(ids);
    assert_int_equal(target_tasks(pids, 1, true, &ids, &n), 0);
    assert_int_equal(n, 3);
    assert_true(ids[0] == child || ids[1] == child || ids[2] == child);
    free(ids);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(rk_target_thread(thread_id, &one, &e), 0);
    assert_int_equal(rk_target_pid(one), thread_id);
    assert_int_equal(target_ids(one, &ids, &n, &e), 0);
    assert_int_equal(n, 1);
    assert_int_equal(ids[0], thread_id);
    free(ids);
    /* A thread's id stands for its process. */
    assert_int_equal(rk_target_process(thread_id, &by_thread, &e), 0);
    assert_int_equal(rk_target_pid(by_thread), getpid());
    pthread_barrier_wait(&may_end);
    pthread_join(other, NULL);
    rk_target_free(one);
    rk_target_free(by_thread);
    rk_target_free(process);
}

static void what_has_ended_is_said(void **state)
{
    (void)state;
    struct rk_target *target = NULL, *before;
    struct rk_error e = {.size = sizeof e};
    int32_t *ids;
    size_t n;
    char what[128];
    pid_t pid = fork();
    if (pid == 0) {
        pause();
        _exit(0);
    }
    assert_int_equal(rk_target_process(pid, &before, &e), 0);
    if (rk_target_fd(before) >= 0)
        assert_int_equal(target_ids(before, &ids, &n, &e), 0), free(ids);
    kill(pid, SIGKILL);
    siginfo_t info;
    waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
    /* A zombie is not measured: the kernel would answer ESRCH. */
    assert_int_equal(rk_target_process(pid, &target, &e), -ESRCH);
    assert_int_equal(rk_target_thread(pid, &target, &e), -ESRCH);
    if (rk_target_fd(before) >= 0)
        assert_int_equal(target_ids(before, &ids, &n, &e), -ESRCH);
    waitpid(pid, NULL, 0);
    assert_int_equal(target_ids(before, &ids, &n, &e), -ESRCH);
    rk_target_free(before);
    assert_int_equal(rk_target_process(pid, &target, &e), -ESRCH);
    assert_int_equal(e.cause, RK_CAUSE_NO_PROCESS);
    assert_int_equal(e.stage, RK_STAGE_TARGET);
    assert_int_equal(e.pid, pid);
    snprintf(what, sizeof what, "no process %d; it has ended or never was", pid);
    assert_string_equal(e.what, what);
    assert_int_equal(rk_target_thread(pid, &target, &e), -ESRCH);
    snprintf(what, sizeof what, "no thread %d; it has ended or never was", pid);
    assert_string_equal(e.what, what);
    assert_null(target);
    assert_int_equal(rk_target_process(INT32_MAX, &target, &e), -ESRCH);
    assert_int_equal(rk_target_process(0, &target, &e), -EINVAL);
    assert_int_equal(rk_target_thread(-1, &target, &e), -EINVAL);
    assert_int_equal(e.cause, RK_CAUSE_ARGUMENT);
    assert_int_equal(rk_target_process(getpid(), NULL, &e), -EINVAL);
}

static void out_of_descriptors_is_said(void **state)
{
    (void)state;
    struct rlimit before, none;
    struct rk_target *target = NULL;
    struct rk_error e = {.size = sizeof e};
    getrlimit(RLIMIT_NOFILE, &before);
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    int process = rk_target_process(getpid(), &target, &e);
    uint32_t cause = e.cause;
    int command = rk_target_command((char *[]){"/bin/sh", NULL}, NULL, &target, &e);
    setrlimit(RLIMIT_NOFILE, &before);
    assert_int_equal(process, -EMFILE);
    assert_int_equal(cause, RK_CAUSE_DESCRIPTORS);
    assert_int_equal(command, -EMFILE);
    assert_int_equal(e.cause, RK_CAUSE_DESCRIPTORS);
    assert_null(target);
}

static void file_with_mode(const char *path, mode_t mode)
{
    char full[256];
    fake_file(path, "#!/bin/sh\n");
    snprintf(full, sizeof full, "%s/%s", fake_path, path);
    assert_int_equal(chmod(full, mode), 0);
}

static void names_are_found_as_a_shell_would(void **state)
{
    (void)state;
    struct rk_error e = {.size = sizeof e};
    char path[4 * TEMPORARY + 64], expected[256], *found = NULL, *saved = strdup(getenv("PATH")), here[256];
    assert_non_null(getcwd(here, sizeof here));
    assert_int_equal(chdir(fake_path), 0);
    file_with_mode("one/tool", 0644); /* not executable: go on, and remember */
    file_with_mode("two/tool", 0755);
    file_with_mode("three/tool", 0755);
    file_with_mode("one/data", 0644);
    fake_file("two/data/", "");
    file_with_mode("local", 0755);
    snprintf(path, sizeof path, "%s/none:%s/one:%s/two:%s/three", fake_path, fake_path, fake_path, fake_path);
    setenv("PATH", path, 1);

    snprintf(expected, sizeof expected, "%s/two/tool", fake_path);
    assert_int_equal(command_search("tool", false, &found, &e), 0);
    assert_string_equal(found, expected);
    free(found);
    found = NULL;
    assert_int_equal(command_search("data", false, &found, &e), -EACCES);
    assert_int_equal(e.cause, RK_CAUSE_NO_COMMAND);
    assert_string_equal(e.what, "data: permission to execute it is missing");
    snprintf(expected, sizeof expected, "chmod +x %s/one/data", fake_path);
    assert_string_equal(e.remedy, expected);
    /* what is no program is not to be made executable */
    fake_file("one/words", "root:x:0:0\n");
    fake_file("one/nothing", "");
    assert_int_equal(command_search("words", false, &found, &e), -EACCES);
    assert_non_null(strstr(e.what, "words: not a program"));
    assert_null(strstr(e.remedy, "chmod"));
    assert_int_equal(command_search("one/nothing", false, &found, &e), -EACCES);
    assert_non_null(strstr(e.what, "not a program"));
    assert_int_equal(command_search("gone\n", false, &found, &e), -ENOENT);
    assert_string_equal(e.what, "gone\\x0a: not found in PATH");
    assert_int_equal(command_search("", false, &found, &e), -ENOENT);
    assert_int_equal(command_search("local", false, &found, &e), -ENOENT);
    assert_string_equal(e.remedy, "did you mean ./local?");
    assert_int_equal(command_search("./gone", false, &found, &e), -ENOENT);
    assert_string_equal(e.what, "./gone: no such file");
    assert_int_equal(command_search("./one/tool", false, &found, &e), -EACCES);
    assert_string_equal(e.remedy, "chmod +x ./one/tool");
    assert_int_equal(command_search("./one", false, &found, &e), -EACCES);
    assert_string_equal(e.what, "./one: is a directory");
    assert_int_equal(command_search("local/x", false, &found, &e), -ENOTDIR);
    assert_null(found);

    /* with a '/', as it is; or made absolute, for another directory */
    assert_int_equal(command_search("./local", false, &found, &e), 0);
    assert_string_equal(found, "./local");
    free(found);
    assert_int_equal(command_search("./local", true, &found, &e), 0);
    snprintf(expected, sizeof expected, "%s/./local", fake_path);
    assert_string_equal(found, expected);
    free(found);
    /* an empty piece of PATH is the working directory */
    setenv("PATH", "/nonexistent::/also", 1);
    assert_int_equal(command_search("local", false, &found, &e), 0);
    assert_string_equal(found, "./local");
    free(found);
    unsetenv("PATH");
    assert_int_equal(command_search("sh", false, &found, &e), 0);
    assert_true(found[0] == '/');
    free(found);
    setenv("PATH", saved, 1);
    free(saved);
    assert_int_equal(chdir(here), 0);
}

static void bad_arguments_make_no_child(void **state)
{
    (void)state;
    struct rk_target *target = NULL;
    struct rk_error e = {.size = sizeof e};
    char *argv[] = {"/bin/sh", NULL}, *empty[] = {NULL};
    struct rk_command_options options = {.size = 0};
    assert_int_equal(rk_target_command(NULL, NULL, &target, &e), -EINVAL);
    assert_int_equal(rk_target_command(empty, NULL, &target, &e), -EINVAL);
    assert_int_equal(rk_target_command(argv, NULL, NULL, &e), -EINVAL);
    assert_int_equal(rk_target_command(argv, &options, &target, &e), -EINVAL);
    options = (struct rk_command_options){
        .size = sizeof options, .flags = RK_COMMAND_STD_FDS, .in = 999, .out = -1, .err = -1};
    assert_int_equal(rk_target_command(argv, &options, &target, &e), -EINVAL);
    assert_non_null(strstr(e.what, "descriptor 999, to replace 0, is not open"));
    options = (struct rk_command_options){.size = sizeof options, .flags = 2 | RK_COMMAND_STD_FDS};
    assert_int_equal(rk_target_command(argv, &options, &target, &e), -EINVAL);
    assert_non_null(strstr(e.what, "flags is 0x3"));
    options = (struct rk_command_options){.size = sizeof options, .directory = "/nonexistent"};
    assert_int_equal(rk_target_command(argv, &options, &target, &e), -ENOENT);
    assert_non_null(strstr(e.what, "/nonexistent"));
    options.directory = "/bin/sh";
    assert_int_equal(rk_target_command(argv, &options, &target, &e), -ENOTDIR);
    assert_null(target);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(cpus_of_a_machine),
        TEST(threads_on_cpus),
        TEST(no_cpus_to_be_read),
        TEST(self_is_zero),
        TEST(processes_are_read_when_asked),
        TEST(what_has_ended_is_said),
        TEST(out_of_descriptors_is_said),
        TEST(names_are_found_as_a_shell_would),
        TEST(bad_arguments_make_no_child),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Commands: forked, held, started, waited for. The commands are this very program with a word that says what to
 * do, so that nothing else need be there.
 */
#include "live.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct rk_error e = {.size = sizeof e};
static char self[4096];
static char work[TEMPORARY];

/* What the commands do. */
static int role(int argc, char **argv)
{
    const char *what = argv[1];
    if (!strcmp(what, "exit"))
        return atoi(argv[2]);
    if (!strcmp(what, "kill")) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        raise(atoi(argv[2]));
    }
    if (!strcmp(what, "sleep"))
        usleep((useconds_t)atoi(argv[2]) * 1000);
    if (!strcmp(what, "spin"))
        for (clock_t end = clock() + atoi(argv[2]) * (CLOCKS_PER_SEC / 1000); clock() < end;)
            ;
    if (!strcmp(what, "touch"))
        return open(argv[2], O_CREAT | O_WRONLY, 0600) < 0;
    if (!strcmp(what, "environment"))
        return getenv("RECKON_TEST") && !strcmp(getenv("RECKON_TEST"), argv[2]) ? 0 : 1;
    if (!strcmp(what, "directory")) {
        char here[4096];
        return getcwd(here, sizeof here) && !strcmp(here, argv[2]) ? 0 : 1;
    }
    if (!strcmp(what, "copy")) { /* standard input to output, and a word to the error output */
        char bytes[64];
        ssize_t n = read(0, bytes, sizeof bytes);
        return n > 0 && write(1, bytes, (size_t)n) == n && write(2, "err", 3) == 3 ? 0 : 1;
    }
    if (!strcmp(what, "signals")) { /* mask, ignored and handled signals, as the caller had them */
        struct sigaction now;
        sigset_t mask;
        sigprocmask(SIG_SETMASK, NULL, &mask);
        int wrong = !sigismember(&mask, SIGUSR2) || sigismember(&mask, SIGINT);
        sigaction(SIGPIPE, NULL, &now);
        wrong |= (now.sa_handler != SIG_IGN) << 1;
        sigaction(SIGUSR1, NULL, &now);
        wrong |= (now.sa_handler != SIG_DFL) << 2;
        return wrong;
    }
    if (!strcmp(what, "descriptors")) { /* only the standard ones and those it was told of */
        for (int fd = 3; fd < 200; fd++)
            if (fcntl(fd, F_GETFD) >= 0 && (argc < 3 || fd != atoi(argv[2])))
                return fd;
    }
    return 0;
}

static struct rk_target *command_with(const struct rk_command_options *options, const char *what,
                                      const char *more)
{
    struct rk_target *target = NULL;
    char *argv[] = {self, (char *)what, (char *)more, NULL};
    OK(rk_target_command(argv, options, &target, &e));
    return target;
}

static struct rk_target *command(const char *what, const char *more)
{
    return command_with(NULL, what, more);
}

static struct rk_exit finish(struct rk_target *target)
{
    struct rk_exit end = {.size = sizeof end};
    OK(rk_target_start(target, &e));
    EQUAL(rk_target_wait(target, -1, &end), 1);
    rk_target_free(target);
    return end;
}

static int run(const char *what, const char *more)
{
    return finish(command(what, more)).status;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1000; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static char *in_work(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", work, name);
    return path;
}

static void ends_are_told(void)
{
    EQUAL(run("exit", "0"), 0);
    EQUAL(run("exit", "3"), 3);
    struct rk_exit end = finish(command("kill", "9"));
    EQUAL(end.status, 128 + 9);
    EQUAL(end.signal, 9);
    EQUAL(end.core_dumped, 0);
    end = finish(command("kill", "15"));
    EQUAL(end.status, 128 + 15);
    uint64_t begin = now_ns();
    end = finish(command("sleep", "50"));
    CHECK(end.wall_ns >= 50000000 && end.wall_ns <= now_ns() - begin);
    CHECK(end.user_ns + end.system_ns < end.wall_ns);
    end = finish(command("spin", "50"));
    CHECK(end.user_ns + end.system_ns >= 40000000);
    CHECK(end.peak_rss > 100000 && end.peak_rss < 1000000000);
}

static void nothing_runs_before_the_start(void)
{
    struct rk_exit end = {.size = sizeof end};
    char *path = in_work("touched");
    struct rk_target *target = command("touch", path);
    CHECK(rk_target_pid(target) > 0);
    EQUAL(rk_target_wait(target, 0, &end), -EINVAL);
    usleep(30000);
    CHECK(access(path, F_OK) < 0);
    uint64_t before = now_ns();
    OK(rk_target_start(target, &e));
    EQUAL(rk_target_start(target, &e), -EALREADY);
    EQUAL(rk_target_wait(target, -1, &end), 1);
    EQUAL(end.status, 0);
    CHECK(end.wall_ns <= now_ns() - before); /* the time it was held does not count */
    CHECK(access(path, F_OK) == 0);
    end.status = 77;
    EQUAL(rk_target_wait(target, 0, &end), 1); /* the same again */
    EQUAL(end.status, 0);
    EQUAL(rk_target_wait(target, 0, NULL), 1);
    unlink(path);
    rk_target_free(target);
}

static void waiting_has_a_limit(void)
{
    struct rk_exit end = {.size = sizeof end};
    int tube[2];
    CHECK(pipe2(tube, O_CLOEXEC) == 0);
    struct rk_command_options options = {
        .size = sizeof options, .flags = RK_COMMAND_STD_FDS, .in = tube[0], .out = -1, .err = -1};
    struct rk_target *target = command_with(&options, "copy", NULL); /* until it has read something */
    OK(rk_target_start(target, &e));
    EQUAL(rk_target_wait(target, 0, &end), 0);
    uint64_t before = now_ns();
    EQUAL(rk_target_wait(target, 20, &end), 0);
    CHECK(now_ns() - before >= 20000000);
    end.size = 0;
    EQUAL(rk_target_wait(target, -1, &end), -EINVAL); /* and its end is not lost */
    end.size = sizeof end;
    int fd = rk_target_fd(target);
    if (fd >= 0) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        EQUAL(poll(&poll_fd, 1, 0), 0);
        CHECK(write(tube[1], "\n", 1) == 1);
        EQUAL(poll(&poll_fd, 1, 100000), 1);
    } else {
        EQUAL(fd, -ENOSYS);
        CHECK(write(tube[1], "\n", 1) == 1);
    }
    EQUAL(rk_target_wait(target, 100000, &end), 1);
    EQUAL(end.status, 0);
    close(tube[0]), close(tube[1]);
    rk_target_free(target);
}

static void freed_before_the_start(void)
{
    char *path = in_work("never");
    struct rk_target *target = command("touch", path);
    pid_t pid = rk_target_pid(target);
    EQUAL(kill(pid, 0), 0);
    rk_target_free(target);
    EQUAL(kill(pid, 0), -1); /* killed, and reaped */
    CHECK(access(path, F_OK) < 0);
    EQUAL(waitpid(-1, NULL, WNOHANG), -1);
    EQUAL(errno, ECHILD);
}

static void freed_while_it_runs(void)
{
    struct rk_target *target = command("exit", "5");
    pid_t pid = rk_target_pid(target);
    int status;
    OK(rk_target_start(target, &e));
    rk_target_free(target);
    EQUAL(waitpid(pid, &status, 0), pid);
    EQUAL(WEXITSTATUS(status), 5);
}

static void many_leave_nothing(void)
{
    int before = descriptors();
    for (int i = 0; i < 200; i++)
        rk_target_free(command("exit", "0"));
    EQUAL(descriptors(), before);
    EQUAL(waitpid(-1, NULL, WNOHANG), -1);
    for (int i = 0; i < 20; i++)
        EQUAL(run("exit", "0"), 0);
    EQUAL(descriptors(), before);
    EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

/* Many at once, each of which must not hold another's socket. */
static void many_at_once(void)
{
    struct rk_target *targets[20];
    for (int i = 0; i < 20; i++)
        targets[i] = command("exit", "7");
    for (int i = 0; i < 20; i++)
        EQUAL(finish(targets[i]).status, 7);
}

static void write_file(const char *name, const char *text, mode_t mode)
{
    int fd = open(in_work(name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    CHECK(fchmod(fd, mode) == 0);
    close(fd);
}

static void exec_errors_come_back(void)
{
    struct rk_target *target;
    struct rk_exit end = {.size = sizeof end};
    int before = descriptors();
    char *path[] = {in_work("program"), NULL};

    write_file("program", "echo no interpreter\n", 0755);
    OK(rk_target_command(path, NULL, &target, &e));
    EQUAL(rk_target_start(target, &e), -ENOEXEC);
    EQUAL(e.code, -ENOEXEC);
    EQUAL(e.cause, RK_CAUSE_NO_COMMAND);
    EQUAL(e.stage, RK_STAGE_TARGET);
    CHECK(strstr(e.what, "cannot run "));
    CHECK(strstr(e.what, ": not a program"));
    CHECK(strstr(e.remedy, "sh "));
    EQUAL(rk_target_wait(target, 0, &end), -ECHILD);
    EQUAL(rk_target_start(target, &e), -EALREADY);
    rk_target_free(target);

    write_file("program", "#!/nonexistent/interpreter\n", 0755);
    OK(rk_target_command(path, NULL, &target, &e));
    EQUAL(rk_target_start(target, &e), -ENOENT);
    CHECK(strstr(e.what, "its interpreter"));
    rk_target_free(target);

    OK(rk_target_command(path, NULL, &target, &e));
    unlink(path[0]); /* gone between the search and the start */
    EQUAL(rk_target_start(target, &e), -ENOENT);
    rk_target_free(target);

    size_t n = 300 * 1024; /* one argument may have 128 KiB */
    char *big = malloc(n + 1);
    CHECK(big);
    memset(big, 'x', n);
    big[n] = '\0';
    char *argv[] = {self, "exit", big, NULL};
    OK(rk_target_command(argv, NULL, &target, &e));
    EQUAL(rk_target_start(target, &e), -E2BIG);
    CHECK(strstr(e.what, "too long"));
    rk_target_free(target);
    free(big);

    EQUAL(descriptors(), before);
    EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static void killed_while_it_waits(void)
{
    struct rk_target *target = command("exit", "0");
    pid_t pid = rk_target_pid(target);
    kill(pid, SIGTERM);
    siginfo_t info;
    EQUAL(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    EQUAL(rk_target_start(target, &e), -ESRCH); /* and no SIGPIPE */
    EQUAL(e.cause, RK_CAUSE_NO_PROCESS);
    rk_target_free(target);
    EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

static void *kill_soon(void *pid)
{
    usleep(50000);
    kill(*(pid_t *)pid, SIGKILL);
    return NULL;
}

/* Killed between its release and its exec: it never read the word. */
static void killed_while_it_is_released(void)
{
    struct rk_target *target = command("exit", "0");
    pid_t pid = rk_target_pid(target);
    pthread_t other;
    int status;
    kill(pid, SIGSTOP);
    EQUAL(waitpid(pid, &status, WUNTRACED), pid);
    CHECK(pthread_create(&other, NULL, kill_soon, &pid) == 0);
    EQUAL(rk_target_start(target, &e), -ESRCH);
    pthread_join(other, NULL);
    rk_target_free(target);
    EQUAL(waitpid(-1, NULL, WNOHANG), -1);
}

/* The caller dies before the start: what it forked ends, and has not run. */
static void orphans_do_not_run(void)
{
    int tube[2];
    char *path = in_work("orphan");
    CHECK(pipe2(tube, O_CLOEXEC) == 0);
    pid_t parent = fork();
    if (parent == 0) {
        struct rk_target *target = command("touch", path);
        (void)target;
        _exit(0); /* not freed: as if it had crashed. The command has a copy of the pipe until it ends. */
    }
    close(tube[1]);
    struct pollfd end = {.fd = tube[0], .events = POLLIN};
    EQUAL(poll(&end, 1, 100000), 1); /* the last writer is gone */
    CHECK(end.revents & POLLHUP);
    close(tube[0]);
    waitpid(parent, NULL, 0);
    CHECK(access(path, F_OK) < 0);
}

static void options_are_obeyed(void)
{
    struct rk_command_options options = {.size = sizeof options};
    char *environment[] = {"RECKON_TEST=42", NULL};
    options.environment = environment;
    EQUAL(finish(command_with(&options, "environment", "42")).status, 0);
    EQUAL(run("environment", "42"), 1);
    setenv("RECKON_TEST", "own", 1);
    EQUAL(run("environment", "own"), 0);

    options = (struct rk_command_options){.size = sizeof options, .directory = work};
    EQUAL(finish(command_with(&options, "directory", work)).status, 0);

    /* A path relative to the caller's directory, run in another one. */
    char link[64] = "./reckon-test-link";
    int here = open(".", O_PATH | O_CLOEXEC); /* a plain user may not get there by name, or not at all */
    CHECK((here >= 0 || errno == EACCES) && chdir(work) == 0 && symlink(self, link) == 0);
    char *argv[] = {link, "directory", "/", NULL};
    struct rk_target *target;
    options.directory = "/";
    OK(rk_target_command(argv, &options, &target, &e));
    EQUAL(finish(target).status, 0);
    CHECK(unlink(link) == 0);
    if (here < 0 || fchdir(here) < 0)
        CHECK((here < 0 || errno == EACCES) && chdir("/") == 0);
    if (here >= 0)
        close(here);
}

static void standard_descriptors(void)
{
    int in[2], out[2];
    char bytes[16] = "";
    struct rk_command_options options = {.size = sizeof options, .flags = RK_COMMAND_STD_FDS};
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
    options.in = in[0];
    options.out = options.err = out[1];
    struct rk_target *target = command_with(&options, "copy", NULL);
    CHECK(write(in[1], "word", 4) == 4);
    close(in[0]); /* the caller may close its own at once */
    close(out[1]);
    EQUAL(finish(target).status, 0);
    EQUAL(read(out[0], bytes, sizeof bytes), 7);
    CHECK(!strcmp(bytes, "worderr"));
    close(in[1]);
    close(out[0]);

    /* -1 leaves one alone; nothing else is inherited, but what the caller lets through */
    options = (struct rk_command_options){
        .size = sizeof options, .flags = RK_COMMAND_STD_FDS, .in = -1, .out = -1, .err = -1};
    EQUAL(finish(command_with(&options, "descriptors", NULL)).status, 0);
    int kept = fcntl(0, F_DUPFD, 100);
    char number[16];
    snprintf(number, sizeof number, "%d", kept);
    EQUAL(run("descriptors", number), 0);
    close(kept);
}

/* Starts "copy" with these, in a caller that sends it x and must get x back. */
static int copies(int in, int out, int send, int receive)
{
    struct rk_command_options options = {
        .size = sizeof options, .flags = RK_COMMAND_STD_FDS, .in = in, .out = out, .err = out};
    char bytes[16] = "", *argv[] = {self, "copy", NULL};
    struct rk_target *target;
    struct rk_exit end = {.size = sizeof end};
    if (rk_target_command(argv, &options, &target, &e) < 0 || write(send, "x", 1) != 1 ||
        rk_target_start(target, &e) < 0 || read(receive, bytes, 4) < 1 || bytes[0] != 'x')
        return 101;
    return rk_target_wait(target, -1, &end) == 1 ? end.status : 102;
}

/* In a caller without standard descriptors of its own, and with them crosswise. */
static void mixed_descriptors(void)
{
    for (int crosswise = 0; crosswise < 2; crosswise++) {
        pid_t pid = fork();
        if (pid == 0) {
            int in[2], out[2];
            CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
            close(0), close(1), close(2);
            if (crosswise) {
                CHECK(dup2(out[1], 0) == 0 && dup2(in[0], 1) == 1);
                _exit(copies(1, 0, in[1], out[0]));
            }
            _exit(copies(in[0], out[1], in[1], out[0]));
        }
        int status;
        EQUAL(waitpid(pid, &status, 0), pid);
        EQUAL(status, 0);
    }
}

static volatile sig_atomic_t handled;
static void handler(int signal)
{
    handled = signal;
}

static void signals_are_the_callers(void)
{
    struct sigaction old_usr1, old_pipe;
    sigset_t mask, old;
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = handler}, &old_usr1);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &old_pipe);
    sigemptyset(&mask);
    sigaddset(&mask, SIGUSR2);
    sigprocmask(SIG_SETMASK, &mask, &old);
    EQUAL(run("signals", NULL), 0);
    /* Our handler does not run in the child that waits: it ends, as it would after its exec. */
    struct rk_target *hit = command("exit", "0");
    siginfo_t info;
    kill(rk_target_pid(hit), SIGUSR1);
    EQUAL(waitid(P_PID, (id_t)rk_target_pid(hit), &info, WEXITED | WNOWAIT), 0);
    EQUAL(info.si_status, SIGUSR1);
    rk_target_free(hit);
    /* Waiting is not cut short by a signal, and our own state is as before. */
    sigset_t after;
    sigprocmask(SIG_SETMASK, NULL, &after);
    CHECK(sigismember(&after, SIGUSR2) && !sigismember(&after, SIGUSR1));
    struct rk_target *target = command("sleep", "100");
    OK(rk_target_start(target, &e));
    struct sigevent on_usr1 = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &on_usr1, &timer) == 0);
    struct itimerspec soon = {.it_value.tv_nsec = 20000000};
    timer_settime(timer, 0, &soon, NULL);
    struct rk_exit end = {.size = sizeof end};
    EQUAL(rk_target_wait(target, -1, &end), 1);
    EQUAL(handled, SIGUSR1);
    CHECK(end.wall_ns >= 100000000);
    timer_delete(timer);
    rk_target_free(target);
    sigprocmask(SIG_SETMASK, &old, NULL);
    sigaction(SIGUSR1, &old_usr1, NULL);
    sigaction(SIGPIPE, &old_pipe, NULL);
}

/* A forked copy of a target must neither end nor start what belongs to the original. */
static void forked_handles_are_stale(void)
{
    struct rk_target *target = command("exit", "9");
    pid_t pid = fork();
    if (pid == 0) {
        struct rk_exit end = {.size = sizeof end};
        int start = rk_target_start(target, &e);
        int wrong = start != -ESTALE || e.cause != RK_CAUSE_FORKED;
        rk_target_free(target);
        (void)end;
        _exit(wrong);
    }
    int status;
    EQUAL(waitpid(pid, &status, 0), pid);
    EQUAL(status, 0);
    EQUAL(finish(target).status, 9);
}

/* Another thread's fork may keep a copy of the child's socket: the start must not wait for its end. */
static bool hold;
static pid_t holder;
static void fork_again(void)
{
    if (!hold)
        return;
    hold = false;
#ifdef SYS_fork
    pid_t pid = (pid_t)syscall(SYS_fork);
#else
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
    if (pid == 0) {
        for (;;)
            pause();
    }
    holder = pid;
}

static void a_held_socket_does_not_block(void)
{
    pthread_atfork(NULL, fork_again, NULL);
    hold = true;
    struct rk_target *target = command("sleep", "200");
    CHECK(holder > 0);
    alarm(100);
    OK(rk_target_start(target, &e));
    struct rk_exit end = {.size = sizeof end};
    EQUAL(rk_target_wait(target, -1, &end), 1);
    EQUAL(end.status, 0);
    rk_target_free(target);
    alarm(0);
    kill(holder, SIGKILL);
    waitpid(holder, NULL, 0);
}

/* Someone else reaps: said, not hung on. */
static void a_stolen_end_is_said(void)
{
    struct rk_exit end = {.size = sizeof end};
    struct rk_target *target = command("exit", "0");
    OK(rk_target_start(target, &e));
    EQUAL(waitpid(rk_target_pid(target), NULL, 0), rk_target_pid(target));
    EQUAL(rk_target_wait(target, -1, &end), -ECHILD);
    EQUAL(rk_target_wait(target, 0, &end), -ECHILD);
    rk_target_free(target);
}

/* A directory of PATH that this user can't enter holds nothing: not found, not forbidden. */
static void shut_directories_are_passed(void)
{
    char shut[TEMPORARY + 8], path[256], *saved = strdup(getenv("PATH")),
                                         *argv[] = {"reckon-no-such-command", NULL};
    struct rk_target *target;

    snprintf(shut, sizeof shut, "%s/shut", work);
    CHECK(saved && mkdir(shut, 0) == 0);
    snprintf(path, sizeof path, "%s:/bin", shut);
    setenv("PATH", path, 1);
    EQUAL(rk_target_command(argv, NULL, &target, &e), -ENOENT);
    snprintf(path, sizeof path, "%s/x", shut);
    argv[0] = path;
    EQUAL(rk_target_command(argv, NULL, &target, &e), geteuid() == 0 ? -ENOENT : -EACCES);
    setenv("PATH", saved, 1);
    free(saved);
    CHECK(rmdir(shut) == 0);
}

static void all(void)
{
    CHECK(mkdtemp(temporary(work, "reckon-command-XXXXXX")));
    ends_are_told();
    nothing_runs_before_the_start();
    waiting_has_a_limit();
    freed_before_the_start();
    freed_while_it_runs();
    many_leave_nothing();
    many_at_once();
    exec_errors_come_back();
    shut_directories_are_passed();
    killed_while_it_waits();
    killed_while_it_is_released();
    orphans_do_not_run();
    options_are_obeyed();
    standard_descriptors();
    mixed_descriptors();
    signals_are_the_callers();
    forked_handles_are_stale();
    a_stolen_end_is_said();
    a_held_socket_does_not_block();
    CHECK(rmdir(work) == 0);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return role(argc, argv);
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        SKIP("/proc is not mounted");
    self[n] = '\0';
    for (int fd = 3; fd < 1000; fd++) /* what we were started with is not ours to pass on */
        close(fd);
    all();
    if (!can_become(65534)) {
        if (geteuid() == 0)
            printf("this root can't become a plain user: not tried as one\n");
        return 0;
    }
    /* The same for a plain user, in a copy of the program that it may execute. */
    char copy[TEMPORARY], bytes[65536];
    int from = open(self, O_RDONLY | O_CLOEXEC);
    int to = mkostemp(temporary(copy, "reckon-command-self-XXXXXX"), O_CLOEXEC);
    for (ssize_t got; (got = read(from, bytes, sizeof bytes)) > 0;)
        CHECK(write(to, bytes, (size_t)got) == got);
    CHECK(fchmod(to, 0755) == 0);
    close(from), close(to);
    pid_t pid = fork();
    if (pid == 0) {
        strcpy(self, copy);
        CHECK(become(65534));
        all();
        fflush(NULL);
        _exit(0);
    }
    int status;
    EQUAL(waitpid(pid, &status, 0), pid);
    CHECK(unlink(copy) == 0);
    EQUAL(status, 0);
    return 0;
}

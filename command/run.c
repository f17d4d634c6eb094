#include "run.h"

#include "command.h"
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Signal handlers have no context: these are theirs. A byte through the pipe wakes a poll(2) that was about to begin. */
static volatile sig_atomic_t signals, interrupts, last_signal, snapshots, sent;
static volatile sig_atomic_t command_pid;
static int wake[2] = {-1, -1};

static void remember(int signal)
{
    signals++;
    last_signal = signal;
    if (wake[1] >= 0)
        (void)!write(wake[1], "", 1);
}

/* A process that sends a signal says so; the terminal's come from the kernel. */
static void count_signal(int signal, siginfo_t *about, void *context)
{
    int saved = errno;

    (void)context;
    interrupts += signal == SIGINT;
    sent |= signal == SIGINT && about->si_code <= 0;
    remember(signal);
    errno = saved;
}

static void pass_on(int signal)
{
    int saved = errno;

    remember(signal);
    if (command_pid > 0)
        kill((pid_t)command_pid, signal);
    errno = saved;
}

static void count_snapshot(int signal)
{
    int saved = errno;

    (void)signal;
    snapshots++;
    if (wake[1] >= 0)
        (void)!write(wake[1], "", 1);
    errno = saved;
}

/* In place of SIG_IGN, which a command would inherit. */
static void nothing(int signal)
{
    (void)signal;
}

static void handle_counted(int signal, bool always)
{
    struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO}, old;

    if (sigaction(signal, NULL, &old) == 0 && (always || old.sa_handler != SIG_IGN))
        sigaction(signal, &action, NULL);
}

/* What is ignored already (nohup, a background job) stays ignored. */
static void handle(int signal, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}, old;

    if (sigaction(signal, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(signal, &action, NULL);
}

void run_shield(int32_t pid)
{
    command_pid = pid;
    if (wake[0] < 0 && pipe2(wake, O_CLOEXEC | O_NONBLOCK) < 0)
        wake[0] = wake[1] = -1;
    handle_counted(SIGINT, false);
    handle_counted(SIGQUIT, false);
    handle(SIGTERM, pass_on);
    handle(SIGHUP, pass_on);
    handle(SIGXFSZ, nothing); /* a file that grows too large is an error of write(2), told like a full disk */
    handle(SIGPIPE, nothing);
}

void run_want_interrupt(void)
{
    handle_counted(SIGINT, true);
}

void run_watch_snapshots(void)
{
    sigaction(SIGUSR2, &(struct sigaction){.sa_handler = count_snapshot}, NULL);
}

int run_snapshots(void)
{
    return snapshots;
}

int run_signals(void)
{
    return signals;
}

int run_last_signal(void)
{
    return last_signal;
}

int run_interrupts(void)
{
    return interrupts;
}

int run_fd(void)
{
    return wake[0];
}

bool run_sent(void)
{
    return sent;
}

void run_fd_drain(void)
{
    char bytes[64];

    while (wake[0] >= 0 && read(wake[0], bytes, sizeof bytes) > 0)
        ;
}

int run_failed(const char *verb, const struct rk_error *e)
{
    print_error(verb, e);
    if (e->cause != RK_CAUSE_NO_COMMAND)
        return STATUS_FAILED;
    return e->code == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

#define INT_PATIENCE 1000   /* ms that a command has to end when it is interrupted, … */
#define TERM_PATIENCE 10000 /* … when it is told to, … */
#define KILL_PATIENCE 2000  /* … and when it is killed */
#define LOOK_MS 100         /* an interrupt is seen so soon */

static int end_by(struct rk_target *command, int signal, int patience_ms, struct rk_exit *ret)
{
    int rc = 0, before = interrupts;

    kill(rk_target_pid(command), signal);
    kill(rk_target_pid(command), SIGCONT); /* one that is stopped gets it, too */
    for (int ms = 0; (rc == 0 || rc == -EINTR) && ms < patience_ms && interrupts == before; ms += LOOK_MS)
        rc = rk_target_wait(command, LOOK_MS, ret);
    return rc == -EINTR ? 0 : rc;
}

int run_end(const char *verb, struct rk_target *command, const char *name, struct rk_exit *ret)
{
    int rc = rk_target_wait(command, 0, ret);

    if (rc == 0 && sent) /* what it was told itself, if it was a group that got it */
        rc = end_by(command, SIGINT, INT_PATIENCE, ret);
    if (rc == 0)
        rc = end_by(command, SIGTERM, TERM_PATIENCE, ret);
    if (rc == 0) {
        fprintf(stderr, "reckon %s: %s did not end when asked to: killed\n", verb, name);
        rc = end_by(command, SIGKILL, KILL_PATIENCE, ret);
    }
    return rc;
}

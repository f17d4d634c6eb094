/*
 * One recording: everything that can happen is a descriptor in one poll(2).
 *
 *     signals    the shield's pipe: an interrupt, or SIGUSR2 for a snapshot
 *     control    another program's words
 *     records    rings that have filled; at least every half second the capture is asked anyway, to flush
 *     delay      sampling begins then
 *     duration   the end
 *     switch     the next file
 *     names      of a file that is complete (record_names.h)
 *     command, target   their ends
 */
#include "record.h"

#include "command.h"
#include "control.h"
#include "print.h"
#include "record_names.h"
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define MS UINT64_C(1000000)
#define FLUSH_MS 500 /* as rk_capture_fd() wants it */
#define TICK_MS 50   /* where there is no descriptor to wait for */

enum { SIGNALS, CONTROL, RECORDS, DELAY, DURATION, SWITCH, COMMAND, TARGET, NAMES, FDS };

struct loop {
    const struct record_options *o;
    struct recorded *r;
    struct control *control;
    struct pollfd fds[FDS];
    bool tick, stop, interrupted, shown;
    int interrupts, snapshots;
    uint64_t told_ns, told_samples; /* the progress line */
    uint64_t file_bytes;            /* of the files before this one */
    unsigned files;
    struct record_names names; /* of the last file that is complete */
    char named[4200];          /* its path */
};

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static int cannot(const char *what, int why)
{
    fprintf(stderr, "reckon record: %s: %s\n", what, strerror(why));
    return STATUS_FAILED;
}

/* ---- telling ---- */

static void clear_line(struct loop *l)
{
    if (l->shown)
        fputs("\r\033[K", stderr);
    l->shown = false;
}

static void show_progress(struct loop *l)
{
    struct rk_capture_stats stats = {.size = sizeof stats};
    char samples[64], rate[32], lost[32], bytes[32];
    uint64_t now = clock_ns(), passed = now - l->told_ns;

    if (!l->o->progress || passed < 1000 * MS || rk_capture_stats(l->r->capture, &stats) < 0)
        return;
    uint64_t fresh = stats.loss.kept - l->told_samples;
    fprintf(stderr, "\r\033[K%s, %s/s, %s lost, %s",
            print_some(stats.loss.kept, "sample", samples, sizeof samples),
            print_count(fresh * 1000 * MS / passed, rate, sizeof rate),
            print_count(stats.loss.lost, lost, sizeof lost), print_bytes(stats.bytes, bytes, sizeof bytes));
    l->shown = true;
    l->told_ns = now;
    l->told_samples = stats.loss.kept;
}

static void print_closing(struct loop *l, const struct rk_capture_stats *stats)
{
    const struct record_options *o = l->o;
    bool pipe = strcmp(o->path, "-") == 0, plain = strcmp(o->path, "perf.data") == 0;
    char samples[64], bytes[32], number[64], before[96] = "", name[1024];

    if (l->files)
        snprintf(before, sizeof before, " and %s before it",
                 print_some(l->files, "file", number, sizeof number));
    fprintf(stderr, "reckon record: %s in %s%s (%s), %s lost",
            print_some(stats->loss.kept, "sample", samples, sizeof samples),
            pipe ? "standard output" : print_safe(o->path, name, sizeof name), before,
            print_bytes(stats->bytes + l->names.stored, bytes, sizeof bytes),
            stats->loss.present & RK_LOSS_LOST ? print_count(stats->loss.lost, number, sizeof number)
                                               : "an unknown number");
    if (stats->loss.present & RK_LOSS_SKIPPED)
        fprintf(stderr, ", %s skipped by the kernel",
                print_count(stats->loss.skipped, number, sizeof number));
    if (stats->truncated)
        fprintf(stderr, ", %s cut", print_some(stats->truncated, "stack", number, sizeof number));
    if (stats->loss.throttled)
        fprintf(stderr, ", throttled %s", print_some(stats->loss.throttled, "time", number, sizeof number));
    fputs("\n", stderr);
    if (stats->loss.kept + stats->loss.lost == 0 && o->delay_ms)
        fprintf(stderr, "  nothing was sampled: %s\n",
                o->delay_ms > 0 ? "it ended before the delay (-D) was over"
                                : "no word enable came through --control");
    record_names_say(&l->names);
    if (stats->code_maps && !l->names.stored)
        fprintf(stderr, "  code made at run time is named by %s /tmp/perf-PID.map: keep it\n",
                print_some(stats->code_maps, "file", number, sizeof number));
    if (!pipe) {
        snprintf(name, sizeof name, "%s%s", o->path[0] == '-' ? "./" : "", o->path); /* or it is an option */
        fprintf(stderr, "  see it:  reckon report%s", plain ? "" : " ");
        if (!plain)
            print_words(stderr, (char *const[]){name, NULL}, sizeof name);
        fputc('\n', stderr);
    }
    callgraph_close(&o->callgraph, o->max_stack, stats);
}

/* ---- doing ---- */

/* FILE.2026111507301299, as perf calls them: date, time, hundredths. */
static void next_name(const struct loop *l, char *name, size_t size)
{
    struct timespec now;
    struct tm parts;
    char stamp[32];

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    strftime(stamp, sizeof stamp, "%Y%m%d%H%M%S", &parts);
    for (unsigned hundredth = (unsigned)(now.tv_nsec / 10000000);; hundredth++) {
        snprintf(name, size, "%s.%s%02u", l->o->path, stamp, hundredth);
        if (access(name, F_OK) < 0)
            return;
    }
}

/* Those of the last file that is complete. */
static void end_names(struct loop *l)
{
    record_names_end(&l->names, l->named);
    if (!l->o->quiet)
        record_names_say(&l->names);
}

/* The names of what is in the file by now, which will have that path. */
static void begin_names(struct loop *l, const char *path)
{
    if (l->o->no_names || strcmp(l->o->path, "-") == 0)
        return;
    end_names(l);
    record_names_begin(&l->names, l->r->capture);
    snprintf(l->named, sizeof l->named, "%s", path);
    l->fds[NAMES].fd = record_names_fd(&l->names);
}

/* What there is goes to a file of its own. 0, or -1 with the message printed. */
static int change_file(struct loop *l)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_capture_stats stats = {.size = sizeof stats};
    char name[4200], bytes[32];
    int rc = rk_capture_snapshot(l->r->capture);

    if (rc == 0) {
        next_name(l, name, sizeof name);
        begin_names(l, name);
        rc = rk_capture_switch(l->r->capture, name, &e);
    } else {
        snprintf(e.what, sizeof e.what, "a snapshot failed: %s", strerror(-rc));
    }
    clear_line(l);
    if (rc < 0) {
        print_error("record", &e);
        return -1;
    }
    rk_capture_stats(l->r->capture, &stats);
    if (!l->o->quiet)
        fprintf(stderr, "reckon record: %s (%s)\n", name,
                print_bytes(stats.bytes - l->file_bytes, bytes, sizeof bytes));
    l->file_bytes = stats.bytes;
    l->files++;
    return 0;
}

static int obey(struct loop *l)
{
    enum control_word word;
    int rc = 0;

    while (rc == 0 && (word = control_next(l->control)) != CONTROL_NONE) {
        switch (word) {
        case CONTROL_ENABLE:
            rc = rk_capture_enable(l->r->capture);
            rc = rc == -ESRCH ? 0 : rc; /* it has ended */
            break;
        case CONTROL_DISABLE:
            rk_capture_disable(l->r->capture);
            break;
        case CONTROL_SNAPSHOT:
            rc = l->o->overwrite || l->o->switches ? change_file(l) : rk_capture_snapshot(l->r->capture);
            break;
        case CONTROL_STOP:
            l->stop = true;
            break;
        case CONTROL_UNKNOWN:
            control_unknown(l->control, "record");
            continue;
        case CONTROL_END:
            l->fds[CONTROL].fd = -1;
            return rc;
        default:
            break;
        }
        control_answer(l->control);
    }
    return rc;
}

/* The command has had the first interrupt from the terminal, and may want more than one. One that was sent to reckon ends
 * the recording, and with it the command. */
static int handle_signals(struct loop *l)
{
    int n = run_interrupts(), wanted = run_snapshots();

    run_fd_drain();
    if (wanted > l->snapshots) {
        l->snapshots = wanted;
        if (change_file(l) < 0)
            return -1;
    }
    if (run_signals() == 0)
        return 0;
    l->interrupted = true;
    if (!l->r->command || run_sent()) {
        l->stop = true;
        return 0;
    }
    if (n > 1 && n > l->interrupts)
        kill(rk_target_pid(l->r->command), n == 2 ? SIGTERM : SIGKILL);
    l->interrupts = n;
    return 0;
}

static bool expired(struct loop *l, int which)
{
    uint64_t times;

    return l->fds[which].fd >= 0 && l->fds[which].revents &&
           read(l->fds[which].fd, &times, sizeof times) == (ssize_t)sizeof times;
}

static bool over(const struct loop *l, int which, struct rk_target *target)
{
    if (!target || rk_target_pid(target) <= 0)
        return false;
    return l->fds[which].fd >= 0 ? l->fds[which].revents != 0 : rk_target_wait(target, 0, NULL) != 0;
}

/* A file that has become as large as --switch-output says. */
static bool is_large(const struct loop *l)
{
    struct rk_capture_stats stats = {.size = sizeof stats};

    return l->o->switch_bytes && rk_capture_stats(l->r->capture, &stats) == 0 &&
           stats.bytes - l->file_bytes >= l->o->switch_bytes;
}

/* 1: go on; 0: the end; -errno or -1: it failed. */
static int loop_step(struct loop *l)
{
    int rc = rk_capture_step(l->r->capture, 0);

    if (rc <= 0)
        return rc;
    show_progress(l);
    if (is_large(l) && change_file(l) < 0)
        return -1;
    int n = poll(l->fds, FDS, l->tick ? TICK_MS : FLUSH_MS);
    if (n < 0 && errno != EINTR)
        return -errno;
    for (int i = 0; n <= 0 && i < FDS; i++)
        l->fds[i].revents = 0;
    rc = handle_signals(l);
    if (l->fds[NAMES].fd >= 0 && l->fds[NAMES].revents && !record_names_step(&l->names)) {
        end_names(l);
        l->fds[NAMES].fd = -1;
    }
    if (rc == 0 && expired(l, DELAY))
        rc = rk_capture_enable(l->r->capture);
    if (rc == 0 && l->fds[CONTROL].fd >= 0 && l->fds[CONTROL].revents)
        rc = obey(l);
    if (rc == 0 && expired(l, SWITCH))
        rc = change_file(l);
    if (expired(l, DURATION) || over(l, COMMAND, l->r->command) || over(l, TARGET, l->r->target))
        l->stop = true;
    return rc < 0 && rc != -ESRCH ? rc : !l->stop;
}

/* ---- beginning and end ---- */

static int set_timer(struct loop *l, int which, uint64_t ms, bool again)
{
    struct timespec time = {.tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000 * MS)};
    struct itimerspec when = {.it_value = time, .it_interval = again ? time : (struct timespec){0}};

    l->fds[which].fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    return l->fds[which].fd < 0 ? -1 : timerfd_settime(l->fds[which].fd, 0, &when, NULL);
}

static void watch_end(struct loop *l, int which, const struct rk_target *target)
{
    if (!target || rk_target_pid(target) <= 0)
        return;
    int fd = rk_target_fd(target);
    l->fds[which].fd = fd < 0 ? -1 : fd;
    l->tick |= fd < 0;
}

static int start(struct loop *l)
{
    const struct record_options *o = l->o;
    struct rk_error e = {.size = sizeof e};

    for (int i = 0; i < FDS; i++)
        l->fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    run_shield(l->r->command ? rk_target_pid(l->r->command) : 0);
    if (!l->r->command)
        run_want_interrupt();
    if (o->overwrite || o->switches)
        run_watch_snapshots();
    l->fds[SIGNALS].fd = run_fd();
    l->tick = run_fd() < 0;
    l->fds[CONTROL].fd = l->control ? l->control->in : -1;
    l->fds[RECORDS].fd = rk_capture_fd(l->r->capture);
    watch_end(l, COMMAND, l->r->command);
    watch_end(l, TARGET, l->r->target);
    l->told_ns = clock_ns();
    if ((o->delay_ms > 0 && set_timer(l, DELAY, (uint64_t)o->delay_ms, false) < 0) ||
        (o->duration_ms && set_timer(l, DURATION, o->duration_ms, false) < 0) ||
        (o->switch_ms && set_timer(l, SWITCH, o->switch_ms, true) < 0))
        return cannot("no timer", errno);
    int rc = l->r->target && o->delay_ms == 0 ? rk_set_enable(l->r->set) : 0;
    if (rc < 0 && rc != -ESRCH)
        return cannot("cannot enable the events", -rc);
    if (l->r->command && rk_target_start(l->r->command, &e) < 0)
        return run_failed("record", &e);
    return 0;
}

/* The command is waited for; where the end is ours (`told`) it is told to end. Its status. */
static int end_command(struct loop *l, bool told)
{
    struct rk_exit end = {.size = sizeof end};
    int rc;

    if (told) {
        rc = run_end("record", l->r->command, l->o->command[0], &end);
    } else {
        do
            rc = rk_target_wait(l->r->command, -1, &end);
        while (rc == 0 || rc == -EINTR);
    }
    return rc == 1 ? end.status : STATUS_FAILED;
}

static int end(struct loop *l, int failed)
{
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_error e = {.size = sizeof e};

    if (failed == 0 && l->o->overwrite) {
        rk_capture_disable(l->r->capture);
        failed = rk_capture_snapshot(l->r->capture);
    }
    int rc = rk_capture_finish(l->r->capture, &stats, &e);
    if (rc == 0)
        begin_names(l, l->o->path);
    l->r->capture = rk_capture_free(l->r->capture);
    clear_line(l);
    if (rc < 0) /* the file is readable up to its last flush; the command goes on and is waited for */
        print_error("record", &e);
    else if (failed < -1)
        cannot("recording failed", -failed);
    int status = l->r->command ? end_command(l, l->stop && failed == 0) : 0;
    if (rc < 0 || failed < 0) {
        record_names_end(&l->names, l->named);
        return STATUS_FAILED;
    }
    l->r->complete = true;
    record_names_end(&l->names, l->named);
    if (!l->o->quiet)
        print_closing(l, &stats);
    return l->r->command ? status : l->interrupted ? 128 + run_last_signal() : 0;
}

int record_run(const struct record_options *o, struct recorded *r)
{
    struct control control;
    struct loop l = {.o = o, .r = r};
    char why[300];
    int rc, status;

    rc = o->control ? control_open(&control, o->control, why, sizeof why) : 0;
    if (rc < 0) {
        fprintf(stderr, "reckon record: --control: %s\n", why);
        return rc == CONTROL_MISTAKE ? STATUS_USAGE : STATUS_FAILED;
    }
    l.control = o->control ? &control : NULL;
    status = start(&l);
    if (status == 0) {
        while ((rc = loop_step(&l)) > 0)
            ;
        status = end(&l, rc);
    }
    for (int i = DELAY; i <= SWITCH; i++)
        if (l.fds[i].fd >= 0)
            close(l.fds[i].fd);
    if (l.control)
        control_close(l.control);
    return status;
}

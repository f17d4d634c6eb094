/*
 * One run: everything that can happen is a descriptor in one poll(2).
 *
 *     signals    the shield's pipe
 *     control    another program's words
 *     interval   a timer with absolute times, so that intervals don't drift; a late one covers more, and the next is
 *                on the grid again
 *     delay      counting begins then
 *     timeout    the end, as is a control's "stop" and the last interval of --interval-count
 *     ends       the command's end, or that of each process; without a command or processes there is none
 */
#include "command.h"
#include "control.h"
#include "measured.h"
#include "print.h"
#include "privilege.h"
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
#define TICK_MS 50    /* where there is no descriptor to wait for: a thread's end, a kernel before 5.3 */
#define FOLLOW_MS 500 /* how often it is looked for CPUs that came, where all are measured */

enum { SIGNALS, CONTROL, INTERVAL, DELAY, TIMEOUT, ENDS };

struct loop {
    const struct stat_options *o;
    struct measured *m;
    struct control *control;
    struct pollfd *fds; /* the five above, then the ends */
    size_t n_fds, n_alive;
    bool tick, stop, interrupted;

    uint64_t start_ns, since_ns; /* since when it counts; 0: it doesn't */
    uint64_t covered_ns;         /* before that */
    uint64_t told_ns, told;      /* what intervals have covered, and how many there were */
    uint64_t followed_ns;        /* when it was last looked for CPUs that came */
    int interrupts;              /* passed on as something stronger */

    struct rk_value *now, *before, *delta;
    struct rk_value *base; /* what had been counted when the run began; NULL: nothing */
    uint32_t *states, *delta_states;
    struct rk_counts_row *rows;
};

static uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / (1000 * MS)), .tv_nsec = (long)(ns % (1000 * MS))};
}

/* Time for which it has counted so far. */
static uint64_t covered(const struct loop *l)
{
    return l->covered_ns + (l->since_ns ? clock_ns() - l->since_ns : 0);
}

static int set_timer(struct loop *l, int which, uint64_t first_ns, uint64_t period_ns)
{
    struct itimerspec when = {.it_value = timespec_of(first_ns), .it_interval = timespec_of(period_ns)};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    if (fd < 0)
        return -1;
    l->fds[which].fd = fd;
    return timerfd_settime(fd, TFD_TIMER_ABSTIME, &when, NULL);
}

static int set_timers(struct loop *l)
{
    const struct stat_options *o = l->o;

    uint64_t begin_ns = l->start_ns + (o->delay_ms > 0 ? (uint64_t)o->delay_ms * MS : 0);

    if (o->interval_ms && set_timer(l, INTERVAL, begin_ns + o->interval_ms * MS, o->interval_ms * MS) < 0)
        return -1;
    if (o->delay_ms > 0 && set_timer(l, DELAY, begin_ns, 0) < 0)
        return -1;
    return o->timeout_ms ? set_timer(l, TIMEOUT, l->start_ns + o->timeout_ms * MS, 0) : 0;
}

/* Whose end ends the run. */
static void watch_ends(struct loop *l)
{
    size_t n = l->m->command ? 1 : l->m->n;

    for (size_t i = 0; i < n; i++) {
        const struct rk_target *target = l->m->command ? l->m->command : l->m->parts[i].target;
        int fd = rk_target_pid(target) > 0 ? rk_target_fd(target) : -1;
        if (rk_target_pid(target) <= 0)
            continue; /* CPUs don't end */
        l->n_alive++;
        l->tick |= fd < 0;
        l->fds[l->n_fds++] = (struct pollfd){.fd = fd < 0 ? -1 : fd, .events = POLLIN};
    }
}

static int loop_make(struct loop *l)
{
    size_t values = l->m->n_values ? l->m->n_values : 1, rows = l->m->n_rows ? l->m->n_rows : 1;

    l->fds = calloc(ENDS + l->m->n + 1, sizeof *l->fds);
    l->now = calloc(values, sizeof *l->now);
    l->before = calloc(values, sizeof *l->before);
    l->delta = calloc(values, sizeof *l->delta);
    l->states = calloc(values, sizeof *l->states);
    l->delta_states = calloc(values, sizeof *l->delta_states);
    l->rows = calloc(rows, sizeof *l->rows);
    for (int i = 0; l->fds && i < ENDS; i++)
        l->fds[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    if (!l->fds || !l->now || !l->before || !l->delta || !l->states || !l->delta_states || !l->rows)
        return -1;
    l->fds[SIGNALS].fd = run_fd();
    l->tick = run_fd() < 0;
    l->fds[CONTROL].fd = l->control ? l->control->in : -1;
    l->n_fds = ENDS;
    watch_ends(l);
    return 0;
}

static void loop_free(struct loop *l)
{
    for (int i = INTERVAL; l->fds && i <= TIMEOUT; i++)
        if (l->fds[i].fd >= 0)
            close(l->fds[i].fd);
    free(l->fds);
    free(l->now);
    free(l->before);
    free(l->delta);
    free(l->base);
    free(l->states);
    free(l->delta_states);
    free(l->rows);
}

static void enable(struct loop *l)
{
    if (l->since_ns)
        return;
    measured_enable(l->m);
    l->since_ns = clock_ns();
}

static void disable(struct loop *l)
{
    if (!l->since_ns)
        return;
    l->covered_ns += clock_ns() - l->since_ns;
    l->since_ns = 0;
    measured_disable(l->m);
}

/* Room for the CPUs that came. */
static int follow(struct loop *l)
{
    struct rk_value **tables[] = {&l->now, &l->before, &l->delta};

    l->followed_ns = clock_ns();
    if (measured_follow(l->m, tables, 3) == 0)
        return 0;
    size_t values = l->m->n_values ? l->m->n_values : 1;
    free(l->states);
    free(l->delta_states);
    free(l->rows);
    l->states = calloc(values, sizeof *l->states); /* filled by each reading */
    l->delta_states = calloc(values, sizeof *l->delta_states);
    l->rows = calloc(l->m->n_rows ? l->m->n_rows : 1, sizeof *l->rows);
    return l->states && l->delta_states && l->rows ? 0 : -ENOMEM;
}

/* now - before: true; or false and zeros, where it can't be read now. */
static bool subtract(const struct rk_value *now, const struct rk_value *before, struct rk_value *ret)
{
    bool on = now->running >= before->running && now->enabled >= before->enabled;

    *ret = on ? (struct rk_value){now->value > before->value ? now->value - before->value : 0,
                                  now->enabled - before->enabled, now->running - before->running}
              : (struct rk_value){0};
    return on;
}

/* The state of a difference of two readings, the later one's being `state`. */
static uint32_t state_between(uint32_t state, const struct rk_value *delta)
{
    if (state <= RK_STATE_IDLE)
        return state;
    return delta->running ? RK_STATE_COUNTED : delta->enabled ? RK_STATE_STARVED : RK_STATE_IDLE;
}

/* What counts already has counted something by now: the run begins here. */
static int take_base(struct loop *l)
{
    size_t n = l->m->n_values;

    l->base = calloc(n ? n : 1, sizeof *l->base);
    int rc = l->base ? measured_read(l->m, l->base, l->states) : -ENOMEM;
    if (rc == 0)
        memcpy(l->before, l->base, n * sizeof *l->base);
    l->since_ns = clock_ns();
    return rc;
}

/* All that has been counted, into `now`. */
static int read_now(struct loop *l)
{
    int rc = follow(l);

    return rc == 0 ? measured_read(l->m, l->now, l->states) : rc;
}

/* What was counted since the last time that this was told. */
static void tell_interval(struct loop *l)
{
    uint64_t time_ns = clock_ns() - l->start_ns, so_far = covered(l);

    for (size_t i = 0; i < l->m->n_values; i++) {
        if (subtract(&l->now[i], &l->before[i], &l->delta[i]))
            l->before[i] = l->now[i];
        l->delta_states[i] = state_between(l->states[i], &l->delta[i]);
    }
    measured_rows(l->m, l->delta, l->delta_states, l->rows);
    struct rk_counts counts = {.size = sizeof counts,
                               .flags = l->told > 0 || l->o->no_header ? RK_COUNTS_NO_HEADER : 0,
                               .rows = l->rows,
                               .n = l->m->n_rows,
                               .wall_ns = so_far - l->told_ns,
                               .time_ns = time_ns ? time_ns : 1,
                               .by = l->o->by,
                               .separator = l->o->separator,
                               .cgroup = l->o->by == RK_BY_CGROUP ? NULL : l->o->cgroups};
    l->told_ns = so_far;
    l->told++;
    stat_write(l->o, &counts, NULL);             /* what can't be written is said, and goes on to stderr */
    l->stop |= l->o->to->gone && !l->m->command; /* nobody wants more, and nothing else would end it */
}

static int obey(struct loop *l)
{
    enum control_word word;
    int rc = 0;

    while ((word = control_next(l->control)) != CONTROL_NONE) {
        switch (word) {
        case CONTROL_ENABLE:
            enable(l);
            break;
        case CONTROL_DISABLE:
            disable(l);
            break;
        case CONTROL_SNAPSHOT:
            if ((rc = read_now(l)) == 0)
                tell_interval(l);
            break;
        case CONTROL_STOP:
            l->stop = true;
            break;
        case CONTROL_UNKNOWN:
            control_unknown(l->control, "stat");
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

/* The command has had the first interrupt from the terminal. It may want more than one. */
static void handle_signals(struct loop *l)
{
    int n = run_interrupts();

    run_fd_drain();
    if (run_signals() == 0)
        return;
    l->interrupted = true;
    if (!l->m->command) {
        l->stop = true;
        return;
    }
    if (n > 1 && n > l->interrupts)
        kill(rk_target_pid(l->m->command), n == 2 ? SIGTERM : SIGKILL);
    l->interrupts = n;
}

static void look_for_ends(struct loop *l)
{
    for (size_t i = ENDS; i < l->n_fds; i++) {
        struct pollfd *p = &l->fds[i];
        struct rk_target *target = l->m->command ? l->m->command : l->m->parts[i - ENDS].target;
        bool ended = p->fd >= 0       ? p->revents != 0
                     : p->events == 0 ? false /* seen before */
                                      : rk_target_wait(target, 0, NULL) != 0;
        if (!ended)
            continue;
        p->fd = -1;
        p->events = 0;
        l->n_alive--;
        l->stop |= l->n_alive == 0;
    }
}

static bool expired(struct loop *l, int which)
{
    uint64_t times;

    return l->fds[which].fd >= 0 && l->fds[which].revents &&
           read(l->fds[which].fd, &times, sizeof times) == (ssize_t)sizeof times;
}

static int loop_step(struct loop *l)
{
    bool all = l->o->all || (l->o->cgroups && !l->o->cpus); /* CPUs that come are measured, too */
    int rc = 0, n = poll(l->fds, l->n_fds, l->tick ? TICK_MS : all ? FOLLOW_MS : -1);

    if (n < 0 && errno != EINTR)
        return -errno;
    if (n < 0)
        for (size_t i = 0; i < l->n_fds; i++)
            l->fds[i].revents = 0;
    handle_signals(l);
    look_for_ends(l);
    if (expired(l, DELAY))
        enable(l);
    if (l->fds[CONTROL].fd >= 0 && l->fds[CONTROL].revents)
        rc = obey(l);
    if (expired(l, TIMEOUT))
        l->stop = true;
    if (rc == 0 && all && clock_ns() - l->followed_ns >= FOLLOW_MS * MS)
        rc = follow(l);
    if (rc == 0 && !l->stop && expired(l, INTERVAL) && covered(l) > l->told_ns) { /* else it was off */
        if ((rc = read_now(l)) == 0)
            tell_interval(l);
        l->stop |= l->o->interval_count && l->told >= l->o->interval_count;
    }
    return rc;
}

/* What it does until it has ended is not counted. */
static void end_command(struct loop *l, struct stat_run *ret)
{
    int rc = run_end("stat", l->m->command, l->o->command[0], &ret->exit);

    ret->has_exit = rc == 1;
    ret->left_running = rc == 0;
}

static int cannot(const char *what, int why)
{
    fprintf(stderr, "reckon stat: %s: %s\n", what, strerror(why));
    return STATUS_FAILED;
}

static int start(struct loop *l)
{
    struct rk_error e = {.size = sizeof e};
    int rc;

    run_shield(l->m->command ? rk_target_pid(l->m->command) : 0);
    if (!l->m->command)
        run_want_interrupt();
    l->fds[SIGNALS].fd = run_fd();
    l->tick |= run_fd() < 0;
    l->start_ns = l->followed_ns = clock_ns();
    if (set_timers(l) < 0)
        return cannot("no timer", errno);
    if (l->m->counts_already && (rc = take_base(l)) < 0)
        return cannot("reading the counters failed", -rc);
    if (l->o->delay_ms == 0 && !l->m->started)
        enable(l);
    if (l->o->runs == 1) /* the next run's command has all of them */
        privilege_measure();
    if (l->m->command && rk_target_start(l->m->command, &e) < 0)
        return run_failed("stat", &e);
    if (l->m->started)
        l->since_ns = l->start_ns;
    return 0;
}

/* What counted already goes on: the last reading is the end. */
static int end(struct loop *l, struct stat_run *ret)
{
    bool ended = l->m->started && l->m->command && rk_target_wait(l->m->command, 0, &ret->exit) == 1;

    if (!ended && !l->m->counts_already)
        disable(l);
    int rc = read_now(l);
    uint64_t wall_ns = covered(l);
    bool totals = l->o->format == STAT_TEXT || l->o->format == STAT_JSON; /* which follow */
    if (rc == 0 && (l->told || !totals) && l->o->interval_ms &&
        !(l->o->interval_count && l->told >= l->o->interval_count))
        tell_interval(l); /* the last one is shorter */
    if (l->m->command)
        end_command(l, ret);
    if (rc < 0)
        return rc;
    ret->wall_ns = l->m->started && ret->has_exit && l->since_ns ? ret->exit.wall_ns : wall_ns;
    ret->interrupted = l->interrupted;
    for (size_t i = 0; l->base && i < l->m->n_values; i++) {
        subtract(&l->now[i], &l->base[i], &l->now[i]);
        l->states[i] = state_between(l->states[i], &l->now[i]);
    }
    ret->values = l->now;
    ret->states = l->states;
    l->now = NULL;
    l->states = NULL;
    return rc;
}

int stat_run(const struct stat_options *o, struct measured *m, struct control *control, struct stat_run *ret)
{
    struct loop l = {.o = o, .m = m, .control = control};

    *ret = (struct stat_run){.exit = {.size = sizeof ret->exit}};
    int status = loop_make(&l) < 0 ? cannot("waiting", ENOMEM) : start(&l);
    if (status == 0) {
        int rc = 0;
        while (!l.stop && (rc = loop_step(&l)) == 0)
            ;
        int at_end = end(&l, ret);
        if (rc < 0 || at_end < 0)
            status = cannot("reading the counters failed", rc < 0 ? -rc : -at_end);
    }
    loop_free(&l);
    return status;
}

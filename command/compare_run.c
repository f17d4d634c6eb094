/*
 * One run. The command stays in reckon's process group, so that Ctrl-C reaches it and it may use the terminal; the
 * run that was interrupted does not count. Whatever fails after the start, the command is ended and waited for.
 *
 * What it writes is discarded, but the end of its stderr is kept in a file in memory until it is known to have
 * succeeded. A pipe would wake reckon at each write, on the CPU that is being measured.
 */
#include "command.h"
#include "compare.h"
#include "handles.h"
#include "print.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TAIL 2000             /* bytes of stderr that are shown */
#define ERRORS_MOST (1 << 24) /* bytes of it that are kept while the command runs */

struct streams {
    int in, null;
};

static void streams_close(struct streams *s)
{
    if (s->in >= 0)
        close(s->in);
    if (s->null >= 0)
        close(s->null);
}

static int streams_open(const struct compare *c, bool input, struct streams *s)
{
    const char *path = input && c->input ? c->input : "/dev/null";

    if ((s->in = open(path, O_RDONLY | O_CLOEXEC)) >= 0)
        s->null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (s->in >= 0 && s->null >= 0 && ftruncate(c->errors, 0) == 0)
        return 0;
    fprintf(stderr, "reckon compare: %s: %s\n",
            s->in < 0     ? path
            : s->null < 0 ? "/dev/null"
                          : "the file in memory for stderr",
            strerror(errno));
    return STATUS_FAILED;
}

/* The last lines of what the command said, indented. */
static void print_tail(const struct compare *c)
{
    char text[TAIL + 1], shown[TAIL * 4 + 8];
    struct stat st;

    if (c->show_output || fstat(c->errors, &st) < 0 || st.st_size == 0)
        return;
    off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
    ssize_t n = pread(c->errors, text, TAIL, from);
    if (n <= 0)
        return;
    text[n] = '\0';
    char *line = text;
    if (from > 0 && strchr(line, '\n')) /* not from the middle of a line */
        line = strchr(line, '\n') + 1;
    for (char *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        fprintf(stderr, "  %s\n", print_safe(line, shown, sizeof shown));
    }
}

static void end_command(struct rk_target *target)
{
    struct rk_exit end = {.size = sizeof end};
    int rc;

    kill(rk_target_pid(target), SIGKILL);
    do
        rc = rk_target_wait(target, -1, &end);
    while (rc == 0 || rc == -EINTR);
}

/* Waits for the end; what is written to stderr meanwhile stays small. */
static int await(struct compare *c, struct rk_target *target, const char *name, struct rk_exit *end)
{
    struct stat st;
    int rc;

    while ((rc = rk_target_wait(target, c->show_output ? -1 : 1000, end)) == 0 || rc == -EINTR)
        if (fstat(c->errors, &st) == 0 && st.st_size > ERRORS_MOST && ftruncate(c->errors, 0) < 0)
            break;
    if (rc == 1)
        return 0;
    fprintf(stderr, "reckon compare: waiting for %s failed: %s\n", name, strerror(rc < 0 ? -rc : errno));
    end_command(target);
    return STATUS_FAILED;
}

/* Runs it with what is counted on it already. Signals that come meanwhile are counted by run.c. */
static int start_and_wait(struct compare *c, struct rk_target *target, const char *name, struct rk_exit *end)
{
    struct rk_error e = {.size = sizeof e};

    run_shield(rk_target_pid(target));
    int rc = rk_target_start(target, &e) < 0 ? run_failed("compare", &e) : await(c, target, name, end);
    run_shield(0); /* the id may soon be another's */
    return rc;
}

static int make_target(struct compare *c, char **words, const struct streams *s, struct rk_target **ret)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_command_options options = {
        .size = sizeof options,
        .flags = RK_COMMAND_STD_FDS,
        .in = s->in,
        .out = c->show_output ? STDERR_FILENO : s->null, /* stdout has the results alone */
        .err = c->show_output ? STDERR_FILENO : c->errors,
    };
    return rk_target_command(words, &options, ret, &e) < 0 ? run_failed("compare", &e) : 0;
}

static int failed(const struct compare *c, const char *what, const char *text, const struct rk_exit *end)
{
    char shown[300];

    print_safe(text, shown, sizeof shown);
    if (end->signal)
        fprintf(stderr, "reckon compare: %s%s: ended by signal %d (%s)\n", what, shown, end->signal,
                strsignal(end->signal));
    else
        fprintf(stderr, "reckon compare: %s%s: exit status %d\n", what, shown, end->status);
    print_tail(c);
    if (!what[0])
        fputs("  fix: --ignore-failure counts such runs all the same\n", stderr);
    return end->status;
}

int compare_hook(struct compare *c, char **words, const char *what, const struct subject *subject)
{
    __attribute__((cleanup(streams_close))) struct streams streams = {-1, -1};
    handle_target struct rk_target *target = NULL;
    struct rk_exit end = {.size = sizeof end};
    char name[32];
    int before = run_signals();

    int rc = streams_open(c, false, &streams);
    if (rc == 0)
        rc = make_target(c, words, &streams, &target);
    if (rc == 0)
        rc = start_and_wait(c, target, words[0], &end);
    if (rc)
        return rc;
    if (run_signals() != before)
        return COMPARE_STOPPED;
    if (end.status == 0)
        return 0;
    snprintf(name, sizeof name, "%s of ", what);
    return failed(c, name, subject->name, &end);
}

/* ---- counting ---- */

static void remember_note(struct compare *c, const char *what)
{
    for (size_t i = 0; i < c->note_n; i++)
        if (strcmp(c->notes[i], what) == 0)
            return;
    char **more = realloc(c->notes, (c->note_n + 1) * sizeof *more);
    if (!more)
        return;
    c->notes = more;
    if ((c->notes[c->note_n] = strdup(what)))
        c->note_n++;
}

static void remember_reason(struct quantity *q, const struct rk_error *e)
{
    if (q->reason)
        return;
    /* Its own name in front of the message is said already. */
    size_t n = strlen(q->name);
    bool own = strncmp(e->what, q->name, n) == 0 && strncmp(e->what + n, ": ", 2) == 0;
    q->reason = strdup(e->what + (own ? n + 2 : 0));
    if (q->reason && !q->remedy) /* a reason that can't be kept now is asked for again in the next run */
        q->remedy = strdup(e->remedy);
}

/* Opens the events on the command that waits. What can't be opened at all is a reason, not an end. */
static int open_set(struct compare *c, const struct rk_target *target, struct rk_set **ret)
{
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_KEEP};
    struct rk_error e = {.size = sizeof e};

    if (c->no_events || c->quantity_n == EVENTS)
        return 0;
    if (rk_set_open(c->host, c->event_list, target, &options, ret, &e) == 0) {
        for (size_t i = 0; i < rk_set_note_count(*ret); i++) {
            struct rk_note note = {.size = sizeof note};
            if (rk_set_note_get(*ret, i, &note) == 0 && !note.absent)
                remember_note(c, note.what);
        }
        return 0;
    }
    if (e.cause == RK_CAUSE_MEMORY || e.cause == RK_CAUSE_DESCRIPTORS || e.cause == RK_CAUSE_NO_PROCESS ||
        e.cause == RK_CAUSE_ARGUMENT)
        return print_error("compare", &e);
    for (size_t i = EVENTS; i < c->quantity_n; i++)
        remember_reason(&c->quantities[i], &e);
    c->no_events = true;
    return 0;
}

static int take_counts(struct compare *c, struct rk_set *set, double *values)
{
    size_t n = c->quantity_n - EVENTS;
    struct rk_value *counts = calloc(n + 1, sizeof *counts);
    uint32_t *states = calloc(n + 1, sizeof *states);
    int rc = counts && states ? rk_set_total(set, counts, states, n) : -ENOMEM;

    for (size_t i = 0; i < n && rc >= 0; i++) {
        struct quantity *q = &c->quantities[EVENTS + i];
        struct rk_error e = {.size = sizeof e};
        values[EVENTS + i] =
            states[i] == RK_STATE_IDLE ? 0 : rk_value_scale(&counts[i], NULL, NULL) * q->scale;
        if (states[i] >= RK_STATE_IDLE || q->reason)
            continue;
        if (rk_set_explain(set, SIZE_MAX, i, &e) < 0)
            snprintf(e.what, sizeof e.what, "it was enabled and never ran");
        remember_reason(q, &e);
    }
    free(counts);
    free(states);
    if (rc >= 0)
        return 0;
    fprintf(stderr, "reckon compare: reading the counters failed: %s\n", strerror(-rc));
    return STATUS_FAILED;
}

int compare_run(struct compare *c, struct subject *subject, struct run *ret)
{
    __attribute__((cleanup(streams_close))) struct streams streams = {-1, -1};
    handle_target struct rk_target *target = NULL;
    handle_set struct rk_set *set = NULL;
    struct rk_exit end = {.size = sizeof end};
    int before = run_signals();

    int rc = streams_open(c, true, &streams);
    if (rc == 0)
        rc = make_target(c, subject->words, &streams, &target);
    if (rc == 0)
        rc = open_set(c, target, &set);
    if (rc == 0)
        rc = start_and_wait(c, target, subject->words[0], &end);
    if (rc)
        return rc;
    if (run_signals() != before)
        return COMPARE_STOPPED;
    ret->values[WALL] = (double)end.wall_ns;
    ret->values[USER] = (double)end.user_ns;
    ret->values[SYSTEM] = (double)end.system_ns;
    ret->values[MEMORY] = (double)end.peak_rss;
    for (size_t i = EVENTS; i < c->quantity_n; i++)
        ret->values[i] = NAN;
    ret->status = end.status;
    ret->signal = end.signal;
    if (set && (rc = take_counts(c, set, ret->values)))
        return rc;
    return end.status && !c->ignore_failure ? failed(c, "", subject->name, &end) : 0;
}

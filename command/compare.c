/*
 * reckon compare: run commands again and again in random order, and say whether they differ.
 *
 * options → parameters → subjects (words split, hooks) → rounds → figures → one of four writers.
 */
#include "compare.h"

#include "command.h"
#include "options.h"
#include "print.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void compare_free(struct compare *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct subject *s = &c->subjects[i];
        for (size_t k = 0; k < s->n; k++)
            free(s->runs[k].values);
        free(s->runs);
        free(s->figures);
        free(s->name);
        free(s->text);
        free(s->words);
        free(s->setup);
        free(s->prepare);
        free(s->cleanup);
    }
    free(c->subjects);
    for (size_t i = 0; i < c->quantity_n; i++) {
        free(c->quantities[i].name);
        free(c->quantities[i].unit);
        free(c->quantities[i].reason);
        free(c->quantities[i].remedy);
    }
    free(c->quantities);
    for (size_t i = 0; i < c->note_n; i++)
        free(c->notes[i]);
    free(c->notes);
    for (size_t i = 0; i < c->parameter_n; i++)
        parameter_free(&c->parameters[i]);
    free(c->parameters);
    rk_events_free(c->event_list);
    rk_host_free(c->host);
    if (c->errors >= 0)
        close(c->errors);
}

static int no_memory(void)
{
    fputs("reckon compare: out of memory\n", stderr);
    return STATUS_FAILED;
}

/* ---- quantities ---- */

static enum kind kind_of(const struct rk_event *event)
{
    if (strcmp(event->unit, "ns") == 0)
        return KIND_TIME;
    return event->scale != 1.0 || event->unit[0] ? KIND_OTHER : KIND_COUNT;
}

static int make_quantities(struct compare *c)
{
    static const struct {
        const char *name, *word, *unit;
        enum kind kind;
    } always[EVENTS] = {
        [WALL] = {"wall time", "wall", "ns", KIND_TIME},
        [USER] = {"user time", "user", "ns", KIND_TIME},
        [SYSTEM] = {"system time", "system", "ns", KIND_TIME},
        [MEMORY] = {"peak memory", "peak_rss", "bytes", KIND_BYTES},
    };
    struct rk_error e = {.size = sizeof e};

    if (rk_host_open(NULL, &c->host, &e) < 0)
        return print_error("compare", &e);
    if (rk_events_parse_keep(c->host, c->events, &c->event_list, &e) < 0)
        return print_event_error("compare", c->events, &e);
    size_t n = EVENTS + rk_events_count(c->event_list);
    if (!(c->quantities = calloc(n, sizeof *c->quantities)))
        return no_memory();
    for (c->quantity_n = 0; c->quantity_n < n;) {
        size_t i = c->quantity_n++;
        struct quantity *q = &c->quantities[i];
        struct rk_event event = {.size = sizeof event};
        if (i >= EVENTS)
            rk_events_get(c->event_list, i - EVENTS, &event);
        q->name = strdup(i < EVENTS ? always[i].name : event.name);
        q->unit = strdup(i < EVENTS ? always[i].unit : event.unit);
        q->word = i < EVENTS ? always[i].word : q->name;
        q->kind = i < EVENTS ? always[i].kind : kind_of(&event);
        q->scale = i < EVENTS ? 1 : event.scale;
        if (!q->name || !q->unit)
            return no_memory();
    }
    return 0;
}

/* ---- flow ---- */

static int show(struct compare *c)
{
    static int (*const writers[])(const struct compare *, FILE *) = {
        [FORMAT_TABLE] = compare_table,
        [FORMAT_JSON] = compare_json,
        [FORMAT_CSV] = compare_csv,
        [FORMAT_MARKDOWN] = compare_markdown,
    };
    if (compare_figures(c) < 0 || writers[c->format](c, stdout) < 0)
        return no_memory();
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "reckon compare: stdout: %s\n", strerror(errno));
    return STATUS_FAILED;
}

/* Of the command that has the fewest, or the most. */
static size_t runs_of(const struct compare *c, bool most)
{
    size_t runs = c->subjects[0].n;

    for (size_t i = 1; i < c->n; i++)
        if (most ? c->subjects[i].n > runs : c->subjects[i].n < runs)
            runs = c->subjects[i].n;
    return runs;
}

static int measure(struct compare *c)
{
    c->errors = memfd_create("stderr", MFD_CLOEXEC);
    if (c->errors < 0 || fcntl(c->errors, F_SETFL, O_APPEND) < 0) {
        fprintf(stderr, "reckon compare: no file in memory: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    int rc = compare_rounds(c);
    if (rc > 0) { /* what there is by then is not lost, once there is something of each */
        c->failed = true;
        if (runs_of(c, false) > 0)
            show(c);
        return rc;
    }
    if (runs_of(c, true) == 0) {
        fputs("reckon compare: interrupted before the first run was finished\n", stderr);
        return 128 + run_last_signal();
    }
    rc = show(c);
    return rc == 0 && c->stopped ? 128 + run_last_signal() : rc;
}

int verb_compare(int argc, char **argv)
{
    struct options o;
    __attribute__((cleanup(asked_free))) struct asked a = {0};
    __attribute__((cleanup(compare_free))) struct compare c = {.errors = -1};

    int rc = compare_options(argc, argv, &o, &a, &c);
    if (rc)
        return rc == COMPARE_HELPED ? 0 : rc;
    rc = compare_subjects(&c, &a, &o);
    if (rc == 0)
        rc = make_quantities(&c);
    return rc ? rc : measure(&c);
}

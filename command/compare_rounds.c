/*
 * Rounds: in each, every command runs once, in an order drawn anew. What changes slowly on the machine (clock speed,
 * temperature, caches, a neighbour) thus meets all commands alike, and no command always runs behind the same other.
 * When to stop is decided by the number of runs or the clock, never by what was measured.
 */
#include "command.h"
#include "compare.h"
#include "print.h"
#include "run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST_ROUNDS 10000 /* where only the time ends it */

struct rounds {
    struct compare *c;
    size_t *order;
    double *discard; /* values of a warm-up run */
    uint64_t random, begin_ns, shown_ns;
    uint64_t done; /* measured runs */
    bool progress;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void shuffle(struct rounds *r)
{
    for (size_t i = r->c->n; i > 1; i--) {
        size_t j = (size_t)(next_random(&r->random) % i), keep = r->order[i - 1]; /* bias below i / 2⁶⁴ */
        r->order[i - 1] = r->order[j];
        r->order[j] = keep;
    }
}

/* ---- progress ---- */

static void print_left(double seconds)
{
    if (seconds >= 5400)
        fprintf(stderr, ", about %.1f h left", seconds / 3600);
    else if (seconds >= 90)
        fprintf(stderr, ", about %.0f min left", seconds / 60);
    else
        fprintf(stderr, ", about %.0f s left", ceil(seconds));
}

/* Before a run; at most ten times a second. */
static void show_progress(struct rounds *r, const struct subject *subject)
{
    const struct compare *c = r->c;
    uint64_t now = now_ns(), done = r->done, elapsed = now - r->begin_ns;
    char name[60];

    if (!r->progress || now - r->shown_ns < 100000000)
        return;
    r->shown_ns = now;
    fprintf(stderr, "\r\033[K  run %" PRIu64, done + 1);
    if (c->runs)
        fprintf(stderr, " of %" PRIu64, c->runs * c->n);
    fprintf(stderr, ": %s", print_safe(subject->name, name, sizeof name));
    if (done > 0) {
        double each = (double)elapsed / (double)done,
               all = (double)((c->runs ? c->runs : c->least_runs) * c->n);
        double left = (all - (double)done) * each;
        double until = c->runs ? 0 : (double)(c->time_ns * c->n) - (double)elapsed;
        print_left(fmax(fmax(left, until), 0) / 1e9);
    }
}

static void clear_progress(const struct rounds *r)
{
    if (r->progress)
        fputs("\r\033[K", stderr);
}

/* ---- runs ---- */

static int no_memory(void)
{
    fputs("reckon compare: out of memory\n", stderr);
    return STATUS_FAILED;
}

static struct run *new_run(const struct compare *c, struct subject *s)
{
    if (s->n == s->room) {
        size_t room = s->room ? s->room * 2 : 16;
        struct run *more = realloc(s->runs, room * sizeof *more);
        if (!more)
            return NULL;
        s->runs = more;
        s->room = room;
    }
    s->runs[s->n] = (struct run){.values = calloc(c->quantity_n, sizeof(double))};
    return s->runs[s->n].values ? &s->runs[s->n] : NULL;
}

static int one(struct rounds *r, struct subject *s, bool measured, uint32_t round)
{
    struct run warm = {.values = r->discard}, *run = &warm;
    int rc = 0;

    if (run_signals())
        return COMPARE_STOPPED;
    if (measured && !(run = new_run(r->c, s)))
        return no_memory();
    show_progress(r, s);
    if (s->prepare)
        rc = compare_hook(r->c, s->prepare, "prepare", s);
    if (rc == 0)
        rc = compare_run(r->c, s, run);
    if (rc) {
        clear_progress(r);
        if (measured)
            free(run->values); /* it is not counted among the runs */
        return rc;
    }
    if (!measured)
        return 0;
    run->round = round;
    run->place = (uint32_t)r->done++;
    s->failures += run->status != 0;
    s->n++;
    return 0;
}

static int round_of(struct rounds *r, bool measured, uint32_t round)
{
    int rc = 0;

    shuffle(r);
    for (size_t i = 0; i < r->c->n && rc == 0; i++)
        rc = one(r, &r->c->subjects[r->order[i]], measured, round);
    return rc;
}

static bool enough(const struct rounds *r, uint64_t rounds)
{
    const struct compare *c = r->c;

    if (c->runs)
        return rounds >= c->runs;
    return rounds >= MOST_ROUNDS || (rounds >= c->least_runs && now_ns() - r->begin_ns >= c->time_ns * c->n);
}

static int all(struct rounds *r)
{
    struct compare *c = r->c;
    int rc = 0;

    for (size_t i = 0; i < c->n && rc == 0; i++) {
        struct subject *s = &c->subjects[i];
        if (run_signals())
            return COMPARE_STOPPED;
        s->is_set_up = true;
        if (s->setup)
            rc = compare_hook(c, s->setup, "setup", s);
    }
    r->begin_ns = now_ns();
    for (uint64_t i = 0; i < c->warmup && rc == 0; i++)
        rc = round_of(r, false, 0);
    r->begin_ns = now_ns();
    for (uint32_t i = 0; rc == 0 && !enough(r, i); i++)
        rc = round_of(r, true, i);
    return rc;
}

int compare_rounds(struct compare *c)
{
    struct rounds r = {
        .c = c,
        .order = calloc(c->n, sizeof *r.order),
        .discard = calloc(c->quantity_n, sizeof *r.discard),
        .random = c->seed,
        .progress = print_cursor(stderr) && !c->show_output,
    };
    int rc = r.order && r.discard ? 0 : no_memory();

    for (size_t i = 0; i < c->n && rc == 0; i++)
        r.order[i] = i;
    run_shield(0);
    if (rc == 0)
        rc = all(&r);
    clear_progress(&r);
    c->stopped = rc == COMPARE_STOPPED;
    for (size_t i = 0; i < c->n; i++) { /* what was set up is cleaned up, whatever happened */
        struct subject *s = &c->subjects[i];
        int cleaned = s->is_set_up && s->cleanup ? compare_hook(c, s->cleanup, "cleanup", s) : 0;
        if (cleaned > 0 && rc == 0)
            rc = cleaned;
    }
    free(r.order);
    free(r.discard);
    return rc;
}

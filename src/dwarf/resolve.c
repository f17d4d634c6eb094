#include "dwarf/resolve.h"

#include "base/unset.h"
#include "dwarf/line.h"
#include "dwarf/name.h"
#include "dwarf/split.h"

#include <errno.h>
#include <signal.h>

enum { THREADS_MAX = 64, PATH_BYTES = 8192, CHAIN_MAX = 256 };

/* The questions of one unit. */
struct job {
    uint64_t unit;
    uint64_t split; /* the same for skeletons of one .dwo; 0: the unit is none */
    uint32_t first, n;
};

struct batch {
    struct dwarf *dwarf;
    struct question *questions; /* by job */
    VECTOR(struct job) jobs;
    atomic_size_t next; /* job */
    atomic_int failed;  /* -ENOMEM */
};

struct worker {
    pthread_t thread; /* of all but the first, which the caller runs */
    struct batch *batch;
    struct found *found;
    struct walk walk;
    struct lines lines;
    struct names names;
    struct splits splits;
    struct table files; /* of the unit at hand: number → text's number */
};

/* A path of the unit's line program, each looked at once. TEXT_NONE, a number, or -ENOMEM. */
static int64_t file_text(struct worker *w, const struct unit *unit, uint32_t file)
{
    UNSET char path[PATH_BYTES];
    uint32_t known = table_get(&w->files, file);

    if (known != TABLE_NONE)
        return known == TABLE_NONE - 1 ? TEXT_NONE : known;
    size_t n = line_path(&w->lines, unit, file, path, sizeof path);
    int64_t text = n ? intern_add(&w->found->texts, path, n) : TABLE_NONE - 1;
    if (text < 0 || table_put(&w->files, file, (uint32_t)text) < 0)
        return -ENOMEM;
    return n ? text : TEXT_NONE;
}

/* Where a frame is: a line of the line table, or the line of a call. */
struct spot {
    uint32_t file, line, column;
    bool placed;
};

static int add_frame(struct worker *w, const struct unit *lines_of, const struct about *about,
                     const struct spot *spot)
{
    int64_t path = spot->placed ? file_text(w, lines_of, spot->file) : TEXT_NONE;
    int64_t declared = about->file == FILE_NONE ? TEXT_NONE : file_text(w, lines_of, about->file);

    if (path < 0 || declared < 0)
        return -ENOMEM;
    struct line_frame *frame = vector_push(&w->found->frames);
    if (!frame)
        return -ENOMEM;
    *frame = (struct line_frame){about->name,  (uint32_t)path,     spot->line,
                                 spot->column, (uint32_t)declared, about->line};
    return 0;
}

/* From the innermost node out: each is at the line where the one inside it was called. */
static int add_answer(struct worker *w, const struct unit *unit, const struct unit *lines_of,
                      const struct question *q)
{
    struct about about = {.name = NAME_NONE, .file = FILE_NONE};
    struct spot spot = {q->file, q->line, q->column, q->answered};
    uint32_t first = (uint32_t)w->found->frames.n;
    int rc = 0;

    if (q->node == NODE_NONE && !spot.placed)
        return 0;
    if (q->node == NODE_NONE)
        rc = add_frame(w, lines_of, &about, &spot);
    for (uint32_t i = q->node, depth = 0; rc == 0 && i != NODE_NONE; depth++) {
        const struct node *node = &w->walk.nodes.items[i];
        if (depth == CHAIN_MAX - 1 && node->parent != NODE_NONE) { /* those between are left out */
            const struct node *top = &w->walk.nodes.items[node->top];
            spot = (struct spot){top->file, top->line, top->column, spot.placed};
            node = &w->walk.nodes.items[top->parent];
        }
        rc = die_about(&w->names, &w->walk, unit, node->die, &about);
        if (rc == 0)
            rc = add_frame(w, lines_of, &about, &spot);
        spot = (struct spot){node->file, node->line, node->column, true};
        i = node->parent;
    }
    struct found_answer *answer = rc == 0 ? vector_push(&w->found->answers) : NULL;
    if (!answer)
        return -ENOMEM;
    *answer = (struct found_answer){q->number, first, (uint32_t)w->found->frames.n - first};
    return 0;
}

/* A file that goes leaves nothing behind. */
static void forget_split(struct worker *w)
{
    w->walk.abbrevs.file = NULL;
    w->names.file = NULL;
    for (unsigned i = 0; i < 4; i++)
        w->names.foreign[i].unit.file = NULL;
}

static int do_job(struct worker *w, const struct job *job)
{
    struct dwarf *dwarf = w->batch->dwarf;
    struct question *questions = w->batch->questions + job->first;
    struct unit unit, skeleton;
    uint64_t end;

    if (unit_read(dwarf, job->unit, &unit, &end) < 0)
        return 0;
    skeleton = unit;
    if (unit.split && splits_changes(&w->splits, &skeleton))
        forget_split(w);
    int rc = unit.split ? splits_find(&w->splits, dwarf, &skeleton, &unit) : 0;
    if (rc < 0)
        return rc;
    table_free(&w->files);
    rc = walk_unit(&w->walk, &unit, questions, job->n);
    if (rc != -ENOMEM)
        rc = line_answer(&w->lines, &skeleton, questions, job->n);
    if (rc != -ENOMEM) /* what is damaged is passed over: the rest is answered */
        rc = 0;
    for (uint32_t i = 0; rc == 0 && i < job->n; i++)
        rc = add_answer(w, &unit, &skeleton, &questions[i]);
    return rc;
}

static void *work(void *context)
{
    struct worker *w = context;
    struct batch *batch = w->batch;

    w->names.texts = &w->found->texts;
    for (;;) {
        size_t i = atomic_fetch_add_explicit(&batch->next, 1, memory_order_relaxed);
        if (i >= batch->jobs.n || atomic_load_explicit(&batch->failed, memory_order_relaxed))
            break;
        int rc = do_job(w, &batch->jobs.items[i]);
        if (rc < 0)
            atomic_store_explicit(&batch->failed, rc, memory_order_relaxed);
    }
    walk_free(&w->walk);
    lines_free(&w->lines);
    names_free(&w->names);
    splits_free(&w->splits);
    table_free(&w->files);
    return NULL;
}

/* A job for each unit, in the order of their first addresses. */
struct deal {
    struct table units; /* offset → job */
    uint32_t *job_of;   /* by address; UINT32_MAX: nobody's */
};

static int deal_out(struct batch *batch, struct deal *deal, const uint64_t *addresses, size_t n,
                    size_t *ret_missed)
{
    const struct units *units = &batch->dwarf->units;
    uint64_t end = 0;
    uint32_t job = UINT32_MAX;

    *ret_missed = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || addresses[i] >= end) {
            uint64_t unit = units_find(units, addresses[i], &end);
            job = UINT32_MAX;
            if (unit != UINT64_MAX) {
                job = table_get(&deal->units, unit);
                if (job == TABLE_NONE) {
                    struct job *made = vector_push(&batch->jobs);
                    if (!made)
                        return -ENOMEM;
                    made->unit = unit;
                    job = (uint32_t)batch->jobs.n - 1;
                    if (table_put(&deal->units, unit, job) < 0)
                        return -ENOMEM;
                }
            }
        }
        deal->job_of[i] = job;
        if (job == UINT32_MAX)
            ++*ret_missed;
        else
            batch->jobs.items[job].n++;
    }
    return 0;
}

/* Questions, job by job, each job's rising. */
static void scatter(struct batch *batch, const struct deal *deal, const uint64_t *addresses, size_t n)
{
    uint32_t at = 0;

    for (size_t i = 0; i < batch->jobs.n; i++) {
        batch->jobs.items[i].first = at;
        at += batch->jobs.items[i].n;
        batch->jobs.items[i].n = 0;
    }
    for (size_t i = 0; i < n; i++) {
        if (deal->job_of[i] == UINT32_MAX)
            continue;
        struct job *job = &batch->jobs.items[deal->job_of[i]];
        batch->questions[job->first + job->n++] =
            (struct question){.address = addresses[i], .number = (uint32_t)i, .node = NODE_NONE};
    }
}

static int by_split(const void *a, const void *b)
{
    const struct job *x = a, *y = b;

    return x->split != y->split ? (x->split > y->split) - (x->split < y->split)
                                : (x->first > y->first) - (x->first < y->first);
}

/* Skeletons of one .dwo beside each other. All of them have .debug_addr, and few other files do. */
static void group_splits(struct batch *batch)
{
    bool any = false;

    if (batch->dwarf->addr.n == 0 || batch->jobs.n < 2)
        return;
    for (size_t i = 0; i < batch->jobs.n; i++) {
        struct job *job = &batch->jobs.items[i];
        job->split = split_key(batch->dwarf, job->unit);
        any = any || job->split;
    }
    if (any)
        qsort(batch->jobs.items, batch->jobs.n, sizeof *batch->jobs.items, by_split);
}

static int make_jobs(struct batch *batch, const uint64_t *addresses, size_t n)
{
    struct deal deal = {0};
    size_t missed;

    batch->questions = reallocarray(NULL, n, sizeof *batch->questions);
    deal.job_of = reallocarray(NULL, n, sizeof *deal.job_of);
    int rc = batch->questions && deal.job_of ? deal_out(batch, &deal, addresses, n, &missed) : -ENOMEM;
    if (rc == 0 && missed &&
        !batch->dwarf->units.all) { /* in units that .debug_aranges does not know, perhaps */
        rc = units_complete(batch->dwarf);
        batch->jobs.n = 0;
        table_free(&deal.units);
        if (rc == 0)
            rc = deal_out(batch, &deal, addresses, n, &missed);
    }
    if (rc == 0) {
        scatter(batch, &deal, addresses, n);
        group_splits(batch);
    }
    table_free(&deal.units);
    free(deal.job_of);
    return rc;
}

/* Threads that take no signals: those are the program's. */
static size_t start_threads(struct worker *workers, size_t n)
{
    sigset_t all, before;
    size_t started = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (started < n &&
           pthread_create(&workers[started + 1].thread, NULL, work, &workers[started + 1]) == 0)
        started++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

int dwarf_resolve(struct dwarf *dwarf, const uint64_t *addresses, size_t n, unsigned n_threads,
                  struct found **ret, size_t *ret_n)
{
    struct batch batch = {.dwarf = dwarf};
    size_t worker_n = 1;

    *ret = NULL;
    *ret_n = 0;
    if (n == 0)
        return 0;
    dwarf_refill(dwarf);
    int rc = make_jobs(&batch, addresses, n);
    if (n_threads > 1 && batch.jobs.n > 1) {
        worker_n = n_threads < THREADS_MAX ? n_threads : THREADS_MAX;
        worker_n = worker_n < batch.jobs.n ? worker_n : batch.jobs.n;
    }
    struct found *found = rc == 0 ? calloc(worker_n, sizeof *found) : NULL;
    struct worker *workers =
        found ? calloc(worker_n, sizeof *workers) : NULL; /* too large for a small stack */
    if (!workers)
        rc = -ENOMEM;
    if (rc == 0) {
        for (size_t i = 0; i < worker_n; i++) {
            workers[i].batch = &batch;
            workers[i].found = &found[i];
        }
        size_t started = start_threads(workers, worker_n - 1);
        work(&workers[0]);
        for (size_t i = 0; i < started; i++)
            pthread_join(workers[i + 1].thread, NULL);
        rc = atomic_load(&batch.failed);
    }
    free(workers);
    vector_free(&batch.jobs);
    free(batch.questions);
    if (rc < 0) {
        found_free(found, found ? worker_n : 0);
        return rc;
    }
    *ret = found;
    *ret_n = worker_n;
    return 0;
}

void found_free(struct found *found, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        intern_free(&found[i].texts);
        vector_free(&found[i].frames);
        vector_free(&found[i].answers);
    }
    free(found);
}

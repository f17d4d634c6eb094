/*
 * All regions of a process: their names, and the threads that have been in one.
 *
 * Locks. `lock` is for names, the list of threads, and opening counters (a host is for one thread at a time); it is never
 * taken by the hot calls. A thread's tree and set belong to who holds `busy`: the thread itself for the length of a
 * begin or end, which gives up rather than wait; or a reporter, who has `lock` too and waits a while. So no thread ever
 * hangs, even where one was cancelled in the middle or a signal handler came in between.
 *
 * In a forked child nothing may be touched: a lock may be held by a thread that is not there.
 */
#ifndef REGION_REGIONS_H
#define REGION_REGIONS_H

#include "base/arena.h"
#include "base/intern.h"
#include "region/tree.h"

#include <pthread.h>
#include <reckon/event.h>
#include <reckon/region.h>
#include <reckon/set.h>
#include <stdbool.h>
#include <unistd.h>

#define REGION_OWNER 1
#define REGION_REPORTER 2
#define REGIONS_ENDED_MAX 1000 /* threads that have ended and are kept apart */

struct rk_region {
    uint32_t number;
};

struct region_thread {
    struct regions *regions;
    struct region_thread *next;
    int32_t id;
    uint32_t busy; /* 0, or in whose hands `tree` and `set` are: REGION_… */
    bool ended;
    struct rk_set *set; /* NULL: it could not be opened, or the thread has ended */
    struct tree tree;
    struct rk_value *now; /* scratch */
    struct rk_error why;  /* where it could not be opened */
};

/* Why an event has no counts, by the first thread that could tell; and what else was noted when opening. */
struct region_event {
    struct rk_event event; /* as first opened; texts are in regions->texts */
    const char *reason, *remedy;
    const char *note; /* counts less than asked; or NULL */
    uint32_t cause;
    bool counted; /* some thread has it */
};

struct regions {
    struct rk_host *host;
    struct rk_events *events;
    uint32_t n_events;
    struct region_event *about;
    bool learned;                   /* … from the first thread that has counters */
    const char *note, *note_remedy; /* about all events; or NULL */

    pthread_mutex_t lock;
    struct arena texts;
    struct intern names;
    VECTOR(struct rk_region *) regions;
    uint64_t nameless;  /* names for which there was no memory */
    uint64_t strangers; /* threads for which there was none */

    struct region_thread *threads; /* the newest first */
    uint32_t n_threads, n_ended;
    struct tree others; /* of ended threads beyond REGIONS_ENDED_MAX … */
    uint32_t n_others;  /* … and how many */

    uint32_t *fork_word;
    pid_t pid;
};

int regions_new(const char *events, struct regions **ret, struct rk_error *e);
struct regions *regions_free(struct regions *regions); /* its threads too: no one may be in a region */

static inline bool regions_forked(const struct regions *regions)
{
    return regions->fork_word ? *regions->fork_word == 0 : getpid() != regions->pid;
}

/* The region of that name, or NULL: no memory. */
struct rk_region *regions_get(struct regions *regions, const char *name);

/* The calling thread: its counters are opened and enabled. NULL: no memory. Where they can't be opened, calls are
 * counted all the same, and the reason is kept. */
struct region_thread *regions_join(struct regions *regions);

/* The thread has ended, or is about to: what is open is ended, its counters are closed. Called by itself. */
void regions_leave(struct region_thread *thread);

/* Takes hold of tree and set for `who`, waiting at most so long: false where another has them. */
bool region_thread_take(struct region_thread *thread, uint32_t who, int wait_ms);
void region_thread_give(struct region_thread *thread);

/* The counters; zeros where they can't be read. */
void region_thread_read(struct region_thread *thread, struct rk_value *ret);

int region_thread_begin(struct region_thread *thread, const struct rk_region *region);
int region_thread_end(struct region_thread *thread, const struct rk_region *region);

/* Writes all of it, "text" or "json": 0 or -errno. Holds `lock`. */
int regions_export(struct regions *regions, const char *format, const struct rk_sink *sink,
                   struct rk_error *e);

#endif

#include "region/regions.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>
#include <string.h>

#define DEFAULT_EVENTS "task-clock,page-faults,cycles,instructions"

CLEANUP_FUNCTION(regions, struct regions, regions_free)

/* Until a thread has opened it, an event is as it was written. */
static int describe(struct regions *regions)
{
    regions->n_events = (uint32_t)rk_events_count(regions->events);
    regions->about = calloc(regions->n_events, sizeof *regions->about);
    if (!regions->about)
        return -ENOMEM;
    for (uint32_t i = 0; i < regions->n_events; i++) {
        regions->about[i].event.size = sizeof(struct rk_event);
        rk_events_get(regions->events, i, &regions->about[i].event);
    }
    return 0;
}

int regions_new(const char *events, struct regions **ret, struct rk_error *e)
{
    _cleanup_(regions_cleanup) struct regions *regions = calloc(1, sizeof *regions);
    int rc;

    if (!regions)
        return fail_memory(e, RK_STAGE_OPEN);
    pthread_mutex_init(&regions->lock, NULL); /* can't fail with default attributes */
    regions->pid = sys_process_id();
    regions->fork_word = sys_fork_word();
    if (strcmp(events, "default") == 0)
        events = DEFAULT_EVENTS;
    if ((rc = rk_host_open(NULL, &regions->host, e)) < 0 ||
        (rc = rk_events_parse(regions->host, events, &regions->events, e)) < 0)
        return rc;
    if (describe(regions) < 0 || tree_init(&regions->others, regions->n_events) < 0)
        return fail_memory(e, RK_STAGE_OPEN);
    *ret = TAKE_PTR(regions);
    return 0;
}

static void free_thread(struct region_thread *thread)
{
    if (!thread)
        return;
    rk_set_free(thread->set);
    tree_free(&thread->tree);
    free(thread->now);
    free(thread);
}

struct regions *regions_free(struct regions *regions)
{
    if (!regions)
        return NULL;
    for (struct region_thread *thread = regions->threads, *next; thread; thread = next) {
        next = thread->next;
        free_thread(thread);
    }
    tree_free(&regions->others);
    vector_free(&regions->regions);
    intern_free(&regions->names);
    arena_free(&regions->texts);
    free(regions->about);
    rk_events_free(regions->events);
    rk_host_free(regions->host);
    sys_fork_word_free(regions->fork_word);
    pthread_mutex_destroy(&regions->lock);
    free(regions);
    return NULL;
}

static struct rk_region *get_locked(struct regions *regions, const char *name)
{
    if (vector_reserve(&regions->regions, 1) < 0)
        return NULL;
    int64_t number = intern_add(&regions->names, name, strlen(name));
    if (number < 0)
        return NULL;
    /* A name whose region could not be made has a number and no region: its turn comes again. */
    while ((size_t)number >= regions->regions.n) {
        struct rk_region *region = arena_alloc(&regions->texts, sizeof *region);
        if (!region || vector_reserve(&regions->regions, 1) < 0)
            return NULL;
        region->number = (uint32_t)regions->regions.n;
        regions->regions.items[regions->regions.n++] = region;
    }
    return regions->regions.items[number];
}

struct rk_region *regions_get(struct regions *regions, const char *name)
{
    pthread_mutex_lock(&regions->lock);
    struct rk_region *region = get_locked(regions, name);
    regions->nameless += region == NULL;
    pthread_mutex_unlock(&regions->lock);
    return region;
}

static const char *keep(struct regions *regions, const char *text)
{
    const char *copy = text && *text ? arena_text(&regions->texts, text, strlen(text)) : "";

    return copy ? copy : "";
}

/* What the first thread's counters tell of the events. */
static void learn(struct regions *regions, const struct rk_set *set)
{
    struct rk_note note = {.size = sizeof note};

    for (uint32_t i = 0; i < regions->n_events; i++)
        regions->about[i].counted = true;
    for (size_t i = 0; rk_set_note_get(set, i, &note) == 0; i++) {
        if (note.event >= regions->n_events) {
            regions->note = keep(regions, note.what);
            regions->note_remedy = keep(regions, note.remedy);
            continue;
        }
        struct region_event *about = &regions->about[note.event];
        about->remedy = keep(regions, note.remedy);
        about->cause = note.cause;
        about->counted = !note.absent;
        *(note.absent ? &about->reason : &about->note) = keep(regions, note.what);
    }
}

static void open_counters(struct regions *regions, struct region_thread *thread)
{
    const struct rk_set_options options = {.size = sizeof options,
                                           .flags = RK_SET_KEEP | RK_SET_NO_INHERIT | RK_SET_ENABLED};
    struct rk_target *target = NULL;

    thread->why.size = sizeof thread->why;
    if (rk_target_self(&target, &thread->why) == 0 &&
        rk_set_open(regions->host, regions->events, target, &options, &thread->set, &thread->why) == 0 &&
        !regions->learned) {
        learn(regions, thread->set);
        regions->learned = true;
    }
    rk_target_free(target);
}

struct region_thread *regions_join(struct regions *regions)
{
    struct region_thread *thread = calloc(1, sizeof *thread);
    bool made = thread && tree_init(&thread->tree, regions->n_events) == 0 &&
                (thread->now = calloc(regions->n_events, sizeof *thread->now)) != NULL;

    pthread_mutex_lock(&regions->lock);
    if (!made) {
        regions->strangers++;
        pthread_mutex_unlock(&regions->lock);
        free_thread(thread);
        return NULL;
    }
    thread->regions = regions;
    thread->id = sys_thread_id();
    open_counters(regions, thread);
    thread->next = regions->threads;
    regions->threads = thread;
    regions->n_threads++;
    pthread_mutex_unlock(&regions->lock);
    return thread;
}

static inline void read_now(struct region_thread *thread, struct rk_value *ret)
{
    if (!thread->set || rk_set_read(thread->set, 0, ret, NULL, thread->tree.n_events) < 0)
        memset(ret, 0, thread->tree.n_events * sizeof *ret);
}

void region_thread_read(struct region_thread *thread, struct rk_value *ret)
{
    read_now(thread, ret);
}

bool region_thread_take(struct region_thread *thread, uint32_t who, int wait_ms)
{
    for (;;) {
        uint32_t nobody = 0;
        if (__atomic_compare_exchange_n(&thread->busy, &nobody, who, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED))
            return true;
        if (wait_ms-- <= 0)
            return false;
        sys_sleep_ns(1000000);
    }
}

void region_thread_give(struct region_thread *thread)
{
    __atomic_store_n(&thread->busy, 0, __ATOMIC_RELEASE);
}

int region_thread_begin(struct region_thread *thread, const struct rk_region *region)
{
    struct rk_value *values;

    if (!region_thread_take(thread, REGION_OWNER, 0))
        return -EBUSY;
    int rc = tree_begin(&thread->tree, region->number, &values);
    if (rc == 0)
        read_now(thread, values);
    region_thread_give(thread);
    return rc;
}

int region_thread_end(struct region_thread *thread, const struct rk_region *region)
{
    if (!region_thread_take(thread, REGION_OWNER, 0))
        return -EBUSY;
    read_now(thread, thread->now);
    int rc = tree_end(&thread->tree, region->number, thread->now);
    region_thread_give(thread);
    return rc;
}

/* Takes an ended thread off the list and adds it to the others. */
static void fold(struct regions *regions, struct region_thread *thread)
{
    struct region_thread **at = &regions->threads;

    if (tree_add(&regions->others, &thread->tree) < 0)
        return; /* it stays apart */
    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    regions->n_threads--;
    regions->n_ended--;
    regions->n_others++;
    free_thread(thread);
}

void regions_leave(struct region_thread *thread)
{
    struct regions *regions = thread->regions;

    pthread_mutex_lock(
        &regions->lock); /* no reporter is at it; cancelled in a begin or end, it is the thread's own */
    region_thread_read(thread, thread->now);
    tree_end_all(&thread->tree, thread->now);
    region_thread_give(thread);
    thread->set = rk_set_free(thread->set);
    thread->ended = true;
    if (++regions->n_ended > REGIONS_ENDED_MAX)
        fold(regions, thread);
    pthread_mutex_unlock(&regions->lock);
}

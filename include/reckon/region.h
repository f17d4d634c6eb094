/*
 * reckon/region.h: what parts of a program cost, by names written into its source.
 *
 * 1. A scope, in C (gcc, clang) and C++ alike; it ends where the block does, by return, goto, or an exception:
 *
 *        void parse(void)
 *        {
 *            RK_REGION("parse");
 *            …
 *        }
 *
 *    $ ./program                                                  nothing is measured
 *    $ RECKON_REGIONS=instructions,page-faults ./program          a table on stderr when it exits
 *
 * 2. A beginning and an end that are in no one block:
 *
 *        struct rk_region *io = rk_region_named("io");              // once
 *        rk_region_begin(io);
 *        …
 *        rk_region_end(io);
 *
 * 3. From another language: rk_region_named(), _begin(), _end() are plain functions.
 *
 * Off, which it is unless the environment says otherwise, a scope is a load, two comparisons and two branches;
 * nothing is opened, no thread, handler or exit hook exists. The environment is read when the first region is met:
 *
 *   RECKON_REGIONS         the events to count, as everywhere (reckon-events(7)); "default": task-clock, page-faults,
 *                          cycles, instructions, as far as there are. Unset or empty: off.
 *   RECKON_REGIONS_OUTPUT  a file to write JSON to in place of the table; %p in it becomes the process's id. A
 *                          relative path is relative to where the program was when the first region was met.
 *
 * Both are ignored in set-user-ID programs. What can't be counted is left out and the reason is told; a text that is no
 * event is told at once on stderr, and regions stay off.
 *
 * What is counted. Each thread has its own counters, opened at its first region, read at each begin and end: two
 * read(2)s or none (set.h), whose own cost falls to the region around. Regions nest; a place in that tree (its path) has
 *   calls       how often it was begun there;
 *   inclusive   all that happened in it;
 *   self        the same less what happened in regions begun inside it.
 * A region begun inside itself, directly or not, is counted at its outer place: its inclusive counts then hold
 * its outermost activations alone, its self counts all of them, so that all self counts add up to the whole.
 * Threads are kept apart, also when they have ended; beyond 1,000 those that have ended are summed into one.
 *
 * The end. The report is written by an atexit(3) handler: at exit() and return from main, not at _exit(), abort() or a
 * signal. Regions that are open then, in whichever thread, are counted until then and marked. A file that
 * can't be written is told on stderr, with the table instead. stderr is duplicated when the first region is met, so
 * that a program may close it; where it is closed already and no file is named there is nowhere to write.
 *
 * fork(2): a child is not measured and reports nothing; its calls give -ESTALE. What it executes is, anew, as the
 * environment is inherited: give its file a %p.
 * dlclose(3): names are copied, so that what uses regions may be unloaded; this library then stays.
 * longjmp(3) out of a region leaves it open until one around it ends. Not for use in signal handlers.
 */
#ifndef RECKON_REGION_H
#define RECKON_REGION_H

#include <reckon/error.h>
#include <reckon/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A name. It lives as long as the process. */
struct rk_region;

/* What rk_region_named() gives while regions are off; beginning and ending it does nothing. Never dereferenced. */
#define RK_REGION_OFF ((struct rk_region *)1)

/* 1: regions are counted here. 0: they are off. The first call of this, or of any function below, reads the environment. */
RK_API int rk_region_armed(void);

/* The region of that name, the same for the same name, in any thread; RK_REGION_OFF while regions are off, where `name`
 * is NULL, or where there was no memory for it (the report tells). Never NULL. The name is copied. */
RK_API struct rk_region *rk_region_named(const char *name);

/* Hot. Begins the region in the calling thread. 0; -ENOMEM or another -errno: it is not counted this time, and the report
 * tells; -ESTALE in a forked child, -ESHUTDOWN after the report. Whatever it gave, call rk_region_end(). */
RK_API int rk_region_begin(struct rk_region *region);

/* Hot. Ends it, and whatever was begun inside it and not ended. 0; -EINVAL: it is not open in this thread. */
RK_API int rk_region_end(struct rk_region *region);

/* What a scope does: `*site`, NULL at first, remembers the region of that name (NULL itself: nothing remembers it); it is
 * begun and returned, to be ended by rk_region_end(). */
RK_API struct rk_region *rk_region_enter(struct rk_region **site, const char *name);

/* Writes what has been counted so far, "text" or "json", regions that are open included; the report at exit comes all
 * the same. -EINVAL: no such format; -ENODATA: regions are off; else what the sink said. */
RK_API int rk_region_export(const char *format, const struct rk_sink *sink, struct rk_error *e);

#ifdef __cplusplus
}
#endif

#if defined(__GNUC__)
static inline struct rk_region *rk_region_scope_(struct rk_region **site, const char *name)
{
    struct rk_region *region = __atomic_load_n(site, __ATOMIC_ACQUIRE);
    return __builtin_expect(region == RK_REGION_OFF, 1) ? region : rk_region_enter(site, name);
}

static inline void rk_region_leave_(struct rk_region *const *scope)
{
    if (__builtin_expect(*scope != RK_REGION_OFF, 0))
        rk_region_end(*scope);
}

#define RK_REGION_JOIN_(a, b) a##b
#define RK_REGION_NAME_(a, b) RK_REGION_JOIN_(a, b)
#define RK_REGION_SITE_ RK_REGION_NAME_(rk_region_site_, __LINE__)

/* RK_REGION(name): from here to the end of the block. One per line; the name must be the same each time. */
#ifdef __cplusplus
namespace reckon
{
class region_scope
{
  public:
    region_scope(struct rk_region **site, const char *name) : region_(rk_region_scope_(site, name))
    {
    }
    ~region_scope()
    {
        rk_region_leave_(&region_);
    }
    region_scope(const region_scope &) = delete;
    region_scope &operator=(const region_scope &) = delete;

  private:
    struct rk_region *region_;
};
} // namespace reckon
#define RK_REGION(name)                       \
    static struct rk_region *RK_REGION_SITE_; \
    const ::reckon::region_scope RK_REGION_NAME_(rk_region_scope_at_, __LINE__)(&RK_REGION_SITE_, name)
#else
#define RK_REGION(name)                                                                         \
    static struct rk_region *RK_REGION_SITE_;                                                   \
    __attribute__((cleanup(rk_region_leave_), unused)) struct rk_region *const RK_REGION_NAME_( \
        rk_region_scope_at_, __LINE__) = rk_region_scope_(&RK_REGION_SITE_, name)
#endif
#endif
#endif

/*
 * reckon/region.h: what parts of a program cost, by names written into its source.
 *
 * 1. A scope, in C (gcc, clang) and in C++. It ends with its block: by return, goto or exception too.
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
 * 2. A beginning and an end, in different blocks:
 *
 *        struct rk_region *io = rk_region_named("io");              // once
 *        rk_region_begin(io);
 *        …
 *        rk_region_end(io);
 *
 * 3. Another language calls rk_region_named(), _begin() and _end(). They are plain functions.
 *
 * Regions are off unless the environment turns them on. A scope that is off is a load, two comparisons and
 * two branches. Nothing is opened; no thread, signal handler or exit hook exists. The first region that the
 * program reaches reads the environment:
 *
 *   RECKON_REGIONS         The events to count, as everywhere (reckon-events(7)). "default": those of
 *                          task-clock, page-faults, cycles and instructions that this machine has. Unset or
 *                          empty: off.
 *   RECKON_REGIONS_OUTPUT  A file for JSON, in place of the table on stderr. %p in it becomes the process's
 *                          id. A relative path starts at the working directory of that moment.
 *
 * Set-user-ID programs ignore both. An unavailable event is left out, and the report gives the
 * reason. If the text is no list of events, stderr says so at once, and regions stay off.
 *
 * What is counted
 *
 * Each thread has its own counters. Its first region opens them. Each begin and end reads them, by two
 * read(2)s or by none (set.h); that cost is counted in the region around. Regions nest. Each place in that
 * tree has
 *   calls       how often the region was begun there;
 *   inclusive   all that happened in it;
 *   self        inclusive less what happened in regions begun inside it.
 * A region that is begun inside itself is counted at its outer place. Its inclusive counts hold the outermost
 * activations only, its self counts hold all of them. So all self counts add up to the whole. Each thread has
 * its own counts, also after it has ended. After 1,000 threads, those that have ended share one.
 *
 * The end
 *
 * An atexit(3) handler writes the report: at exit() and at return from main, not at _exit(), abort() or a
 * signal. Regions that are open then are counted until then, and marked. If writing the file fails, stderr
 * says so and gets the table. The first region duplicates stderr, so the program may close it. If stderr is
 * closed already and no file is named, there is no report.
 *
 * fork(2): the child is not measured and reports nothing; its calls return -ESTALE. A program that the child
 * executes inherits the environment and is measured: put %p into its file's name.
 *
 * dlclose(3): names are copied, so a library that uses regions may be unloaded. libreckon stays loaded.
 *
 * longjmp(3) out of a region leaves it open until the region around it ends.
 *
 * Signal handlers: don't use regions there.
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

/* What rk_region_named() returns while regions are off. To begin and to end it does nothing. It is no
 * valid pointer. */
#define RK_REGION_OFF ((struct rk_region *)1)

/* Returns 1 if regions are counted, 0 if they are off. The first call of this, or of a function below,
 * reads the environment. */
RK_API int rk_region_armed(void);

/* Returns the region of that name: the same one for the same name, in every thread. Returns RK_REGION_OFF
 * while regions are off, if `name` is NULL, and if memory is short (the report says so). Never NULL. The
 * name is copied. */
RK_API struct rk_region *rk_region_named(const char *name);

/* Hot. Begins the region in the calling thread. Returns 0. On -ENOMEM or another -errno the region is not
 * counted this time, and the report says so. Returns -ESTALE in a forked child, and -ESHUTDOWN after the
 * report. Call rk_region_end() in any case. */
RK_API int rk_region_begin(struct rk_region *region);

/* Hot. Ends the region, and all regions inside it that are still open. Returns 0, or -EINVAL if it is not
 * open in this thread. */
RK_API int rk_region_end(struct rk_region *region);

/* What a scope calls. Begins the region of that name and returns it; end it with rk_region_end(). `*site`
 * remembers the region from the first call on, and is NULL before. `site` may be NULL. */
RK_API struct rk_region *rk_region_enter(struct rk_region **site, const char *name);

/* Writes what has been counted so far, as "text" or "json", open regions included. The report at exit
 * follows in any case. Returns -EINVAL for an unknown format, -ENODATA while regions are off, or what the
 * sink returned. */
RK_API int rk_region_export(const char *format, const struct rk_sink *sink, struct rk_error *e);
RK_API int rk_region_export_fd(const char *format, int fd, struct rk_error *e);
RK_API int rk_region_export_path(const char *format, const char *path, struct rk_error *e);

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

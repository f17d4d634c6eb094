/*
 * A profile of a stream: of a file all of it, live what comes in a while.
 */
#include "base/error.h"
#include "profile/builder.h"
#include "sys/process.h"
#include "sys/ready.h"

#include <errno.h>

enum {
    BATCH = 256,    /* records between two releases, and two looks at the clock */
    SLEEP_MS = 100, /* longest wait; a ring that is not full wakes nobody */
    MS = 1000 * 1000,
};

struct feeding {
    struct rk_profile_builder *builder;
    struct rk_stream *stream;
    uint64_t until; /* 0: for as long as records are due */
    uint64_t damaged;
    struct rk_error *e; /* about the first damaged one */
};

/* All records that are due. Returns 0 or -ENOMEM. */
static int feed(struct feeding *f)
{
    const struct rk_record *record;
    int rc;

    for (uint64_t n = 1; (rc = rk_stream_next(f->stream, &record)) != 0; n++) {
        if (rc == 1)
            rc = rk_profile_builder_feed(f->builder, f->stream, record);
        if (rc == -ENOMEM)
            return fail_memory(f->e, RK_STAGE_PROFILE);
        if (rc < 0 && f->damaged++ == 0 && f->e)
            rk_stream_explain(f->stream, f->e);
        if (n % BATCH == 0) {
            rk_stream_release(f->stream);
            if (f->until && sys_clock_ns() >= f->until)
                break;
        }
    }
    rk_stream_release(f->stream);
    return 0;
}

/* A signal ends it, so that the caller's handler is heard. */
static int feed_for(struct feeding *f, uint64_t wait_ns)
{
    uint64_t begin = sys_clock_ns();
    int fd = rk_stream_fd(f->stream);

    f->until = wait_ns < UINT64_MAX - begin ? begin + wait_ns : UINT64_MAX;
    for (;;) {
        int rc = feed(f);
        uint64_t at = sys_clock_ns(), left = at < f->until ? (f->until - at) / MS + 1 : 0;
        if (rc < 0 || at >= f->until)
            return rc;
        if (sys_poll_two(fd, -1, left < SLEEP_MS ? (int)left : SLEEP_MS) == -EINTR)
            return feed(f);
    }
}

int rk_profile_stream(struct rk_stream *stream, const struct rk_profile_options *options,
                      struct rk_profile **ret, uint64_t *ret_damaged, struct rk_error *e)
{
    struct rk_profile_options o;
    struct feeding f = {.stream = stream, .e = e};

    if (!stream || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_stream", stream ? "ret" : "stream");
    int rc = profile_options_take(options, &o, e);
    uint64_t wait_ns = rc < 0 ? 0 : o.wait_ns;
    if (wait_ns && rk_stream_fd(stream) < 0)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_options.wait_ns is for live streams");
    o.wait_ns = 0;
    if (rc == 0)
        rc = rk_profile_builder_open(&o, &f.builder, e);
    if (rc == 0)
        rc = wait_ns ? feed_for(&f, wait_ns) : feed(&f);
    if (rc == 0)
        rc = rk_profile_builder_finish(f.builder, stream, ret, f.damaged ? NULL : e);
    rk_profile_builder_free(f.builder);
    if (rc == 0 && ret_damaged)
        *ret_damaged = f.damaged;
    return rc;
}

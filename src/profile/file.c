/*
 * A profile from a file, whatever it is: its first bytes tell.
 */
#include "profile/profile.h"

#include "base/cleanup.h"
#include "base/error.h"

#include <errno.h>

/* All records of a stream into a builder: how many were damaged, or -errno. The first of them is told in *e. */
static int64_t feed(struct rk_profile_builder *builder, struct rk_stream *stream, struct rk_error *e)
{
    const struct rk_record *record;
    int64_t damaged = 0;
    int rc;

    while ((rc = rk_stream_next(stream, &record)) != 0) {
        if (rc == 1) {
            rc = rk_profile_feed(builder, stream, record);
            rk_stream_release(stream);
        }
        if (rc == -ENOMEM)
            return fail_memory(e, RK_STAGE_PROFILE);
        if (rc < 0 && damaged++ == 0 && e)
            rk_stream_explain(stream, e);
    }
    return damaged;
}

static int read_recording(const char *path, const struct rk_profile_options *options, struct rk_profile **ret,
                          uint64_t *ret_damaged, struct rk_error *e)
{
    struct rk_profile_builder *builder = NULL;
    struct rk_stream *stream = NULL;
    struct rk_profile *profile = NULL;
    int rc = rk_stream_file(path, &stream, e);

    if (rc == 0)
        rc = rk_profile_builder_open(options, &builder, e);
    int64_t damaged = rc < 0 ? rc : feed(builder, stream, e);
    if (damaged < 0)
        rk_profile_builder_close(builder);
    else
        damaged = (rc = rk_profile_finish(builder, stream, &profile, damaged ? NULL : e)) < 0 ? rc : damaged;
    rk_stream_close(stream);
    if (damaged < 0)
        return (int)damaged;
    if (damaged && profile->summary.samples == 0) { /* nothing could be read: *e says why */
        rk_profile_free(profile);
        return e && e->code < 0 ? e->code : -EBADMSG;
    }
    *ret = profile;
    *ret_damaged = (uint64_t)damaged;
    return 0;
}

int rk_profile_file(const char *path, const struct rk_profile_options *options, struct rk_profile **ret,
                    uint64_t *ret_damaged, struct rk_error *e)
{
    uint64_t damaged = 0;

    if (!path || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_file", path ? "ret" : "path");
    int rc = read_recording(path, options, ret, &damaged, e);
    if (rc == 0 && ret_damaged)
        *ret_damaged = damaged;
    return rc;
}

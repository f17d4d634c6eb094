/*
 * A recording that is steered while it runs: switched on and off, looked at, continued in another file.
 *
 * A file that begins in the middle has all that naming needs in itself: the stream gives what runs now anew, as at the
 * beginning. What was lost is told of each file apart.
 */
#include "base/error.h"
#include "capture/capture.h"
#include "stream/live.h"
#include "sys/process.h"

#include <errno.h>

int rk_capture_fd(const struct rk_capture *c)
{
    return c ? rk_stream_fd(c->stream) : -EINVAL;
}

/* What runs now becomes the next records. */
static int capture_world(struct rk_capture *c)
{
    return live_world_wanted(c->set) ? rk_stream_world(c->stream) : 0;
}

int rk_capture_enable(struct rk_capture *c)
{
    if (!c)
        return -EINVAL;
    if (c->error || c->ended)
        return c->error;
    bool again = c->stream->live->world.made & WORLD_TASKS;
    int r = rk_set_enable(c->set);
    if (r < 0)
        return r;
    if (again) /* no record tells what has begun while it was off */
        r = capture_world(c);
    return r < 0 ? c->error = r : 0;
}

int rk_capture_disable(struct rk_capture *c)
{
    return c ? rk_set_disable(c->set) : -EINVAL;
}

int rk_capture_snapshot(struct rk_capture *c)
{
    if (!c)
        return -EINVAL;
    if (c->error)
        return c->error;
    int r = 0;
    if (set_options(c->set)->flags & RK_SET_OVERWRITE)
        r = rk_stream_snapshot(c->stream);
    if (r < 0)
        return r; /* the rings are as they were */
    r = capture_round(c);
    if (r == 0)
        r = perfdata_writer_flush(c->writer);
    c->unflushed = false;
    return r < 0 ? c->error = r : 0;
}

int rk_capture_switch(struct rk_capture *c, const char *path, struct rk_error *e)
{
    if (!c || !path)
        return fail_null(e, RK_STAGE_CAPTURE, "rk_capture_switch", !c ? "capture" : "path");
    if (c->pipe)
        return fail_argument(e, RK_STAGE_CAPTURE,
                             "a recording to standard output is one file and has no next one");
    if (set_forked(c->set))
        return fail(e, -ESTALE, RK_STAGE_CAPTURE, RK_CAUSE_FORKED, NULL,
                    "this recording belongs to the process that forked this one");
    int r = c->error ? c->error : capture_file_finish(c);
    if (r < 0)
        return capture_explain(c, c->error = r, e);
    r = place_move(&c->place, path, e);
    if (r < 0)
        return c->error = r;

    c->bytes_before += perfdata_writer_bytes(c->writer);
    c->switched++;
    c->writer = perfdata_writer_close(c->writer);
    c->first_time = c->last_time = c->damaged = 0;
    c->made = sys_wall_ns();
    hits_forget(&c->hits);
    r = capture_file_open(c, e);
    if (r < 0)
        return c->error = r;
    r = capture_world(c);
    return r < 0 ? capture_explain(c, c->error = r, e) : 0;
}

/*
 * A copy of a recording, with all names that can be found: the bytes as they are, room for names where perf left none, the
 * names behind them.
 */
#include "base/error.h"
#include "names/encode.h"
#include "perfdata/names.h"
#include "sys/file.h"

#include <reckon/names.h>
#include <reckon/sink.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BLOCK ((size_t)1 << 18)

static int fail_copy(struct rk_error *e, int rc, const char *path)
{
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    return fail(e, rc, RK_STAGE_SYMBOL,
                rc == -ENOSPC || rc == -EDQUOT ? RK_CAUSE_NO_SPACE : RK_CAUSE_BAD_FILE, NULL, "%s: %s", path,
                strerror(-rc));
}

static int copy(int from, int to)
{
    _cleanup_free_ unsigned char *block = malloc(BLOCK);
    uint64_t at = 0;

    for (;;) {
        int64_t n = block ? sys_read_at(from, block, BLOCK, at) : -ENOMEM;
        int rc = n > 0 ? sys_write_at(to, block, (size_t)n, at) : (int)n;
        if (n <= 0 || rc < 0)
            return rc;
        at += (uint64_t)n;
    }
}

static int put_names(int fd, const char *path, const struct rk_names *names, struct rk_error *e)
{
    int rc = names_append(fd, names->data, names->bytes);

    if (rc == -ENOTSUP) {
        rc = names_make_room(fd);
        if (rc == 0)
            rc = names_append(fd, names->data, names->bytes);
    }
    if (rc == -EBADMSG || rc == -EEXIST)
        return fail(e, -ENOTSUP, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE,
                    "write the profile: reckon export --format pprof -o OUT FILE",
                    "%s: a recording of this form has no place for names", path);
    return rc < 0 ? fail_copy(e, rc, path) : 0;
}

/* Whether they are one file: the copy would begin by emptying it. */
static bool same_file(int from, const char *to)
{
    _cleanup_close_ int fd = sys_open(to, O_PATH, 0);
    uint64_t a[2], b[2];

    return fd >= 0 && sys_file_identity(from, a) == 0 && sys_file_identity(fd, b) == 0 &&
           memcmp(a, b, sizeof a) == 0;
}

static int write_copy(int from, const char *path, const char *to, const struct rk_names *names,
                      struct rk_error *e)
{
    _cleanup_close_ int written = -1;
    _cleanup_close_ int fd = -1;

    if (same_file(from, to))
        return fail(e, -EINVAL, RK_STAGE_SYMBOL, RK_CAUSE_ARGUMENT, "give the copy another name",
                    "%s: the recording itself", to);
    int rc = rk_sink_open_file(to, 0, &written, e);
    if (rc < 0)
        return rc;
    fd = sys_open(to, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
                  0); /* names are looked for in what is written */
    rc = fd < 0 ? fd : copy(from, fd);
    rc = rc < 0 ? fail_copy(e, rc, to) : put_names(fd, path, names, e);
    if (rc < 0)
        unlink(to);
    return rc;
}

int rk_names_archive(const char *path, const char *to, const struct rk_names_options *options,
                     struct rk_names **ret, struct rk_error *e)
{
    struct rk_stream *stream = NULL;
    struct rk_names *names = NULL;

    if (!path || !to || !ret)
        return fail_null(e, RK_STAGE_SYMBOL, "rk_names_archive", !path ? "path" : !to ? "to" : "ret");
    int rc = rk_stream_file(path, &stream, e);
    if (rc == 0)
        rc = rk_names_stream(stream, options, &names, e);
    rk_stream_free(stream);
    if (rc != 0)
        return rc;
    _cleanup_close_ int from = sys_open_regular(AT_FDCWD, path);
    rc = from < 0 ? fail_copy(e, from == -ENODEV ? -ENOTSUP : from, path)
                  : write_copy(from, path, to, names, e);
    if (rc < 0) {
        rk_names_free(names);
        return rc;
    }
    names->data = NULL;
    names->bytes = 0;
    *ret = names;
    return 0;
}

/*
 * A profile from a file, whatever it is: its first bytes tell.
 */
#include "profile/file.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "codec/deflate.h"
#include "profile/builder.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define RECORDING_MAGIC "PERFILE2"
#define RECORDING_MAGIC_OLD "PERFFILE"
#define PPROF_FIRST '\n' /* the key of sample_type, which most writers put first */
#define FILE_MOST (UINT64_C(2) << 30)
#define UNPACKED_MOST (UINT64_C(4) << 30)

static int read_recording(const char *path, const struct rk_profile_options *options, struct rk_profile **ret,
                          uint64_t *ret_damaged, struct rk_error *e)
{
    struct rk_stream *stream = NULL;
    struct rk_profile *profile = NULL;
    int rc = rk_stream_file(path, &stream, e);

    if (rc == 0)
        rc = rk_profile_stream(stream, options, &profile, ret_damaged, e);
    rk_stream_free(stream);
    if (rc < 0 || !profile)
        return rc;
    if (*ret_damaged && profile->summary.samples == 0) { /* nothing could be read: *e says why */
        rk_profile_free(profile);
        return e && e->code < 0 ? e->code : -EBADMSG;
    }
    *ret = profile;
    return 0;
}

/* Or what may be the beginning of one. */
static bool is_recording(const char *first, size_t n)
{
    return memcmp(first, RECORDING_MAGIC, n < 4 ? n : 4) == 0 ||
           (n >= 8 && memcmp(first, RECORDING_MAGIC_OLD, 8) == 0);
}

/* What others wrote; -ENOEXEC: it is none of that. */
static int read_foreign(const char *bytes, size_t n, struct rk_profile **ret, uint64_t *ret_damaged,
                        struct pprof_left *ret_left)
{
    void *unpacked = NULL;
    int rc = -ENOEXEC;

    if (n > 2 && memcmp(bytes, "\x1f\x8b", 2) == 0) {
        rc = gzip_decode(bytes, n, UNPACKED_MOST, &unpacked, &n);
        if (rc == 0)
            rc = is_recording(unpacked, n) ? -ENOEXEC : pprof_read(unpacked, n, ret, ret_damaged, ret_left);
        free(unpacked);
        return rc;
    }
    bool first = n > 2 && bytes[0] == PPROF_FIRST && bytes[1] != '\n';
    if (!first && folded_is(bytes, n))
        rc = folded_read(bytes, n, ret, ret_damaged);
    else if (first || pprof_is(bytes, n))
        rc = pprof_read(bytes, n, ret, ret_damaged, ret_left);
    return rc;
}

/* The whole of a regular file that is no recording: 0; 1: it is one, or may be; -errno. */
static int load(const char *path, char **ret, size_t *ret_n)
{
    _cleanup_close_ int fd = sys_open(path, O_RDONLY, 0);
    struct sys_status status;
    char first[sizeof RECORDING_MAGIC - 1] = "";

    if (fd < 0 || sys_file_status(fd, &status) < 0 || !status.regular || status.size < 3)
        return 1; /* the stream's reader says what is wrong with it */
    int64_t n = sys_read_at(fd, first, sizeof first, 0);
    if (n < 3 || is_recording(first, (size_t)n))
        return 1;
    if (status.size > FILE_MOST)
        return -EFBIG;
    char *bytes = malloc(status.size + 1);
    if (!bytes)
        return -ENOMEM;
    n = sys_read(fd, bytes, status.size);
    if (n < 0) {
        free(bytes);
        return (int)n;
    }
    *ret = bytes;
    *ret_n = (size_t)n;
    return 0;
}

static int say(int rc, const char *path, uint64_t damaged, const struct pprof_left *left, struct rk_error *e)
{
    char words[100];

    if (left->n > 1)
        snprintf(words, sizeof words, "%s and %zu more have", left->first, left->n - 1);
    else
        snprintf(words, sizeof words, "%s has", left->first);
    if (left->n && (rc == -EDOM || (rc == 0 && !damaged)))
        fail(e, -EDOM, RK_STAGE_PROFILE, RK_CAUSE_UNSUPPORTED,
             "go tool pprof shows them; reckon diff compares the two profiles",
             "%s: %s negative values, as a difference of two profiles has, and %s left out", path, words,
             left->n > 1 ? "are" : "is");
    if (rc == -EDOM)
        return rc;
    switch (rc) {
    case 0:
        if (damaged)
            fail(e, -EBADMSG, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL,
                 "%s: %ju lines or samples are damaged", path, (uintmax_t)damaged);
        return 0;
    case -ENOMEM:
        return fail_memory(e, RK_STAGE_PROFILE);
    case -EOPNOTSUPP:
        return fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNSUPPORTED,
                    "apt-get install libdeflate0, or gunzip it first",
                    "%s is gzip, and libdeflate is not installed", path);
    case -EFBIG:
        return fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNSUPPORTED, NULL, "%s is larger than 2 GiB", path);
    default:
        return fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "cannot read %s as a profile: %s", path,
                    rc == -EBADMSG ? "it is damaged" : strerror(-rc));
    }
}

int rk_profile_file(const char *path, const struct rk_profile_options *options, struct rk_profile **ret,
                    uint64_t *ret_damaged, struct rk_error *e)
{
    _cleanup_free_ char *bytes = NULL;
    struct rk_profile_options ours;
    struct pprof_left left = {0};
    uint64_t damaged = 0;
    size_t n = 0;

    if (!path || !ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_file", path ? "ret" : "path");
    int rc = profile_options_take(options, &ours, e);
    if (rc == 0 && ours.wait_ns)
        rc = fail_argument(e, RK_STAGE_PROFILE, "rk_profile_options.wait_ns is for live streams");
    if (rc < 0)
        return rc;
    rc = strcmp(path, "-") == 0 ? 1 : load(path, &bytes, &n);
    if (rc == 0)
        rc = read_foreign(bytes, n, ret, &damaged, &left);
    if (rc == 1 || rc == -ENOEXEC)
        rc = read_recording(path, options, ret, &damaged, e);
    else
        rc = say(rc, path, damaged, &left, e);
    if (rc == 0 && ret_damaged)
        *ret_damaged = damaged;
    return rc;
}

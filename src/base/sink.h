/*
 * Sinks of the library's own: a descriptor, and a file that is removed if writing it fails.
 *
 *     struct sink_file file;
 *     int rc = sink_file_open(&file, path, e);
 *     return rc < 0 ? rc : sink_file_close(&file, rk_list_export(list, format, &file.sink, e), e);
 *
 * A file that exists is not touched before the first byte is written: a call that fails earlier (an unknown format) leaves it
 * as it was.
 */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include <reckon/sink.h>

#include <stdbool.h>

struct sink_file {
    struct rk_sink sink; /* its context is this struct, which must not move */
    const char *path;
    int fd;
    bool regular; /* a plain file */
    bool fresh;   /* created by us */
    bool begun;   /* something was written */
};

/* 0, or -errno with the error filled in. */
int sink_file_open(struct sink_file *file, const char *path, struct rk_error *e);

/* Ends a file whose export returned `rc`. Returns `rc`, or the failure of the last write. If either failed, the file is removed. */
int sink_file_close(struct sink_file *file, int rc, struct rk_error *e);

/* A sink for a descriptor, which stays the caller's. */
static inline struct rk_sink sink_fd(int fd)
{
    return (struct rk_sink){sizeof(struct rk_sink), 0, rk_sink_write_fd, (void *)(intptr_t)fd};
}

#endif

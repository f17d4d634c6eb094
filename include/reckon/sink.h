/*
 * reckon/sink.h: where exports write their bytes.
 *
 * Every function `rk_X_export` writes to a sink. Each has two twins: `rk_X_export_fd` writes to a descriptor,
 * `rk_X_export_path` to a file. You need a sink of your own only to write elsewhere, into memory for example:
 *
 *     static int append(void *context, const void *data, size_t n)
 *     {
 *         return fwrite(data, 1, n, context) == n ? 0 : -EIO;
 *     }
 *     struct rk_sink out = RK_INIT(out, .write = append, .context = open_memstream(&text, &bytes));
 *
 * What `rk_X_export_path` does with its file: it opens it as rk_sink_open_file() does. It replaces what an
 * existing file contains once there is something to write. If the export fails, it removes the partial file;
 * a device or a pipe stays. A name "-" has no special meaning.
 */
#ifndef RECKON_SINK_H
#define RECKON_SINK_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_sink {
    uint32_t size;
    uint32_t reserved;
    /* Takes all n bytes. Returns 0, or -errno, which ends the export. */
    int (*write)(void *context, const void *data, size_t n);
    void *context;
};

/* A `write` for descriptors: context is (void *)(intptr_t)fd. Handles short writes and EINTR. */
RK_API int rk_sink_write_fd(void *context, const void *data, size_t n);

enum rk_sink_flag {
    RK_SINK_APPEND = 0x1, /* an existing file stays; writes go to its end */
};

/*
 * Opens a file to write results to. A new file has mode 0600, since results show what others ran. An existing
 * one is emptied and keeps its mode. Devices and pipes are opened as they are.
 *
 * Nobody else can divert the output, not even in a directory that all may write to: a link, a file or a pipe
 * of another user is refused, unless that is root. So is a file with several names (hard links).
 *
 * Returns 0. -ELOOP: somebody else's link. -EPERM: somebody else's file, or one of several names. Or another
 * -errno of open(2). The descriptor is close-on-exec and the caller's.
 */
RK_API int rk_sink_open_file(const char *path, uint32_t flags, int *ret_fd, struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

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
 * What `rk_X_export_path` does with its file: it creates the file with mode 0666, less the umask. It replaces
 * what an existing file contains once there is something to write, and follows links. If the export fails, it
 * removes the partial file; a device or a pipe stays. A name "-" has no special meaning.
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

#ifdef __cplusplus
}
#endif
#endif

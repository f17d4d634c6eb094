/*
 * reckon/sink.h: where bytes go.
 *
 *     struct rk_sink out = {sizeof out, 0, rk_sink_write_fd, (void *)(intptr_t)STDOUT_FILENO};
 */
#ifndef RECKON_SINK_H
#define RECKON_SINK_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where bytes go. `write` takes all n bytes and returns 0, or -errno, which ends the export. */
struct rk_sink {
    uint32_t size;
    uint32_t reserved;
    int (*write)(void *context, const void *data, size_t n);
    void *context;
};

/* A `write` for descriptors: context is (void *)(intptr_t)fd. Handles short writes and EINTR. */
RK_API int rk_sink_write_fd(void *context, const void *data, size_t n);

#ifdef __cplusplus
}
#endif
#endif

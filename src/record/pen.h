/*
 * Writing a record word by word, the cursor's counterpart: a pen never leaves its room, but goes on counting, so that
 * the end knows whether the record was too long for the caller's buffer or for any.
 */
#ifndef RECORD_PEN_H
#define RECORD_PEN_H

#include "record/layout.h"

#include <errno.h>
#include <string.h>

struct pen {
    unsigned char *buffer;
    size_t room;
    uint64_t n; /* written, or wanted */
};

/* n bytes (NULL: zeros). */
static inline void pen_bytes(struct pen *p, const void *bytes, uint64_t n)
{
    if (n > RECORD_BYTES_MAX + 1)
        n = RECORD_BYTES_MAX + 1; /* too long already; the sum must not overflow */
    if (n && p->n <= p->room && n <= p->room - p->n) {
        if (bytes)
            memcpy(p->buffer + p->n, bytes, n);
        else
            memset(p->buffer + p->n, 0, n);
    }
    p->n += n;
}

static inline void pen_u64(struct pen *p, uint64_t value)
{
    pen_bytes(p, &value, sizeof value);
}

static inline void pen_u32(struct pen *p, uint32_t value)
{
    pen_bytes(p, &value, sizeof value);
}

static inline void pen_u16(struct pen *p, uint16_t value)
{
    pen_bytes(p, &value, sizeof value);
}

static inline void pen_i32(struct pen *p, int32_t value)
{
    pen_bytes(p, &value, sizeof value);
}

static inline void pen_words(struct pen *p, const void *words, uint64_t n)
{
    pen_bytes(p, words, n > RECORD_BYTES_MAX ? UINT64_MAX : n * 8);
}

static inline void pen_align(struct pen *p)
{
    pen_bytes(p, NULL, -p->n & 7);
}

static inline void pen_text(struct pen *p, const char *text)
{
    pen_bytes(p, text, strlen(text) + 1);
    pen_align(p);
}

static inline struct pen pen_begin(void *buffer, size_t room)
{
    struct pen p = {buffer, room, 0};

    pen_u64(&p, 0); /* the header, known at the end */
    return p;
}

static inline int pen_end(struct pen *p, uint32_t type, uint16_t misc)
{
    if (p->n > RECORD_BYTES_MAX)
        return -EMSGSIZE;
    if (p->n > p->room)
        return -ENOSPC;
    struct perf_header header = {type, misc, (uint16_t)p->n};
    memcpy(p->buffer, &header, sizeof header);
    return (int)p->n;
}

/* What sample_id_all puts behind a record that is no sample. */
static inline void pen_trailer(struct pen *p, const struct layout *layout, const struct rk_record *from)
{
    uint64_t type = layout->sample_type;

    if (!layout->trailer_bytes)
        return;
    if (type & RK_SAMPLE_TID) {
        pen_i32(p, from->pid);
        pen_i32(p, from->tid);
    }
    if (type & RK_SAMPLE_TIME)
        pen_u64(p, from->time);
    if (type & RK_SAMPLE_ID)
        pen_u64(p, from->id);
    if (type & RK_SAMPLE_STREAM_ID)
        pen_u64(p, from->id);
    if (type & RK_SAMPLE_CPU)
        pen_u64(p, from->cpu);
    if (type & RK_SAMPLE_IDENTIFIER)
        pen_u64(p, from->id);
}

#endif

/*
 * The layout as callers have it: bytes to records, and back, without a stream.
 */
#include "base/error.h"
#include "record/encode.h"

#include <errno.h>
#include <stdlib.h>

struct rk_layout {
    struct layout layout;
    uint64_t period; /* of samples that don't carry theirs; 0: it isn't fixed */
};

int attr_take(struct perf_attr *ret, const void *attr, size_t bytes)
{
    const unsigned char *from = attr;
    unsigned char more = 0;

    if (bytes < ATTR_SIZE_FIRST || bytes > ATTR_SIZE_MAX)
        return -EINVAL;
    memset(ret, 0, sizeof *ret);
    memcpy(ret, attr, bytes < sizeof *ret ? bytes : sizeof *ret);
    for (size_t i = sizeof *ret; i < bytes; i++)
        more |= from[i];
    return more ? -E2BIG : 0;
}

int rk_layout_open(const void *attr, size_t bytes, struct rk_layout **ret, struct rk_error *e)
{
    struct perf_attr mine;

    if (!attr || !ret)
        return fail_null(e, RK_STAGE_STREAM, "rk_layout_open", attr ? "ret" : "attr");
    if (attr_take(&mine, attr, bytes) == -EINVAL) /* what it does not know, it passes over in records too */
        return fail_argument(e, RK_STAGE_STREAM, "an attr of %zu bytes: perf_event_attr has %u to %u", bytes,
                             ATTR_SIZE_FIRST, ATTR_SIZE_MAX);
    struct rk_layout *l = calloc(1, sizeof *l);
    if (!l)
        return fail_memory(e, RK_STAGE_STREAM);
    if (layout_init(&l->layout, &mine) < 0) {
        free(l);
        return fail_argument(e, RK_STAGE_STREAM,
                             "sample_type has WEIGHT and WEIGHT_STRUCT, which no kernel accepts together");
    }
    l->period = mine.flags & ATTR_FREQ ? 0 : mine.sample_period;
    *ret = l;
    return 0;
}

struct rk_layout *rk_layout_free(struct rk_layout *layout)
{
    free(layout);
    return NULL;
}

int rk_layout_record(const struct rk_layout *layout, const void *bytes, size_t n, struct rk_record *ret)
{
    const struct perf_header *header = bytes;
    struct rk_record record;

    if ((uintptr_t)bytes % 8)
        return -EINVAL;
    if (n < sizeof *header)
        return 0;
    if (header->size < sizeof *header || header->size % 8)
        return -EBADMSG;
    if (header->size > n)
        return 0;
    if (layout_head(&layout->layout, header, layout_word(header, 0), ret)) { /* a sample, mostly */
        ret->event = 0;
        ret->offset = 0;
        return 1;
    }
    if (layout_record(&layout->layout, header, &record) < 0)
        return -EBADMSG;
    record.event = 0;
    *ret = record;
    return 1;
}

int rk_layout_sample(const struct rk_layout *layout, const struct rk_record *record, struct rk_sample *ret)
{
    const struct layout *l = &layout->layout;

    if (record->type == RK_RECORD_SAMPLE && l->plain_bytes &&
        __builtin_expect(layout_plain(l, record, layout->period, ret), 1))
        return 0;
    int rc = layout_sample(l, record, ret);
    if (rc == 0 && !l->sample.period && ret->size >= __builtin_offsetof(struct rk_sample, pid))
        ret->period = layout->period;
    return rc;
}

int rk_layout_read(const struct rk_layout *layout, const struct rk_record *record, struct rk_sample *ret)
{
    return layout && record && ret ? layout_read(&layout->layout, record, ret) : -EINVAL;
}

/* The struct that goes with a record's type, as large as ours. */
union body {
    struct rk_sample sample;
    struct rk_mapping mapping;
    struct rk_task task;
    struct rk_comm comm;
    struct rk_lost lost;
    struct rk_throttle throttle;
    struct rk_aux aux;
    struct rk_itrace itrace;
    struct rk_switch change;
    struct rk_namespaces namespaces;
    struct rk_ksymbol ksymbol;
    struct rk_bpf bpf;
    struct rk_cgroup cgroup;
    struct rk_text_poke poke;
    struct rk_hw_id hw_id;
    struct rk_deferred deferred;
};

int layout_encode(const struct layout *l, const struct rk_record *from, const void *body, void *buffer,
                  size_t room)
{
    union body b;

#define TAKE(member)                                         \
    int rc = options_take(&b.member, sizeof b.member, body); \
    if (rc < 0)                                              \
    return rc
    switch (from->type) {
    case RK_RECORD_SAMPLE: {
        TAKE(sample);
        return encode_sample(l, from->misc, &b.sample, buffer, room);
    }
    case RK_RECORD_READ: {
        TAKE(sample);
        return encode_read(l, from, &b.sample, buffer, room);
    }
    case RK_RECORD_MMAP2: {
        TAKE(mapping);
        return encode_mapping(l, from, &b.mapping, buffer, room);
    }
    case RK_RECORD_COMM: {
        TAKE(comm);
        return encode_comm(l, from, &b.comm, buffer, room);
    }
    case RK_RECORD_FORK:
    case RK_RECORD_EXIT: {
        TAKE(task);
        return encode_task(l, from, from->type, &b.task, buffer, room);
    }
    case RK_RECORD_LOST:
    case RK_RECORD_LOST_SAMPLES: {
        TAKE(lost);
        return encode_lost(l, from, from->type, &b.lost, buffer, room);
    }
    case RK_RECORD_THROTTLE:
    case RK_RECORD_UNTHROTTLE: {
        TAKE(throttle);
        return encode_throttle(l, from, from->type, &b.throttle, buffer, room);
    }
    case RK_RECORD_AUX: {
        TAKE(aux);
        return encode_aux(l, from, &b.aux, buffer, room);
    }
    case RK_RECORD_ITRACE_START: {
        TAKE(itrace);
        return encode_itrace(l, from, &b.itrace, buffer, room);
    }
    case RK_RECORD_SWITCH:
    case RK_RECORD_SWITCH_CPU_WIDE: {
        TAKE(change);
        if (b.change.wide != (from->type == RK_RECORD_SWITCH_CPU_WIDE))
            return -EINVAL;
        return encode_switch(l, from, &b.change, buffer, room);
    }
    case RK_RECORD_NAMESPACES: {
        TAKE(namespaces);
        return encode_namespaces(l, from, &b.namespaces, buffer, room);
    }
    case RK_RECORD_KSYMBOL: {
        TAKE(ksymbol);
        return encode_ksymbol(l, from, &b.ksymbol, buffer, room);
    }
    case RK_RECORD_BPF_EVENT: {
        TAKE(bpf);
        return encode_bpf(l, from, &b.bpf, buffer, room);
    }
    case RK_RECORD_CGROUP: {
        TAKE(cgroup);
        return encode_cgroup(l, from, &b.cgroup, buffer, room);
    }
    case RK_RECORD_TEXT_POKE: {
        TAKE(poke);
        return encode_text_poke(l, from, &b.poke, buffer, room);
    }
    case RK_RECORD_AUX_OUTPUT_HW_ID: {
        TAKE(hw_id);
        return encode_hw_id(l, from, &b.hw_id, buffer, room);
    }
    case RK_RECORD_CALLCHAIN_DEFERRED: {
        TAKE(deferred);
        return encode_deferred(l, from, &b.deferred, buffer, room);
    }
    default:
        return -EINVAL;
    }
#undef TAKE
}

int rk_layout_encode(const struct rk_layout *layout, const struct rk_record *record, const void *body,
                     void *buffer, size_t n)
{
    if (!layout || !record || !body || !buffer || (uintptr_t)buffer % 8)
        return -EINVAL;
    return layout_encode(&layout->layout, record, body, buffer, n);
}

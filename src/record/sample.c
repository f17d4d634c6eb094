/*
 * A SAMPLE's fields, in the order of the kernel's perf_output_sample(), each with its "since". The head's
 * words are covered by one check of bounds; what follows is walked by the cursor, and c.bad is asked once
 * at the end.
 *
 * One place is ambiguous: a branch stack of which the kernel took nothing is written as nr = 0 alone, or as
 * nr = 0 and hw_idx, depending on the PMU's driver and the kernel's age. The record's size decides: its
 * fields fill it exactly in only one of the two readings.
 */
#include "record/layout.h"

#include "base/cursor.h"
#include "base/error.h"
#include "base/unset.h"

#include <errno.h>

/* What layout_plain() leaves. */
#define PLAIN_END __builtin_offsetof(struct rk_sample, raw)

static inline const uint64_t *words_at(const unsigned char *at)
{
    return (const uint64_t *)(const void *)at;
}

/* n bytes and what pads them to 8 together with the `before` bytes in front of them. */
static inline const unsigned char *padded_bytes(struct cursor *c, uint64_t n, uint64_t before)
{
    const unsigned char *at = cursor_bytes(c, n);

    cursor_bytes(c, -(n + before) & 7);
    return at;
}

/* Values per counter of a group's read, 1 … 3. */
static inline uint64_t read_stride(uint64_t format)
{
    return 1 + (uint64_t)__builtin_popcountll(format & (FORMAT_ID | FORMAT_LOST));
}

static inline uint64_t read_times(uint64_t format)
{
    return (uint64_t)__builtin_popcountll(format & (FORMAT_ENABLED | FORMAT_RUNNING));
}

/*
 * alone: value  [enabled] [running] [id] [lost]
 * group: nr     [enabled] [running] { value [id] [lost] } × nr
 */
static void decode_read(uint64_t format, struct cursor *c, struct rk_sample *s)
{
    const unsigned char *begin = c->at;
    uint64_t first = cursor_u64(c);

    s->read_format = format;
    s->read_words = words_at(begin);
    s->read_n = format & FORMAT_GROUP ? first : 1;
    if (format & FORMAT_ENABLED)
        s->read_enabled = cursor_u64(c);
    if (format & FORMAT_RUNNING)
        s->read_running = cursor_u64(c);
    if (!(format & FORMAT_GROUP))
        cursor_words(c, read_stride(format) - 1);
    else if (first > cursor_left(c) / 8)
        c->bad = true;
    else
        cursor_words(c, first * read_stride(format));
}

/* { u64 nr; [u64 hw_idx;] struct { u64 from, to, flags; } [nr]; [u64 counters[nr];] }   3.4, 5.7, 6.8 */
static void decode_branches(const struct layout *layout, struct cursor *c, bool index, struct rk_sample *s)
{
    s->branch_n = cursor_u64(c);
    s->branch_hw_index = UINT64_MAX;
    if (layout->branch_sample_type & BRANCH_HW_INDEX) {
        if (!index && s->branch_n == 0)
            return;
        s->branch_hw_index = cursor_u64(c);
    }
    if (s->branch_n > cursor_left(c) / sizeof(struct rk_branch)) {
        c->bad = true;
        return;
    }
    s->branches = (const struct rk_branch *)(const void *)cursor_words(c, s->branch_n * 3);
    if (layout->branch_sample_type & BRANCH_COUNTERS)
        s->branch_counters = words_at(cursor_words(c, s->branch_n));
}

/* { u64 size; [char data[size]; u64 dyn_size;] }, the latter two not when size is 0   3.7 */
static void decode_stack(struct cursor *c, struct rk_sample *s)
{
    s->stack_bytes = cursor_u64(c);
    if (s->stack_bytes == 0)
        return;
    if (s->stack_bytes % 8)
        c->bad = true;
    s->stack = cursor_bytes(c, s->stack_bytes);
    s->stack_used = cursor_u64(c);
    if (s->stack_used > s->stack_bytes)
        c->bad = true;
}

/* The fields behind the head, those that profiles mostly have. */
static void decode_front(const struct layout *layout, struct cursor *c, bool index, struct rk_sample *s)
{
    uint64_t type = layout->sample_type;

    if (type & RK_SAMPLE_READ)
        decode_read(layout->read_format, c, s);
    if (type & RK_SAMPLE_CALLCHAIN) { /* { u64 nr; u64 ips[nr]; } */
        s->chain_n = cursor_u64(c);
        s->chain = words_at(cursor_words(c, s->chain_n));
    }
    if (type & RK_SAMPLE_RAW) { /* { u32 size; char data[size]; }: size + 4 is padded to 8 */
        s->raw_bytes = cursor_u32(c);
        s->raw = padded_bytes(c, s->raw_bytes, 4);
    }
    if (type & RK_SAMPLE_BRANCH_STACK)
        decode_branches(layout, c, index, s);
    if (type & RK_SAMPLE_REGS_USER) { /* { u64 abi; u64 regs[]; }, no regs when abi is NONE   3.7 */
        s->regs_user_mask = layout->regs_user;
        s->regs_user_abi = cursor_u64(c);
        if (s->regs_user_abi)
            s->regs_user = words_at(cursor_bytes(c, layout->regs_user_bytes));
    }
    if (type & RK_SAMPLE_STACK_USER)
        decode_stack(c, s);
}

/* The rest, which only some hardware gives. */
static void decode_back(const struct layout *layout, struct cursor *c, struct rk_sample *s)
{
    uint64_t type = layout->sample_type;

    if (type & (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT)) /* 3.10, 5.12 */
        s->weight = cursor_u64(c);
    if (type & RK_SAMPLE_DATA_SRC) /* 3.10 */
        s->data_src = cursor_u64(c);
    if (type & RK_SAMPLE_TRANSACTION) /* 3.13 */
        s->transaction = cursor_u64(c);
    if (type & RK_SAMPLE_REGS_INTR) { /* 3.19 */
        s->regs_intr_mask = layout->regs_intr;
        s->regs_intr_abi = cursor_u64(c);
        if (s->regs_intr_abi)
            s->regs_intr = words_at(cursor_bytes(c, layout->regs_intr_bytes));
    }
    if (type & RK_SAMPLE_PHYS_ADDR) /* 4.14 */
        s->phys_addr = cursor_u64(c);
    if (type & RK_SAMPLE_CGROUP) /* 5.7 */
        s->cgroup = cursor_u64(c);
    if (type & RK_SAMPLE_DATA_PAGE_SIZE) /* 5.11 */
        s->data_page_size = cursor_u64(c);
    if (type & RK_SAMPLE_CODE_PAGE_SIZE) /* 5.11 */
        s->code_page_size = cursor_u64(c);
    if (type & RK_SAMPLE_AUX) { /* { u64 size; char data[size]; }, the last of all   5.5 */
        s->aux_bytes = cursor_u64(c);
        s->aux = padded_bytes(c, s->aux_bytes, 0);
    }
}

#define BACK                                                                                   \
    (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT | RK_SAMPLE_DATA_SRC | RK_SAMPLE_TRANSACTION | \
     RK_SAMPLE_REGS_INTR | RK_SAMPLE_PHYS_ADDR | RK_SAMPLE_CGROUP | RK_SAMPLE_DATA_PAGE_SIZE | \
     RK_SAMPLE_CODE_PAGE_SIZE | RK_SAMPLE_AUX)

/* Fields that the layout does not have are left as they are. */
static void decode_sample(const struct layout *layout, struct cursor *c, bool index, struct rk_sample *s)
{
    uint64_t type = layout->sample_type;

    s->present = type;
    cursor_u64(c);                   /* the record's header */
    if (type & RK_SAMPLE_IDENTIFIER) /* 3.12 */
        s->id = cursor_u64(c);
    if (type & RK_SAMPLE_IP)
        s->ip = cursor_u64(c);
    if (type & RK_SAMPLE_TID) {
        s->pid = cursor_i32(c);
        s->tid = cursor_i32(c);
    }
    if (type & RK_SAMPLE_TIME)
        s->time = cursor_u64(c);
    if (type & RK_SAMPLE_ADDR)
        s->addr = cursor_u64(c);
    if (type & RK_SAMPLE_ID)
        s->id = cursor_u64(c);
    if (type & RK_SAMPLE_STREAM_ID)
        s->stream_id = cursor_u64(c);
    if (type & RK_SAMPLE_CPU)
        s->cpu = (uint32_t)cursor_u64(c); /* the upper half is reserved */
    if (type & RK_SAMPLE_PERIOD)
        s->period = cursor_u64(c);
    decode_front(layout, c, index, s);
    if (type & BACK)
        decode_back(layout, c, s);
}

/* Zeros, 16 bytes at a time: what the compiler makes of a memset (rep stos) takes as long as all the rest. */
static inline void sample_clear(struct rk_sample *sample)
{
    typedef uint64_t two_words __attribute__((vector_size(16), may_alias, aligned(8)));
    two_words *at = (two_words *)(void *)sample;
    size_t n = sizeof *sample / sizeof *at;

    for (size_t i = 0; i < n; i++) {
        at[i] = (two_words){0};
        __asm__("" : : : "memory"); /* keeps it from being seen as a memset */
    }
    memset(at + n, 0, sizeof *sample % sizeof *at);
}

/* Most samples are plain: their lengths are looked at before anything is written, so that they go straight to the caller, who
 * gets nothing half done. */
static bool sample_plain(const struct layout *layout, const struct rk_record *record, struct rk_sample *ret)
{
    struct rk_record known = *record; /* callers here know the bytes, not always the identity */

    if (!layout->plain_bytes || layout_identity(layout, &known) < 0 || !layout_plain(layout, &known, 0, ret))
        return false;
    memset((char *)ret + PLAIN_END, 0, sizeof *ret - PLAIN_END);
    return true;
}

int layout_sample(const struct layout *layout, const struct rk_record *record, struct rk_sample *ret)
{
    struct cursor c = cursor_of(record->data, record->bytes);
    UNSET struct rk_sample sample;

    if (record->type != RK_RECORD_SAMPLE)
        return -EINVAL;
    if (sample_plain(layout, record, ret))
        return 0;
    sample_clear(&sample);
    decode_sample(layout, &c, true, &sample);
    if (__builtin_expect(c.bad || cursor_left(&c), 0) && layout->sample_type & RK_SAMPLE_BRANCH_STACK &&
        layout->branch_sample_type & BRANCH_HW_INDEX && sample.branch_n == 0) {
        struct cursor d = cursor_of(record->data, record->bytes);
        struct rk_sample other = {0};

        decode_sample(layout, &d, false, &other);
        if (!d.bad && (c.bad || cursor_left(&d) == 0)) {
            c = d;
            sample = other;
        }
    }
    return c.bad ? -EBADMSG : result_give(ret, &sample, sizeof sample);
}

/* { u32 pid, tid; struct read_format values; }, then the trailer */
int layout_read(const struct layout *layout, const struct rk_record *record, struct rk_sample *ret)
{
    struct cursor c = cursor_of(record->data, record->bytes);
    struct rk_sample sample = {.present = RK_SAMPLE_READ | RK_SAMPLE_TID};

    if (record->type != RK_RECORD_READ)
        return -EINVAL;
    cursor_u64(&c);
    sample.pid = cursor_i32(&c);
    sample.tid = cursor_i32(&c);
    decode_read(layout->read_format, &c, &sample);
    cursor_bytes(&c, layout->trailer_bytes);
    if (c.bad)
        return -EBADMSG;
    return result_give(ret, &sample, sizeof sample);
}

size_t sample_read_words(uint64_t format, uint64_t n)
{
    return 1 + read_times(format) +
           (format & FORMAT_GROUP ? n * read_stride(format) : read_stride(format) - 1);
}

int rk_sample_read(const struct rk_sample *sample, uint64_t index, struct rk_read *ret)
{
    if (!sample || !ret)
        return -EINVAL;
    uint64_t format = sample->read_format;
    const uint64_t *word = sample->read_words;

    if (index >= sample->read_n || !word)
        return -ERANGE;
    struct rk_read read = {0};
    if (format & FORMAT_GROUP) {
        word += 1 + read_times(format) + index * read_stride(format);
        read.value = *word++;
    } else {
        read.value = *word++;
        word += read_times(format);
    }
    if (format & FORMAT_ID)
        read.id = *word++;
    if (format & FORMAT_LOST)
        read.lost = *word;
    *ret = read;
    return 0;
}

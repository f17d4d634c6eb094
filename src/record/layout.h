/*
 * A record's layout: where the fields of one event's records lie. Computed once from its attr; then every
 * record of that event is decoded with no allocation, no system call and no lasting state.
 *
 * A sample is a head of fixed 8-byte words (identifier … period), found by offset, then the fields of
 * variable length, walked by a cursor. Every other kernel record ends with a trailer of fixed words
 * (sample_id_all), found from its end:
 *
 *     sample: header | IDENTIFIER IP TID TIME ADDR ID STREAM_ID CPU PERIOD | READ CALLCHAIN … AUX
 *     others: header | body …                        | TID TIME ID STREAM_ID CPU IDENTIFIER
 */
#ifndef RECORD_LAYOUT_H
#define RECORD_LAYOUT_H

#include "base/abi.h"

#include <reckon/record.h>

#include <stdbool.h>
#include <string.h>

struct layout {
    uint64_t sample_type;
    uint64_t read_format;
    uint64_t branch_sample_type;
    uint64_t regs_user, regs_intr;             /* masks */
    uint32_t regs_user_bytes, regs_intr_bytes; /* of one set of registers */
    uint16_t head_bytes;                       /* header and fixed words of a sample */
    uint16_t trailer_bytes;                    /* 0: records carry none */
    /* Of a sample of LAYOUT_PLAIN alone, without the chain's entries; 0: it has other fields. */
    uint16_t plain_bytes;
    /* Offsets: in a sample from its start, in a trailer back from the record's end. 0: not there. */
    struct layout_place {
        uint8_t tid, time, id, cpu;
        uint8_t ip, addr, period, stream_id; /* of samples */
    } sample, trailer;
    uint64_t identity; /* what of a sample's identity is there: rk_record.present */
    bool usual;        /* the head is a layout_usual */
};

/* The head of samples of LAYOUT_USUAL, which a set (reckon/set.h) asks for unless told otherwise. */
struct layout_usual {
    uint64_t header, id, ip, ids, time;
    uint32_t cpu, reserved;
    uint64_t period;
};
#define LAYOUT_USUAL \
    (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD)

/* The first record type that perf's files add to the kernel's; such records have no trailer. */
#define RECORD_TYPE_USER 64u

/* Bytes that a record can have at most: header.size is a u16 and a multiple of 8. */
#define RECORD_BYTES_MAX 65528u

/* Sample fields that this release decodes. */
#define LAYOUT_KNOWN ((RK_SAMPLE_WEIGHT_STRUCT << 1) - 1)

/* The fixed words of a sample; of these, not of both ids, and at most a chain behind them: a plain sample. */
#define LAYOUT_HEAD                                                                                         \
    (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ADDR | RK_SAMPLE_ID | \
     RK_SAMPLE_STREAM_ID | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD)
#define LAYOUT_PLAIN (LAYOUT_HEAD | RK_SAMPLE_CALLCHAIN)

/* 0, or -EINVAL for an attr that no kernel accepts (WEIGHT with WEIGHT_STRUCT). Sample bits that this release
 * does not know are kept out: they lie behind what it knows. */
int layout_init(struct layout *layout, const struct perf_attr *attr);

/* Copies a caller's perf_event_attr of so many bytes. 0; -EINVAL: no attr has so many; -E2BIG: it sets fields that this
 * release does not know, all others are copied. */
int attr_take(struct perf_attr *ret, const void *attr, size_t bytes);
#define ATTR_SIZE_FIRST 64u /* Linux 2.6.31 */
#define ATTR_SIZE_MAX 4096u /* the kernel takes no more */

/*
 * Fills a record from its bytes: type, misc, bytes, data, and from head or trailer present, pid, tid, time,
 * cpu, id (present says RK_SAMPLE_IDENTIFIER or RK_SAMPLE_ID for the latter, as the layout has it). event
 * becomes RK_NO_EVENT, offset 0: the caller sets them. `header` has header->size readable bytes, 8-byte
 * aligned. 0, or -EBADMSG where the record is too short for its head or trailer (then nothing is present,
 * the rest is filled). layout NULL, or a record of RECORD_TYPE_USER or above: nothing is present.
 */
int layout_record(const struct layout *layout, const struct perf_header *header, struct rk_record *ret);

/* layout_record() for a record whose type, misc, bytes and data are set: fills the identity alone. */
int layout_identity(const struct layout *layout, struct rk_record *record);

/*
 * The id of a record of any event of a stream, before it is known which: `any` is the layout of any of them,
 * given that layout_same_id() holds between all (it does where all have SAMPLE_IDENTIFIER). 0; -ENOENT where
 * the record carries no id; -EBADMSG where it is too short.
 */
int layout_id(const struct layout *any, const struct perf_header *header, uint64_t *ret);
bool layout_same_id(const struct layout *a, const struct layout *b);

/* Decodes a SAMPLE. ret->size is the caller's; fields beyond it are left out. 0, -EINVAL where it is no
 * sample, -EBADMSG where its bytes don't hold what the layout says. Bytes behind the last known field pass.
 * */
int layout_sample(const struct layout *layout, const struct rk_record *record, struct rk_sample *ret);

/* Decodes a READ record: fills pid, tid and read_…, present RK_SAMPLE_READ | RK_SAMPLE_TID; errors as
 * above. */
int layout_read(const struct layout *layout, const struct rk_record *record, struct rk_sample *ret);

/*
 * Whether an MMAP2 really has a build-id, of `least` bytes. Linux (6.18 too) sets MISC_MMAP_BUILD_ID for an event that asks
 * for them and leaves it set for those that are told of the same mapping after it and did not ask: their records have the
 * bit and device and inode as ever. perf 6.1 takes the device's number for the build-id's length, and its stack is gone.
 * It happens where two recordings see one program.
 */
bool mapping_has_build_id(const struct rk_record *record, uint8_t least);
#define MAPPING_BUILD_ID_AT 40 /* in MMAP2 */
#define BUILD_ID_USUAL 16 /* bytes: fewer are rather a device's number, where nobody asked for build-ids */

/* Words of a read of n counters, as rk_sample.read_words has them. */
size_t sample_read_words(uint64_t read_format, uint64_t n);

/* A word of a record, whose size the caller has looked at; 0 where it has no place. */
static inline uint64_t layout_word(const void *record, size_t at)
{
    uint64_t word;
    memcpy(&word, (const unsigned char *)record + at, sizeof word);
    return word;
}
static inline uint64_t layout_word_or(const void *record, size_t at, uint64_t other)
{
    return at ? layout_word(record, at) : other;
}

/* Process and thread are one word in records, and go in one: a word that is read soon after its halves were written waits. */
#define LAYOUT_SET_IDS(to, word)                                                               \
    do {                                                                                       \
        const uint64_t ids_ = (word);                                                          \
        memcpy((char *)(to) + __builtin_offsetof(__typeof__(*(to)), pid), &ids_, sizeof ids_); \
        _Static_assert(__builtin_offsetof(__typeof__(*(to)), tid) ==                           \
                           __builtin_offsetof(__typeof__(*(to)), pid) + 4,                     \
                       "one behind the other");                                                \
    } while (0)

/* Hot. layout_record() for a sample that has its whole head, but for event and offset; `header` is its first word, which says
 * how large it is. false for anything else, with nothing done. */
static inline bool layout_head(const struct layout *layout, const void *data, uint64_t header,
                               struct rk_record *ret)
{
    const struct layout_place *place = &layout->sample;
    const struct layout_usual *usual = data;

    if (__builtin_expect((uint32_t)header != RK_RECORD_SAMPLE || header >> 48 < layout->head_bytes, 0))
        return false;
    memcpy(ret, &header, sizeof header); /* type, misc, bytes */
    ret->data = data;
    ret->present = layout->identity;
    if (__builtin_expect(layout->usual, 1)) {
        LAYOUT_SET_IDS(ret, usual->ids);
        ret->time = usual->time;
        ret->cpu = usual->cpu;
        ret->id = usual->id;
    } else {
        LAYOUT_SET_IDS(ret, layout_word_or(data, place->tid, 0));
        ret->time = layout_word_or(data, place->time, 0);
        ret->cpu = (uint32_t)layout_word_or(data, place->cpu, 0);
        ret->id = layout_word_or(data, place->id, 0);
    }
    return true;
}
_Static_assert(__builtin_offsetof(struct rk_record, misc) == __builtin_offsetof(struct perf_header, misc) &&
                   __builtin_offsetof(struct rk_record, bytes) ==
                       __builtin_offsetof(struct perf_header, size),
               "a record begins as the kernel's does");

/*
 * Hot. layout_sample() for a sample of a plain layout (plain_bytes) whose record has its identity (layout_record()), with
 * `period` for those that don't say theirs. Sets what stands before `raw` in *ret, and leaves the rest as it is. false where
 * the sample does not hold what it says, or the caller's struct is of another size, with nothing done.
 */
static inline bool layout_plain(const struct layout *layout, const struct rk_record *record, uint64_t period,
                                struct rk_sample *ret)
{
    const struct layout_place *place = &layout->sample;
    const void *data = record->data;
    const struct layout_usual *usual = data;
    const unsigned char *chain = NULL;
    uint64_t n = 0, least = layout->plain_bytes;

    if (__builtin_expect(record->bytes < least || !ret || ret->size != sizeof *ret, 0))
        return false;
    if (layout->sample_type & RK_SAMPLE_CALLCHAIN) {
        chain = record->data + least;
        n = layout_word(chain - 8, 0);
        if (__builtin_expect(n > (record->bytes - least) / 8, 0))
            return false;
    }
    if (__builtin_expect(layout->usual, 1)) {
        ret->ip = usual->ip;
        ret->period = usual->period;
        ret->addr = ret->stream_id = 0;
    } else {
        ret->ip = layout_word_or(data, place->ip, 0);
        ret->period = layout_word_or(data, place->period, period);
        ret->addr = layout_word_or(data, place->addr, 0);
        ret->stream_id = layout_word_or(data, place->stream_id, 0);
    }
    ret->present = layout->sample_type;
    ret->cpu = record->cpu;
    ret->time = record->time;
    ret->id = record->id;
    LAYOUT_SET_IDS(ret, layout_word(record, __builtin_offsetof(struct rk_record, pid)));
    ret->chain = (const uint64_t *)(const void *)chain;
    ret->chain_n = n;
    return true;
}

#endif

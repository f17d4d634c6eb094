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
    /* Offsets: in a sample from its start, in a trailer back from the record's end. 0: not there. */
    struct layout_place {
        uint8_t tid, time, id, cpu;
        uint8_t ip, addr, period, stream_id; /* of samples */
    } sample, trailer;
    uint64_t identity; /* what of a sample's identity is there: rk_record.present */
};

/* The first record type that perf's files add to the kernel's; such records have no trailer. */
#define RECORD_TYPE_USER 64u

/* Bytes that a record can have at most: header.size is a u16 and a multiple of 8. */
#define RECORD_BYTES_MAX 65528u

/* Sample fields that this release decodes. */
#define LAYOUT_KNOWN ((RK_SAMPLE_WEIGHT_STRUCT << 1) - 1)

/* Samples of these fields alone are fixed words and at most a chain behind them. */
#define LAYOUT_PLAIN                                                                                        \
    (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ADDR | RK_SAMPLE_ID | \
     RK_SAMPLE_STREAM_ID | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD | RK_SAMPLE_CALLCHAIN)

/* 0, or -EINVAL for an attr that no kernel accepts (WEIGHT with WEIGHT_STRUCT). Sample bits that this release
 * does not know are kept out: they lie behind what it knows. */
int layout_init(struct layout *layout, const struct perf_attr *attr);

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

/* Hot. layout_record() for a sample that has its whole head; false for anything else, with nothing done. */
static inline bool layout_head(const struct layout *layout, const struct perf_header *header,
                               struct rk_record *ret)
{
    const unsigned char *data = (const unsigned char *)header;
    const struct layout_place *place = &layout->sample;
    uint64_t word = 0;

    if (header->type != RK_RECORD_SAMPLE || header->size < layout->head_bytes)
        return false;
    ret->type = RK_RECORD_SAMPLE;
    ret->misc = header->misc;
    ret->bytes = header->size;
    ret->data = data;
    ret->present = layout->identity;
    if (place->tid)
        memcpy(&word, data + place->tid, sizeof word);
    ret->pid = (int32_t)(uint32_t)word;
    ret->tid = (int32_t)(uint32_t)(word >> 32);
    ret->time = ret->id = ret->cpu = 0;
    if (place->time)
        memcpy(&ret->time, data + place->time, sizeof ret->time);
    if (place->cpu)
        memcpy(&ret->cpu, data + place->cpu, sizeof ret->cpu);
    if (place->id)
        memcpy(&ret->id, data + place->id, sizeof ret->id);
    return true;
}

#endif

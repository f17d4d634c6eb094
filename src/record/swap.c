#include "record/swap.h"

#include <errno.h>

static void swap_at(unsigned char *at, unsigned width)
{
    for (unsigned i = 0; i < width / 2; i++) {
        unsigned char byte = at[i];
        at[i] = at[width - 1 - i];
        at[width - 1 - i] = byte;
    }
}

/* The bytes at a cursor, which are the caller's own. */
static unsigned char *writable(const unsigned char *at)
{
    union {
        const unsigned char *given;
        unsigned char *own;
    } bytes = {.given = at};

    return bytes.own;
}

void swap_items(struct cursor *c, uint64_t n, unsigned width)
{
    const unsigned char *at = cursor_bytes(c, n > UINT64_MAX / width ? UINT64_MAX : n * width);

    for (uint64_t i = 0; at && i < n; i++)
        swap_at(writable(at) + i * width, width);
}

static uint64_t swap_u64(struct cursor *c)
{
    struct cursor peek = *c;

    swap_items(c, 1, 8);
    return cursor_u64(&peek);
}

static uint32_t swap_u32(struct cursor *c)
{
    struct cursor peek = *c;

    swap_items(c, 1, 4);
    return cursor_u32(&peek);
}

static unsigned char mirrored(unsigned char byte)
{
    unsigned char ret = 0;

    for (unsigned i = 0; i < 8; i++)
        ret = (unsigned char)(ret | (byte >> i & 1) << (7 - i));
    return ret;
}

/* Bit-fields begin at the top of each byte there. A field of two bits has them in turn, the higher one first. */
static uint64_t turn_flags(const unsigned char *at)
{
    unsigned char bytes[8];
    uint64_t flags;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = mirrored(at[i]);
    memcpy(&flags, bytes, sizeof flags);
    uint64_t precise = flags >> ATTR_PRECISE_SHIFT & 3;
    return (flags & ~ATTR_PRECISE_MASK) | ((precise >> 1 | precise << 1) & 3) << ATTR_PRECISE_SHIFT;
}

void swap_attr(const unsigned char *attr, size_t n)
{
    static const unsigned char widths[] = {4, 4, 8, 8, 8, 8, 0, 4, 4, 8, 8, 8,
                                           8, 4, 4, 8, 4, 2, 2, 4, 4, 8, 8, 8};
    struct cursor c = cursor_of(attr, n);

    for (size_t i = 0; i < sizeof widths && !c.bad; i++) {
        const unsigned char *flags = widths[i] ? NULL : cursor_bytes(&c, 8);
        if (flags) {
            uint64_t turned = turn_flags(flags);
            memcpy(writable(flags), &turned, sizeof turned);
        } else if (widths[i]) {
            swap_items(&c, 1, widths[i]);
        }
    }
}

int swap_id(const struct layout *any, const struct perf_header *header, uint64_t *ret)
{
    int rc = layout_id(any, header, ret);

    if (rc == 0)
        *ret = __builtin_bswap64(*ret);
    return rc;
}

/* A branch's flags: fields from the top, each with its own bits in order. */
static void swap_branch_flags(const unsigned char *at)
{
    static const unsigned char widths[] = {1, 1, 1, 1, 16, 4, 2, 4, 3};
    uint64_t word = 0, turned = 0;
    unsigned from = 64, to = 0;

    if (!at)
        return;
    for (size_t i = 0; i < 8; i++)
        word = word << 8 | at[i];
    for (size_t i = 0; i < sizeof widths; i++) {
        from -= widths[i];
        turned |= (word >> from & ((UINT64_C(1) << widths[i]) - 1)) << to;
        to += widths[i];
    }
    memcpy(writable(at), &turned, sizeof turned);
}

static void swap_registers(struct cursor *c, uint32_t bytes)
{
    if (swap_u64(c))
        swap_items(c, bytes / 8, 8);
}

static void swap_read(uint64_t format, struct cursor *c)
{
    uint64_t n = format & FORMAT_GROUP ? swap_u64(c) : 1, words = 1;

    words += !!(format & FORMAT_ID);
    words += !!(format & FORMAT_LOST);
    swap_items(c, !!(format & FORMAT_ENABLED), 8);
    swap_items(c, !!(format & FORMAT_RUNNING), 8);
    swap_items(c, n > UINT64_MAX / words ? UINT64_MAX : n * words, 8);
}

/* In the order of decode_sample() (sample.c). */
static void swap_sample(const struct layout *layout, struct cursor *c)
{
    uint64_t type = layout->sample_type;
    static const struct {
        uint64_t bit;
        unsigned width;
    } head[] = {{RK_SAMPLE_IDENTIFIER, 8}, {RK_SAMPLE_IP, 8},   {RK_SAMPLE_TID, 4},
                {RK_SAMPLE_TIME, 8},       {RK_SAMPLE_ADDR, 8}, {RK_SAMPLE_ID, 8},
                {RK_SAMPLE_STREAM_ID, 8},  {RK_SAMPLE_CPU, 4},  {RK_SAMPLE_PERIOD, 8}},
      back[] = {{RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT, 8},
                {RK_SAMPLE_DATA_SRC, 8},
                {RK_SAMPLE_TRANSACTION, 8}},
      last[] = {{RK_SAMPLE_PHYS_ADDR, 8},
                {RK_SAMPLE_CGROUP, 8},
                {RK_SAMPLE_DATA_PAGE_SIZE, 8},
                {RK_SAMPLE_CODE_PAGE_SIZE, 8}};

    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        if (type & head[i].bit)
            swap_items(c, 8 / head[i].width, head[i].width);
    if (type & RK_SAMPLE_READ)
        swap_read(layout->read_format, c);
    if (type & RK_SAMPLE_CALLCHAIN)
        swap_items(c, swap_u64(c), 8);
    if (type & RK_SAMPLE_RAW) {
        uint64_t bytes = swap_u32(c);
        cursor_bytes(c, ((bytes + 4 + 7) & ~UINT64_C(7)) - 4);
    }
    if (type & RK_SAMPLE_BRANCH_STACK) {
        uint64_t n = swap_u64(c);
        if (n && layout->branch_sample_type & BRANCH_HW_INDEX)
            swap_u64(c);
        for (uint64_t i = 0; i < n && !c->bad; i++) {
            swap_items(c, 2, 8);
            swap_branch_flags(cursor_bytes(c, 8));
        }
        if (layout->branch_sample_type & BRANCH_COUNTERS)
            swap_items(c, n, 8);
    }
    if (type & RK_SAMPLE_REGS_USER)
        swap_registers(c, layout->regs_user_bytes);
    if (type & RK_SAMPLE_STACK_USER) {
        uint64_t bytes = swap_u64(c);
        cursor_bytes(c, bytes);
        if (bytes)
            swap_u64(c);
    }
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        if (type & back[i].bit)
            swap_u64(c);
    if (type & RK_SAMPLE_REGS_INTR)
        swap_registers(c, layout->regs_intr_bytes);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        if (type & last[i].bit)
            swap_u64(c);
    if (type & RK_SAMPLE_AUX)
        swap_u64(c);
}

static void swap_mapping(struct cursor *c, const struct perf_header *header)
{
    swap_items(c, 2, 4); /* pid, tid */
    swap_items(c, 3, 8); /* start, length, offset */
    if (header->type != RK_RECORD_MMAP2)
        return;
    if (header->misc & RK_MISC_BUILD_ID) { /* u8 bytes, u8, u16, u8[20] */
        cursor_bytes(c, 24);
    } else {
        swap_items(c, 2, 4); /* device */
        swap_items(c, 2, 8); /* inode, its generation */
    }
    swap_items(c, 2, 4); /* protection, flags */
}

/* What stands before the trailer, texts left out. */
static void swap_body(const struct layout *layout, struct cursor *c, const struct perf_header *header)
{
    switch (header->type) {
    case RK_RECORD_MMAP:
    case RK_RECORD_MMAP2:
        swap_mapping(c, header);
        break;
    case RK_RECORD_COMM:
    case RK_RECORD_ITRACE_START:
    case RK_RECORD_SWITCH_CPU_WIDE:
        swap_items(c, 2, 4);
        break;
    case RK_RECORD_LOST:
        swap_items(c, 2, 8);
        break;
    case RK_RECORD_EXIT:
    case RK_RECORD_FORK:
        swap_items(c, 4, 4);
        swap_items(c, 1, 8);
        break;
    case RK_RECORD_THROTTLE:
    case RK_RECORD_UNTHROTTLE:
    case RK_RECORD_AUX:
        swap_items(c, 3, 8);
        break;
    case RK_RECORD_READ:
        swap_items(c, 2, 4);
        if (layout)
            swap_read(layout->read_format, c);
        break;
    case RK_RECORD_LOST_SAMPLES:
    case RK_RECORD_CGROUP:
    case RK_RECORD_AUX_OUTPUT_HW_ID:
        swap_items(c, 1, 8);
        break;
    case RK_RECORD_NAMESPACES:
        swap_items(c, 2, 4);
        swap_items(c, 2 * (swap_u64(c) & UINT32_MAX), 8);
        break;
    case RK_RECORD_KSYMBOL:
        swap_items(c, 1, 8);
        swap_items(c, 1, 4);
        swap_items(c, 2, 2);
        break;
    case RK_RECORD_BPF_EVENT:
        swap_items(c, 2, 2);
        swap_items(c, 1, 4);
        break;
    case RK_RECORD_TEXT_POKE:
        swap_items(c, 1, 8);
        swap_items(c, 2, 2);
        break;
    case RK_RECORD_CALLCHAIN_DEFERRED:
        swap_items(c, 1, 8);
        swap_items(c, swap_u64(c), 8);
        break;
    default:
        break;
    }
}

static void swap_trailer(const struct layout *layout, struct perf_header *header)
{
    static const uint64_t halves = RK_SAMPLE_TID | RK_SAMPLE_CPU,
                          words[] = {RK_SAMPLE_TID,       RK_SAMPLE_TIME, RK_SAMPLE_ID,
                                     RK_SAMPLE_STREAM_ID, RK_SAMPLE_CPU,  RK_SAMPLE_IDENTIFIER};
    size_t n = layout->trailer_bytes;

    if (n == 0 || header->size < sizeof *header + n)
        return;
    struct cursor c = cursor_of((unsigned char *)header + header->size - n, n);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (layout->sample_type & words[i])
            swap_items(&c, words[i] & halves ? 2 : 1, words[i] & halves ? 4 : 8);
}

void swap_record(const struct layout *layout, struct perf_header *header)
{
    struct cursor c = cursor_of(header + 1, header->size - sizeof *header);

    if (header->type == RK_RECORD_SAMPLE) {
        if (layout)
            swap_sample(layout, &c);
        return;
    }
    if (layout && header->size >= sizeof *header + layout->trailer_bytes)
        c.end -= layout->trailer_bytes;
    swap_body(layout, &c, header);
    if (layout)
        swap_trailer(layout, header);
}

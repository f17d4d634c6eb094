#include "perfdata/swap.h"

#include "base/cursor.h"
#include "record/swap.h"

void swap_file_header(struct perfdata_header *header)
{
    struct cursor c = cursor_of(header, sizeof *header);

    swap_items(&c, sizeof *header / 8, 8);
    if (!(header->features[0] >> FEATURE_HOSTNAME & 1)) /* everybody writes it */
        for (size_t i = 0; i < 4; i++)
            header->features[i] = header->features[i] >> 32 | header->features[i] << 32;
}

/* An attr; its own size is in it. */
static void swap_attr_at(struct cursor *c, size_t most)
{
    struct cursor peek = *c;
    struct perf_attr head;

    memset(&head, 0, sizeof head);
    const unsigned char *at = cursor_bytes(&peek, 8);
    if (!at)
        return;
    memcpy(&head, at, 8);
    uint32_t size = __builtin_bswap32(head.size);
    size = size ? size : 64;
    size = size < most ? size : (uint32_t)most;
    size = size < cursor_left(c) ? size : (uint32_t)cursor_left(c);
    swap_attr(c->at, size);
    cursor_bytes(c, size);
}

static uint32_t swap_number(struct cursor *c)
{
    struct cursor peek = *c;

    swap_items(c, 1, 4);
    return cursor_u32(&peek);
}

static void swap_text(struct cursor *c)
{
    cursor_bytes(c, swap_number(c));
}

static void swap_event_desc(struct cursor *c)
{
    uint32_t n = swap_number(c), attr_size = swap_number(c);

    for (uint32_t i = 0; i < n && !c->bad; i++) {
        struct cursor attr = *c;
        swap_attr_at(&attr, attr_size);
        cursor_bytes(c, attr_size);
        uint32_t ids = swap_number(c);
        swap_text(c);
        swap_items(c, ids, 8);
    }
}

static void swap_build_ids(struct cursor *c)
{
    while (cursor_left(c) >= sizeof(struct perf_header) && !c->bad) {
        struct perf_header header;
        struct cursor record = *c;

        memcpy(&header, c->at, sizeof header);
        swap_header(&header);
        swap_items(&record, 1, 4);
        swap_items(&record, 2, 2);
        swap_items(&record, 1, 4); /* pid */
        cursor_bytes(c, header.size < sizeof header ? UINT64_MAX : header.size);
    }
}

void swap_feature(unsigned bit, void *bytes, size_t n)
{
    struct cursor c = cursor_of(bytes, n);

    switch (bit) {
    case FEATURE_BUILD_ID:
        swap_build_ids(&c);
        break;
    case FEATURE_HOSTNAME:
    case FEATURE_OSRELEASE:
    case FEATURE_VERSION:
    case FEATURE_ARCH:
        swap_text(&c);
        break;
    case FEATURE_NRCPUS:
        swap_items(&c, 2, 4);
        break;
    case FEATURE_CMDLINE:
        for (uint32_t texts = swap_number(&c); texts && !c.bad; texts--)
            swap_text(&c);
        break;
    case FEATURE_EVENT_DESC:
        swap_event_desc(&c);
        break;
    case FEATURE_SAMPLE_TIME:
        swap_items(&c, 2, 8);
        break;
    default:
        break;
    }
}

void swap_tool_record(struct perf_header *record)
{
    struct cursor c = cursor_of(record + 1, record->size - sizeof *record);

    switch (record->type) {
    case PERFDATA_ATTR:
        swap_attr_at(&c, cursor_left(&c));
        swap_items(&c, cursor_left(&c) / 8, 8);
        break;
    case PERFDATA_TRACING_DATA:
    case PERFDATA_BUILD_ID:
        swap_items(&c, 1, 4);
        break;
    case PERFDATA_EVENT_UPDATE:
        swap_items(&c, 2, 8);
        break;
    case PERFDATA_AUXTRACE_INFO:
        swap_items(&c, 2, 4);
        swap_items(&c, cursor_left(&c) / 8, 8);
        break;
    case PERFDATA_AUXTRACE:
        swap_items(&c, 3, 8);
        swap_items(&c, 4, 4);
        break;
    case PERFDATA_FEATURE: {
        struct cursor peek = c;
        swap_items(&c, 1, 8);
        uint64_t bit = cursor_u64(&peek);
        swap_feature(bit < FEATURE_MAX ? (unsigned)bit : 0, (unsigned char *)(record + 1) + 8,
                     cursor_left(&c));
        break;
    }
    case PERFDATA_COMPRESSED2:
        swap_items(&c, 1, 8);
        break;
    case PERFDATA_ID_INDEX:
    case PERFDATA_STAT_CONFIG:
    case PERFDATA_STAT_ROUND:
    case PERFDATA_TIME_CONV:
        swap_items(&c, cursor_left(&c) / 8, 8);
        break;
    default:
        break;
    }
}

/*
 * From an attr to offsets. The order of a sample's words is the kernel's perf_output_sample(), that of the
 * trailer its __perf_event__output_id_sample().
 */
#include "record/layout.h"

#include "base/cursor.h"

#include <errno.h>

/* All fixed words of a sample's head, in order. */
static const uint64_t head_words[] = {
    RK_SAMPLE_IDENTIFIER, RK_SAMPLE_IP,        RK_SAMPLE_TID, RK_SAMPLE_TIME,   RK_SAMPLE_ADDR,
    RK_SAMPLE_ID,         RK_SAMPLE_STREAM_ID, RK_SAMPLE_CPU, RK_SAMPLE_PERIOD,
};
static const uint64_t trailer_words[] = {
    RK_SAMPLE_TID, RK_SAMPLE_TIME, RK_SAMPLE_ID, RK_SAMPLE_STREAM_ID, RK_SAMPLE_CPU, RK_SAMPLE_IDENTIFIER,
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void place_word(struct layout_place *place, uint64_t sample_type, uint64_t word, uint8_t at)
{
    switch (word) {
    case RK_SAMPLE_TID:
        place->tid = at;
        break;
    case RK_SAMPLE_TIME:
        place->time = at;
        break;
    case RK_SAMPLE_CPU:
        place->cpu = at;
        break;
    case RK_SAMPLE_IP:
        place->ip = at;
        break;
    case RK_SAMPLE_ADDR:
        place->addr = at;
        break;
    case RK_SAMPLE_PERIOD:
        place->period = at;
        break;
    case RK_SAMPLE_STREAM_ID:
        place->stream_id = at;
        break;
    case RK_SAMPLE_ID: /* the same id is in both; the identifier's place is the same for all events */
        if (!(sample_type & RK_SAMPLE_IDENTIFIER))
            place->id = at;
        break;
    case RK_SAMPLE_IDENTIFIER:
        place->id = at;
        break;
    default:
        break;
    }
}

int layout_init(struct layout *layout, const struct perf_attr *attr)
{
    uint64_t type = attr->sample_type;
    uint8_t at = sizeof(struct perf_header);

    if (type & RK_SAMPLE_WEIGHT && type & RK_SAMPLE_WEIGHT_STRUCT)
        return -EINVAL;
    *layout = (struct layout){
        .sample_type = type & LAYOUT_KNOWN,
        .read_format = attr->read_format,
        .branch_sample_type = attr->branch_sample_type,
        .regs_user = attr->sample_regs_user,
        .regs_intr = attr->sample_regs_intr,
        .regs_user_bytes = 8 * (uint32_t)__builtin_popcountll(attr->sample_regs_user),
        .regs_intr_bytes = 8 * (uint32_t)__builtin_popcountll(attr->sample_regs_intr),
    };
    /* AUX is last, so that fields of a later kernel lie before it. */
    if (type & ~LAYOUT_KNOWN)
        layout->sample_type &= ~RK_SAMPLE_AUX;

    for (size_t i = 0; i < COUNT(head_words); i++) {
        if (!(type & head_words[i]))
            continue;
        place_word(&layout->sample, type, head_words[i], at);
        at = (uint8_t)(at + 8);
    }
    layout->head_bytes = at;
    layout->usual = (type & LAYOUT_HEAD) == LAYOUT_USUAL;
    if (!(type & ~LAYOUT_PLAIN) && (~type & (RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER)))
        layout->plain_bytes = (uint16_t)(at + (type & RK_SAMPLE_CALLCHAIN ? 8 : 0));
    layout->identity = type & (RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU |
                               (type & RK_SAMPLE_IDENTIFIER ? RK_SAMPLE_IDENTIFIER : RK_SAMPLE_ID));

    if (!(attr->flags & ATTR_SAMPLE_ID_ALL))
        return 0;
    at = 0;
    for (size_t i = COUNT(trailer_words); i-- > 0;) {
        if (!(type & trailer_words[i]))
            continue;
        at = (uint8_t)(at + 8);
        place_word(&layout->trailer, type, trailer_words[i], at);
    }
    layout->trailer_bytes = at;
    return 0;
}

/* Whether the kernel gives such records an identity: it does to all of its own. */
static bool has_identity(uint32_t type)
{
    return type > 0 && type < RECORD_TYPE_USER;
}

/* Where the words of a record's identity lie: their base, and the places from it. NULL: it has none, or is
 * too short, which *ret_short tells. Places of a trailer count backward. */
static const unsigned char *identity_base(const struct layout *layout, uint32_t type, size_t bytes,
                                          const unsigned char *data, bool *ret_short)
{
    struct cursor c = cursor_of(data, bytes);

    *ret_short = false;
    if (!layout || !has_identity(type))
        return NULL;
    const unsigned char *whole =
        cursor_bytes(&c, type == RK_RECORD_SAMPLE ? layout->head_bytes
                                                  : sizeof(struct perf_header) + layout->trailer_bytes);
    if (!whole) {
        *ret_short = true;
        return NULL;
    }
    return type == RK_RECORD_SAMPLE ? data : data + bytes;
}

int layout_identity(const struct layout *layout, struct rk_record *record)
{
    bool sample = record->type == RK_RECORD_SAMPLE, cut;
    const unsigned char *base = identity_base(layout, record->type, record->bytes, record->data, &cut);

    record->present = 0;
    record->pid = record->tid = 0;
    record->time = record->id = record->cpu = 0;
    if (!base)
        return cut ? -EBADMSG : 0;

    const struct layout_place *place = sample ? &layout->sample : &layout->trailer;
#define AT(field) (sample ? base + place->field : base - place->field)
    if (place->tid) {
        uint64_t word = layout_word(AT(tid), 0);
        record->pid = (int32_t)(uint32_t)word;
        record->tid = (int32_t)(uint32_t)(word >> 32);
        record->present |= RK_SAMPLE_TID;
    }
    if (place->time) {
        record->time = layout_word(AT(time), 0);
        record->present |= RK_SAMPLE_TIME;
    }
    if (place->cpu) {
        record->cpu = (uint32_t)layout_word(AT(cpu), 0);
        record->present |= RK_SAMPLE_CPU;
    }
    if (place->id) {
        record->id = layout_word(AT(id), 0);
        record->present |= layout->sample_type & RK_SAMPLE_IDENTIFIER ? RK_SAMPLE_IDENTIFIER : RK_SAMPLE_ID;
    }
#undef AT
    return 0;
}

int layout_record(const struct layout *layout, const struct perf_header *header, struct rk_record *ret)
{
    *ret = (struct rk_record){
        .type = header->type,
        .misc = header->misc,
        .bytes = header->size,
        .event = RK_NO_EVENT,
        .data = (const unsigned char *)header,
    };
    return layout_identity(layout, ret);
}

int layout_id(const struct layout *any, const struct perf_header *header, uint64_t *ret)
{
    struct cursor c = cursor_of(header, header->size);
    bool sample = header->type == RK_RECORD_SAMPLE;
    uint8_t place = sample ? any->sample.id : any->trailer.id;

    if (!place || !has_identity(header->type))
        return -ENOENT;
    /* The record may be of an event with fewer other fields: no more than the id is asked for. That is as many
     * bytes either way, a word behind its place or a header before it. */
    const unsigned char *at = cursor_bytes(&c, place + sizeof *ret);
    if (!at)
        return -EBADMSG;
    *ret = layout_word(at, sample ? place : (size_t)header->size - place);
    return 0;
}

bool layout_same_id(const struct layout *a, const struct layout *b)
{
    return a->sample.id == b->sample.id && a->trailer.id == b->trailer.id;
}

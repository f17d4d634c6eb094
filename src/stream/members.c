#include "stream/members.h"

#include "stream/stream.h"

#include <errno.h>

struct member {
    uint32_t event;
    uint64_t id, period;
};

struct members {
    struct rk_record shown; /* what went out last: the leader's record, of this event */
    struct member as;       /* whose it is */
    VECTOR(struct member) waiting;
    size_t at;
    struct table counts; /* id, and with inheritance the thread → index in values */
    VECTOR(uint64_t) values;
    /* A copy of the record: the source may release it before its members are out. */
    uint64_t bytes[(UINT16_MAX + 7) / 8];
};

struct members *members_free(struct members *m)
{
    if (m) {
        vector_free(&m->waiting);
        vector_free(&m->values);
        table_free(&m->counts);
        free(m);
    }
    return NULL;
}

static const struct rk_record *show(struct members *m, const struct member *member)
{
    m->as = *member;
    m->shown.event = member->event;
    return &m->shown;
}

const struct rk_record *members_next(struct members *m)
{
    return m && m->at < m->waiting.n ? show(m, &m->waiting.items[m->at++]) : NULL;
}

/* What a counter counted since it was read last: 0 or -ENOMEM. */
static int difference(struct members *m, uint64_t id, uint32_t thread, uint64_t value, uint64_t *ret)
{
    uint64_t key = hash_mix(id) ^ thread;
    uint32_t at = table_get(&m->counts, key);

    if (at == TABLE_NONE) {
        at = (uint32_t)m->values.n;
        if (vector_reserve(&m->values, 1) < 0 || table_put(&m->counts, key, at) < 0)
            return -ENOMEM;
        m->values.items[m->values.n++] = 0;
    }
    *ret = value - m->values.items[at];
    m->values.items[at] = value;
    return 0;
}

/* The members of one sample, the leader's own apart. */
static int take_values(struct rk_stream *st, struct members *m, const struct rk_record *record,
                       const struct rk_sample *s, struct member *own, bool *ret_own)
{
    bool inherits = st->events.items[record->event].attr.flags & ATTR_INHERIT;

    for (uint64_t i = 0; i < s->read_n; i++) {
        struct rk_read read;
        struct member member;
        if (rk_sample_read(s, i, &read) < 0)
            return 0;
        member = (struct member){.event = table_get(&st->ids, read.id), .id = read.id};
        if (member.event >= st->events.n)
            continue;
        if (difference(m, read.id, inherits ? (uint32_t)s->tid : 0, read.value, &member.period) < 0)
            return -ENOMEM;
        if (member.event == record->event) {
            *own = member;
            *ret_own = true;
        } else if (member.period) {
            struct member *at = vector_push(&m->waiting);
            if (!at)
                return -ENOMEM;
            *at = member;
        }
    }
    return 0;
}

int members_take(struct rk_stream *st, const struct rk_record *record, const struct rk_record **ret)
{
    uint64_t both = RK_FORMAT_GROUP | RK_FORMAT_ID;
    struct rk_sample s = {.size = sizeof s};
    struct member own = {.event = RK_NO_EVENT};
    bool has_own = false;

    *ret = record;
    if (!st->file || record->type != RK_RECORD_SAMPLE || record->event >= st->events.n)
        return 1;
    const struct perf_attr *attr = &st->events.items[record->event].attr;
    if (!(attr->sample_type & RK_SAMPLE_READ) || (attr->read_format & both) != both ||
        layout_sample(&st->events.items[record->event].layout, record, &s) < 0 || s.read_n < 2)
        return 1;
    if (!st->members && !(st->members = calloc(1, sizeof *st->members)))
        return -ENOMEM;
    struct members *m = st->members;
    m->at = m->waiting.n = 0;
    int rc = take_values(st, m, record, &s, &own, &has_own);
    if (rc < 0 || !has_own)
        return rc < 0 ? rc : 1;
    m->shown = *record;
    memcpy(m->bytes, record->data, record->bytes);
    m->shown.data = (const void *)m->bytes;
    *ret = own.period ? show(m, &own) : members_next(m);
    return *ret ? 1 : 0;
}

void members_sample(const struct members *m, const struct rk_record *record, struct rk_sample *s)
{
    if (!m || record != &m->shown || s->size < sizeof *s)
        return;
    s->period = m->as.period;
    s->id = m->as.id;
    s->present |= RK_SAMPLE_PERIOD;
}

/*
 * The records about the machine, not about a thread's memory or life: each with the kernel's struct and its "since"
 * above its decoder, its encoder behind it.
 */
#include "base/cursor.h"
#include "base/error.h"
#include "record/encode.h"
#include "record/pen.h"

/* A cursor behind the header of a record of this type; false: of another. */
static bool body(const struct rk_record *record, uint32_t type, struct cursor *ret)
{
    if (!record)
        return false;
    *ret = cursor_of(record->data, record->bytes);
    cursor_u64(ret);
    return record->type == type;
}

static const uint64_t *words_at(const unsigned char *at)
{
    return (const uint64_t *)(const void *)at;
}

#define GIVE(c, ret, mine) ((c).bad ? -EBADMSG : result_give(ret, &(mine), sizeof(mine)))

static int end(struct pen *p, const struct layout *layout, const struct rk_record *from, uint32_t type)
{
    pen_align(p);
    pen_trailer(p, layout, from);
    return pen_end(p, type, from->misc);
}

/* THROTTLE, UNTHROTTLE: u64 time, id, stream_id; */
int rk_record_throttle(const struct rk_record *record, struct rk_throttle *ret)
{
    struct rk_throttle mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_THROTTLE, &c) && (!record || record->type != RK_RECORD_UNTHROTTLE))
        return -EINVAL;
    mine.time = cursor_u64(&c);
    mine.id = cursor_u64(&c);
    mine.stream_id = cursor_u64(&c);
    return GIVE(c, ret, mine);
}

int encode_throttle(const struct layout *layout, const struct rk_record *from, uint32_t type,
                    const struct rk_throttle *throttle, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (type != RK_RECORD_THROTTLE && type != RK_RECORD_UNTHROTTLE)
        return -EINVAL;
    pen_u64(&p, throttle->time);
    pen_u64(&p, throttle->id);
    pen_u64(&p, throttle->stream_id);
    return end(&p, layout, from, type);
}

/* AUX: u64 aux_offset, aux_size, flags;   4.1 */
int rk_record_aux(const struct rk_record *record, struct rk_aux *ret)
{
    struct rk_aux mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_AUX, &c))
        return -EINVAL;
    mine.offset = cursor_u64(&c);
    mine.bytes = cursor_u64(&c);
    mine.flags = cursor_u64(&c);
    return GIVE(c, ret, mine);
}

int encode_aux(const struct layout *layout, const struct rk_record *from, const struct rk_aux *aux,
               void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    pen_u64(&p, aux->offset);
    pen_u64(&p, aux->bytes);
    pen_u64(&p, aux->flags);
    return end(&p, layout, from, RK_RECORD_AUX);
}

/* ITRACE_START: u32 pid, tid;   4.1 */
int rk_record_itrace(const struct rk_record *record, struct rk_itrace *ret)
{
    struct rk_itrace mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_ITRACE_START, &c))
        return -EINVAL;
    mine.pid = cursor_i32(&c);
    mine.tid = cursor_i32(&c);
    return GIVE(c, ret, mine);
}

int encode_itrace(const struct layout *layout, const struct rk_record *from, const struct rk_itrace *itrace,
                  void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    pen_i32(&p, itrace->pid);
    pen_i32(&p, itrace->tid);
    return end(&p, layout, from, RK_RECORD_ITRACE_START);
}

/* SWITCH: nothing; SWITCH_CPU_WIDE: u32 next_prev_pid, next_prev_tid;   4.3 */
int rk_record_switch(const struct rk_record *record, struct rk_switch *ret)
{
    struct rk_switch mine = {.wide = record && record->type == RK_RECORD_SWITCH_CPU_WIDE};
    struct cursor c;

    if (!record || (!body(record, RK_RECORD_SWITCH, &c) && !mine.wide))
        return -EINVAL;
    mine.out = (record->misc & RK_MISC_SWITCH_OUT) != 0;
    mine.preempted = (record->misc & RK_MISC_SWITCH_PREEMPT) != 0;
    if (mine.wide) {
        mine.other_pid = cursor_i32(&c);
        mine.other_tid = cursor_i32(&c);
    }
    return GIVE(c, ret, mine);
}

int encode_switch(const struct layout *layout, const struct rk_record *from, const struct rk_switch *change,
                  void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);
    uint16_t bits =
        (uint16_t)((change->out ? RK_MISC_SWITCH_OUT : 0) | (change->preempted ? RK_MISC_SWITCH_PREEMPT : 0));

    if (change->wide) {
        pen_i32(&p, change->other_pid);
        pen_i32(&p, change->other_tid);
    }
    pen_trailer(&p, layout, from);
    return pen_end(&p, change->wide ? RK_RECORD_SWITCH_CPU_WIDE : RK_RECORD_SWITCH,
                   (uint16_t)((from->misc & ~(RK_MISC_SWITCH_OUT | RK_MISC_SWITCH_PREEMPT)) | bits));
}

/* NAMESPACES: u32 pid, tid; u64 nr; struct { u64 dev, inode; } [nr];   4.12 */
int rk_record_namespaces(const struct rk_record *record, struct rk_namespaces *ret)
{
    struct rk_namespaces mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_NAMESPACES, &c))
        return -EINVAL;
    mine.pid = cursor_i32(&c);
    mine.tid = cursor_i32(&c);
    mine.n = cursor_u64(&c);
    mine.list = (const void *)cursor_words(&c, mine.n > UINT64_MAX / 2 ? UINT64_MAX : mine.n * 2);
    return GIVE(c, ret, mine);
}

int encode_namespaces(const struct layout *layout, const struct rk_record *from,
                      const struct rk_namespaces *namespaces, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (namespaces->n && !namespaces->list)
        return -EINVAL;
    pen_i32(&p, namespaces->pid);
    pen_i32(&p, namespaces->tid);
    pen_u64(&p, namespaces->n);
    pen_words(&p, namespaces->list, namespaces->n > RECORD_BYTES_MAX ? UINT64_MAX : namespaces->n * 2);
    return end(&p, layout, from, RK_RECORD_NAMESPACES);
}

/* KSYMBOL: u64 addr; u32 len; u16 ksym_type, flags; char name[];   5.1 */
int rk_record_ksymbol(const struct rk_record *record, struct rk_ksymbol *ret)
{
    struct rk_ksymbol mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_KSYMBOL, &c))
        return -EINVAL;
    mine.address = cursor_u64(&c);
    mine.length = cursor_u32(&c);
    mine.kind = cursor_u16(&c);
    mine.flags = cursor_u16(&c);
    mine.name = cursor_text(&c);
    return GIVE(c, ret, mine);
}

int encode_ksymbol(const struct layout *layout, const struct rk_record *from, const struct rk_ksymbol *symbol,
                   void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (!symbol->name || symbol->kind > UINT16_MAX || symbol->flags > UINT16_MAX)
        return -EINVAL;
    pen_u64(&p, symbol->address);
    pen_u32(&p, symbol->length);
    pen_u16(&p, (uint16_t)symbol->kind);
    pen_u16(&p, (uint16_t)symbol->flags);
    pen_text(&p, symbol->name);
    return end(&p, layout, from, RK_RECORD_KSYMBOL);
}

/* BPF_EVENT: u16 type, flags; u32 id; u8 tag[8];   5.1 */
int rk_record_bpf(const struct rk_record *record, struct rk_bpf *ret)
{
    struct rk_bpf mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_BPF_EVENT, &c))
        return -EINVAL;
    mine.kind = cursor_u16(&c);
    mine.flags = cursor_u16(&c);
    mine.id = cursor_u32(&c);
    mine.tag = cursor_bytes(&c, 8);
    return GIVE(c, ret, mine);
}

int encode_bpf(const struct layout *layout, const struct rk_record *from, const struct rk_bpf *bpf,
               void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (!bpf->tag || bpf->kind > UINT16_MAX || bpf->flags > UINT16_MAX)
        return -EINVAL;
    pen_u16(&p, (uint16_t)bpf->kind);
    pen_u16(&p, (uint16_t)bpf->flags);
    pen_u32(&p, bpf->id);
    pen_bytes(&p, bpf->tag, 8);
    return end(&p, layout, from, RK_RECORD_BPF_EVENT);
}

/* CGROUP: u64 id; char path[];   5.7 */
int rk_record_cgroup(const struct rk_record *record, struct rk_cgroup *ret)
{
    struct rk_cgroup mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_CGROUP, &c))
        return -EINVAL;
    mine.id = cursor_u64(&c);
    mine.path = cursor_text(&c);
    return GIVE(c, ret, mine);
}

int encode_cgroup(const struct layout *layout, const struct rk_record *from, const struct rk_cgroup *cgroup,
                  void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (!cgroup->path)
        return -EINVAL;
    pen_u64(&p, cgroup->id);
    pen_text(&p, cgroup->path);
    return end(&p, layout, from, RK_RECORD_CGROUP);
}

/* TEXT_POKE: u64 addr; u16 old_len, new_len; u8 bytes[old_len + new_len];   5.9 */
int rk_record_text_poke(const struct rk_record *record, struct rk_text_poke *ret)
{
    struct rk_text_poke mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_TEXT_POKE, &c))
        return -EINVAL;
    mine.address = cursor_u64(&c);
    mine.old_bytes = cursor_u16(&c);
    mine.new_bytes = cursor_u16(&c);
    mine.old_code = cursor_bytes(&c, mine.old_bytes);
    mine.new_code = cursor_bytes(&c, mine.new_bytes);
    return GIVE(c, ret, mine);
}

int encode_text_poke(const struct layout *layout, const struct rk_record *from,
                     const struct rk_text_poke *poke, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (poke->old_bytes > UINT16_MAX || poke->new_bytes > UINT16_MAX ||
        (poke->old_bytes && !poke->old_code) || (poke->new_bytes && !poke->new_code))
        return -EINVAL;
    pen_u64(&p, poke->address);
    pen_u16(&p, (uint16_t)poke->old_bytes);
    pen_u16(&p, (uint16_t)poke->new_bytes);
    pen_bytes(&p, poke->old_code, poke->old_bytes);
    pen_bytes(&p, poke->new_code, poke->new_bytes);
    return end(&p, layout, from, RK_RECORD_TEXT_POKE);
}

/* AUX_OUTPUT_HW_ID: u64 hw_id;   5.16 */
int rk_record_hw_id(const struct rk_record *record, struct rk_hw_id *ret)
{
    struct rk_hw_id mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_AUX_OUTPUT_HW_ID, &c))
        return -EINVAL;
    mine.hw_id = cursor_u64(&c);
    return GIVE(c, ret, mine);
}

int encode_hw_id(const struct layout *layout, const struct rk_record *from, const struct rk_hw_id *id,
                 void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    pen_u64(&p, id->hw_id);
    return end(&p, layout, from, RK_RECORD_AUX_OUTPUT_HW_ID);
}

/* CALLCHAIN_DEFERRED: u64 cookie, nr; u64 ips[nr];   6.19 */
int rk_record_deferred(const struct rk_record *record, struct rk_deferred *ret)
{
    struct rk_deferred mine = {0};
    struct cursor c;

    if (!body(record, RK_RECORD_CALLCHAIN_DEFERRED, &c))
        return -EINVAL;
    mine.cookie = cursor_u64(&c);
    mine.chain_n = cursor_u64(&c);
    mine.chain = words_at(cursor_words(&c, mine.chain_n));
    return GIVE(c, ret, mine);
}

int encode_deferred(const struct layout *layout, const struct rk_record *from,
                    const struct rk_deferred *deferred, void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (deferred->chain_n && !deferred->chain)
        return -EINVAL;
    pen_u64(&p, deferred->cookie);
    pen_u64(&p, deferred->chain_n);
    pen_words(&p, deferred->chain, deferred->chain_n);
    return end(&p, layout, from, RK_RECORD_CALLCHAIN_DEFERRED);
}

/* READ: u32 pid, tid; struct read_format values; */
int encode_read(const struct layout *layout, const struct rk_record *from, const struct rk_sample *read,
                void *buffer, size_t room)
{
    struct pen p = pen_begin(buffer, room);

    if (!read->read_words || read->read_format != layout->read_format || read->read_n > RECORD_BYTES_MAX)
        return -EINVAL;
    pen_i32(&p, read->pid);
    pen_i32(&p, read->tid);
    pen_words(&p, read->read_words, sample_read_words(read->read_format, read->read_n));
    return end(&p, layout, from, RK_RECORD_READ);
}

/* --- A deferred chain and the samples that wait for it --- */

/* Where the marker stands: its index, or -1. Its cookie is the chain's last entry. */
static int64_t deferred_at(const struct rk_sample *sample)
{
    if (!(sample->present & RK_SAMPLE_CALLCHAIN) || sample->chain_n < 2 ||
        sample->chain[sample->chain_n - 2] != RK_CHAIN_USER_DEFERRED)
        return -1;
    return (int64_t)sample->chain_n - 2;
}

int rk_sample_cookie(const struct rk_sample *sample, uint64_t *ret)
{
    if (!sample || !ret)
        return -EINVAL;
    int64_t at = deferred_at(sample);

    if (at < 0)
        return -ENOENT;
    *ret = sample->chain[at + 1];
    return 0;
}

int64_t rk_sample_join(const struct rk_sample *sample, const struct rk_deferred *deferred, uint64_t *ret,
                       uint64_t max)
{
    if (!sample || !deferred || (!ret && max))
        return -EINVAL;
    int64_t at = deferred_at(sample);

    if (at < 0 || sample->chain[at + 1] != deferred->cookie)
        return -EINVAL;
    uint64_t kernel = (uint64_t)at, room = max > kernel ? max - kernel : 0;
    if (kernel && max)
        memcpy(ret, sample->chain, (kernel < max ? kernel : max) * 8);
    if (deferred->chain_n && room)
        memcpy(ret + kernel, deferred->chain, (deferred->chain_n < room ? deferred->chain_n : room) * 8);
    return (int64_t)(kernel + deferred->chain_n);
}

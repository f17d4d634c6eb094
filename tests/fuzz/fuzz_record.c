/*
 * A record, with the attr of its event: 144 bytes of attr (fewer: the rest is zero), then records, one behind
 * the other. Every decoder is tried on each, whatever its type. What layout_sample() decodes must come out
 * the same after encode_sample() and layout_sample() again, but for the one ambiguous case.
 */
#include "fuzz.h"

#include "record/encode.h"
#include "record/layout.h"

#include <errno.h>
#include <string.h>

static void use_sample(const struct rk_sample *s)
{
    struct rk_read value;
    fuzz_touch(s->chain, s->chain_n * 8);
    fuzz_touch(s->raw, s->raw_bytes);
    fuzz_touch(s->branches, s->branch_n * sizeof *s->branches);
    if (s->branch_counters)
        fuzz_touch(s->branch_counters, s->branch_n * 8);
    if (s->regs_user_abi)
        fuzz_touch(s->regs_user, (uint64_t)__builtin_popcountll(s->regs_user_mask) * 8);
    if (s->regs_intr_abi)
        fuzz_touch(s->regs_intr, (uint64_t)__builtin_popcountll(s->regs_intr_mask) * 8);
    HOLDS(s->stack_used <= s->stack_bytes);
    fuzz_touch(s->stack, s->stack_bytes);
    fuzz_touch(s->aux, s->aux_bytes);
    for (uint64_t i = 0; i < s->read_n; i++)
        HOLDS(rk_sample_read(s, i, &value) == 0);
    HOLDS(rk_sample_read(s, s->read_n, &value) < 0);
}

static void check_same(const struct rk_sample *a, const struct rk_sample *b)
{
    HOLDS(a->present == b->present && a->ip == b->ip && a->time == b->time && a->addr == b->addr &&
          a->id == b->id && a->stream_id == b->stream_id && a->period == b->period && a->pid == b->pid &&
          a->tid == b->tid && a->cpu == b->cpu);
    HOLDS(a->chain_n == b->chain_n && (!a->chain_n || !memcmp(a->chain, b->chain, a->chain_n * 8)));
    HOLDS(a->raw_bytes == b->raw_bytes && (!a->raw_bytes || !memcmp(a->raw, b->raw, a->raw_bytes)));
    HOLDS(a->branch_n == b->branch_n && a->branch_hw_index == b->branch_hw_index &&
          (!a->branch_n || !memcmp(a->branches, b->branches, a->branch_n * sizeof *a->branches)));
    HOLDS(a->regs_user_abi == b->regs_user_abi && a->regs_intr_abi == b->regs_intr_abi);
    HOLDS(a->stack_bytes == b->stack_bytes && a->stack_used == b->stack_used &&
          (!a->stack_bytes || !memcmp(a->stack, b->stack, a->stack_bytes)));
    HOLDS(a->weight == b->weight && a->data_src == b->data_src && a->transaction == b->transaction &&
          a->phys_addr == b->phys_addr && a->cgroup == b->cgroup && a->data_page_size == b->data_page_size &&
          a->code_page_size == b->code_page_size);
    HOLDS(a->aux_bytes == b->aux_bytes && (!a->aux_bytes || !memcmp(a->aux, b->aux, a->aux_bytes)));
    HOLDS(a->read_n == b->read_n && a->read_enabled == b->read_enabled && a->read_running == b->read_running);
}

static void encode_again(const struct layout *layout, const struct rk_record *record,
                         const struct rk_sample *sample)
{
    static _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
    struct rk_sample again = {.size = sizeof again};
    struct rk_record copy;
    /* An empty branch stack is ambiguous (sample.c), and bytes behind the last field may decide it. */
    if (layout->branch_sample_type & BRANCH_HW_INDEX && sample->branch_n == 0)
        return;
    int n = encode_sample(layout, record->misc, sample, buffer, sizeof buffer);
    if (n < 0)
        return;
    HOLDS(n % 8 == 0);
    HOLDS(layout_record(layout, (const struct perf_header *)buffer, &copy) == 0);
    HOLDS(copy.bytes == n && copy.type == RK_RECORD_SAMPLE && copy.misc == record->misc);
    HOLDS(layout_sample(layout, &copy, &again) == 0);
    check_same(sample, &again);
}

/* Encoding what was decoded gives as many bytes as the struct needs, and decodes to the same. */
#define AGAIN(name, kind, n_expression, compare)                                  \
    {                                                                             \
        struct kind a = {.size = sizeof a}, b = {.size = sizeof b};               \
        if (rk_record_##name(record, &a) == 0) {                                  \
            int n = n_expression;                                                 \
            HOLDS(n == -EMSGSIZE || (n > 0 && n % 8 == 0));                       \
            if (n > 0) {                                                          \
                struct rk_record copy;                                            \
                layout_record(layout, (const struct perf_header *)buffer, &copy); \
                HOLDS(rk_record_##name(&copy, &b) == 0);                          \
                HOLDS(compare);                                                   \
            }                                                                     \
        }                                                                         \
    }

static void use_sideband(const struct layout *layout, const struct rk_record *record)
{
    static _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
    AGAIN(throttle, rk_throttle, encode_throttle(layout, record, record->type, &a, buffer, sizeof buffer),
          a.time == b.time && a.id == b.id && a.stream_id == b.stream_id)
    AGAIN(aux, rk_aux, encode_aux(layout, record, &a, buffer, sizeof buffer),
          a.offset == b.offset && a.bytes == b.bytes && a.flags == b.flags)
    AGAIN(itrace, rk_itrace, encode_itrace(layout, record, &a, buffer, sizeof buffer),
          a.pid == b.pid && a.tid == b.tid)
    AGAIN(switch, rk_switch, encode_switch(layout, record, &a, buffer, sizeof buffer),
          a.out == b.out && a.wide == b.wide && a.other_pid == b.other_pid)
    AGAIN(namespaces, rk_namespaces, encode_namespaces(layout, record, &a, buffer, sizeof buffer),
          a.n == b.n && (!a.n || !memcmp(a.list, b.list, a.n * sizeof *a.list)))
    AGAIN(ksymbol, rk_ksymbol, encode_ksymbol(layout, record, &a, buffer, sizeof buffer),
          a.address == b.address && !strcmp(a.name, b.name))
    AGAIN(bpf, rk_bpf, encode_bpf(layout, record, &a, buffer, sizeof buffer),
          a.id == b.id && !memcmp(a.tag, b.tag, 8))
    AGAIN(cgroup, rk_cgroup, encode_cgroup(layout, record, &a, buffer, sizeof buffer),
          a.id == b.id && !strcmp(a.path, b.path))
    AGAIN(text_poke, rk_text_poke, encode_text_poke(layout, record, &a, buffer, sizeof buffer),
          a.old_bytes == b.old_bytes && (!a.new_bytes || !memcmp(a.new_code, b.new_code, a.new_bytes)))
    AGAIN(hw_id, rk_hw_id, encode_hw_id(layout, record, &a, buffer, sizeof buffer), a.hw_id == b.hw_id)
    AGAIN(deferred, rk_deferred, encode_deferred(layout, record, &a, buffer, sizeof buffer),
          a.cookie == b.cookie && a.chain_n == b.chain_n)
}

/* Everything that is packed has words for it. */
static void use_words(const struct rk_sample *s)
{
    struct rk_branch_info info = {.size = sizeof info};
    struct rk_weight weight;
    char text[64];
    uint64_t value, chain[4];
    struct rk_deferred deferred = {.size = sizeof deferred};

    for (uint32_t part = 0; part < RK_MEMORY_PARTS; part++)
        HOLDS(rk_memory_text(s->data_src, part, text, sizeof text) >= 0);
    HOLDS(rk_transaction_text(s->transaction, text, sizeof text) >= 0);
    rk_sample_weight(s, &weight);
    for (uint64_t i = 0; i < s->branch_n; i++)
        HOLDS(rk_branch_info(&s->branches[i], &info) == 0 && info.name);
    for (uint32_t i = 0; i < 66; i++) {
        rk_sample_register(s, 0, i, &value);
        rk_sample_register(s, 1, i, &value);
    }
    if (rk_sample_cookie(s, &deferred.cookie) == 0)
        HOLDS(rk_sample_join(s, &deferred, chain, 4) == (int64_t)s->chain_n - 2);
    for (uint32_t kind = 0; kind < 4; kind++) {
        struct rk_field field = {.size = sizeof field, .kind = kind, .offset = (uint32_t)s->ip, .bytes = 4};
        struct rk_field_value at;
        if (rk_field_value(&field, s, &at) == 0 && at.bytes)
            fuzz_touch(at.bytes, at.n);
    }
}

/* `header` is a block of its own size. */
static void use_record(const struct layout *layout, const struct perf_header *header)
{
    struct rk_sample sample = {.size = sizeof sample}, read = {.size = sizeof read};
    struct rk_mapping mapping = {.size = sizeof mapping};
    struct rk_task task = {.size = sizeof task};
    struct rk_comm comm = {.size = sizeof comm};
    struct rk_lost lost = {.size = sizeof lost};
    struct rk_record record;
    uint64_t id;

    layout_id(layout, header, &id);
    fuzz_touch_text(rk_record_type_name(header->type));
    if (layout_record(layout, header, &record) < 0)
        HOLDS(record.present == 0);
    HOLDS(record.data == (const unsigned char *)header && record.bytes == header->size);
    if (layout_sample(layout, &record, &sample) == 0) {
        use_sample(&sample);
        use_words(&sample);
        encode_again(layout, &record, &sample);
    }
    if (layout_read(layout, &record, &read) == 0)
        use_sample(&read);
    if (rk_record_mapping(&record, &mapping) == 0) {
        fuzz_touch_text(mapping.path);
        fuzz_touch(mapping.build_id, mapping.build_id_bytes);
    }
    if (rk_record_comm(&record, &comm) == 0)
        fuzz_touch_text(comm.name);
    rk_record_task(&record, &task);
    rk_record_lost(&record, &lost);
    use_sideband(layout, &record);
}

/* The public decoder sees the same record, or refuses it; what it decodes it can write. */
static void use_handle(const struct rk_layout *handle, const struct layout *layout, const void *bytes,
                       size_t n)
{
    static _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
    struct rk_sample s = {.size = sizeof s};
    struct rk_record record, same;
    int rc = rk_layout_record(handle, bytes, n, &record);

    HOLDS(rc == -EBADMSG || rc == 1);
    HOLDS((rc == 1) == (n % 8 == 0 && layout_record(layout, bytes, &same) == 0));
    if (rc != 1)
        return;
    HOLDS(record.type == same.type && record.time == same.time && record.id == same.id &&
          record.present == same.present);
    if (rk_layout_sample(handle, &record, &s) == 0 || rk_layout_read(handle, &record, &s) == 0) {
        int size = rk_layout_encode(handle, &record, &s, buffer, sizeof buffer);
        HOLDS(size > 0 || size == -EINVAL || size == -EMSGSIZE);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perf_attr attr = {0};
    struct layout layout;
    size_t n = size < sizeof attr ? size : sizeof attr;

    if (n)
        memcpy(&attr, data, n);
    struct rk_layout *handle = NULL;
    int rc = rk_layout_open(&attr, sizeof attr, &handle, NULL);
    HOLDS((rc == 0) == (layout_init(&layout, &attr) == 0));
    if (rc < 0)
        return 0;
    for (size_t at = n; size - at >= sizeof(struct perf_header);) {
        struct perf_header header;
        memcpy(&header, data + at, sizeof header);
        if (header.size < sizeof header || header.size > size - at)
            break;
        unsigned char *record = malloc(header.size);
        HOLDS(record);
        memcpy(record, data + at, header.size);
        use_record(&layout, (const struct perf_header *)record);
        use_handle(handle, &layout, record, header.size);
        free(record);
        at += header.size;
    }
    rk_layout_free(handle);
    return 0;
}

/*
 * Chains in two parts: the input makes records, of a few threads and cookies, in any order: samples that wait, their other
 * parts, threads' ends, and what is nothing to them. Whatever comes, each record goes out once, in its order, at the latest
 * when no more come; a sample is whole if its part came while it waited.
 *
 *     an input: a byte that says what, one that says of whom, one that says how long │ …
 */
#include "fuzz.h"

#include "record/encode.h"
#include "stream/deferred.h"

#include <string.h>

enum { CHAIN = 64 };

static struct layout layout;
static uint64_t buffer[RECORD_BYTES_MAX / 8];

struct flow {
    struct deferred *d;
    uint64_t in, out; /* records are numbered by their time, from 1 */
};

static void begin(void)
{
    const struct perf_attr attr = {.size = sizeof attr,
                                   .sample_type =
                                       RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CALLCHAIN,
                                   .flags = ATTR_SAMPLE_ID_ALL | ATTR_DEFER_CALLCHAIN};
    HOLDS(layout_init(&layout, &attr) == 0);
}

static void went(struct flow *f, const struct rk_record *record)
{
    struct rk_sample s = {.size = sizeof s};

    fuzz_touch(record->data, record->bytes);
    HOLDS(record->time == ++f->out);
    if (record->type == RK_RECORD_SAMPLE && layout_sample(&layout, record, &s) == 0)
        fuzz_touch(s.chain, s.chain_n * 8);
}

static void drain(struct flow *f)
{
    const struct rk_record *record;

    while ((record = deferred_next(f->d)))
        went(f, record);
}

static int make(struct flow *f, uint8_t what, uint8_t whom, uint8_t length)
{
    int32_t tid = 1 + whom % 3;
    uint64_t cookie = whom / 4 % 4, chain[CHAIN + 3];
    const struct rk_record from = {.time = f->in, .pid = 1, .tid = tid};
    struct rk_task task = {
        .size = sizeof task, .pid = 1, .parent_pid = 1, .tid = tid, .parent_tid = 1, .time = f->in};
    struct rk_comm comm = {.size = sizeof comm, .pid = 1, .tid = tid, .name = "thread"};
    struct rk_deferred part = {.size = sizeof part, .cookie = cookie, .chain = chain, .chain_n = length};
    struct rk_sample s = {
        .size = sizeof s, .present = layout.sample_type, .time = f->in, .pid = 1, .tid = tid, .chain = chain};

    for (size_t i = 0; i < CHAIN + 3; i++)
        chain[i] = 0x1000 + i;
    switch (what % 8) {
    case 0:
    case 1:
    case 2:
        chain[0] = RK_CHAIN_KERNEL;
        s.chain_n = length % CHAIN;
        if (what & 8) { /* it waits */
            chain[s.chain_n++] = RK_CHAIN_USER_DEFERRED;
            chain[s.chain_n++] = cookie;
        }
        return encode_sample(&layout, 1, &s, buffer, sizeof buffer);
    case 3:
    case 4:
        chain[0] = RK_CHAIN_USER;
        part.chain_n = length % CHAIN;
        return encode_deferred(&layout, &from, &part, buffer, sizeof buffer);
    case 5:
        return encode_task(&layout, &from, RK_RECORD_EXIT, &task, buffer, sizeof buffer);
    case 6:
        return encode_task(&layout, &from, RK_RECORD_FORK, &task, buffer, sizeof buffer);
    default:
        return encode_comm(&layout, &from, &comm, buffer, sizeof buffer);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct flow f = {.d = deferred_new()};

    HOLDS(f.d);
    begin();
    for (; size >= 3; data += 3, size -= 3) {
        struct rk_record record = {0};
        f.in++;
        int n = make(&f, data[0], data[1], data[2]);
        HOLDS(n > 0);
        HOLDS(layout_record(&layout, (const struct perf_header *)buffer, &record) == 0);
        if (data[0] & 0x10 && n > 16) /* it says nonsense of itself */
            ((uint8_t *)buffer)[16 + data[2] % (n - 16)] ^= data[1];
        record.time = f.in;
        int rc = deferred_take(f.d, &layout, &record);
        HOLDS(rc == 0 || rc == 1);
        if (rc == 0)
            HOLDS(++f.out == f.in); /* all before it have gone */
        if (data[0] & 0x20 || rc == 0)
            drain(&f);
    }
    deferred_end(f.d);
    drain(&f);
    HOLDS(f.in == f.out);
    deferred_free(f.d);
    return 0;
}

/*
 * A sample as members of a JSON object; reckon-dump(1) lists them. What is packed comes as it was, a string of hex
 * digits, and unpacked beside it.
 */
#include "base/abi.h"
#include "base/json.h"
#include "export/record.h"

#include <stdio.h>
#include <string.h>

/* `symbol` and `offset`: whether they are wanted. */
static void write_name_of(const struct record *r, struct json *j, const char *key,
                          const struct rk_address_name name, bool symbol, bool offset)
{
    json_open(j, key, '{');
    if (symbol && name.symbol) {
        json_text(j, "symbol", name.symbol);
        if (offset)
            json_u64(j, "offset", name.symbol_distance);
    }
    if (SHOWS(r, DSO) && name.module)
        json_text(j, "module", name.module);
    if (SHOWS(r, LINE) && name.file) {
        json_text(j, "file", name.file);
        json_u64(j, "line", name.line);
    }
    json_close(j, '}');
}

static void write_name(const struct record *r, struct json *j, const char *key, uint64_t address, bool caller)
{
    write_name_of(r, j, key, record_name(r, address, caller), SHOWS(r, SYM) || SHOWS(r, SYMOFF),
                  SHOWS(r, SYMOFF));
}

static void write_chain(const struct record *r, struct json *j)
{
    const uint64_t *chain = r->sample.chain, n = r->sample.chain_n;
    struct chain_part part;

    json_open(j, "chain", '[');
    for (uint64_t at = 0; record_chain(chain, n, &at, &part);)
        for (uint64_t i = 0; i < part.n; i++)
            json_hex(j, NULL, part.entries[i]);
    json_close(j, ']');
    if (record_names(r)) {
        json_open(j, "chain_names", '[');
        for (uint64_t at = 0; record_chain(chain, n, &at, &part);)
            for (uint64_t i = 0; i < part.n; i++)
                write_name(r, j, NULL, part.entries[i], i > 0);
        json_close(j, ']');
    }
    json_open(j, "chain_modes", '[');
    for (uint64_t at = 0; record_chain(chain, n, &at, &part);) {
        json_open(j, NULL, '{');
        json_text(j, "mode", part.mode);
        json_u64(j, "n", part.n);
        if (part.deferred)
            json_u64(j, "cookie", part.cookie);
        json_close(j, '}');
    }
    json_close(j, ']');
}

void export_read_json(const struct rk_sample *s, struct json *j)
{
    json_open(j, "read", '{');
    if (s->read_format & FORMAT_ENABLED)
        json_u64(j, "enabled", s->read_enabled);
    if (s->read_format & FORMAT_RUNNING)
        json_u64(j, "running", s->read_running);
    json_open(j, "values", '[');
    for (uint64_t i = 0; i < s->read_n; i++) {
        struct rk_read value;
        if (rk_sample_read(s, i, &value) < 0)
            break;
        json_open(j, NULL, '{');
        json_u64(j, "value", value.value);
        if (s->read_format & FORMAT_ID)
            json_u64(j, "id", value.id);
        if (s->read_format & FORMAT_LOST)
            json_u64(j, "lost", value.lost);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

/* What a branch's flags say; what they don't tell is left out. */
static void write_branch_words(struct json *j, const struct rk_branch *branch)
{
    struct rk_branch_info b = {.size = sizeof b};

    rk_branch_info(branch, &b);
    if (b.mispredicted || b.predicted)
        json_bool(j, "predicted", b.predicted && !b.mispredicted);
    if (b.in_transaction)
        json_bool(j, "in_transaction", true);
    if (b.aborted)
        json_bool(j, "aborted", true);
    if (b.cycles)
        json_u64(j, "cycles", b.cycles);
    if (*b.name)
        json_text(j, "kind", b.name);
    if (record_speculation(b.speculation))
        json_text(j, "speculation", record_speculation(b.speculation));
    if (record_privilege(b.privilege))
        json_text(j, "privilege", record_privilege(b.privilege));
}

static void write_branches(const struct record *r, struct json *j)
{
    const struct rk_sample *s = &r->sample;

    json_open(j, "branches", '[');
    for (uint64_t i = 0; i < s->branch_n; i++) {
        json_open(j, NULL, '{');
        json_hex(j, "from", s->branches[i].from);
        json_hex(j, "to", s->branches[i].to);
        json_hex(j, "flags", s->branches[i].flags);
        write_branch_words(j, &s->branches[i]);
        if (SHOWS(r, BRSTACKSYM)) {
            write_name_of(r, j, "from_name", record_name(r, s->branches[i].from, false), true, true);
            write_name_of(r, j, "to_name", record_name(r, s->branches[i].to, false), true, true);
        }
        if (s->branch_counters)
            json_hex(j, "counters", s->branch_counters[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (s->branch_hw_index != UINT64_MAX)
        json_u64(j, "branch_hw_index", s->branch_hw_index);
}

/* A register without a name, on a machine that is not known, goes by its number. */
static void write_regs(const struct record *r, struct json *j, uint32_t interrupt)
{
    const struct rk_sample *s = &r->sample;
    uint64_t mask = interrupt ? s->regs_intr_mask : s->regs_user_mask, value;

    json_open(j, interrupt ? "regs_intr" : "regs_user", '{');
    json_u64(j, "abi", interrupt ? s->regs_intr_abi : s->regs_user_abi);
    json_hex(j, "mask", mask);
    json_open(j, "registers", '{');
    for (uint32_t i = 0; i < 64; i++) {
        char number[16];
        if (!(mask >> i & 1) || rk_sample_register(s, interrupt, i, &value) < 0)
            continue;
        const char *name = rk_register_name(r->machine, i);
        snprintf(number, sizeof number, "%u", i);
        json_hex(j, name ? name : number, value);
    }
    json_close(j, '}');
    json_close(j, '}');
}

/* Text ends where its field does, not with a NUL. */
static void write_bounded(struct json *j, const char *key, const unsigned char *bytes, uint64_t n)
{
    char text[4096];
    size_t k = n < sizeof text - 1 ? (size_t)n : sizeof text - 1;

    memcpy(text, bytes, k);
    text[k] = '\0';
    json_text(j, key, text);
}

static void write_trace(const struct record *r, struct json *j)
{
    size_t n = r->from->event == RK_NO_EVENT ? 0 : rk_stream_field_count(r->stream, r->from->event);

    if (n == 0)
        return;
    json_open(j, "trace", '{');
    for (size_t i = 0; i < n; i++) {
        struct rk_field field = {.size = sizeof field};
        struct rk_field_value v;
        if (rk_stream_field_get(r->stream, r->from->event, i, &field) < 0 || field.is_common)
            continue;
        if (rk_field_value(&field, &r->sample, &v) < 0)
            json_null(j, field.name);
        else if (!v.bytes && field.is_signed)
            json_i64(j, field.name, (int64_t)v.number);
        else if (!v.bytes)
            json_u64(j, field.name, v.number);
        else if (field.is_text)
            write_bounded(j, field.name, v.bytes, v.n);
        else
            json_bytes(j, field.name, v.bytes, v.n);
    }
    json_close(j, '}');
}

static void write_weight(struct json *j, const struct rk_sample *s)
{
    struct rk_weight w;

    if (rk_sample_weight(s, &w) < 0)
        return;
    json_u64(j, "weight", w.first);
    if (s->present & RK_SAMPLE_WEIGHT_STRUCT) {
        json_open(j, "weights", '[');
        json_u64(j, NULL, w.first);
        json_u64(j, NULL, w.second);
        json_u64(j, NULL, w.third);
        json_close(j, ']');
    }
}

static void write_memory(struct json *j, const struct rk_sample *s)
{
    char text[64];

    json_hex(j, "data_src", s->data_src);
    json_open(j, "memory", '{');
    for (uint32_t part = 0; part < RK_MEMORY_PARTS; part++)
        if (rk_memory_text(s->data_src, part, text, sizeof text) > 0)
            json_text(j, rk_memory_part_name(part), text);
    json_close(j, '}');
}

/* What only some samples have. */
static void write_rest(const struct record *r, struct json *j)
{
    const struct rk_sample *s = &r->sample;
    char text[128];

    if (SAMPLE_SHOWS(r, RAW))
        json_bytes(j, "raw", s->raw, s->raw_bytes);
    if ((s->present & RK_SAMPLE_RAW) && SHOWS(r, TRACE))
        write_trace(r, j);
    if ((s->present & RK_SAMPLE_BRANCH_STACK) && (SHOWS(r, BRANCHES) || SHOWS(r, BRSTACKSYM)))
        write_branches(r, j);
    if (SAMPLE_SHOWS(r, REGS_USER))
        write_regs(r, j, 0);
    if (SAMPLE_SHOWS(r, REGS_INTR))
        write_regs(r, j, 1);
    if ((s->present & RK_SAMPLE_STACK_USER) && SHOWS(r, STACK))
        json_bytes(j, "stack", s->stack, s->stack_used);
    if (SHOWS(r, WEIGHT))
        write_weight(j, s);
    if (SAMPLE_SHOWS(r, DATA_SRC))
        write_memory(j, s);
    if (SAMPLE_SHOWS(r, TRANSACTION)) {
        rk_transaction_text(s->transaction, text, sizeof text);
        json_hex(j, "transaction", s->transaction);
        json_text(j, "transaction_words", text);
    }
    if (SAMPLE_SHOWS(r, PHYS_ADDR))
        json_hex(j, "phys_addr", s->phys_addr);
    if (SAMPLE_SHOWS(r, CGROUP))
        json_u64(j, "cgroup", s->cgroup);
    if (SAMPLE_SHOWS(r, DATA_PAGE_SIZE))
        json_u64(j, "data_page_size", s->data_page_size);
    if (SAMPLE_SHOWS(r, CODE_PAGE_SIZE))
        json_u64(j, "code_page_size", s->code_page_size);
    if (SAMPLE_SHOWS(r, AUX))
        json_bytes(j, "aux", s->aux, s->aux_bytes);
}

void export_sample_json(const struct record *r, struct json *j)
{
    const struct rk_sample *s = &r->sample;
    const char *mode = record_mode(r->from->misc);

    if (mode && SHOWS(r, MODE))
        json_text(j, "mode", mode);
    if (SAMPLE_SHOWS(r, IP))
        json_hex(j, "ip", s->ip);
    if ((s->present & RK_SAMPLE_IP) && record_names(r))
        write_name(r, j, "ip_name", s->ip, false);
    if (SAMPLE_SHOWS(r, PERIOD))
        json_u64(j, "period", s->period);
    if (SAMPLE_SHOWS(r, ADDR))
        json_hex(j, "addr", s->addr);
    if ((s->present & (RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER)) && SHOWS(r, ID))
        json_u64(j, "id", s->id);
    if (SAMPLE_SHOWS(r, STREAM_ID))
        json_u64(j, "stream_id", s->stream_id);
    if ((s->present & RK_SAMPLE_CALLCHAIN) && SHOWS(r, CHAIN))
        write_chain(r, j);
    if (SAMPLE_SHOWS(r, READ))
        export_read_json(s, j);
    write_rest(r, j);
}

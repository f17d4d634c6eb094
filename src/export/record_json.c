/*
 * One record as one line of JSON. Always "type"; then, where the record has them, "time" (nanoseconds),
 * "pid", "tid", "cpu", "event" (name), and by type:
 *
 *     SAMPLE              mode, ip, period, addr, id, stream_id, chain and chain_modes, read, raw, branches,
 *                         regs_user, regs_intr, stack, weight, data_src, transaction, phys_addr, cgroup,
 *                         data_page_size, code_page_size, aux
 *     MMAP, MMAP2         start, length, file_offset, path, data; MMAP2: protection, flags, build_id or
 *                         device, inode, inode_generation
 *     COMM                name, exec
 *     FORK, EXIT          parent_pid, parent_tid
 *     LOST, LOST_SAMPLES  count; LOST: id
 *     READ                read
 *     SWITCH…             out
 *     others              as export/fields.c names them
 *     UNKNOWN             number, misc, size, bytes; so has one with "damaged": true
 *
 * Addresses and words of bits are strings, "0x…"; bytes are strings of hex digits. "chain" has addresses
 * alone, innermost first, as the kernel gave them; "chain_modes" tells how many of them run in which mode.
 */
#include "base/abi.h"
#include "base/json.h"
#include "export/formats.h"
#include "export/record.h"

#include <stdio.h>

static void write_chain(struct json *j, const uint64_t *chain, uint64_t n)
{
    struct chain_part part;

    json_open(j, "chain", '[');
    for (uint64_t at = 0; record_chain(chain, n, &at, &part);)
        for (uint64_t i = 0; i < part.n; i++)
            json_hex(j, NULL, part.entries[i]);
    json_close(j, ']');
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

static void write_read(struct json *j, const struct rk_sample *s)
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

static void write_branches(struct json *j, const struct rk_sample *s)
{
    json_open(j, "branches", '[');
    for (uint64_t i = 0; i < s->branch_n; i++) {
        json_open(j, NULL, '{');
        json_hex(j, "from", s->branches[i].from);
        json_hex(j, "to", s->branches[i].to);
        json_hex(j, "flags", s->branches[i].flags);
        if (s->branch_counters)
            json_hex(j, "counters", s->branch_counters[i]);
        json_close(j, '}');
    }
    json_close(j, ']');
    if (s->branch_hw_index != UINT64_MAX)
        json_u64(j, "branch_hw_index", s->branch_hw_index);
}

static void write_regs(struct json *j, const char *key, uint64_t abi, uint64_t mask, const uint64_t *regs)
{
    json_open(j, key, '{');
    json_u64(j, "abi", abi);
    json_hex(j, "mask", mask);
    json_open(j, "values", '[');
    for (int i = 0; abi && regs && i < __builtin_popcountll(mask); i++)
        json_hex(j, NULL, regs[i]);
    json_close(j, ']');
    json_close(j, '}');
}

/* What only some samples have. */
static void write_rest(struct json *j, const struct rk_sample *s)
{
    if (s->present & RK_SAMPLE_RAW)
        json_bytes(j, "raw", s->raw, s->raw_bytes);
    if (s->present & RK_SAMPLE_BRANCH_STACK)
        write_branches(j, s);
    if (s->present & RK_SAMPLE_REGS_USER)
        write_regs(j, "regs_user", s->regs_user_abi, s->regs_user_mask, s->regs_user);
    if (s->present & RK_SAMPLE_REGS_INTR)
        write_regs(j, "regs_intr", s->regs_intr_abi, s->regs_intr_mask, s->regs_intr);
    if (s->present & RK_SAMPLE_STACK_USER)
        json_bytes(j, "stack", s->stack, s->stack_used);
    if (s->present & (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT))
        json_u64(j, "weight", s->weight);
    if (s->present & RK_SAMPLE_DATA_SRC)
        json_hex(j, "data_src", s->data_src);
    if (s->present & RK_SAMPLE_TRANSACTION)
        json_hex(j, "transaction", s->transaction);
    if (s->present & RK_SAMPLE_PHYS_ADDR)
        json_hex(j, "phys_addr", s->phys_addr);
    if (s->present & RK_SAMPLE_CGROUP)
        json_u64(j, "cgroup", s->cgroup);
    if (s->present & RK_SAMPLE_DATA_PAGE_SIZE)
        json_u64(j, "data_page_size", s->data_page_size);
    if (s->present & RK_SAMPLE_CODE_PAGE_SIZE)
        json_u64(j, "code_page_size", s->code_page_size);
    if (s->present & RK_SAMPLE_AUX)
        json_bytes(j, "aux", s->aux, s->aux_bytes);
}

static void write_sample(struct json *j, const struct rk_sample *s, uint16_t misc)
{
    const char *mode = record_mode(misc);

    if (mode)
        json_text(j, "mode", mode);
    if (s->present & RK_SAMPLE_IP)
        json_hex(j, "ip", s->ip);
    if (s->present & RK_SAMPLE_PERIOD)
        json_u64(j, "period", s->period);
    if (s->present & RK_SAMPLE_ADDR)
        json_hex(j, "addr", s->addr);
    if (s->present & (RK_SAMPLE_ID | RK_SAMPLE_IDENTIFIER))
        json_u64(j, "id", s->id);
    if (s->present & RK_SAMPLE_STREAM_ID)
        json_u64(j, "stream_id", s->stream_id);
    if (s->present & RK_SAMPLE_CALLCHAIN)
        write_chain(j, s->chain, s->chain_n);
    if (s->present & RK_SAMPLE_READ)
        write_read(j, s);
    write_rest(j, s);
}

static void write_mapping(struct json *j, const struct rk_mapping *m, const struct rk_record *record)
{
    json_hex(j, "start", m->start);
    json_u64(j, "length", m->length);
    json_u64(j, "file_offset", m->file_offset);
    json_text(j, "path", m->path);
    json_bool(j, "data", record->misc & RK_MISC_MMAP_DATA);
    if (record->type != RK_RECORD_MMAP2)
        return;
    json_u64(j, "protection", m->protection);
    json_u64(j, "flags", m->flags);
    if (record->misc & RK_MISC_BUILD_ID) {
        json_bytes(j, "build_id", m->build_id, m->build_id_bytes);
        return;
    }
    char device[32];
    snprintf(device, sizeof device, "%02x:%02x", m->major, m->minor);
    json_text(j, "device", device);
    json_u64(j, "inode", m->inode);
    json_u64(j, "inode_generation", m->inode_generation);
}

static void write_field(struct json *j, const struct field *f)
{
    switch (f->kind) {
    case FIELD_U16:
    case FIELD_U32:
    case FIELD_U64:
        json_u64(j, f->name, f->number);
        break;
    case FIELD_ID16:
    case FIELD_HEX:
        json_hex(j, f->name, f->number);
        break;
    case FIELD_TEXT:
        json_text(j, f->name, f->text);
        break;
    case FIELD_TAG:
    case FIELD_BYTES:
        json_bytes(j, f->name, f->bytes, f->n);
        break;
    case FIELD_WORDS:
        json_open(j, f->name, '[');
        for (uint64_t i = 0; i < f->n; i++)
            json_hex(j, NULL, fields_word(f->bytes, i));
        json_close(j, ']');
        break;
    case FIELD_LINKS:
        json_open(j, f->name, '[');
        for (uint64_t i = 0; i < f->n; i++) {
            json_open(j, NULL, '{');
            json_u64(j, "device", fields_word(f->bytes, 2 * i));
            json_u64(j, "inode", fields_word(f->bytes, 2 * i + 1));
            json_close(j, '}');
        }
        json_close(j, ']');
        break;
    case FIELD_END:
        break;
    }
}

static void write_body(struct json *j, const struct record *r, const struct rk_record *record)
{
    switch (r->kind) {
    case RECORD_SAMPLE:
        write_sample(j, &r->sample, record->misc);
        break;
    case RECORD_READ:
        write_read(j, &r->sample);
        break;
    case RECORD_MAPPING:
        write_mapping(j, &r->mapping, record);
        break;
    case RECORD_TASK:
        json_i64(j, "parent_pid", r->task.parent_pid);
        json_i64(j, "parent_tid", r->task.parent_tid);
        break;
    case RECORD_COMM:
        json_text(j, "name", r->comm.name);
        json_bool(j, "exec", record->misc & RK_MISC_COMM_EXEC);
        break;
    case RECORD_LOST:
        if (record->type == RK_RECORD_LOST)
            json_u64(j, "id", r->lost.id);
        json_u64(j, "count", r->lost.count);
        break;
    case RECORD_FIELDS:
        if (record->type == RK_RECORD_SWITCH || record->type == RK_RECORD_SWITCH_CPU_WIDE)
            json_bool(j, "out", record->misc & RK_MISC_SWITCH_OUT);
        for (int i = 0; i < r->field_n; i++)
            write_field(j, &r->fields[i]);
        break;
    case RECORD_DAMAGED:
    case RECORD_UNKNOWN:
        json_u64(j, "number", record->type);
        json_u64(j, "misc", record->misc);
        json_u64(j, "size", record->bytes);
        json_u64(j, "offset", record->offset);
        json_bytes(j, "bytes", record->data, record->bytes);
        break;
    }
}

void export_record_json(const struct rk_stream *stream, const struct rk_record *record, struct output *out)
{
    struct json j = json_to(out);
    struct record r;

    record_decode(stream, record, &r);
    json_open(&j, NULL, '{');
    json_text(&j, "type", rk_record_name(record->type));
    if (r.kind == RECORD_DAMAGED)
        json_bool(&j, "damaged", true);
    if (r.has_time)
        json_u64(&j, "time", r.time);
    if (r.has_ids) {
        json_i64(&j, "pid", r.pid);
        json_i64(&j, "tid", r.tid);
    }
    if (r.has_cpu)
        json_u64(&j, "cpu", r.cpu);
    if (r.event)
        json_text(&j, "event", r.event);
    write_body(&j, &r, record);
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

/*
 * One record as one line of JSON. Always "type"; "synthesised": true of one that reckon made itself; then, where the record
 * has them, "time" (nanoseconds), "pid", "tid", "cpu", "event" (name), and by type:
 *
 *     SAMPLE              export/sample_json.c
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
        export_sample_json(r, j);
        break;
    case RECORD_READ:
        export_read_json(&r->sample, j);
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

void export_record_json(const struct record *r, struct output *out)
{
    struct json j = json_to(out);

    json_open(&j, NULL, '{');
    if (SHOWS(r, TYPE))
        json_text(&j, "type", rk_record_type_name(r->from->type));
    if (r->kind == RECORD_DAMAGED)
        json_bool(&j, "damaged", true);
    if (r->from->present & RK_PRESENT_SYNTHESISED)
        json_bool(&j, "synthesised", true);
    if (r->has_time && SHOWS(r, TIME))
        json_u64(&j, "time", r->time);
    if (r->has_ids && SHOWS(r, PID))
        json_i64(&j, "pid", r->pid);
    if (r->has_ids && SHOWS(r, TID))
        json_i64(&j, "tid", r->tid);
    if (r->options->comm && SHOWS(r, COMM))
        json_text(&j, "comm", r->options->comm);
    if (r->has_cpu && SHOWS(r, CPU))
        json_u64(&j, "cpu", r->cpu);
    if (r->event && SHOWS(r, EVENT))
        json_text(&j, "event", r->event);
    if (r->kind == RECORD_SAMPLE || SHOWS(r, BODY))
        write_body(&j, r, r->from);
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

/*
 * One record as one line for people, its columns aligned:
 *
 *           time [cpu]     pid/tid     type         what it says
 *     4711.000123456 [001]   1234/1234   SAMPLE       cpu-clock 250000 user 0x55d0c8a3f1c9 chain …
 *     4711.000123999 [001]   1234/1234   MMAP2        0x7f0c8a000000-0x7f0c8a1c0000 r-xp @0x28000 /lib/l.so
 *
 * A column that the record lacks is blank. Texts come from outside: control characters are shown as '?', so
 * that a thread's name can't steer the terminal. Long bytes are given by their number; JSON has them all.
 */
#include "base/abi.h"
#include "export/formats.h"
#include "export/record.h"

#include <inttypes.h>
#include <sys/mman.h>

#define HEX " 0x%" PRIx64

static void write_text(struct output *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        output_bytes(out, c < ' ' || c == 0x7f ? "?" : text, 1);
    }
}

static void write_chain(struct output *out, const uint64_t *chain, uint64_t n)
{
    struct chain_part part;

    output_text(out, " chain");
    for (uint64_t at = 0; record_chain(chain, n, &at, &part);) {
        output_format(out, " %s", part.mode);
        if (part.deferred)
            output_format(out, " %" PRIu64, part.cookie);
        for (uint64_t i = 0; i < part.n; i++)
            output_format(out, HEX, part.entries[i]);
    }
}

static void write_read(struct output *out, const struct rk_sample *s)
{
    struct rk_read value;

    output_text(out, " read");
    for (uint64_t i = 0; i < s->read_n && rk_sample_read(s, i, &value) == 0; i++)
        output_format(out, "%s%" PRIu64, i ? "," : " ", value.value);
    if (s->read_format & FORMAT_ENABLED)
        output_format(out, " enabled %" PRIu64, s->read_enabled);
    if (s->read_format & FORMAT_RUNNING)
        output_format(out, " running %" PRIu64, s->read_running);
}

static void write_branches(struct output *out, const struct rk_sample *s)
{
    output_text(out, " branches");
    for (uint64_t i = 0; i < s->branch_n; i++)
        output_format(out, HEX ">0x%" PRIx64, s->branches[i].from, s->branches[i].to);
}

static void write_sample(struct output *out, const struct rk_sample *s, uint16_t misc)
{
    const char *mode = record_mode(misc);

    if (s->present & RK_SAMPLE_PERIOD)
        output_format(out, " %" PRIu64, s->period);
    if (mode)
        output_format(out, " %s", mode);
    if (s->present & RK_SAMPLE_IP)
        output_format(out, HEX, s->ip);
    if (s->present & RK_SAMPLE_ADDR)
        output_format(out, " addr" HEX, s->addr);
    if (s->present & RK_SAMPLE_CALLCHAIN)
        write_chain(out, s->chain, s->chain_n);
    if (s->present & RK_SAMPLE_READ)
        write_read(out, s);
    if (s->present & RK_SAMPLE_RAW)
        output_format(out, " raw %" PRIu64 " bytes", s->raw_bytes);
    if (s->present & RK_SAMPLE_BRANCH_STACK)
        write_branches(out, s);
    if (s->present & RK_SAMPLE_REGS_USER)
        output_format(out, " regs_user %d", s->regs_user_abi ? __builtin_popcountll(s->regs_user_mask) : 0);
    if (s->present & RK_SAMPLE_REGS_INTR)
        output_format(out, " regs_intr %d", s->regs_intr_abi ? __builtin_popcountll(s->regs_intr_mask) : 0);
    if (s->present & RK_SAMPLE_STACK_USER)
        output_format(out, " stack %" PRIu64 " bytes", s->stack_used);
    if (s->present & (RK_SAMPLE_WEIGHT | RK_SAMPLE_WEIGHT_STRUCT))
        output_format(out, " weight %" PRIu64, s->weight);
    if (s->present & RK_SAMPLE_DATA_SRC)
        output_format(out, " data_src" HEX, s->data_src);
    if (s->present & RK_SAMPLE_TRANSACTION)
        output_format(out, " transaction" HEX, s->transaction);
    if (s->present & RK_SAMPLE_PHYS_ADDR)
        output_format(out, " phys_addr" HEX, s->phys_addr);
    if (s->present & RK_SAMPLE_CGROUP)
        output_format(out, " cgroup %" PRIu64, s->cgroup);
    if (s->present & RK_SAMPLE_AUX)
        output_format(out, " aux %" PRIu64 " bytes", s->aux_bytes);
}

static void write_mapping(struct output *out, const struct rk_mapping *m, const struct rk_record *record)
{
    output_format(out, HEX "-0x%" PRIx64, m->start, m->start + m->length);
    if (record->type == RK_RECORD_MMAP2)
        output_format(out, " %c%c%c%c", m->protection & PROT_READ ? 'r' : '-',
                      m->protection & PROT_WRITE ? 'w' : '-', m->protection & PROT_EXEC ? 'x' : '-',
                      m->flags & MAP_SHARED ? 's' : 'p');
    output_format(out, " @0x%" PRIx64 " ", m->file_offset);
    write_text(out, m->path);
    if (m->build_id_bytes) {
        output_text(out, " build-id ");
        output_hex(out, m->build_id, m->build_id_bytes);
    }
}

static void write_field(struct output *out, const struct field *f)
{
    output_format(out, " %s ", f->name);
    switch (f->kind) {
    case FIELD_U16:
    case FIELD_U32:
    case FIELD_U64:
        output_format(out, "%" PRIu64, f->number);
        break;
    case FIELD_ID16:
    case FIELD_HEX:
        output_format(out, "0x%" PRIx64, f->number);
        break;
    case FIELD_TEXT:
        write_text(out, f->text);
        break;
    case FIELD_TAG:
    case FIELD_BYTES:
        output_hex(out, f->bytes, f->n);
        break;
    case FIELD_WORDS:
        for (uint64_t i = 0; i < f->n; i++)
            output_format(out, "%s0x%" PRIx64, i ? " " : "", fields_word(f->bytes, i));
        break;
    case FIELD_LINKS:
        for (uint64_t i = 0; i < f->n; i++)
            output_format(out, "%s%" PRIu64 "/%" PRIu64, i ? " " : "", fields_word(f->bytes, 2 * i),
                          fields_word(f->bytes, 2 * i + 1));
        break;
    case FIELD_END:
        break;
    }
}

static void write_body(struct output *out, const struct record *r, const struct rk_record *record)
{
    switch (r->kind) {
    case RECORD_SAMPLE:
        write_sample(out, &r->sample, record->misc);
        break;
    case RECORD_READ:
        write_read(out, &r->sample);
        break;
    case RECORD_MAPPING:
        write_mapping(out, &r->mapping, record);
        break;
    case RECORD_TASK:
        output_format(out, " parent %d/%d", r->task.parent_pid, r->task.parent_tid);
        break;
    case RECORD_COMM:
        output_text(out, record->misc & RK_MISC_COMM_EXEC ? " exec " : " ");
        write_text(out, r->comm.name);
        break;
    case RECORD_LOST:
        output_format(out, " %" PRIu64, r->lost.count);
        break;
    case RECORD_FIELDS:
        if (record->type == RK_RECORD_SWITCH || record->type == RK_RECORD_SWITCH_CPU_WIDE)
            output_text(out, record->misc & RK_MISC_SWITCH_OUT ? " out" : " in");
        for (int i = 0; i < r->field_n; i++)
            write_field(out, &r->fields[i]);
        break;
    case RECORD_DAMAGED:
    case RECORD_UNKNOWN:
        output_format(out, " %stype %u misc 0x%x at 0x%" PRIx64 " size %u: ",
                      r->kind == RECORD_DAMAGED ? "damaged, " : "", record->type, record->misc,
                      record->offset, record->bytes);
        output_hex(out, record->data, record->bytes);
        break;
    }
}

void export_record_text(const struct rk_stream *stream, const struct rk_record *record, struct output *out)
{
    struct record r;

    record_decode(stream, record, &r);
    if (r.has_time)
        output_format(out, "%7" PRIu64 ".%09" PRIu64, r.time / 1000000000, r.time % 1000000000);
    else
        output_format(out, "%17s", "");
    if (r.has_cpu)
        output_format(out, " [%03u]", r.cpu);
    else
        output_format(out, "%6s", "");
    if (r.has_ids)
        output_format(out, " %7d/%-7d", r.pid, r.tid);
    else
        output_format(out, "%16s", "");
    output_format(out, " %-12s", rk_record_name(record->type));
    if (r.event && r.kind == RECORD_SAMPLE) {
        output_bytes(out, " ", 1);
        write_text(out, r.event);
    }
    write_body(out, &r, record);
    output_bytes(out, "\n", 1);
}

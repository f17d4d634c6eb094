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
#include <string.h>
#include <sys/mman.h>

#define HEX " 0x%" PRIx64

static void write_text(struct output *out, const char *text)
{
    export_safe_text(out, text, SIZE_MAX);
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
        export_sample_text(r, out);
        break;
    case RECORD_READ:
        export_read_text(&r->sample, out);
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

/* Columns: one that was not chosen takes no room, one that this record lacks is blank. */
static void write_head(const struct record *r, struct output *out)
{
    bool pid = SHOWS(r, PID), tid = SHOWS(r, TID);

    if (SHOWS(r, COMM)) {
        const char *comm = r->options->comm ? r->options->comm : "";
        size_t n = strlen(comm);
        write_text(out, comm);
        output_format(out, "%*s", n < 16 ? (int)(16 - n) : 0, "");
    }
    if (SHOWS(r, TIME) && r->has_time)
        output_format(out, "%7" PRIu64 ".%09" PRIu64, r->time / 1000000000, r->time % 1000000000);
    else if (SHOWS(r, TIME))
        output_format(out, "%17s", "");
    if (SHOWS(r, CPU) && r->has_cpu)
        output_format(out, " [%03u]", r->cpu);
    else if (SHOWS(r, CPU))
        output_format(out, "%6s", "");
    if (pid && tid && r->has_ids)
        output_format(out, " %7d/%-7d", r->pid, r->tid);
    else if ((pid || tid) && r->has_ids)
        output_format(out, " %7d", pid ? r->pid : r->tid);
    else if (pid || tid)
        output_format(out, "%*s", pid && tid ? 16 : 8, "");
    if (SHOWS(r, TYPE))
        output_format(out, " %-12s", rk_record_type_name(r->from->type));
    if (r->event && r->kind == RECORD_SAMPLE && SHOWS(r, EVENT)) {
        output_bytes(out, " ", 1);
        write_text(out, r->event);
    }
}

void export_record_text(const struct record *r, struct output *out)
{
    write_head(r, out);
    if (r->kind == RECORD_SAMPLE || SHOWS(r, BODY))
        write_body(out, r, r->from);
    if (r->from->present & RK_PRESENT_SYNTHESISED)
        output_text(out, " synthesised");
    output_bytes(out, "\n", 1);
}

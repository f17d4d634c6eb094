/*
 * A sample as words on a line: what was packed is unpacked (registers by name, where data came from, what a branch was,
 * a tracepoint's fields), each behind the name of its field.
 */
#include "base/abi.h"
#include "export/record.h"

#include <inttypes.h>
#include <string.h>

#define HEX " 0x%" PRIx64

/* "main+0x12 (prog) prog.c:7", as far as it was asked for and is known. */
static void write_name(const struct record *r, struct output *out, uint64_t address, bool caller)
{
    if (!record_names(r))
        return;
    struct rk_address_name name = record_name(r, address, caller);
    if (SHOWS(r, SYM) || SHOWS(r, SYMOFF)) {
        output_bytes(out, " ", 1);
        export_safe_text(out, name.symbol ? name.symbol : "[unknown]", SIZE_MAX);
        if (SHOWS(r, SYMOFF) && name.symbol)
            output_format(out, "+0x%" PRIx64, name.symbol_distance);
    }
    if (SHOWS(r, DSO)) {
        output_text(out, " (");
        export_safe_text(out, name.module ? name.module : "[unknown]", SIZE_MAX);
        output_bytes(out, ")", 1);
    }
    if (SHOWS(r, LINE) && name.file) {
        output_bytes(out, " ", 1);
        export_safe_text(out, name.file, SIZE_MAX);
        output_format(out, ":%u", name.line);
    }
}

static void write_chain(const struct record *r, struct output *out)
{
    struct chain_part part;

    output_text(out, " chain");
    for (uint64_t at = 0; record_chain(r->sample.chain, r->sample.chain_n, &at, &part);) {
        output_format(out, " %s", part.mode);
        if (part.deferred)
            output_format(out, " %" PRIu64, part.cookie);
        for (uint64_t i = 0; i < part.n; i++) {
            output_format(out, HEX, part.entries[i]);
            write_name(r, out, part.entries[i], i > 0);
        }
    }
}

void export_read_text(const struct rk_sample *s, struct output *out)
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

/* perf's way, as far as it goes: 0xfrom/0xto/M|P|-/X|-/A|-/cycles/type */
static void write_branches(const struct rk_sample *s, struct output *out)
{
    output_text(out, " branches");
    for (uint64_t i = 0; i < s->branch_n; i++) {
        struct rk_branch_info b = {.size = sizeof b};
        rk_branch_info(&s->branches[i], &b);
        output_format(out, HEX "/0x%" PRIx64 "/%s/%s/%s/%u/%s", s->branches[i].from, s->branches[i].to,
                      b.mispredicted ? "M"
                      : b.predicted  ? "P"
                                     : "-",
                      b.in_transaction ? "X" : "-", b.aborted ? "A" : "-", b.cycles, *b.name ? b.name : "-");
    }
}

/* One end of a branch: "f+0x12", with dso "f+0x12(prog)"; where it has no name the address. */
static void write_end(const struct record *r, struct output *out, char before, uint64_t address)
{
    struct rk_address_name name = record_name(r, address, false);

    output_bytes(out, &before, 1);
    if (name.symbol) {
        export_safe_text(out, name.symbol, SIZE_MAX);
        output_format(out, "+0x%" PRIx64, name.symbol_distance);
    } else {
        output_format(out, "0x%" PRIx64, address);
    }
    if (SHOWS(r, DSO) && name.module) {
        output_bytes(out, "(", 1);
        export_safe_text(out, name.module, SIZE_MAX);
        output_bytes(out, ")", 1);
    }
}

/* from/to/what is known of it, in words with commas between */
static void write_branch_names(const struct record *r, struct output *out)
{
    const struct rk_sample *s = &r->sample;

    output_text(out, " brstacksym");
    for (uint64_t i = 0; i < s->branch_n; i++) {
        struct rk_branch_info b = {.size = sizeof b};
        rk_branch_info(&s->branches[i], &b);
        const char *const words[] = {
            b.mispredicted ? "mispredicted"
            : b.predicted  ? "predicted"
                           : NULL,
            *b.name ? b.name : NULL,
            b.in_transaction ? "in-transaction" : NULL,
            b.aborted ? "aborted" : NULL,
            record_speculation(b.speculation),
            record_privilege(b.privilege),
        };
        const char *between = "/";
        write_end(r, out, ' ', s->branches[i].from);
        write_end(r, out, '/', s->branches[i].to);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            if (words[k]) {
                output_text(out, between);
                for (const char *c = words[k]; *c; c++)
                    output_bytes(out, *c == ' ' ? "-" : c, 1);
                between = ",";
            }
        if (b.cycles)
            output_format(out, "%scycles:%u", between, b.cycles);
    }
}

static void write_regs(const struct record *r, struct output *out, uint32_t interrupt)
{
    const struct rk_sample *s = &r->sample;
    uint64_t mask = interrupt ? s->regs_intr_mask : s->regs_user_mask, value;

    output_format(out, " %s", interrupt ? "regs_intr" : "regs_user");
    if ((interrupt ? s->regs_intr_abi : s->regs_user_abi) == 0)
        output_text(out, " none");
    for (uint32_t i = 0; i < 64; i++) {
        if (!(mask >> i & 1) || rk_sample_register(s, interrupt, i, &value) < 0)
            continue;
        const char *name = rk_register_name(r->machine, i);
        if (name)
            output_format(out, " %s=0x%" PRIx64, name, value);
        else
            output_format(out, " %u=0x%" PRIx64, i, value);
    }
}

/* A tracepoint's own fields. False where they are not described. */
static bool write_trace(const struct record *r, struct output *out)
{
    size_t n = r->from->event == RK_NO_EVENT ? 0 : rk_stream_field_count(r->stream, r->from->event);

    for (size_t i = 0; i < n; i++) {
        struct rk_field field = {.size = sizeof field};
        struct rk_field_value v;
        if (rk_stream_field_get(r->stream, r->from->event, i, &field) < 0 || field.is_common)
            continue;
        output_bytes(out, " ", 1);
        export_safe_text(out, field.name, SIZE_MAX);
        output_bytes(out, "=", 1);
        if (rk_field_value(&field, &r->sample, &v) < 0)
            output_text(out, "?");
        else if (!v.bytes && field.is_signed)
            output_format(out, "%" PRId64, (int64_t)v.number);
        else if (!v.bytes)
            output_format(out, "%" PRIu64, v.number);
        else if (field.is_text)
            export_safe_text(out, (const char *)v.bytes, v.n);
        else
            output_hex(out, v.bytes, v.n);
    }
    return n > 0;
}

static void write_memory(const struct rk_sample *s, struct output *out)
{
    char text[64];

    output_format(out, " data_src" HEX, s->data_src);
    for (uint32_t part = 0; part < RK_MEMORY_PARTS; part++)
        if (rk_memory_text(s->data_src, part, text, sizeof text) > 0)
            output_format(out, " %s:%s", rk_memory_part_name(part), text);
}

static void write_weight(const struct rk_sample *s, struct output *out)
{
    struct rk_weight w;

    if (rk_sample_weight(s, &w) < 0)
        return;
    output_format(out, " weight %" PRIu64, w.first);
    if (s->present & RK_SAMPLE_WEIGHT_STRUCT)
        output_format(out, ",%u,%u", w.second, w.third);
}

/* What only some samples have. */
static void write_rest(const struct record *r, struct output *out)
{
    const struct rk_sample *s = &r->sample;
    char text[128];

    if (SAMPLE_SHOWS(r, RAW) || (s->present & RK_SAMPLE_RAW && SHOWS(r, TRACE))) {
        bool told = SHOWS(r, TRACE) && write_trace(r, out);
        if (!told)
            output_format(out, " raw %" PRIu64 " bytes", s->raw_bytes);
    }
    if ((s->present & RK_SAMPLE_BRANCH_STACK) && SHOWS(r, BRANCHES))
        write_branches(s, out);
    if ((s->present & RK_SAMPLE_BRANCH_STACK) && SHOWS(r, BRSTACKSYM))
        write_branch_names(r, out);
    if (SAMPLE_SHOWS(r, REGS_USER))
        write_regs(r, out, 0);
    if (SAMPLE_SHOWS(r, REGS_INTR))
        write_regs(r, out, 1);
    if ((s->present & RK_SAMPLE_STACK_USER) && SHOWS(r, STACK))
        output_format(out, " stack %" PRIu64 " bytes", s->stack_used);
    if (SHOWS(r, WEIGHT))
        write_weight(s, out);
    if (SAMPLE_SHOWS(r, DATA_SRC))
        write_memory(s, out);
    if (SAMPLE_SHOWS(r, TRANSACTION)) {
        rk_transaction_text(s->transaction, text, sizeof text);
        output_format(out, " transaction" HEX " %s", s->transaction, text);
    }
    if (SAMPLE_SHOWS(r, PHYS_ADDR))
        output_format(out, " phys_addr" HEX, s->phys_addr);
    if (SAMPLE_SHOWS(r, CGROUP))
        output_format(out, " cgroup %" PRIu64, s->cgroup);
    if (SAMPLE_SHOWS(r, DATA_PAGE_SIZE))
        output_format(out, " data_page_size %" PRIu64, s->data_page_size);
    if (SAMPLE_SHOWS(r, CODE_PAGE_SIZE))
        output_format(out, " code_page_size %" PRIu64, s->code_page_size);
    if (SAMPLE_SHOWS(r, AUX))
        output_format(out, " aux %" PRIu64 " bytes", s->aux_bytes);
}

void export_sample_text(const struct record *r, struct output *out)
{
    const struct rk_sample *s = &r->sample;
    const char *mode = record_mode(r->from->misc);

    if (SAMPLE_SHOWS(r, PERIOD))
        output_format(out, " %" PRIu64, s->period);
    if (mode && SHOWS(r, MODE))
        output_format(out, " %s", mode);
    if (SAMPLE_SHOWS(r, IP))
        output_format(out, HEX, s->ip);
    /* With a chain its first entry is this address: named once. */
    if ((s->present & RK_SAMPLE_IP) && !((s->present & RK_SAMPLE_CALLCHAIN) && SHOWS(r, CHAIN) && s->chain_n))
        write_name(r, out, s->ip, false);
    if (SAMPLE_SHOWS(r, ADDR))
        output_format(out, " addr" HEX, s->addr);
    if ((s->present & RK_SAMPLE_CALLCHAIN) && SHOWS(r, CHAIN))
        write_chain(r, out);
    if (SAMPLE_SHOWS(r, READ))
        export_read_text(s, out);
    write_rest(r, out);
}

#include "export/record.h"

#include "base/error.h"
#include "base/sink.h"
#include "base/unset.h"
#include "export/formats.h"
#include "record/layout.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *record_mode(uint32_t misc)
{
    static const char *const names[] = {NULL, "kernel", "user", "hypervisor", "guest-kernel", "guest-user"};
    uint32_t mode = misc & RK_MISC_MODE;

    return mode < sizeof names / sizeof *names ? names[mode] : NULL;
}

const char *record_marker(uint64_t entry)
{
    switch (entry) {
    case RK_CHAIN_KERNEL:
        return "kernel";
    case RK_CHAIN_USER:
        return "user";
    case RK_CHAIN_USER_DEFERRED:
        return "user-deferred";
    case RK_CHAIN_HYPERVISOR:
        return "hypervisor";
    case RK_CHAIN_GUEST:
        return "guest";
    case RK_CHAIN_GUEST_KERNEL:
        return "guest-kernel";
    case RK_CHAIN_GUEST_USER:
        return "guest-user";
    default:
        return entry >= RK_CHAIN_MAX ? "unknown" : NULL;
    }
}

const char *record_speculation(uint32_t speculation)
{
    static const char *const words[] = {NULL, "wrong path", "not speculated", "correct path"};

    return speculation < sizeof words / sizeof *words ? words[speculation] : NULL;
}

const char *record_privilege(uint32_t privilege)
{
    static const char *const words[] = {NULL, "user", "kernel", "hypervisor"};

    return privilege < sizeof words / sizeof *words ? words[privilege] : NULL;
}

bool record_chain(const uint64_t *chain, uint64_t n, uint64_t *at, struct chain_part *ret)
{
    if (*at >= n)
        return false;
    const char *mode = record_marker(chain[*at]);
    bool deferred = chain[*at] == RK_CHAIN_USER_DEFERRED;
    uint64_t begin = *at + (mode ? 1 : 0);
    uint64_t cookie = deferred && begin < n ? chain[begin++] : 0, end = begin;

    while (end < n && !record_marker(chain[end]))
        end++;
    *ret = (struct chain_part){mode ? mode : "unknown", chain + begin, end - begin, cookie, deferred};
    *at = end;
    return true;
}

static void ids(struct record *r, int32_t pid, int32_t tid)
{
    r->has_ids = true;
    r->pid = pid;
    r->tid = tid;
}

static int decode_read(const struct rk_stream *stream, const struct rk_record *from, struct record *r)
{
    struct rk_stream_event event = {.size = sizeof event};

    if (from->event == RK_NO_EVENT || rk_stream_event_get(stream, from->event, &event) < 0)
        return -ENOENT;
    struct layout layout = {.read_format = event.read_format};
    int rc = layout_read(&layout, from, &r->sample);
    if (rc == 0)
        ids(r, r->sample.pid, r->sample.tid);
    return rc;
}

static int decode_fields(const struct rk_record *from, struct record *r)
{
    int has_ids = 0, n = fields_decode(from, r->fields, &has_ids);

    if (n < 0)
        return n;
    r->field_n = n;
    if (has_ids)
        ids(r, (int32_t)(uint32_t)fields_word(from->data, 1), (int32_t)(fields_word(from->data, 1) >> 32));
    return 0;
}

/* The body, by type: sets kind and what goes with it. 0, -EBADMSG, or -ENOENT: not known. */
static int decode_body(const struct rk_stream *stream, const struct rk_record *from, struct record *r)
{
    int rc;

    switch (from->type) {
    case RK_RECORD_SAMPLE:
        r->kind = RECORD_SAMPLE;
        return rk_stream_sample(stream, from, &r->sample);
    case RK_RECORD_READ:
        r->kind = RECORD_READ;
        return decode_read(stream, from, r);
    case RK_RECORD_MMAP:
    case RK_RECORD_MMAP2:
        r->kind = RECORD_MAPPING;
        if ((rc = rk_record_mapping(from, &r->mapping)) == 0)
            ids(r, r->mapping.pid, r->mapping.tid);
        return rc;
    case RK_RECORD_FORK:
    case RK_RECORD_EXIT:
        r->kind = RECORD_TASK;
        if ((rc = rk_record_task(from, &r->task)) == 0) {
            ids(r, r->task.pid, r->task.tid);
            r->time = r->has_time ? r->time : r->task.time;
            r->has_time = true;
        }
        return rc;
    case RK_RECORD_COMM:
        r->kind = RECORD_COMM;
        if ((rc = rk_record_comm(from, &r->comm)) == 0)
            ids(r, r->comm.pid, r->comm.tid);
        return rc;
    case RK_RECORD_LOST:
    case RK_RECORD_LOST_SAMPLES:
        r->kind = RECORD_LOST;
        return rk_record_lost(from, &r->lost);
    default:
        r->kind = RECORD_FIELDS;
        return decode_fields(from, r);
    }
}

/* Registers mean nothing without their machine: that of the recording, live this one. */
static const char *machine_of(const struct rk_stream *stream)
{
    struct rk_stream_info info = {.size = sizeof info};

    if (rk_stream_info(stream, &info) == 0 && info.architecture && *info.architecture)
        return info.architecture;
#if defined(__x86_64__)
    return "x86_64";
#elif defined(__aarch64__)
    return "aarch64";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#else
    return "";
#endif
}

struct rk_address_name record_name(const struct record *r, uint64_t address, bool caller)
{
    struct rk_address_name name = {0};

    if (r->options->name)
        r->options->name(r->options->context, r->from, address, caller, &name);
    return name;
}

void export_safe_text(struct output *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n && text[i]; i++) {
        unsigned char c = (unsigned char)text[i];
        output_bytes(out, c < ' ' || c == 0x7f ? "?" : text + i, 1);
    }
}

void record_decode(struct rk_stream *stream, const struct rk_record *from,
                   const struct rk_record_options *options, struct record *ret)
{
    struct rk_stream_event event = {.size = sizeof event};

    *ret = (struct record){
        .from = from,
        .options = options,
        .stream = stream,
        .machine = "",
        .has_ids = from->present & RK_SAMPLE_TID,
        .has_time = from->present & RK_SAMPLE_TIME,
        .has_cpu = from->present & RK_SAMPLE_CPU,
        .pid = from->pid,
        .tid = from->tid,
        .cpu = from->cpu,
        .time = from->time,
        .sample.size = sizeof ret->sample,
        .mapping.size = sizeof ret->mapping,
        .task.size = sizeof ret->task,
        .comm.size = sizeof ret->comm,
        .lost.size = sizeof ret->lost,
    };
    int rc = decode_body(stream, from, ret);
    if (rc < 0)
        ret->kind = rc == -ENOENT ? RECORD_UNKNOWN : RECORD_DAMAGED;
    if (from->event != RK_NO_EVENT && rk_stream_event_get(stream, from->event, &event) == 0)
        ret->event = event.name;
    if (ret->kind == RECORD_SAMPLE && ret->sample.present & (RK_SAMPLE_REGS_USER | RK_SAMPLE_REGS_INTR))
        ret->machine = machine_of(stream);
}

static const char *const field_names[SHOW_N] = {
    [SHOW_COMM] = "comm",
    [SHOW_SYM] = "sym",
    [SHOW_DSO] = "dso",
    [SHOW_LINE] = "srcline",
    [SHOW_SYMOFF] = "symoff",
    [SHOW_BRSTACKSYM] = "brstacksym",
    [SHOW_TIME] = "time",
    [SHOW_CPU] = "cpu",
    [SHOW_PID] = "pid",
    [SHOW_TID] = "tid",
    [SHOW_TYPE] = "type",
    [SHOW_EVENT] = "event",
    [SHOW_MODE] = "mode",
    [SHOW_IP] = "ip",
    [SHOW_PERIOD] = "period",
    [SHOW_ADDR] = "addr",
    [SHOW_ID] = "id",
    [SHOW_STREAM_ID] = "stream_id",
    [SHOW_CHAIN] = "chain",
    [SHOW_READ] = "read",
    [SHOW_TRACE] = "trace",
    [SHOW_RAW] = "raw",
    [SHOW_BRANCHES] = "branches",
    [SHOW_REGS_USER] = "regs_user",
    [SHOW_REGS_INTR] = "regs_intr",
    [SHOW_STACK] = "stack",
    [SHOW_WEIGHT] = "weight",
    [SHOW_DATA_SRC] = "data_src",
    [SHOW_TRANSACTION] = "transaction",
    [SHOW_PHYS_ADDR] = "phys_addr",
    [SHOW_CGROUP] = "cgroup",
    [SHOW_DATA_PAGE_SIZE] = "data_page_size",
    [SHOW_CODE_PAGE_SIZE] = "code_page_size",
    [SHOW_AUX] = "aux",
    [SHOW_BODY] = "body",
};
_Static_assert(RK_FIELDS_COMM == 1 << SHOW_COMM &&
                   RK_FIELDS_NAMES ==
                       (1 << SHOW_SYM | 1 << SHOW_DSO | 1 << SHOW_SYMOFF | 1 << SHOW_BRSTACKSYM) &&
                   RK_FIELDS_LINES == 1 << SHOW_LINE,
               "the public bits");

const char *rk_record_field_name(uint32_t index)
{
    return index < SHOW_N ? field_names[index] : NULL;
}

/* A field by its name, or -1. */
static int field_number(const char *name, size_t n)
{
    static const struct {
        const char *name;
        int field;
    } perfs[] = {{"uregs", SHOW_REGS_USER}, {"iregs", SHOW_REGS_INTR}, {"brstack", SHOW_BRANCHES}};

    for (int i = 0; i < SHOW_N; i++)
        if (strlen(field_names[i]) == n && memcmp(field_names[i], name, n) == 0)
            return i;
    for (size_t i = 0; i < sizeof perfs / sizeof *perfs; i++)
        if (strlen(perfs[i].name) == n && memcmp(perfs[i].name, name, n) == 0)
            return perfs[i].field;
    return -1;
}

static int no_field(const char *name, size_t n, struct rk_error *e)
{
    char all[256];
    size_t at = 0;

    for (int i = 0; i < SHOW_N && at < sizeof all; i++)
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s", i ? "," : "", field_names[i]);
    return fail(e, -EINVAL, RK_STAGE_EXPORT, RK_CAUSE_ARGUMENT, all, "no such field: '%.*s'",
                (int)(n > 64 ? 64 : n), name);
}

int rk_record_fields(const char *names, uint64_t *ret, struct rk_error *e)
{
    uint64_t fields = 0;

    if (!names || !ret)
        return fail_null(e, RK_STAGE_EXPORT, "rk_record_fields", names ? "ret" : "names");
    for (size_t n; *names; names += n + (names[n] == ',')) {
        n = strcspn(names, ",");
        int field = field_number(names, n);
        if (field < 0)
            return no_field(names, n, e);
        fields |= UINT64_C(1) << field;
    }
    *ret = fields;
    return 0;
}

/* All but names, which need the files that ran. */
#define FIELDS_DEFAULT (((UINT64_C(1) << SHOW_N) - 1) & ~(RK_FIELDS_COMM | RK_FIELDS_NAMES | RK_FIELDS_LINES))

int rk_record_export(struct rk_stream *stream, const struct rk_record *record, const char *format,
                     const struct rk_sink *sink, const struct rk_record_options *options, struct rk_error *e)
{
    static const char *const names[] = {"text", "json", NULL};
    static void (*const writers[])(const struct record *, struct output *) = {export_record_text,
                                                                              export_record_json};
    struct rk_record_options mine;
    int which = export_format("records", names, format, sink, e);
    if (which < 0)
        return which;
    if (!stream || !record)
        return fail_null(e, RK_STAGE_EXPORT, "rk_record_export", stream ? "record" : "stream");
    int r = options_check(&mine, sizeof mine, options, "rk_record_options", RK_STAGE_EXPORT, e);
    if (r == 0)
        r = options_reserved(mine.reserved, "rk_record_options", RK_STAGE_EXPORT, e);
    if (r < 0)
        return r;
    if (!mine.fields)
        mine.fields = FIELDS_DEFAULT;

    struct output out = output_to(sink);
    UNSET struct record decoded; /* record_decode() sets all of it */
    record_decode(stream, record, &mine, &decoded);
    writers[which](&decoded, &out);
    return export_end(&out, e);
}

int rk_record_export_fd(struct rk_stream *stream, const struct rk_record *record, const char *format, int fd,
                        const struct rk_record_options *options, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_record_export(stream, record, format, &sink, options, e);
}

int rk_record_export_path(struct rk_stream *stream, const struct rk_record *record, const char *format,
                          const char *path, const struct rk_record_options *options, struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0
               ? rc
               : sink_file_close(&file, rk_record_export(stream, record, format, &file.sink, options, e), e);
}

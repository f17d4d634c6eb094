/*
 * A record, decoded for a dump whatever its type. What pid, tid and time are shown is decided here: where the
 * record's body has them they are what it is about, and go before the identity that the kernel attached.
 */
#ifndef EXPORT_RECORD_H
#define EXPORT_RECORD_H

#include "base/output.h"
#include "export/fields.h"

#include <reckon/export.h>
#include <stdbool.h>

enum record_kind {
    RECORD_SAMPLE,
    RECORD_READ,    /* in sample, as far as a READ record has it */
    RECORD_MAPPING, /* MMAP, MMAP2 */
    RECORD_TASK,    /* FORK, EXIT */
    RECORD_COMM,
    RECORD_LOST,    /* LOST, LOST_SAMPLES */
    RECORD_FIELDS,  /* see export/fields.h */
    RECORD_UNKNOWN, /* a type that this release does not know */
    RECORD_DAMAGED, /* its bytes don't hold what its type says */
};

/* What can be chosen, by the bits of rk_record_options.fields. */
enum {
    SHOW_COMM, /* RK_FIELDS_COMM */
    SHOW_SYM,  /* RK_FIELDS_NAMES: this … */
    SHOW_DSO,  /* … and this … */
    SHOW_LINE, /* RK_FIELDS_LINES */
    SHOW_SYMOFF,
    SHOW_BRSTACKSYM, /* … and these two */
    SHOW_TIME,
    SHOW_CPU,
    SHOW_PID,
    SHOW_TID,
    SHOW_TYPE,
    SHOW_EVENT,
    SHOW_MODE,
    SHOW_IP,
    SHOW_PERIOD,
    SHOW_ADDR,
    SHOW_ID,
    SHOW_STREAM_ID,
    SHOW_CHAIN,
    SHOW_READ,
    SHOW_TRACE,
    SHOW_RAW,
    SHOW_BRANCHES,
    SHOW_REGS_USER,
    SHOW_REGS_INTR,
    SHOW_STACK,
    SHOW_WEIGHT,
    SHOW_DATA_SRC,
    SHOW_TRANSACTION,
    SHOW_PHYS_ADDR,
    SHOW_CGROUP,
    SHOW_DATA_PAGE_SIZE,
    SHOW_CODE_PAGE_SIZE,
    SHOW_AUX,
    SHOW_BODY, /* what records other than samples say */
    SHOW_N,
};

struct record {
    enum record_kind kind;
    const struct rk_record *from;
    const struct rk_record_options *options;
    struct rk_stream *stream;
    const char *machine; /* whose registers they are; "" where it is not known */
    bool has_ids, has_time, has_cpu;
    int32_t pid, tid;
    uint32_t cpu;
    uint64_t time;
    const char *event; /* name, or NULL */
    struct rk_sample sample;
    struct rk_mapping mapping;
    struct rk_task task;
    struct rk_comm comm;
    struct rk_lost lost;
    struct field fields[FIELDS_MAX];
    int field_n;
};

void record_decode(struct rk_stream *stream, const struct rk_record *from,
                   const struct rk_record_options *options, struct record *ret);

static inline bool record_shows(const struct record *r, int field)
{
    return r->options->fields >> field & 1;
}
#define SHOWS(r, field) record_shows(r, SHOW_##field)

/* A field that was chosen and that the sample has. */
#define SAMPLE_SHOWS(r, field) (((r)->sample.present & RK_SAMPLE_##field) && SHOWS(r, field))

/* Whether the sampled address and those of the chain have their names. */
static inline bool record_names(const struct record *r)
{
    return r->options->fields & ((RK_FIELDS_NAMES | RK_FIELDS_LINES) & ~(UINT64_C(1) << SHOW_BRSTACKSYM));
}

/* The name of an address: all NULL where there is none. */
struct rk_address_name record_name(const struct record *r, uint64_t address, bool caller);

/* Of a branch, rk_branch_info's; NULL: not told. */
const char *record_speculation(uint32_t speculation);
const char *record_privilege(uint32_t privilege);

/* The samples, which have files of their own. */
struct json;
void export_sample_text(const struct record *r, struct output *out);
void export_sample_json(const struct record *r, struct json *j);
/* Shared by samples and READ records. */
void export_read_text(const struct rk_sample *s, struct output *out);
void export_read_json(const struct rk_sample *s, struct json *j);
/* A text from outside, its control characters as '?'. */
void export_safe_text(struct output *out, const char *text, size_t n);

/* "kernel" … for header.misc's mode or a chain's marker; NULL where it is none. */
const char *record_mode(uint32_t misc);
const char *record_marker(uint64_t entry);

/* A chain, part by part: the entries of one mode, without their marker. False at the end. `at` is 0 first. */
struct chain_part {
    const char *mode;        /* "unknown" for entries without a marker */
    const uint64_t *entries; /* n of them */
    uint64_t n;
    /* Of mode "user-deferred" alone: names the CALLCHAIN_DEFERRED record that has the entries. */
    uint64_t cookie;
    bool deferred;
};
bool record_chain(const uint64_t *chain, uint64_t n, uint64_t *at, struct chain_part *ret);

#endif

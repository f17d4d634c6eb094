/*
 * EINVAL has some fifty meanings, and the attr has as many fields. So what is set is left out one by one, each time
 * asking the kernel again, in the order of how likely it is; nothing stays open. A field that others depend on
 * (inherit for inherit_thread) takes them along.
 */
#include "set/narrow.h"

#include "sys/file.h"

#include <reckon/record.h>
#include <stddef.h>

enum where { FLAGS, SAMPLE_TYPE, READ_FORMAT, FIELD };

static const struct field {
    const char *name;
    uint64_t bits; /* left out where any is set */
    uint64_t with; /* … and these with them */
    enum where where;
    uint16_t offset; /* FIELD: zeroed, so many bytes … */
    uint16_t size;
} fields[] = {
    {"inherit_thread", ATTR_INHERIT_THREAD, 0, FLAGS, 0, 0},
    {"sigtrap", ATTR_SIGTRAP, 0, FLAGS, offsetof(struct perf_attr, sig_data), 8},
    {"remove_on_exec", ATTR_REMOVE_ON_EXEC, ATTR_SIGTRAP, FLAGS, 0, 0},
    {"enable_on_exec", ATTR_ENABLE_ON_EXEC, 0, FLAGS, 0, 0},
    {"clockid", ATTR_USE_CLOCKID, 0, FLAGS, offsetof(struct perf_attr, clockid), 4},
    {"read_format's lost", FORMAT_LOST, 0, READ_FORMAT, 0, 0},
    {"read_format's group", FORMAT_GROUP, 0, READ_FORMAT, 0, 0},
    {"inherit", ATTR_INHERIT, ATTR_INHERIT_THREAD, FLAGS, 0, 0},
    {"pinned", ATTR_PINNED, 0, FLAGS, 0, 0},
    {"exclusive", ATTR_EXCLUSIVE, 0, FLAGS, 0, 0},
    {"precise_ip", ATTR_PRECISE_MASK, 0, FLAGS, 0, 0},
    {"exclude_host", ATTR_EXCLUDE_HOST, 0, FLAGS, 0, 0},
    {"exclude_guest", ATTR_EXCLUDE_GUEST, 0, FLAGS, 0, 0},
    {"exclude_idle", ATTR_EXCLUDE_IDLE, 0, FLAGS, 0, 0},
    {"exclude_hv", ATTR_EXCLUDE_HV, 0, FLAGS, 0, 0},
    {"exclude_kernel", ATTR_EXCLUDE_KERNEL, 0, FLAGS, 0, 0},
    {"exclude_user", ATTR_EXCLUDE_USER, 0, FLAGS, 0, 0},
    {"user and kernel modifiers", ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV, 0, FLAGS, 0, 0},
    {"exclude_callchain_kernel", ATTR_EXCLUDE_CALLCHAIN_KERNEL, 0, FLAGS, 0, 0},
    {"exclude_callchain_user", ATTR_EXCLUDE_CALLCHAIN_USER, 0, FLAGS, 0, 0},
    {"context_switch", ATTR_CONTEXT_SWITCH, 0, FLAGS, 0, 0},
    {"mmap2", ATTR_MMAP2, 0, FLAGS, 0, 0},
    {"comm_exec", ATTR_COMM_EXEC, 0, FLAGS, 0, 0},
    {"write_backward", ATTR_WRITE_BACKWARD, 0, FLAGS, 0, 0},
    {"aux_output", ATTR_AUX_OUTPUT, 0, FLAGS, 0, 0},
    {"build_id", ATTR_BUILD_ID, 0, FLAGS, 0, 0},
    {"text_poke", ATTR_TEXT_POKE, 0, FLAGS, 0, 0},
    {"cgroup", ATTR_CGROUP, 0, FLAGS, 0, 0},
    {"defer_callchain", ATTR_DEFER_CALLCHAIN, ATTR_DEFER_OUTPUT, FLAGS, 0, 0},
    {"sample_type's branch stack", RK_SAMPLE_BRANCH_STACK, 0, SAMPLE_TYPE,
     offsetof(struct perf_attr, branch_sample_type), 8},
    {"sample_type's user registers", RK_SAMPLE_REGS_USER, 0, SAMPLE_TYPE,
     offsetof(struct perf_attr, sample_regs_user), 8},
    {"sample_type's user stack", RK_SAMPLE_STACK_USER, 0, SAMPLE_TYPE,
     offsetof(struct perf_attr, sample_stack_user), 4},
    {"sample_type's registers", RK_SAMPLE_REGS_INTR, 0, SAMPLE_TYPE,
     offsetof(struct perf_attr, sample_regs_intr), 8},
    {"sample_type's counts (read)", RK_SAMPLE_READ, 0, SAMPLE_TYPE, 0, 0},
    {"sample_type's call chain", RK_SAMPLE_CALLCHAIN, 0, SAMPLE_TYPE,
     offsetof(struct perf_attr, sample_max_stack), 2},
    {"sample_type",
     ~(uint64_t)(RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU |
                 RK_SAMPLE_PERIOD),
     0, SAMPLE_TYPE, 0, 0},
    {"freq", ATTR_FREQ, 0, FLAGS, 0, 0},
    {"sample_period", 0, 0, FIELD, offsetof(struct perf_attr, sample_period), 8},
    {"wakeup", 0, 0, FIELD, offsetof(struct perf_attr, wakeup), 4},
    {"sample_max_stack", 0, 0, FIELD, offsetof(struct perf_attr, sample_max_stack), 2},
    {"aux_action", 0, 0, FIELD, offsetof(struct perf_attr, aux_action), 4},
    {"config4", 0, 0, FIELD, offsetof(struct perf_attr, config4), 8},
    {"config3", 0, 0, FIELD, offsetof(struct perf_attr, config3), 8},
    {"config2", 0, 0, FIELD, offsetof(struct perf_attr, config2), 8},
    {"config1", 0, 0, FIELD, offsetof(struct perf_attr, config1), 8},
};

/* Whether the attr has the field; it is left out then. */
static bool leave_out(struct perf_attr *attr, const struct field *field)
{
    uint64_t *words[] = {&attr->flags, &attr->sample_type, &attr->read_format};
    unsigned char *bytes = (unsigned char *)attr + field->offset;
    bool set = false;

    if (field->where != FIELD) {
        set = *words[field->where] & field->bits;
        *words[field->where] &= ~(field->bits | field->with);
    }
    for (uint16_t i = 0; i < field->size; i++) {
        set = set || (field->where == FIELD && bytes[i]);
        if (set)
            bytes[i] = 0;
    }
    return set;
}

static bool opens(struct perf_attr attr, bool grouped, narrow_open *open, void *context)
{
    int fd = open(context, &attr, grouped);

    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

const char *narrow_field(const struct perf_attr *attr, bool grouped, narrow_open *open, void *context)
{
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        struct perf_attr less = *attr;
        /* A breakpoint's address and length are config1 and config2: without them it is another. */
        if (attr->type == PERF_BREAKPOINT && fields[i].where == FIELD &&
            fields[i].offset >= offsetof(struct perf_attr, config1))
            continue;
        if (leave_out(&less, &fields[i]) && opens(less, grouped, open, context))
            return fields[i].name;
    }
    return grouped && opens(*attr, false, open, context) ? "group" : NULL;
}

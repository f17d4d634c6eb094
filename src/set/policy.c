/*
 * What is asked of the kernel.
 *
 * Counting   read_format ENABLED|RUNNING; a group's leader has GROUP too, its siblings not, so that they can be
 *            read singly. The leader is opened disabled and its siblings enabled: one ioctl toggles all.
 * Sampling   IDENTIFIER|IP|TID|TIME|CPU|PERIOD and what the options add; the first event of a slot carries
 *            the side-band records; each has sample_id_all, so that every record says when and whose it is.
 */
#include "set/policy.h"
#include "event/event.h"
#include "host/host.h"
#include "set/private.h"

#include "base/error.h"

#include <errno.h>
#include <reckon/record.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SAMPLE_ALWAYS \
    (RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD)
#define ARM64_USER_ACCESS UINT64_C(2) /* config1: the counter may be read by the thread itself */
#define STACKS (RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER)
#define MODES (RK_EVENT_USER | RK_EVENT_KERNEL | RK_EVENT_HYPERVISOR)

bool policy_samples(const struct rk_set_options *options, const struct rk_events *events)
{
    if (options->period || options->frequency || options->records)
        return true;
    for (size_t i = 0; i < events->list.n; i++)
        if (events->list.items[i].event.period || events->list.items[i].event.frequency)
            return true;
    return false;
}

static int refuse_option(struct rk_error *e, const char *fix, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse_option(struct rk_error *e, const char *fix, const char *format, ...)
{
    char what[sizeof e->what];
    va_list list;

    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return fail(e, -EINVAL, RK_STAGE_OPEN, RK_CAUSE_ARGUMENT, fix, "%s", what);
}

#define FLAGS_ALL UINT64_C(0x1ffff)
#define EXCLUDE_ALL UINT64_C(0xff)
#define RECORDS_ALL UINT64_C(0x3ff)
#define SAMPLE_ALL UINT64_C(0x1ffffff)
#define BRANCHES_ALL UINT64_C(0xfffff)
#define EXCLUDE_MODES (RK_EXCLUDE_USER | RK_EXCLUDE_KERNEL | RK_EXCLUDE_HYPERVISOR)
#define EXCLUDE_MACHINES (RK_EXCLUDE_HOST | RK_EXCLUDE_GUEST)
#define CHAINS (RK_EXCLUDE_CHAIN_KERNEL | RK_EXCLUDE_CHAIN_USER)

static int check_bits(const struct rk_set_options *o, struct rk_error *e)
{
    const struct {
        const char *name, *made_of;
        uint64_t value, known;
    } words[] = {
        {"flags", "RK_SET_…", o->flags, FLAGS_ALL},
        {"exclude", "RK_EXCLUDE_…", o->exclude, EXCLUDE_ALL},
        {"records", "RK_RECORDS_…", o->records, RECORDS_ALL},
        {"sample", "RK_SAMPLE_…", o->sample, SAMPLE_ALL},
        {"branches", "RK_BRANCHES_…", o->branches, BRANCHES_ALL},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].value & ~words[i].known)
            return refuse_option(e, "clear the unknown bits",
                                 "%s is %#jx, and %#jx of it is unknown; it is made of %s", words[i].name,
                                 (uintmax_t)words[i].value, (uintmax_t)(words[i].value & ~words[i].known),
                                 words[i].made_of);
    return 0;
}

static int check_values(const struct rk_set_options *o, struct rk_error *e)
{
    if (o->period && o->frequency)
        return refuse_option(e, "set one", "period and frequency are both set");
    if (o->wakeup_bytes && o->wakeup_samples)
        return refuse_option(e, "set one", "wakeup_bytes and wakeup_samples are both set");
    if (o->ring_bytes & (o->ring_bytes - 1))
        return refuse_option(e, "round it up", "ring_bytes is %u; it must be a power of two", o->ring_bytes);
    if (o->stack_user % 8 || o->stack_user > 65528)
        return refuse_option(e, "round it", "stack_user is %u; it must be a multiple of 8 below 65536",
                             o->stack_user);
    if (o->max_stack > UINT16_MAX)
        return refuse_option(e, "lower it", "max_stack is %u; the most is 65535", o->max_stack);
    if ((o->sample & RK_SAMPLE_WEIGHT) && (o->sample & RK_SAMPLE_WEIGHT_STRUCT))
        return refuse_option(e, "set one",
                             "sample has RK_SAMPLE_WEIGHT and RK_SAMPLE_WEIGHT_STRUCT, which share one word");
    if (o->sample & RK_SAMPLE_AUX)
        return refuse_option(e, "leave it out", "sample has RK_SAMPLE_AUX, and sets have no AUX area");
    return 0;
}

static int check_flags(const struct rk_set_options *o, struct rk_error *e)
{
    static const struct {
        uint32_t a, b;
        const char *names;
    } pairs[] = {
        {RK_SET_REMOVE_ON_EXEC, RK_SET_ENABLE_ON_EXEC, "RK_SET_REMOVE_ON_EXEC and RK_SET_ENABLE_ON_EXEC"},
        {RK_SET_ENABLED, RK_SET_ENABLE_ON_EXEC, "RK_SET_ENABLED and RK_SET_ENABLE_ON_EXEC"},
        {RK_SET_THREADS_ONLY, RK_SET_NO_INHERIT, "RK_SET_THREADS_ONLY and RK_SET_NO_INHERIT"},
    };

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if ((o->flags & pairs[i].a) && (o->flags & pairs[i].b))
            return refuse_option(e, "set one", "flags has both %s", pairs[i].names);
    if ((o->exclude & EXCLUDE_MODES) == EXCLUDE_MODES)
        return refuse_option(
            e, "leave one out",
            "exclude has user space, the kernel and the hypervisor: nothing is left to count");
    if ((o->exclude & EXCLUDE_MACHINES) == EXCLUDE_MACHINES)
        return refuse_option(e, "leave one out",
                             "exclude has RK_EXCLUDE_HOST and RK_EXCLUDE_GUEST: nothing is left to count");
    if ((o->exclude & CHAINS) == CHAINS)
        return refuse_option(e, "leave RK_SAMPLE_CALLCHAIN out of sample",
                             "exclude has both RK_EXCLUDE_CHAIN_…: nothing is left of a call chain");
    if ((o->flags & RK_SET_SIGTRAP) && !(o->flags & RK_SET_REMOVE_ON_EXEC))
        return refuse_option(e, "add RK_SET_REMOVE_ON_EXEC: the next program would die of the signal",
                             "flags has RK_SET_SIGTRAP without RK_SET_REMOVE_ON_EXEC");
    return 0;
}

/* A value and its bit in `sample` come together. */
static int check_pairs(const struct rk_set_options *o, struct rk_error *e)
{
    const struct {
        const char *name, *bit_name;
        uint64_t value, bit;
    } pairs[] = {
        {"stack_user", "RK_SAMPLE_STACK_USER", o->stack_user, RK_SAMPLE_STACK_USER},
        {"regs_user", "RK_SAMPLE_REGS_USER", o->regs_user, RK_SAMPLE_REGS_USER},
        {"regs_intr", "RK_SAMPLE_REGS_INTR", o->regs_intr, RK_SAMPLE_REGS_INTR},
        {"branches", "RK_SAMPLE_BRANCH_STACK", o->branches, RK_SAMPLE_BRANCH_STACK},
    };
    char fix[80];

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (!pairs[i].value == !(o->sample & pairs[i].bit))
            continue;
        if (pairs[i].value) {
            snprintf(fix, sizeof fix, "add %s to sample", pairs[i].bit_name);
            return refuse_option(e, fix, "%s is set without %s", pairs[i].name, pairs[i].bit_name);
        }
        snprintf(fix, sizeof fix, "set %s", pairs[i].name);
        return refuse_option(e, fix, "sample has %s, and %s is 0", pairs[i].bit_name, pairs[i].name);
    }
    return 0;
}

/* What has no effect without another. */
static int check_needs(const struct rk_set_options *o, struct rk_error *e)
{
    if (o->max_stack && !(o->sample & (RK_SAMPLE_CALLCHAIN | RK_SAMPLE_STACK_USER)))
        return refuse_option(e, "add RK_SAMPLE_CALLCHAIN to sample",
                             "max_stack is set, and samples have no stack");
    if ((o->exclude & CHAINS) && !(o->sample & RK_SAMPLE_CALLCHAIN))
        return refuse_option(e, "add RK_SAMPLE_CALLCHAIN to sample",
                             "exclude has RK_EXCLUDE_CHAIN_…, and samples have no call chain");
    if ((o->flags & RK_SET_DEFER_CHAINS) &&
        (!(o->sample & RK_SAMPLE_CALLCHAIN) || (o->exclude & RK_EXCLUDE_CHAIN_USER)))
        return refuse_option(e,
                             o->sample & RK_SAMPLE_CALLCHAIN ? "leave RK_EXCLUDE_CHAIN_USER out of exclude"
                                                             : "add RK_SAMPLE_CALLCHAIN to sample",
                             "flags has RK_SET_DEFER_CHAINS, and samples have no call chain of the user's");
    if ((o->records & RK_RECORDS_READS) && (o->flags & RK_SET_NO_INHERIT))
        return refuse_option(e, "leave RK_SET_NO_INHERIT out of flags",
                             "records has RK_RECORDS_READS, and nothing is inherited");
    if ((o->records & RK_RECORDS_BUILD_IDS) && !(o->records & RK_RECORDS_MAPS))
        return refuse_option(
            e, "add RK_RECORDS_MAPS to records",
            "records has RK_RECORDS_BUILD_IDS, which mappings carry, without RK_RECORDS_MAPS");
    if ((o->flags & RK_SET_EACH) && !o->frequency)
        return refuse_option(e, "set frequency", "flags has RK_SET_EACH, and frequency is 0");
    if ((o->flags & RK_SET_NO_WORLD) && (o->records & RK_RECORDS_PROFILE) != RK_RECORDS_PROFILE)
        return refuse_option(e, "leave it out",
                             "flags has RK_SET_NO_WORLD; without RK_RECORDS_PROFILE no world is made");
    if (o->sig_data && !(o->flags & RK_SET_SIGTRAP))
        return refuse_option(e, "add RK_SET_SIGTRAP to flags", "sig_data is set without RK_SET_SIGTRAP");
    if (o->clock && !(o->flags & RK_SET_CLOCK))
        return refuse_option(e, "add RK_SET_CLOCK to flags", "clock is set without RK_SET_CLOCK");
    return 0;
}

/* A set that only counts has no samples, no rings and no records. */
static int check_counts(const struct rk_set_options *o, struct rk_error *e)
{
    const char *name = o->sample                     ? "sample"
                       : o->ring_bytes               ? "ring_bytes"
                       : o->wakeup_bytes             ? "wakeup_bytes"
                       : o->wakeup_samples           ? "wakeup_samples"
                       : o->flags & RK_SET_OVERWRITE ? "RK_SET_OVERWRITE"
                       : o->flags & RK_SET_CLOCK     ? "RK_SET_CLOCK"
                                                     : NULL;

    return name ? refuse_option(e, "set period or frequency", "%s is set, and the set only counts", name) : 0;
}

static int check_sigtrap(const struct rk_set_options *o, const struct rk_events *events, struct rk_error *e)
{
    struct rk_event event = RK_INIT(event);

    if (!(o->flags & RK_SET_SIGTRAP) || o->period || o->frequency)
        return 0;
    for (size_t i = 0; rk_events_get(events, i, &event) == 0; i++) {
        if (event.period || event.frequency || event.flags & RK_EVENT_ABSENT)
            continue;
        int rc = refuse_option(e, "set period or frequency, or write EVENT/period=N/",
                               "RK_SET_SIGTRAP: %s takes no samples: it has no period and no frequency",
                               event.name);
        fail_event(e, event.name);
        return rc;
    }
    return 0;
}

int policy_check(const struct rk_set_options *o, const struct rk_events *events, struct rk_error *e)
{
    static int (*const checks[])(const struct rk_set_options *, struct rk_error *) = {
        check_bits, check_values, check_flags, check_pairs, check_needs,
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof checks / sizeof *checks; i++)
        rc = checks[i](o, e);
    if (rc == 0)
        rc = check_sigtrap(o, events, e);
    return rc == 0 && !policy_samples(o, events) ? check_counts(o, e) : rc;
}

bool policy_is_core(struct rk_host *host, uint32_t type)
{
    struct rk_pmu pmu = {.size = sizeof pmu};

    if (type == PERF_HARDWARE || type == PERF_HW_CACHE || type == PERF_RAW)
        return true;
    if (type <= PERF_BREAKPOINT)
        return false;
    int n = host_pmus(host);
    for (int i = 0; i < n; i++)
        if (rk_host_pmu_get(host, (size_t)i, &pmu) == 0 && pmu.type == type)
            return pmu.core;
    return false;
}

bool policy_is_kernels(uint32_t type, uint64_t config)
{
    if (type == PERF_SOFTWARE)
        return config == SW_CONTEXT_SWITCHES || config == SW_CPU_MIGRATIONS || config == SW_CGROUP_SWITCHES;
    return type == PERF_TRACEPOINT;
}

bool policy_excludes(struct rk_host *host, const struct rk_event *event)
{
    return event->type <= PERF_BREAKPOINT || policy_is_core(host, event->type);
}

/* What happens one by one, each time at a place that was asked for. */
static bool happens_singly(const struct rk_event *event)
{
    return event->type == PERF_TRACEPOINT || event->type == PERF_BREAKPOINT ||
           strcmp(event->pmu, "kprobe") == 0 || strcmp(event->pmu, "uprobe") == 0;
}

/* The kernel takes exclude_host for these and counts all the same. */
static bool blind_to_guests(const struct rk_event *event)
{
    return event->type == PERF_SOFTWARE || happens_singly(event);
}

static int refuse_guest(const struct rk_set_options *options, const struct rk_event *event,
                        struct rk_error *e)
{
    bool option = options->exclude & RK_EXCLUDE_HOST,
         guest = (event->flags & (RK_EVENT_GUEST | RK_EVENT_HOST)) == RK_EVENT_GUEST;

    if ((!option && !guest) || !blind_to_guests(event))
        return 0;
    fail(e, -EOPNOTSUPP, RK_STAGE_OPEN, RK_CAUSE_UNSUPPORTED,
         option ? "don't exclude the host" : "leave the G modifier out",
         "%s: is of this kernel alone: it does not distinguish what guests do", event->name);
    fail_event(e, event->name);
    return -EOPNOTSUPP;
}

/* PMUs that trace: what they have to say is bytes in an AUX area, which nothing here records. Sampled, they would give
 * records that tell of a trace and no trace. */
static bool traces(const char *pmu)
{
    static const char *const names[] = {"intel_pt", "intel_bts", "arm_spe_", "cs_etm", "hisi_ptt"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(pmu, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static int refuse_trace(const struct rk_set_options *options, const struct rk_event *event,
                        struct rk_error *e)
{
    bool sampled = options->period || options->frequency || event->period || event->frequency;

    if (!sampled || !traces(event->pmu))
        return 0;
    char remedy[sizeof e->remedy];
    snprintf(remedy, sizeof remedy, "perf record -e %.60s", event->name);
    fail(e, -EOPNOTSUPP, RK_STAGE_OPEN, RK_CAUSE_UNSUPPORTED, remedy,
         "%s: %s writes a trace beside the ring (an AUX area), and reckon records none", event->name,
         event->pmu);
    fail_event(e, event->name);
    return -EOPNOTSUPP;
}

int policy_refuse(const struct rk_set_options *options, const struct rk_event *event, struct rk_error *e)
{
    uint32_t modes = event->flags & MODES;

    if (options->exclude & RK_EXCLUDE_KERNEL)
        modes = RK_EVENT_USER;
    int rc = refuse_guest(options, event, e);
    if (rc == 0)
        rc = refuse_trace(options, event, e);
    if (rc < 0)
        return rc;
    if ((!policy_is_kernels(event->type, event->config) && strcmp(event->pmu, "kprobe") != 0) || !modes ||
        (modes & RK_EVENT_KERNEL))
        return 0;
    fail(e, -EOPNOTSUPP, RK_STAGE_OPEN, RK_CAUSE_UNSUPPORTED,
         options->exclude & RK_EXCLUDE_KERNEL ? "don't exclude the kernel" : "leave its modifiers out",
         "%s: happens in the kernel alone, so that in user space there is nothing to count", event->name);
    fail_event(e, event->name);
    return -EOPNOTSUPP;
}

static uint64_t excluded(const struct rk_set_options *options, const struct rk_event *event)
{
    static const uint64_t by_option[] = {
        ATTR_EXCLUDE_USER,
        ATTR_EXCLUDE_KERNEL,
        ATTR_EXCLUDE_HV,
        ATTR_EXCLUDE_HOST,
        ATTR_EXCLUDE_GUEST,
        ATTR_EXCLUDE_IDLE,
        ATTR_EXCLUDE_CALLCHAIN_KERNEL,
        ATTR_EXCLUDE_CALLCHAIN_USER,
    };
    uint32_t modes = event->flags & MODES;
    uint64_t flags = 0;

    for (size_t i = 0; i < sizeof by_option / sizeof *by_option; i++)
        flags |= options->exclude >> i & 1 ? by_option[i] : 0;

    if (modes)
        flags |= (modes & RK_EVENT_USER ? 0 : ATTR_EXCLUDE_USER) |
                 (modes & RK_EVENT_KERNEL ? 0 : ATTR_EXCLUDE_KERNEL) |
                 (modes & RK_EVENT_HYPERVISOR ? 0 : ATTR_EXCLUDE_HV);
    if ((event->flags & (RK_EVENT_GUEST | RK_EVENT_HOST)) == RK_EVENT_GUEST)
        flags |= ATTR_EXCLUDE_HOST;
    if ((event->flags & (RK_EVENT_GUEST | RK_EVENT_HOST)) == RK_EVENT_HOST)
        flags |= ATTR_EXCLUDE_GUEST;
    if (event->flags & RK_EVENT_NO_IDLE)
        flags |= ATTR_EXCLUDE_IDLE;
    return flags;
}

/* Whom it counts beside the thread that it is opened on, and until when. */
static uint64_t extent(const struct rk_set_options *o, bool inherit)
{
    uint64_t flags = o->flags & RK_SET_REMOVE_ON_EXEC ? ATTR_REMOVE_ON_EXEC : 0;

    if (inherit)
        flags |= ATTR_INHERIT | (o->flags & RK_SET_THREADS_ONLY ? ATTR_INHERIT_THREAD : 0);
    return flags;
}

/* From when on it counts. */
static uint64_t beginning(const struct rk_set_options *o, enum target_kind kind)
{
    if (o->flags & RK_SET_ENABLED)
        return 0;
    if (!(o->flags & RK_SET_REMOVE_ON_EXEC) && (o->flags & RK_SET_ENABLE_ON_EXEC || kind == TARGET_COMMAND))
        return ATTR_DISABLED | ATTR_ENABLE_ON_EXEC;
    return ATTR_DISABLED;
}

/* Only a leader may be pinned or exclusive, and only it waits to be enabled. */
static uint64_t leading(const struct policy *policy, const struct rk_event *event, uint32_t members)
{
    const struct rk_set_options *o = policy->options;
    uint64_t flags = 0;

    if ((event->flags & RK_EVENT_PINNED) || o->flags & RK_SET_PINNED)
        flags |= ATTR_PINNED;
    if ((event->flags & RK_EVENT_EXCLUSIVE) || o->flags & RK_SET_EXCLUSIVE)
        flags |= ATTR_EXCLUSIVE;
    flags |= beginning(o, policy->kind);
    if (o->flags & RK_SET_ENABLED)
        return flags | (*event->filter ? ATTR_DISABLED : 0); /* until it has its filter */
    /* arm64 does not count a disabled leader when it checks whether the group fits, unless it will be enabled
     * on exec; the group would then never run. Where no exec can come (our descriptors are closed by it, and
     * nothing is inherited; a CPU does not exec) the bit has no other effect. Of others fit.c makes sure. */
    if (!(o->flags & RK_SET_REMOVE_ON_EXEC) && members > 1 &&
        ((policy->kind == TARGET_SELF && !policy->inherit) || target_by_cpu(policy->kind)))
        flags |= ATTR_ENABLE_ON_EXEC;
    return flags;
}

static uint64_t records(uint32_t asked)
{
    uint64_t flags = 0;

    /* With either of `mmap` and `mmap2` the kernel reports executable mappings, too: those of data alone come as MMAP. */
    if (asked & RK_RECORDS_MAPS)
        flags |= ATTR_MMAP | ATTR_MMAP2;
    if (asked & RK_RECORDS_DATA_MAPS)
        flags |= ATTR_MMAP_DATA;
    if (asked & RK_RECORDS_TASKS)
        flags |= ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK;
    if (asked & RK_RECORDS_SWITCHES)
        flags |= ATTR_CONTEXT_SWITCH;
    if (asked & RK_RECORDS_NAMESPACES)
        flags |= ATTR_NAMESPACES;
    if (asked & RK_RECORDS_CGROUPS)
        flags |= ATTR_CGROUP;
    if (asked & RK_RECORDS_CODE)
        flags |= ATTR_KSYMBOL | ATTR_BPF_EVENT;
    if (asked & RK_RECORDS_POKES)
        flags |= ATTR_TEXT_POKE;
    if (asked & RK_RECORDS_BUILD_IDS)
        flags |= ATTR_BUILD_ID;
    return flags;
}

/* How often: the event's own word, else the set's. :S samples at the leader alone. */
static void rate(const struct policy *policy, const struct rk_event *event, bool leads,
                 struct perf_attr *attr)
{
    const struct rk_set_options *o = policy->options;
    bool own = event->period || event->frequency;
    uint64_t period = own ? event->period : o->period, frequency = own ? event->frequency : o->frequency;

    if ((event->flags & RK_EVENT_SAMPLE_READ) && !leads)
        return;
    if (!own && frequency && o->flags & RK_SET_EACH && happens_singly(event))
        period = 1;
    if (frequency && !period) {
        attr->flags |= ATTR_FREQ;
        attr->sample_period = policy->frequency_at_most && frequency > policy->frequency_at_most
                                  ? policy->frequency_at_most
                                  : frequency;
    } else {
        attr->sample_period = period;
    }
}

/*
 * With PERIOD in its samples the kernel takes one at every event that software counts (perf_swevent_event()), whatever
 * the period. Where that is fixed, the sample need not say it. A tracepoint at period 1 keeps it: there it is the
 * weight that the tracepoint gives. Probes are tracepoints to the kernel, whatever PMU they come by.
 */
static bool says_period(const struct perf_attr *attr, const struct rk_event *event)
{
    if ((attr->flags & ATTR_FREQ) || attr->sample_period == 0)
        return true;
    if (attr->type == PERF_SOFTWARE)
        return attr->config == SW_CPU_CLOCK || attr->config == SW_TASK_CLOCK;
    if (attr->type == PERF_BREAKPOINT)
        return false;
    return !happens_singly(event) || attr->sample_period == 1;
}

static void sampling(const struct policy *policy, const struct rk_event *event,
                     const struct policy_place *place, struct perf_attr *attr)
{
    const struct rk_set_options *o = policy->options;

    uint64_t sample = o->sample;

    if (policy->no_stacks) {
        sample = (sample & ~STACKS) | RK_SAMPLE_CALLCHAIN;
        attr->flags &= ~ATTR_EXCLUDE_CALLCHAIN_USER;
    }
    attr->sample_type = SAMPLE_ALWAYS | sample;
    attr->flags |= ATTR_SAMPLE_ID_ALL;
    if (place->carries)
        attr->flags |= records(o->records);
    if (o->records & RK_RECORDS_READS)
        attr->flags |= ATTR_INHERIT_STAT; /* each event's own count */
    if (o->flags & RK_SET_DEFER_CHAINS && !policy->no_deferred)
        attr->flags |= ATTR_DEFER_CALLCHAIN | (place->carries ? ATTR_DEFER_OUTPUT : 0);
    rate(policy, event, place->leads, attr);
    if (!says_period(attr, event) && !(o->sample & RK_SAMPLE_PERIOD))
        attr->sample_type &= ~RK_SAMPLE_PERIOD;
    if (event->flags & RK_EVENT_SAMPLE_READ) {
        attr->read_format |= FORMAT_ID;
        if (place->leads)
            attr->sample_type |= RK_SAMPLE_READ;
    }
    if (!policy->no_lost)
        attr->read_format |= FORMAT_LOST;
    if (o->wakeup_samples) {
        attr->wakeup = o->wakeup_samples;
    } else {
        attr->flags |= ATTR_WATERMARK;
        attr->wakeup = o->wakeup_bytes; /* 0: half the ring, however large it comes to be */
    }
    if (attr->type == PERF_TRACEPOINT && rk_host_fact(policy->host, RK_FACT_CAP_PERFMON) == 1)
        attr->sample_type |= RK_SAMPLE_RAW; /* its payload, which is what it has to say */
    if (o->flags & RK_SET_OVERWRITE)
        attr->flags |= ATTR_WRITE_BACKWARD;
    if (sample & RK_SAMPLE_CALLCHAIN)
        attr->sample_max_stack = (uint16_t)o->max_stack;
    if (sample & RK_SAMPLE_BRANCH_STACK)
        attr->branch_sample_type = o->branches;
    if (sample & RK_SAMPLE_REGS_USER)
        attr->sample_regs_user = o->regs_user;
    if (sample & RK_SAMPLE_REGS_INTR)
        attr->sample_regs_intr = o->regs_intr;
    if (sample & RK_SAMPLE_STACK_USER)
        attr->sample_stack_user = o->stack_user;
    if (o->flags & RK_SET_CLOCK) {
        attr->flags |= ATTR_USE_CLOCKID;
        attr->clockid = o->clock;
    }
}

uint32_t policy_attr_size(const struct perf_attr *attr)
{
    static const uint8_t sizes[] = {64, 72, 80, 96, 104, 112, 120, 128, 136, 144};
    uint64_t words[sizeof *attr / sizeof(uint64_t)];
    size_t used = sizeof words / sizeof *words, i = 0;

    memcpy(words, attr, sizeof words);
    while (used > ATTR_SIZE_0 / sizeof *words && !words[used - 1])
        used--;
    while (sizes[i] < used * sizeof *words)
        i++;
    return sizes[i];
}

bool policy_asks_user_access(const struct policy *policy, const struct set_event *event)
{
#if defined(__aarch64__)
    int64_t access;

    return policy->kind == TARGET_SELF && !policy->inherit && !policy->sampling &&
           !(policy->options->flags & RK_SET_NO_USER_READ) && !event->no_user_access &&
           rk_host_limit(policy->host, RK_LIMIT_USER_ACCESS, &access) == 0 && access > 0 &&
           policy_is_core(policy->host, event->event.type);
#else
    (void)policy, (void)event;
    return false;
#endif
}

void policy_attr(const struct policy *policy, const struct set_event *event, const struct policy_place *place,
                 struct perf_attr *ret)
{
    const struct rk_event *asked = &event->event;

    *ret = (struct perf_attr){
        .type = asked->type,
        .config = asked->config,
        .config1 = asked->config1,
        .config2 = asked->config2,
        .config3 = asked->config3,
        .config4 = asked->config4,
        .bp_type = asked->bp_type,
        .read_format = FORMAT_ENABLED | FORMAT_RUNNING,
        .flags = excluded(policy->options, asked) | (uint64_t)(asked->precise & 3) << ATTR_PRECISE_SHIFT,
    };
    if (*asked->probe) /* the kernel reads it while it opens; the set keeps it */
        ret->config1 = (uint64_t)(uintptr_t)asked->probe;
    ret->flags |= extent(policy->options, policy->inherit);
    if (policy->options->flags & RK_SET_SIGTRAP) {
        ret->flags |= ATTR_SIGTRAP;
        ret->sig_data = policy->options->sig_data;
    }
    if (place->leads) {
        ret->flags |= leading(policy, asked, place->members);
        if (place->members > 1 && !policy->no_together)
            ret->read_format |= FORMAT_GROUP;
    } else if (policy->options->flags & RK_SET_ENABLED && *asked->filter) {
        ret->flags |= ATTR_DISABLED;
    }
    if (policy->sampling)
        sampling(policy, asked, place, ret);
    if (policy_asks_user_access(policy, event))
        ret->config1 |= ARM64_USER_ACCESS;
    ret->size = policy_attr_size(ret);
}

void policy_clock(const struct rk_set_options *options, enum target_kind kind, bool inherit,
                  struct perf_attr *ret)
{
    *ret = (struct perf_attr){.type = PERF_SOFTWARE,
                              .config = SW_DUMMY,
                              .read_format = FORMAT_ENABLED | FORMAT_RUNNING,
                              .flags = ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | extent(options, inherit) |
                                       beginning(options, kind)};
    ret->size = policy_attr_size(ret);
}

void policy_trial(const struct policy_trial *trial, struct perf_attr *ret)
{
    const struct rk_set_options options = {
        .size = sizeof options,
        .flags = RK_SET_NO_USER_READ,
        .exclude = trial->kernel ? 0 : RK_EXCLUDE_KERNEL | RK_EXCLUDE_HYPERVISOR,
        .period = trial->period,
        .sample = trial->sample,
    };
    const struct policy policy = {.host = trial->host,
                                  .options = &options,
                                  .kind = TARGET_SELF,
                                  .sampling = trial->period != 0,
                                  .no_lost = true};
    const struct policy_place place = {.leads = true, .carries = true, .members = 1};
    const struct set_event event = {.event = *trial->event};

    policy_attr(&policy, &event, &place, ret);
}

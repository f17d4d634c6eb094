/*
 * What the kernel's perf_event_open knows: one table, one way to ask.
 *
 * The kernel looks at the attr before anything else: bytes beyond what it knows must be zero (E2BIG, and it writes its own
 * size), bits that it does not know must be too (EINVAL). So each feature is asked for with a clock of this thread, which
 * every kernel has and every user may open, and with what the feature needs beside it. What comes behind that look means
 * that the bit is known:
 *
 *     opened          known
 *     E2BIG, EINVAL   not known
 *     EOPNOTSUPP      known, and a software PMU can't
 *     EACCES, EPERM   known, and this user may not; where even the plain clock is refused, nothing can be told
 *
 * One is no bit: a generic event with a PMU's type in config's upper half (hybrid CPUs). A kernel that does not know that
 * takes it for a number that no event has, and one whose PMU's driver does not, for a PMU that is not there; so it is
 * asked for with cycles, of the first core PMU.
 */
#include "base/abi.h"
#include "base/error.h"
#include "host/host.h"
#include "sys/file.h"
#include "sys/perf.h"

#include <string.h>

/* attr.sample_type, of the record room above this one */
#define SAMPLE(bit) (UINT64_C(1) << (bit))
#define SAMPLE_TID SAMPLE(1)
#define SAMPLE_READ SAMPLE(4)
#define CLOCK_MONOTONIC_ID 1
#define AUX_START_PAUSED 1

static const struct feature {
    const char *name, *since, *about;
    struct perf_attr attr; /* what is added to the clock's */
} features[HOST_FEATURES] = {
    [RK_FEATURE_MMAP2] = {"mmap2", "3.16", "mappings with inode and protection", {.flags = ATTR_MMAP2}},
    [RK_FEATURE_COMM_EXEC] = {"comm-exec",
                              "3.16",
                              "which change of a name was an exec",
                              {.flags = ATTR_COMM_EXEC}},
    [RK_FEATURE_CLOCKID] = {"clockid",
                            "4.1",
                            "a clock of one's choice for samples",
                            {.flags = ATTR_USE_CLOCKID, .clockid = CLOCK_MONOTONIC_ID}},
    [RK_FEATURE_CONTEXT_SWITCH] = {"context-switch",
                                   "4.3",
                                   "records of switches",
                                   {.flags = ATTR_CONTEXT_SWITCH}},
    [RK_FEATURE_WRITE_BACKWARD] = {"write-backward",
                                   "4.7",
                                   "rings that overwrite",
                                   {.flags = ATTR_WRITE_BACKWARD}},
    [RK_FEATURE_MAX_STACK] = {"max-stack",
                              "4.8",
                              "a limit of frames for each event",
                              {.sample_max_stack = 1}},
    [RK_FEATURE_NAMESPACES] = {"namespaces", "4.12", "records of namespaces", {.flags = ATTR_NAMESPACES}},
    [RK_FEATURE_INHERIT_GROUP] = {"inherit-group",
                                  "4.13",
                                  "groups that are inherited and read together",
                                  {.flags = ATTR_INHERIT, .read_format = FORMAT_GROUP}},
    [RK_FEATURE_SAMPLE_PHYS_ADDR] = {"sample-phys-addr",
                                     "4.14",
                                     "physical addresses in samples",
                                     {.sample_type = SAMPLE(19)}},
    [RK_FEATURE_KSYMBOL] = {"ksymbol",
                            "5.1",
                            "records of code that the kernel gets at run time",
                            {.flags = ATTR_KSYMBOL}},
    [RK_FEATURE_BPF_EVENT] = {"bpf-event", "5.1", "records of BPF programs", {.flags = ATTR_BPF_EVENT}},
    [RK_FEATURE_AUX_OUTPUT] = {"aux-output", "5.4", "samples into an AUX area", {.flags = ATTR_AUX_OUTPUT}},
    [RK_FEATURE_SAMPLE_AUX] = {"sample-aux",
                               "5.5",
                               "pieces of an AUX area in samples",
                               {.sample_type = SAMPLE(20)}},
    [RK_FEATURE_CGROUP] = {"cgroup", "5.7", "records of cgroups", {.flags = ATTR_CGROUP}},
    [RK_FEATURE_SAMPLE_CGROUP] = {"sample-cgroup",
                                  "5.7",
                                  "the cgroup in samples",
                                  {.sample_type = SAMPLE(21)}},
    [RK_FEATURE_TEXT_POKE] = {"text-poke",
                              "5.9",
                              "records of changes in the kernel's code",
                              {.flags = ATTR_TEXT_POKE}},
    [RK_FEATURE_SAMPLE_DATA_PAGE] = {"sample-data-page-size",
                                     "5.11",
                                     "size of the page of a data address",
                                     {.sample_type = SAMPLE(22)}},
    [RK_FEATURE_SAMPLE_CODE_PAGE] = {"sample-code-page-size",
                                     "5.11",
                                     "size of the page of an instruction",
                                     {.sample_type = SAMPLE(23)}},
    [RK_FEATURE_BUILD_ID] = {"build-id",
                             "5.12",
                             "build-ids in records of mappings",
                             {.flags = ATTR_MMAP | ATTR_MMAP2 | ATTR_BUILD_ID}},
    [RK_FEATURE_SAMPLE_WEIGHT_PARTS] = {"sample-weight-struct",
                                        "5.12",
                                        "weights in three parts",
                                        {.sample_type = SAMPLE(24)}},
    [RK_FEATURE_INHERIT_THREAD] = {"inherit-thread",
                                   "5.13",
                                   "threads inherit, children don't",
                                   {.flags = ATTR_INHERIT | ATTR_INHERIT_THREAD}},
    [RK_FEATURE_REMOVE_ON_EXEC] = {"remove-on-exec",
                                   "5.13",
                                   "events that go with an exec",
                                   {.flags = ATTR_REMOVE_ON_EXEC}},
    [RK_FEATURE_SIGTRAP] = {"sigtrap",
                            "5.13",
                            "a signal at each overflow, with data of one's own",
                            {.flags = ATTR_REMOVE_ON_EXEC | ATTR_SIGTRAP, .sig_data = 1}},
    [RK_FEATURE_READ_LOST] = {"read-lost",
                              "6.0",
                              "how many samples were lost, in what is read",
                              {.read_format = FORMAT_LOST}},
    [RK_FEATURE_CONFIG3] = {"config3", "6.3", "a fourth word of configuration", {.config3 = 1}},
    [RK_FEATURE_INHERIT_READ] = {"inherit-read",
                                 "6.12",
                                 "counts in the samples of inherited events",
                                 {.flags = ATTR_INHERIT, .sample_type = SAMPLE_TID | SAMPLE_READ}},
    [RK_FEATURE_AUX_PAUSE] = {"aux-pause",
                              "6.13",
                              "AUX areas that begin paused",
                              {.aux_action = AUX_START_PAUSED}},
    [RK_FEATURE_DEFER_CALLCHAIN] = {"defer-callchain",
                                    "6.19",
                                    "user call chains on the way back to user space",
                                    {.flags = ATTR_DEFER_CALLCHAIN}},
    [RK_FEATURE_CONFIG4] = {"config4", "6.19", "a fifth word of configuration", {.config4 = 1}},
    [RK_FEATURE_PMU_TYPE] = {"pmu-type", "5.13", "generic events on a PMU of one's choice", {0}},
};

/* Opens an event with `attr` added, and closes it: 0 or -errno. */
static int ask_of(uint32_t type, uint64_t config, const struct perf_attr *attr)
{
    struct perf_attr whole = *attr;

    whole.type = type;
    whole.config = config;
    whole.size = sizeof whole; /* what is beyond the kernel's own size is zero, or the question */
    whole.flags |= ATTR_DISABLED | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
    int fd = sys_perf_open(&whole, 0, -1, -1, 0);
    if (fd < 0)
        return fd;
    sys_close(fd);
    return 0;
}

/* The same of the clock. */
static int ask(const struct perf_attr *attr)
{
    return ask_of(PERF_SOFTWARE, SW_TASK_CLOCK, attr);
}

static int probe_pmu_type(struct rk_host *host)
{
    static const struct perf_attr plain = {0};
    struct host_pmu *const *cores;
    uint32_t type;
    int n = host_cores(host, &cores);

    if (n <= 0)
        return n < 0 ? n : -ENODEV;
    int rc = host_pmu_type(host, cores[0], &type);
    if (rc == 0)
        rc = ask_of(PERF_HARDWARE, (uint64_t)type << 32, &plain);
    if (rc != -EINVAL && rc != -ENOENT)
        return rc < 0 ? rc : 1;
    rc = ask_of(PERF_HARDWARE, 0, &plain);
    return rc == -ENOENT ? -ENODEV : rc; /* sysfs has a PMU, the kernel has none: nothing is told */
}

static int probe(const struct feature *feature)
{
    static const struct perf_attr plain = {0};
    int rc = ask(&feature->attr), without;

    switch (rc) {
    case 0:
    case -EOPNOTSUPP:
        return 1;
    case -E2BIG:
        return 0;
    case -EINVAL: /* a kernel that can't do the least says so too */
    case -EACCES:
    case -EPERM:
        without = ask(&plain);
        return without < 0 ? without : rc != -EINVAL;
    default:
        return rc;
    }
}

int rk_host_feature(struct rk_host *host, uint32_t feature)
{
    if (!host || feature >= HOST_FEATURES)
        return -EINVAL;
    struct host_answer *answer = &host->features[feature];
    if (!answer->asked) {
        answer->rc = feature == RK_FEATURE_PMU_TYPE ? probe_pmu_type(host) : probe(&features[feature]);
        answer->asked = !host_transient(answer->rc);
    }
    return answer->rc;
}

/* Whether the attr has all that a row adds. */
static bool asks_for(const struct perf_attr *attr, const struct perf_attr *row)
{
    static const struct perf_attr none = {0};

    return memcmp(row, &none, sizeof none) != 0 && (attr->flags & row->flags) == row->flags &&
           (attr->sample_type & row->sample_type) == row->sample_type &&
           (attr->read_format & row->read_format) == row->read_format &&
           (!row->sample_max_stack || attr->sample_max_stack) && (!row->config3 || attr->config3) &&
           (!row->config4 || attr->config4) && (!row->aux_action || attr->aux_action);
}

int host_feature_lacking(struct rk_host *host, const struct perf_attr *attr)
{
    for (uint32_t i = 0; i < HOST_FEATURES; i++)
        if (asks_for(attr, &features[i].attr) && rk_host_feature(host, i) == 0)
            return (int)i;
    return -1;
}

int rk_feature_describe(uint32_t feature, struct rk_feature_text *ret)
{
    if (!ret)
        return -EINVAL;
    if (feature >= HOST_FEATURES)
        return -ERANGE;
    const struct feature *row = &features[feature];
    struct rk_feature_text text = {
        .size = sizeof text, .name = row->name, .since = row->since, .about = row->about};
    return result_give(ret, &text, sizeof text);
}

/* A size that no kernel takes is answered with its own. */
int host_attr_size(struct rk_host *host, int64_t *ret)
{
    struct host_answer *answer = &host->limits[RK_LIMIT_ATTR_SIZE];

    if (!answer->asked) {
        struct perf_attr attr = {.size = 1};
        int fd = sys_perf_open(&attr, 0, -1, -1, 0);
        if (fd >= 0) { /* no kernel does; a made-up one may */
            sys_close(fd);
            fd = -EPROTO;
        }
        answer->rc = fd == -E2BIG && attr.size >= ATTR_SIZE_0 ? 0 : fd == -E2BIG ? -EPROTO : fd;
        answer->value = attr.size;
        answer->asked = !host_transient(answer->rc);
    }
    if (answer->rc == 0)
        *ret = answer->value;
    return answer->rc;
}

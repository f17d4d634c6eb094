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
 */
#include "base/abi.h"
#include "base/error.h"
#include "host/host.h"
#include "sys/file.h"
#include "sys/perf.h"

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
};

/* Opens the clock with `attr` added, and closes it: 0 or -errno. */
static int ask(const struct perf_attr *attr)
{
    struct perf_attr whole = *attr;

    whole.type = PERF_SOFTWARE;
    whole.config = SW_TASK_CLOCK;
    whole.size = sizeof whole; /* what is beyond the kernel's own size is zero, or the question */
    whole.flags |= ATTR_DISABLED | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV;
    int fd = sys_perf_open(&whole, 0, -1, -1, 0);
    if (fd < 0)
        return fd;
    sys_close(fd);
    return 0;
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
        answer->rc = probe(&features[feature]);
        answer->asked = !host_transient(answer->rc);
    }
    return answer->rc;
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

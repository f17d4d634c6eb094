/*
 * The plan: which (thread, CPU) pairs, how many rings, how many descriptors.
 *
 *                       counting            sampling
 *     thread, process   (tid, any)          (tid, each CPU): an inherited event with no CPU can't be mapped
 *     … no_inherit      (tid, any)          one thread: (tid, any) and one ring; several: (tid, each CPU)
 *     CPUs              (any, cpu)          (any, cpu)
 *     cgroups           (cgroup, cpu)       (cgroup, cpu)
 *     threads on CPUs   (tid, each of them) (tid, each of them)
 *
 * There is one ring per CPU, whatever the number of events and threads.
 */
#include "set/plan.h"

#include "base/error.h"
#include "base/text.h"
#include "host/host.h"
#include "set/births.h"
#include "set/policy.h"
#include "set/private.h"
#include "sys/file.h"
#include "sys/limit.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>
#include <reckon/record.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_BYTES (UINT32_C(512) << 10)
#define RING_DUMPS 1024u                       /* of stacks, that a ring should hold … */
#define RING_DUMPS_LEAST 32u                   /* … even where there are many rings, … */
#define RINGS_BYTES_SOFT (UINT64_C(128) << 20) /* … which should have no more than this together */
#define RING_BYTES_MAX (UINT32_C(1) << 30)     /* the kernel maps none larger */
#define SLOTS_MAX (UINT64_C(1) << 24) /* no process may have so many descriptors: fs.nr_open is 2^20 */

void plan_free(struct plan *plan)
{
    free(plan->slots);
    plan->slots = NULL;
}

/* Dumped stacks fill a ring quickly: 16 KiB 4000 times a second are 64 MB. */
static uint32_t ring_wanted(const struct rk_set_options *options, uint32_t rings)
{
    uint64_t bytes = RING_BYTES;
    uint64_t dump = options->sample & RK_SAMPLE_STACK_USER ? options->stack_user : 0;

    while (bytes < dump * RING_DUMPS &&
           (bytes * 2 * rings <= RINGS_BYTES_SOFT || bytes < dump * RING_DUMPS_LEAST))
        bytes *= 2;
    return (uint32_t)bytes;
}

/* The largest ring, up to what is wanted, such that all of them fit into what this user may lock. */
static uint32_t ring_that_fits(struct rk_host *host, uint32_t rings, uint32_t wanted)
{
    int64_t per_cpu, memlock, level;
    const int32_t *cpus;
    size_t n_cpus;
    uint32_t bytes = wanted;
    uint32_t page = (uint32_t)sys_page_size();

    if (rk_host_fact(host, RK_FACT_CAP_IPC_LOCK) == 1 ||
        (rk_host_limit(host, RK_LIMIT_PARANOID, &level) == 0 && level < 0) ||
        rk_host_limit(host, RK_LIMIT_MLOCK_KB, &per_cpu) < 0 ||
        rk_host_limit(host, RK_LIMIT_MEMLOCK, &memlock) < 0 || rk_host_cpus(host, &cpus, &n_cpus) < 0)
        return bytes;
    /* In doubles: the limits may be anything up to "unlimited". */
    double room = (double)per_cpu * 1024 * (double)n_cpus + (double)memlock;
    while (bytes > page && ((double)bytes + page) * rings > room)
        bytes /= 2;
    return bytes;
}

static int expand(struct rk_host *host, const struct rk_target *target, const struct rk_set_options *options,
                  struct plan *plan, struct rk_error *e)
{
    _cleanup_free_ int32_t *ids = NULL;
    const int32_t *cpus = NULL;
    size_t n_ids, n_cpus = 1, n_cgroups = target->n_cgroups ? target->n_cgroups : 1;
    bool by_cpu = target_by_cpu(target->kind), each_cpu = false;
    int rc = target_ids(target, &ids, &n_ids, e);

    if (rc < 0)
        return rc;
    plan->inherit = !by_cpu && !(options->flags & RK_SET_NO_INHERIT);
    if (by_cpu && (options->flags & (RK_SET_ENABLE_ON_EXEC | RK_SET_REMOVE_ON_EXEC | RK_SET_THREADS_ONLY)))
        return fail_argument(e, RK_STAGE_OPEN, "%s is about threads; CPUs and cgroups have none",
                             options->flags & RK_SET_ENABLE_ON_EXEC   ? "RK_SET_ENABLE_ON_EXEC"
                             : options->flags & RK_SET_REMOVE_ON_EXEC ? "RK_SET_REMOVE_ON_EXEC"
                                                                      : "RK_SET_THREADS_ONLY");
    if (by_cpu && (options->records & RK_RECORDS_READS))
        return fail(e, -EINVAL, RK_STAGE_OPEN, RK_CAUSE_ARGUMENT, "leave RK_RECORDS_READS out of records",
                    "records has RK_RECORDS_READS, and counters of CPUs and cgroups are not inherited");
    if ((options->flags & RK_SET_FREEZE) && !target_attaches(target->kind) && target->kind != TARGET_THREAD)
        return fail_argument(e, RK_STAGE_OPEN,
                             "RK_SET_FREEZE is about a thread, a process or a tree that runs");
    plan->on_cpus = target->on_cpus;
    plan->each_cpu = each_cpu =
        target->on_cpus || (plan->sampling && !by_cpu && (plan->inherit || n_ids > 1));
    if (target->on_cpus && target->cpus)
        cpus = target->cpus, n_cpus = target->n_cpus;
    else if (each_cpu && (rc = rk_host_cpus(host, &cpus, &n_cpus)) < 0)
        return rc == -EMFILE ? fail(e, rc, RK_STAGE_HOST, RK_CAUSE_DESCRIPTORS, sys_limit_more_descriptors(),
                                    "cannot read the online CPUs: this process has no descriptor left")
                             : fail(e, rc, RK_STAGE_HOST, RK_CAUSE_NO_FILE, NULL,
                                    "cannot read the online CPUs from /sys or /proc: %s", strerror(-rc));
    if ((uint64_t)n_ids * n_cpus * n_cgroups > SLOTS_MAX)
        return fail(e, -EMFILE, RK_STAGE_OPEN, RK_CAUSE_DESCRIPTORS, "measure fewer threads, CPUs or cgroups",
                    "%zu %s times %zu are too many", n_ids, by_cpu ? "CPUs" : "threads", n_cpus * n_cgroups);
    plan->slots = calloc(n_ids * n_cpus * n_cgroups, sizeof *plan->slots);
    if (!plan->slots)
        return fail_memory(e, RK_STAGE_OPEN);
    plan->n_cgroups = (uint32_t)target->n_cgroups;
    for (size_t g = 0; g < n_cgroups; g++)
        for (size_t i = 0; i < n_ids; i++)
            for (size_t j = 0; j < n_cpus; j++)
                plan->slots[plan->n_slots++] = (struct set_slot){
                    .pid = by_cpu ? -1 : ids[i],
                    .cpu = by_cpu     ? ids[i]
                           : each_cpu ? cpus[j]
                                      : -1,
                    .cgroup = target->n_cgroups ? (uint32_t)g : SET_NO_CGROUP,
                };
    plan->cpus = cpus;
    plan->n_cpus = n_cpus;
    plan->n_rings = !plan->sampling ? 0 : (uint32_t)(by_cpu ? n_ids : n_cpus);
    return 0;
}

int plan_add_thread(struct plan *plan, int32_t tid)
{
    size_t n = plan->each_cpu ? plan->n_cpus : 1;
    struct set_slot *slots = realloc(plan->slots, (plan->n_slots + n) * sizeof *slots);
    if (!slots)
        return -ENOMEM;
    plan->slots = slots;
    for (size_t i = 0; i < n; i++)
        slots[plan->n_slots++] = (struct set_slot){
            .pid = tid, .cpu = plan->each_cpu ? plan->cpus[i] : -1, .cgroup = SET_NO_CGROUP};
    plan->descriptors += (uint64_t)n * (plan->n_events + plan->on_cpus);
    return 0;
}

/* Its counters would be gone at its exec, and what they hold be taken for all there was. */
static int check_exec(const struct rk_target *target, struct rk_error *e)
{
    char name[100];

    if (target->kind != TARGET_COMMAND || target->hides == SYS_EXEC_SEEN)
        return 0;
    text_show(name, sizeof name, target->name, strlen(target->name));
    if (target->hides == SYS_EXEC_UNREADABLE)
        return fail(e, -EACCES, RK_STAGE_OPEN, RK_CAUSE_NOT_YOURS,
                    "chmod +r the program, run reckon as its owner, or measure the whole machine (-a)",
                    "%s: a program that may not be read: the kernel measures no process that executes it",
                    name);
    return fail(
        e, -EACCES, RK_STAGE_OPEN, RK_CAUSE_NOT_YOURS,
        "give reckon itself those rights (sudo reckon …), or measure the whole machine (-a)",
        "%s: a program with rights of its own (set-user-ID, set-group-ID or capabilities): the kernel "
        "ends what measures a process that executes it",
        name);
}

int plan_make(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
              const struct rk_set_options *options, struct plan *ret, struct rk_error *e)
{
    struct plan plan = {.events = events, .n_events = (uint32_t)rk_events_count(events)};

    if (!host || !events || !target)
        return fail_null(e, RK_STAGE_OPEN, "a set", !host ? "host" : !events ? "events" : "target");
    int rc = policy_check(options, events, e);
    if (rc == 0)
        rc = check_exec(target, e);
    if (rc < 0)
        return rc;
    if (!plan.n_events)
        return fail_argument(e, RK_STAGE_OPEN, "there are no events");
    plan.sampling = policy_samples(options, events);
    if (plan.sampling && options->ring_bytes &&
        (options->ring_bytes < sys_page_size() || options->ring_bytes > RING_BYTES_MAX))
        return fail_argument(e, RK_STAGE_OPEN, "ring_bytes is %u; the least is a page, %zu, the most is %u",
                             options->ring_bytes, sys_page_size(), RING_BYTES_MAX);
    plan.mark = target_attaches(target->kind) ? births_mark() : 0;
    rc = expand(host, target, options, &plan, e);
    if (rc < 0)
        return rc;
    plan.descriptors = ((uint64_t)plan.n_events + plan.on_cpus) * plan.n_slots;
    for (uint32_t i = 0; options->records & RK_RECORDS_READS && i < plan.n_slots; i++)
        plan.descriptors += i == 0 || plan.slots[i].pid != plan.slots[i - 1].pid; /* set_guard() */
    if (plan.n_cgroups) /* one directory at a time; a watch on each CPU that is followed */
        plan.descriptors += 1 + (target->cpus || plan.sampling ? 0 : plan.n_slots / plan.n_cgroups);
    if (plan.sampling) {
        plan.ring_wanted = options->ring_bytes ? options->ring_bytes : ring_wanted(options, plan.n_rings);
        plan.ring_bytes =
            options->ring_bytes ? options->ring_bytes : ring_that_fits(host, plan.n_rings, plan.ring_wanted);
        if (options->ring_bytes && options->wakeup_bytes > options->ring_bytes) {
            rc = fail(e, -EINVAL, RK_STAGE_OPEN, RK_CAUSE_ARGUMENT, "lower it, or raise ring_bytes",
                      "wakeup_bytes is %u; a ring has %u bytes, so that it would never wake anybody",
                      options->wakeup_bytes, (unsigned)plan.ring_bytes);
            plan_free(&plan);
            return rc;
        }
    }
    *ret = plan;
    return 0;
}

static int count_entry(void *count, const char *name)
{
    (void)name;
    ++*(uint64_t *)count;
    return 0;
}

/* Descriptors that this process has open; 0 where /proc can't tell. */
static uint64_t open_now(void)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    uint64_t n = 0;

    if (root < 0 || sys_dir_each(root, "proc/self/fd", count_entry, &n) < 0)
        return 0;
    return n > 2 ? n - 2 : 0; /* less the root and the directory itself */
}

int plan_descriptors(bool full, uint64_t more, uint64_t *ret_needed, uint64_t *ret_allowed)
{
    int64_t soft, hard;

    if (sys_limit_get(SYS_LIMIT_NOFILE, &soft, &hard) < 0)
        return 0; /* the kernel will say */
    uint64_t needed = (full ? (uint64_t)soft : open_now()) + more;
    if (needed <= (uint64_t)soft)
        return 0;
    if (needed <= (uint64_t)hard && sys_limit_set(SYS_LIMIT_NOFILE, (int64_t)needed) == 0)
        return 0;
    *ret_needed = needed;
    *ret_allowed = (uint64_t)hard;
    return -EMFILE;
}

/* A way that takes fewer descriptors, where the plan takes more than allowed. */
static void say_cheaper(struct rk_host *host, const struct rk_target *target, const struct plan *plan,
                        uint64_t allowed, char *text, size_t size)
{
    const int32_t *cpus;
    size_t n_cpus = 1;
    uint64_t events = plan->n_events, by_cpu;

    if (plan->descriptors <= allowed)
        return;
    if (target_by_cpu(target->kind))
        n_cpus = plan->n_slots / (plan->n_cgroups ? plan->n_cgroups : 1);
    else
        rk_host_cpus(host, &cpus, &n_cpus);
    by_cpu = n_cpus * events;
    if (target_attaches(target->kind) && by_cpu < plan->descriptors)
        snprintf(text, size,
                 "start it as a command: %ju descriptors, since threads inherit; or put it into a cgroup and "
                 "measure "
                 "that: %ju, one for each of %zu CPUs and %ju events",
                 (uintmax_t)(plan->sampling ? by_cpu : events), (uintmax_t)by_cpu, n_cpus, (uintmax_t)events);
    else if (plan->n_cgroups > 1 && by_cpu < plan->descriptors)
        snprintf(text, size,
                 "measure a cgroup above the %u: %ju descriptors, one for each of %zu CPUs and %ju events; "
                 "or measure "
                 "them in turns of %ju",
                 plan->n_cgroups, (uintmax_t)by_cpu, n_cpus, (uintmax_t)events,
                 (uintmax_t)(allowed / by_cpu));
    else
        snprintf(text, size, "measure fewer events at a time: %ju of %ju fit",
                 (uintmax_t)(allowed / plan->n_slots), (uintmax_t)events);
}

/* Events that nothing is opened for: rk_events_parse_keep(). */
static uint64_t absent(const struct rk_events *events)
{
    struct rk_event event = RK_INIT(event);
    uint64_t n = 0;

    for (size_t i = 0; rk_events_get(events, i, &event) == 0; i++)
        n += (event.flags & RK_EVENT_ABSENT) != 0;
    return n;
}

int rk_set_plan(struct rk_host *host, const struct rk_events *events, const struct rk_target *target,
                const struct rk_set_options *options, struct rk_plan *ret, struct rk_error *e)
{
    struct rk_set_options taken;
    struct plan plan = {0};
    int64_t soft, hard = 0;

    if (!ret)
        return fail_null(e, RK_STAGE_OPEN, "rk_set_plan", "ret");
    int rc = options_check(&taken, sizeof taken, options, "rk_set_options", RK_STAGE_OPEN, e);
    if (rc < 0 || (rc = plan_make(host, events, target, &taken, &plan, e)) < 0)
        return rc;
    uint64_t used = open_now();
    sys_limit_get(SYS_LIMIT_NOFILE, &soft, &hard);
    struct rk_plan result = {
        .events = plan.n_events,
        .slots = plan.n_slots,
        .rings = plan.n_rings,
        .descriptors = plan.descriptors - absent(events) * plan.n_slots,
        .allowed = (uint64_t)hard > used ? (uint64_t)hard - used : 0,
        .ring_bytes = plan.n_rings ? plan.n_rings * (plan.ring_bytes + (uint64_t)sys_page_size()) : 0,
    };
    say_cheaper(host, target, &plan, result.allowed, result.cheaper, sizeof result.cheaper);
    plan_free(&plan);
    if (result_give(ret, &result, sizeof result) < 0)
        return fail_argument(e, RK_STAGE_OPEN, "struct rk_plan: size is not set");
    return 0;
}

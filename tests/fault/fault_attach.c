/*
 * Attaching in all ways: a frozen process, a process whose threads are born and end meanwhile, cgroups, the machine with
 * its CPUs followed; counts by thread, CPU and cgroup; a breakpoint that moves. The victim goes on whatever fails.
 */
#include "fault.h"
#include "victim.h"

#include <errno.h>
#include <stdlib.h>

#define EVENTS "{page-faults,minor-faults},task-clock"

struct handles {
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_rows *rows;
};

static struct victim victim;
static long watched[2];

static void release(struct handles *h)
{
    EXPECT(rk_rows_free(h->rows) == NULL);
    EXPECT(rk_set_free(h->set) == NULL);
    EXPECT(rk_target_free(h->target) == NULL);
    EXPECT(rk_events_free(h->events) == NULL);
    EXPECT(rk_host_free(h->host) == NULL);
}

/* All rows added up are the total, and what is not counted says why. */
static int read_all(struct handles *h, uint32_t by)
{
    size_t n = rk_set_event_count(h->set);
    struct rk_value v[4], *rows = NULL;
    int rc = 0;

    NEW(h->rows, rk_rows_open(h->host, h->set, by, &h->rows, e));
    fault_pause(true);
    rows = calloc(rk_rows_count(h->rows) * n + 1, sizeof *rows);
    fault_pause(false);
    EXPECT(rows);
    HOT(rk_set_total(h->set, v, NULL, 4));
    HOT(rk_rows_read(h->rows, rows, NULL, rk_rows_count(h->rows) * n));
    for (size_t i = 0; i < n; i++) {
        struct rk_error why = {.size = sizeof why};
        if (v[i].enabled == 0 && v[i].running == 0 && rk_set_explain(h->set, SIZE_MAX, i, &why) == 0) {
            EXPECT(why.what[0] && why.code < 0);
            rc = why.code;
        }
    }
end:
    fault_pause(true);
    free(rows);
    fault_pause(false);
    return rc;
}

static int attach(bool freeze, bool breeds)
{
    struct rk_set_options options = {.size = sizeof options, .flags = freeze ? RK_SET_FREEZE : 0};
    struct handles h = {0};
    int rc = 0;

    victim_start(&victim, breeds);
    NEW(h.host, rk_host_open(NULL, &h.host, e));
    NEW(h.events, rk_events_parse(h.host, EVENTS, &h.events, e));
    NEW(h.target, rk_target_process(victim.pid, &h.target, e));
    NEW(h.set, rk_set_open(h.host, h.events, h.target, &options, &h.set, e));
    HOT(rk_set_enable(h.set));
    EXPECT(victim_work(&victim)); /* it was let go */
    HOT(read_all(&h, RK_BY_THREAD));
end:
    release(&h);
    EXPECT(victim_work(&victim));
    victim_end(&victim);
    return rc < 0 ? rc : 0;
}

static int frozen(uint64_t *digest)
{
    (void)digest;
    return attach(true, false);
}

static int births(uint64_t *digest)
{
    (void)digest;
    return attach(false, true);
}

static int measure_cpus(bool cgroups)
{
    const char *const paths[] = {"/"};
    struct rk_error why = {.size = sizeof why};
    struct handles h = {0};
    int rc = 0;

    NEW(h.host, rk_host_open(NULL, &h.host, e));
    NEW(h.events, rk_events_parse(h.host, EVENTS, &h.events, e));
    if (cgroups)
        NEW(h.target, rk_target_cgroups(h.host, paths, 1, NULL, &h.target, e));
    else
        NEW(h.target, rk_target_cpus(h.host, NULL, &h.target, e));
    NEW(h.set, rk_set_open(h.host, h.events, h.target, NULL, &h.set, e));
    HOT(rk_set_enable(h.set));
    for (int i = 0; i < 3; i++) {
        rc = rk_set_refresh(h.set, &why);
        if (rc < 0) { /* what was open is open still */
            struct rk_value v[4];
            fault_check_error(__FILE__, __LINE__, "rk_set_refresh", rc, &why);
            EXPECT(rk_set_total(h.set, v, NULL, 4) == 0 && v[0].running > 0);
            goto end;
        }
    }
    HOT(read_all(&h, cgroups ? RK_BY_CGROUP : RK_BY_CORE));
end:
    release(&h);
    return rc < 0 ? rc : 0;
}

static int machine(uint64_t *digest)
{
    (void)digest;
    return measure_cpus(false);
}

static int cgroups(uint64_t *digest)
{
    (void)digest;
    return measure_cpus(true);
}

/* It counts where it is, wherever that is. */
static int moving(uint64_t *digest)
{
    struct handles h = {0};
    struct rk_events *other = NULL;
    struct rk_event to = {.size = sizeof to};
    struct rk_value v[1];
    char text[80];
    int rc = 0;

    snprintf(text, sizeof text, "mem:%p/8:w:u", (void *)&watched[0]);
    NEW(h.host, rk_host_open(NULL, &h.host, e));
    NEW(h.events, rk_events_parse(h.host, text, &h.events, e));
    snprintf(text, sizeof text, "mem:%p/8:w:u", (void *)&watched[1]);
    NEW(other, rk_events_parse(h.host, text, &other, e));
    HOT(rk_events_get(other, 0, &to));
    NEW(h.target, rk_target_self(&h.target, e));
    NEW(h.set, rk_set_open(h.host, h.events, h.target, NULL, &h.set, e));
    HOT(rk_set_enable(h.set));
    *(volatile long *)&watched[0] = 1;
    struct rk_error why = {.size = sizeof why};
    int moved = rk_set_modify(h.set, 0, &to, &why);
    if (moved < 0)
        fault_check_error(__FILE__, __LINE__, "rk_set_modify", moved, &why);
    *(volatile long *)&watched[1] = 1;
    HOT(rk_set_total(h.set, v, NULL, 1));
    EXPECT(v[0].running == 0 || v[0].value == (moved < 0 ? 1 : 2));
    *digest = v[0].value;
    rc = moved;
end:
    rk_events_free(other);
    release(&h);
    return rc < 0 ? rc : 0;
}

static const char *no_cpus;

static int look_for_cpus(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    static char why[300];

    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, EVENTS, &events, &e) < 0 ||
        rk_target_cgroups(host, (const char *const[]){"/"}, 1, NULL, &target, &e) < 0 ||
        rk_set_open(host, events, target, NULL, &set, &e) < 0) {
        snprintf(why, sizeof why, "%s", e.what);
        no_cpus = why;
    }
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--victim"))
        return victim_main(argc > 2);
    struct fault_scenario scenarios[] = {
        /* as a plain user the kernel counts less, and why is asked of files: told less exactly without memory */
        {.name = "attach frozen", .run = frozen, .absorbed_memory = 4, .repeats = 2},
        {.name = "attach births", .run = births, .absorbed_memory = 4, .repeats = 2, .one_error = true},
        {.name = "attach modify", .run = moving},
        {.name = "attach machine", .run = machine, .repeats = 3},
        {.name = "attach cgroups", .run = cgroups, .repeats = 3},
    };
    int rc = 0;

    look_for_cpus();
    for (size_t i = 0; i < (no_cpus ? 3 : 5); i++)
        rc |= fault_main(&scenarios[i], argc, argv);
    if (no_cpus)
        printf("CPUs and cgroups were not tried: %s\n", no_cpus);
    return rc;
}

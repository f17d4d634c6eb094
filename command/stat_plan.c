/*
 * --dry-run: descriptors needed and allowed, and nothing is opened or run.
 */
#include "command.h"
#include "handles.h"
#include "measured.h"
#include "print.h"

#include <string.h>

struct sum {
    struct rk_plan plan; /* the parts' sums; `allowed` is one for all */
};

static int add(struct sum *sum, const struct stat_options *o, struct rk_host *host,
               const struct rk_events *events, const struct rk_target *target, struct rk_error *e)
{
    struct rk_set_options options = {.size = sizeof options,
                                     .flags = RK_SET_KEEP | (o->no_inherit ? RK_SET_NO_INHERIT : 0)};
    struct rk_plan plan = {.size = sizeof plan};
    int rc = rk_set_plan(host, events, target, &options, &plan, e);

    if (rc < 0)
        return rc;
    sum->plan.events = plan.events;
    sum->plan.slots += plan.slots;
    sum->plan.descriptors += plan.descriptors;
    sum->plan.allowed = plan.allowed;
    if (plan.cheaper[0])
        memcpy(sum->plan.cheaper, plan.cheaper, sizeof plan.cheaper);
    return 0;
}

static int add_all(struct sum *sum, const struct stat_options *o, struct rk_host *host,
                   const struct rk_events *events, struct rk_error *e)
{
    const char *at = NULL;

    if (!o->processes && !o->threads && !o->cpus && !o->cgroups && !o->all) {
        handle_target struct rk_target *command = NULL;
        int rc = rk_target_command(o->command, NULL, &command, e);
        return rc < 0 ? rc : add(sum, o, host, events, command, e);
    }
    for (;;) {
        handle_target struct rk_target *target = NULL;
        int rc = measured_target(o, host, &at, &target, e);
        if (rc == 0)
            rc = add(sum, o, host, events, target, e);
        if (rc != 0)
            return rc < 0 ? rc : 0;
    }
}

int stat_plan(const struct stat_options *o, struct rk_host *host, const struct rk_events *events)
{
    struct rk_error e = {.size = sizeof e};
    struct sum sum = {0};
    char text[900], events_n[32], slots[32], needed[32], allowed[32];

    if (events && add_all(&sum, o, host, events, &e) < 0)
        return print_error("stat", &e);
    bool fits = sum.plan.descriptors <= sum.plan.allowed;
    int n = snprintf(text, sizeof text, "%s on %s: %s needed, %s allowed; %s\n",
                     print_some(sum.plan.events, "event", events_n, sizeof events_n),
                     print_some(sum.plan.slots, "slot", slots, sizeof slots),
                     print_some(sum.plan.descriptors, "descriptor", needed, sizeof needed),
                     print_count(sum.plan.allowed, allowed, sizeof allowed),
                     fits ? "it fits" : "it does not fit");
    if (!fits && !sum.plan.cheaper[0]) /* each fits alone, all together don't */
        snprintf(sum.plan.cheaper, sizeof sum.plan.cheaper,
                 "measure fewer of them at a time, or fewer events: %ju of %u fit",
                 (uintmax_t)(sum.plan.slots ? sum.plan.allowed / sum.plan.slots : 0), sum.plan.events);
    if (sum.plan.cheaper[0])
        n += snprintf(text + n, sizeof text - (size_t)n, "  cheaper: %s\n", sum.plan.cheaper);
    if (destination_write(o->to, text, (size_t)n) < 0)
        return STATUS_FAILED;
    return fits ? 0 : STATUS_FAILED;
}

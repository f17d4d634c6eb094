/* Counting the calling thread: host, events, set, enable, read, and what was asked of the machine on the way. */
#include "fault.h"

#define EVENTS "task-clock,{page-faults,minor-faults:u},context-switches"

static int scenario(uint64_t *digest)
{
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL, *simple = NULL;
    struct rk_plan plan = {.size = sizeof plan};
    struct rk_value v[4];
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(events, rk_events_parse(host, EVENTS, &events, e));
    NEW(target, rk_target_self(&target, e));
    TRY(rk_set_plan(host, events, target, NULL, &plan, e));
    NEW(set, rk_set_open(host, events, target, NULL, &set, e));
    EXPECT(rk_set_event_count(set) == 4);
    HOT(rk_set_enable(set));
    HOT(rk_set_read(set, 0, v, NULL, 4));
    HOT(rk_set_disable(set));
    HOT(rk_set_total(set, v, NULL, 4));
    for (int i = 0; i < 4; i++) /* what was not counted says so, what was counted ran */
        if (!v[i].running) {
            struct rk_error why = {.size = sizeof why};
            EXPECT(rk_set_explain(set, SIZE_MAX, (size_t)i, &why) == 0 && why.what[0]);
            rc = why.code;
            goto end;
        }
    *digest = fault_fold(*digest, &plan, sizeof plan);
    NEW(simple, rk_set_self("task-clock,page-faults", &simple, e));
    size_t notes = rk_set_note_count(set) + rk_set_note_count(simple);
    *digest = fault_fold(*digest, &notes, sizeof notes);
end:
    EXPECT(rk_set_free(simple) == NULL);
    EXPECT(rk_set_free(set) == NULL);
    EXPECT(rk_target_free(target) == NULL);
    EXPECT(rk_events_free(events) == NULL);
    EXPECT(rk_host_free(host) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "self", .run = scenario}, argc, argv);
}

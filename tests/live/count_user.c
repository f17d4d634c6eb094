/* A plain user gets what he may, is told what he gets, and never a zero that is none. */
#include "live.h"

#include <grp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct rk_error e = {.size = sizeof e};

static void test_steps_down(struct rk_host *host, int level)
{
    const struct rk_set_options keep = {.size = sizeof keep, .flags = RK_SET_KEEP},
                                exact = {.size = sizeof exact, .flags = RK_SET_EXACT};
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;
    struct rk_value v[4];
    struct rk_note note = {.size = sizeof note};
    struct rk_event event = {.size = sizeof event};
    char said[64];

    OK(rk_events_parse(host, "page-faults,context-switches,cpu-migrations,task-clock", &events, &e));
    OK(rk_target_self(&target, &e));
    EQUAL(rk_set_open(host, events, target, &exact, &set, &e), -EACCES);
    EQUAL(e.cause, RK_CAUSE_PARANOID);
    EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -EACCES);
    CHECK(set == NULL && strcmp(e.event, "context-switches") == 0);

    OK(rk_set_open(host, events, target, &keep, &set, &e));
    EQUAL(rk_set_note_count(set), 3);
    snprintf(said, sizeof said, "counts user space only: kernel.perf_event_paranoid is %d", level);
    for (size_t i = 0; i < 3; i++) {
        CHECK(rk_set_note_get(set, i, &note) == 0);
        EQUAL(note.cause, RK_CAUSE_PARANOID);
        CHECK(note.remedy[0]);
        if (note.event == UINT32_MAX)
            CHECK(!note.absent && strcmp(note.what, said) == 0);
        else
            CHECK(note.absent && (note.event == 1 || note.event == 2));
    }
    CHECK(rk_set_event_get(set, 0, &event) == 0);
    EQUAL(event.flags, RK_EVENT_USER);

    CHECK(rk_set_enable(set) == 0);
    usleep(1000);
    volatile char *memory = malloc(1 << 24);
    for (size_t i = 0; i < 1 << 24; i += 4096)
        memory[i] = 1;
    CHECK(rk_set_disable(set) == 0);
    CHECK(rk_set_total(set, v, NULL, 4) == 0);
    CHECK(v[0].value > 0 && v[0].running > 0 && v[3].value > 0);
    for (size_t i = 1; i < 3; i++) {
        EQUAL(v[i].running, 0);
        OK(rk_set_explain(set, SIZE_MAX, i, &e));
        EQUAL(e.cause, RK_CAUSE_PARANOID);
    }
    free((void *)memory);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
}

static void test_refused(struct rk_host *host)
{
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;

    OK(rk_events_parse(host, "task-clock", &events, &e));
    OK(rk_target_cpus(host, NULL, &target, &e));
    EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -EACCES);
    EQUAL(e.cause, RK_CAUSE_PARANOID);
    CHECK(strstr(e.remedy, "kernel.perf_event_paranoid=0"));
    rk_target_free(target);
    if (rk_target_process(1, &target, &e) == 0) {
        EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -EACCES);
        EQUAL(e.cause, RK_CAUSE_NOT_YOURS);
        EQUAL(e.pid, 1);
        rk_target_free(target);
    }
    rk_events_free(events);
}

int main(void)
{
    struct rk_host *host;
    int64_t level;

    OK(rk_host_open(NULL, &host, &e));
    CHECK(rk_host_limit(host, RK_LIMIT_PARANOID, &level) == 0);
    if (level != 2)
        SKIP("kernel.perf_event_paranoid is %d, and 2 is needed", (int)level);
    rk_host_free(host);
    live_needs_counters();
    if (can_become(65534))
        CHECK((setgroups(0, NULL) == 0 || errno == EPERM) && become(65534));
    OK(rk_host_open(NULL, &host, &e));
    if (rk_host_fact(host, RK_FACT_CAP_PERFMON) == 1)
        SKIP("this user keeps the capability");
    test_steps_down(host, (int)level);
    test_refused(host);
    rk_host_free(host);
    return 0;
}

/* `reckon stat true`: a command counted from its exec to its end, its counts derived from and exported. */
#include "fault.h"

#include <errno.h>

/* Why cycles can't be counted here is then told less exactly: up to one for each PMU of the machine. */
#define ABSORBED 64

static int fold(void *context, const void *data, size_t n)
{
    (void)data;
    *(uint64_t *)context += n > 0;
    return 0;
}

static int scenario(uint64_t *digest)
{
    char *argv[] = {"sh", "-c", "exit 7", NULL};
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_exit x = {.size = sizeof x};
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_KEEP};
    struct rk_metric metric = {.size = sizeof metric};
    struct rk_value v[4], by_thread[4];
    struct rk_rows *rows = NULL;
    uint64_t wrote = 0;
    struct rk_sink sink = {sizeof sink, 0, fold, &wrote};
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(events, rk_events_parse(host, "task-clock,context-switches,page-faults,cycles", &events, e));
    NEW(target, rk_target_command(argv, NULL, &target, e));
    NEW(set, rk_set_open(host, events, target, &options, &set, e));
    NEW(rows, rk_rows_open(host, set, RK_BY_THREAD, &rows, e));
    TRY(rk_target_start(target, e));
    HOT(rk_target_wait(target, -1, &x));
    EXPECT(rc == 1 && x.status == 7 && x.signal == 0);
    HOT(rk_set_total(set, v, NULL, 4));
    HOT(rk_metric_derive(set, v, 4, x.wall_ns, 0, &metric));
    TRY(rk_set_export(set, v, 4, &x, "json", &sink, e));
    EXPECT(wrote);
    HOT(rk_rows_read(rows, by_thread, NULL, 4));
    struct rk_counts_row row = {.set = set, .values = by_thread, .where = "sh", .slots = 1};
    struct rk_counts counts = {.size = sizeof counts, .rows = &row, .n = 1, .wall_ns = x.wall_ns, .exit = &x};
    TRY(rk_counts_export(&counts, "csv", &sink, e));
    *digest = (uint64_t)x.status;
end:
    rk_rows_free(rows);
    rk_set_free(set);
    /* A command that was started and not waited for stays the caller's to wait for. */
    if (target && rk_target_pid(target) > 0 && rc < 0)
        for (int r = 0; r == 0 || r == -ENOMEM;)
            r = rk_target_wait(target, 100, &x);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "stat", .run = scenario, .absorbed_memory = ABSORBED},
                      argc, argv);
}

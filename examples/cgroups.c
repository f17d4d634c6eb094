/*
 * What two cgroups do each second: CPU time and page faults. CPUs may go offline and come back meanwhile.
 *
 *     cgroups PATH PATH [SECONDS]
 */
#include <reckon/reckon.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rk_error e = RK_INIT(e);
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_rows *rows = NULL;
    struct rk_value now[4], before[4] = {0}; /* a row for each cgroup, a column for each event */

    if (argc < 3) {
        fprintf(stderr, "usage: cgroups PATH PATH [SECONDS]\n");
        return 2;
    }
    int rc = rk_host_open(NULL, &host, &e) < 0 ||
             rk_events_parse(host, "cpu-clock,page-faults", &events, &e) < 0 ||
             rk_target_cgroups(host, (const char *const *)argv + 1, 2, NULL, &target, &e) < 0 ||
             rk_set_open(host, events, target, NULL, &set, &e) < 0 ||
             rk_rows_open(host, set, RK_BY_CGROUP, &rows, &e) < 0 || rk_set_enable(set) < 0;

    for (int left = argc > 3 ? atoi(argv[3]) : INT32_MAX; rc == 0 && left > 0; left--) {
        sleep(1);
        rc = rk_set_refresh(set, &e) < 0 || rk_rows_refresh(rows, &e) < 0 ||
             rk_rows_read(rows, now, NULL, 4) < 0;
        for (int i = 0; rc == 0 && i < 2; i++)
            printf("%-24s %10.1f ms %8" PRIu64 " page faults\n", argv[i + 1],
                   (double)(now[2 * i].value - before[2 * i].value) / 1e6,
                   now[2 * i + 1].value - before[2 * i + 1].value);
        fflush(stdout);
        memcpy(before, now, sizeof before);
    }
    if (rc)
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
    rk_rows_free(rows);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    return rc;
}

/* Every question to the machine, and event names: read once, remembered, and no answer made up. */
#include "fault.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static int scenario(uint64_t *digest)
{
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    const int32_t *cpus = NULL;
    size_t n = 0;
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    for (uint32_t limit = RK_LIMIT_PARANOID; limit <= RK_LIMIT_LAST_CAP; limit++) {
        int64_t value = 0;
        rc = rk_host_limit(host, limit, &value);
        if (rc < 0 && rc != -ENOENT)
            goto end;
        *digest = fault_fold(*digest, &value, sizeof value);
    }
    HOT(rk_host_cpus(host, &cpus, &n));
    EXPECT(n > 0);
    *digest = fault_fold(*digest, cpus, n * sizeof *cpus);
    size_t pmus = rk_host_pmu_count(host);
    if (pmus == 0)
        HOT(rk_host_pmu_get(host, 0, &(struct rk_pmu){.size = sizeof(struct rk_pmu)}));
    for (size_t i = 0; i < pmus; i++) {
        struct rk_pmu pmu = {.size = sizeof pmu};
        HOT(rk_host_pmu_get(host, i, &pmu));
        *digest = fault_fold(*digest, pmu.name, strlen(pmu.name));
        *digest = fault_fold(*digest, &pmu.type, sizeof pmu.type);
    }
    for (uint32_t fact = RK_FACT_CORE_PMU; fact <= RK_FACT_USER_NAMESPACE; fact++) {
        int answer = rk_host_fact(host, fact);
        if (answer < 0) { /* can't be told, and stays so */
            EXPECT(rk_host_fact(host, fact) <= 1);
            rc = answer;
            goto end;
        }
        *digest = fault_fold(*digest, &answer, sizeof answer);
    }
    for (uint32_t mount = RK_MOUNT_TRACEFS; mount <= RK_MOUNT_CGROUP1; mount++) {
        const char *path = "";
        rc = rk_host_mount(host, mount, &path);
        if (rc < 0 && rc != -ENOENT && rc != -EACCES)
            goto end;
        *digest = fault_fold(*digest, path, strlen(path));
    }
    for (uint32_t feature = RK_FEATURE_MMAP2; feature <= RK_FEATURE_CONFIG4; feature++) {
        HOT(rk_host_feature(host, feature));
        *digest = fault_fold(*digest, &rc, sizeof rc);
    }
    HOT(rk_host_cpus_possible(host, &cpus, &n));
    for (size_t i = 0; i < n; i++) {
        struct rk_cpu place = {.size = sizeof place};
        HOT(rk_host_cpu(host, cpus[i], &place));
        *digest = fault_fold(*digest, &place.thread,
                             offsetof(struct rk_cpu, type) - offsetof(struct rk_cpu, thread));
        *digest = fault_fold(*digest, place.type, strlen(place.type));
    }
    EXPECT(rk_host_kernel(host) != NULL);
    NEW(events, rk_events_parse(
                    host, "cycles:u,{page-faults,L1-dcache-load-misses}:k,r1a8,cycles/name=mine/,mem:0x1000",
                    &events, e));
    const char *text = rk_events_print(events);
    *digest = fault_fold(*digest, text, strlen(text));
end:
    EXPECT(rk_events_free(events) == NULL);
    EXPECT(rk_host_free(host) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "host", .run = scenario}, argc, argv);
}

/*
 * Names for events whose recording has none: perf's words for the kernel's own, numbers for the rest.
 */
#include "perfdata/contents.h"

#include <inttypes.h>
#include <stdio.h>

const char *contents_event_name(const struct perf_attr *attr, char *buffer)
{
    static const char *const hardware[] = {
        [HW_CYCLES] = "cycles",
        [HW_INSTRUCTIONS] = "instructions",
        [HW_CACHE_REFERENCES] = "cache-references",
        [HW_CACHE_MISSES] = "cache-misses",
        [HW_BRANCHES] = "branches",
        [HW_BRANCH_MISSES] = "branch-misses",
        [HW_BUS_CYCLES] = "bus-cycles",
        [HW_STALLED_FRONTEND] = "stalled-cycles-frontend",
        [HW_STALLED_BACKEND] = "stalled-cycles-backend",
        [HW_REF_CYCLES] = "ref-cycles",
    };
    static const char *const software[] = {
        [SW_CPU_CLOCK] = "cpu-clock",
        [SW_TASK_CLOCK] = "task-clock",
        [SW_PAGE_FAULTS] = "page-faults",
        [SW_CONTEXT_SWITCHES] = "context-switches",
        [SW_CPU_MIGRATIONS] = "cpu-migrations",
        [SW_PAGE_FAULTS_MIN] = "minor-faults",
        [SW_PAGE_FAULTS_MAJ] = "major-faults",
        [SW_ALIGNMENT_FAULTS] = "alignment-faults",
        [SW_EMULATION_FAULTS] = "emulation-faults",
        [SW_DUMMY] = "dummy",
        [SW_BPF_OUTPUT] = "bpf-output",
        [SW_CGROUP_SWITCHES] = "cgroup-switches",
    };

    switch (attr->type) {
    case PERF_HARDWARE:
        if (attr->config < sizeof hardware / sizeof *hardware)
            return hardware[attr->config];
        break;
    case PERF_SOFTWARE:
        if (attr->config < sizeof software / sizeof *software)
            return software[attr->config];
        break;
    case PERF_RAW:
        snprintf(buffer, 64, "r%" PRIx64, attr->config);
        return buffer;
    case PERF_BREAKPOINT:
        snprintf(buffer, 64, "mem:0x%" PRIx64, attr->config1);
        return buffer;
    case PERF_TRACEPOINT:
        snprintf(buffer, 64, "tracepoint-%" PRIu64, attr->config);
        return buffer;
    default:
        break;
    }
    snprintf(buffer, 64, "pmu-%u/0x%" PRIx64, attr->type, attr->config);
    return buffer;
}

/*
 * What names mean that sysfs offers without a word: those of several drivers, and the common events of Arm.
 */
#include "event/names.h"
#include "list/list.h"

#include <stdlib.h>

/* Sorted. Folded: lower case, '_' as '-'. */
static const struct meaning {
    const char *name, *about;
} meanings[] = {
    {"aperf", "cycles at the frequency that it really runs at, while not idle"},
    {"aux-output", "AUX data of another event's samples"},
    {"br-mis-pred", "branches that were predicted wrong, or not at all"},
    {"br-mis-pred-retired", "retired branches that were predicted wrong"},
    {"br-pred", "branches that could have been predicted"},
    {"br-retired", "branches retired"},
    {"br-return-retired", "returns from functions retired"},
    {"branch-instructions", "branches retired"},
    {"branch-misses", "branches that were predicted wrong"},
    {"bus-access", "accesses to the bus"},
    {"bus-cycles", "cycles of the bus"},
    {"c1-residency", "time in the idle state C1"},
    {"c10-residency", "time in the idle state C10"},
    {"c2-residency", "time in the idle state C2"},
    {"c3-residency", "time in the idle state C3"},
    {"c6-residency", "time in the idle state C6"},
    {"c7-residency", "time in the idle state C7"},
    {"c8-residency", "time in the idle state C8"},
    {"c9-residency", "time in the idle state C9"},
    {"cache-misses", "accesses to the last cache that missed it"},
    {"cache-references", "accesses to the last cache"},
    {"cas-count-read", "reads from memory through this channel"},
    {"cas-count-write", "writes to memory through this channel"},
    {"cid-write-retired", "changes of the process in CONTEXTIDR"},
    {"clockticks", "cycles of this unit's clock"},
    {"cpu-cycles", "cycles of the core, at whatever frequency it runs"},
    {"cpu-thermal-margin", "degrees below the temperature at which the core is throttled"},
    {"cycles-ct", "cycles in transactions that committed"},
    {"cycles-t", "cycles in transactions"},
    {"data-read", "reads from memory, all of the channels together"},
    {"data-reads", "reads from memory, all of the channels together"},
    {"data-write", "writes to memory, all of the channels together"},
    {"data-writes", "writes to memory, all of the channels together"},
    {"dtlb-walk", "walks of the page tables for data"},
    {"el-abort", "lock elisions that aborted"},
    {"el-capacity", "lock elisions that aborted for want of room"},
    {"el-commit", "lock elisions that committed"},
    {"el-conflict", "lock elisions that aborted for a conflict"},
    {"el-start", "lock elisions begun"},
    {"energy-cores", "energy of the cores"},
    {"energy-gpu", "energy of the graphics unit"},
    {"energy-pkg", "energy of the whole package"},
    {"energy-psys", "energy of the whole system on the chip"},
    {"energy-ram", "energy of the memory"},
    {"exc-return", "returns from exceptions"},
    {"exc-taken", "exceptions taken"},
    {"inst-retired", "instructions retired"},
    {"inst-spec", "instructions executed, speculatively or not"},
    {"instructions", "instructions retired"},
    {"irperf", "instructions retired, by a counter of its own"},
    {"itlb-walk", "walks of the page tables for instructions"},
    {"l1d-cache", "L1 data cache: accesses"},
    {"l1d-cache-allocate", "L1 data cache: lines allocated without a refill"},
    {"l1d-cache-refill", "L1 data cache: accesses that missed"},
    {"l1d-cache-wb", "L1 data cache: lines written back"},
    {"l1d-tlb", "L1 data TLB: accesses"},
    {"l1d-tlb-refill", "L1 data TLB: accesses that missed"},
    {"l1i-cache", "L1 instruction cache: accesses"},
    {"l1i-cache-refill", "L1 instruction cache: accesses that missed"},
    {"l1i-tlb", "L1 instruction TLB: accesses"},
    {"l1i-tlb-refill", "L1 instruction TLB: accesses that missed"},
    {"l2d-cache", "L2 cache: accesses for data"},
    {"l2d-cache-refill", "L2 cache: accesses for data that missed"},
    {"l2d-cache-wb", "L2 cache: lines written back"},
    {"l2d-tlb", "L2 TLB: accesses for data"},
    {"l2d-tlb-refill", "L2 TLB: accesses for data that missed"},
    {"l3d-cache", "L3 cache: accesses"},
    {"l3d-cache-refill", "L3 cache: accesses that missed"},
    {"ld-retired", "loads retired"},
    {"ll-cache", "last-level cache: accesses"},
    {"ll-cache-miss", "last-level cache: accesses that missed"},
    {"ll-cache-miss-rd", "last-level cache: reads that missed"},
    {"ll-cache-rd", "last-level cache: reads"},
    {"mem-access", "accesses to memory"},
    {"mem-loads", "loads, sampled with their latency"},
    {"mem-loads-aux", "helps mem-loads on some processors: the first of its group"},
    {"mem-stores", "stores, sampled with their addresses"},
    {"memory-error", "memory errors"},
    {"mperf", "cycles at the nominal frequency, while not idle"},
    {"op-retired", "micro-operations retired"},
    {"op-spec", "micro-operations executed, speculatively or not"},
    {"pc-write-retired", "changes of the program counter by software"},
    {"pperf", "cycles that were useful, of those in aperf"},
    {"ptsc", "performance time stamp counter"},
    {"ref-cycles", "cycles at a constant reference frequency"},
    {"remote-access", "accesses to another chip's memory"},
    {"slots", "slots in which an operation could have been issued"},
    {"smi", "interruptions by the firmware (SMI)"},
    {"st-retired", "stores retired"},
    {"stall", "cycles in which nothing was issued"},
    {"stall-backend", "cycles in which no instruction could go on"},
    {"stall-frontend", "cycles without an instruction to begin with"},
    {"stalled-cycles-backend", "cycles in which no instruction could go on"},
    {"stalled-cycles-frontend", "cycles without an instruction to begin with"},
    {"sw-incr", "what software adds by itself"},
    {"topdown-bad-spec", "slots lost to wrong speculation"},
    {"topdown-be-bound", "slots lost to the back end"},
    {"topdown-br-mispredict", "slots lost to branches predicted wrong"},
    {"topdown-fe-bound", "slots lost to the front end"},
    {"topdown-fetch-bubbles", "slots for which nothing was fetched"},
    {"topdown-fetch-lat", "slots lost while fetching took long"},
    {"topdown-heavy-ops", "slots used by instructions of several operations"},
    {"topdown-mem-bound", "slots lost to memory"},
    {"topdown-recovery-bubbles", "slots lost while recovering from wrong speculation"},
    {"topdown-retiring", "slots whose operations retired"},
    {"topdown-slots-issued", "slots in which an operation was issued"},
    {"topdown-slots-retired", "slots whose operations retired"},
    {"topdown-total-slots", "slots in which an operation could have been issued"},
    {"tsc", "time stamp counter: ticks at a constant rate"},
    {"ttbr-write-retired", "changes of the page tables' base"},
    {"tx-abort", "transactions that aborted"},
    {"tx-capacity", "transactions that aborted for want of room"},
    {"tx-commit", "transactions that committed"},
    {"tx-conflict", "transactions that aborted for a conflict"},
    {"tx-start", "transactions begun"},
    {"unaligned-ldst-retired", "unaligned loads and stores retired"},
};

static int by_name(const void *key, const void *item)
{
    return strcmp(key, ((const struct meaning *)item)->name);
}

const char *alias_about(const char *name)
{
    char folded[NAME_MAX_FOLDED];

    if (!name_fold(folded, name, strlen(name)))
        return "";
    const struct meaning *found =
        bsearch(folded, meanings, sizeof meanings / sizeof *meanings, sizeof *meanings, by_name);
    return found ? found->about : "";
}

/*
 * Two kinds of table. `spellings` lists the hardware and software events, sorted for a binary search. A cache
 * event is a cache, an operation and a result, each with its own spellings, joined by '-':
 *
 *     L1-dcache-load-misses     cache, operation, result, as perf writes it
 *     L1-dcache-loads           the result is "access" where none is said
 *     LL_READ_MISS              the same three, as Alumet writes them
 *     dTLB                      the operation is "load" where none is said
 *
 * config is cache | operation << 8 | result << 16. The ABI's own names have a prefix: PERF_COUNT_HW_…,
 * PERF_COUNT_SW_…, PERF_COUNT_HW_CACHE_….
 */
#include "event/names.h"

#include "base/abi.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof *(array))

/* Sorted. */
static const struct spelling {
    const char *folded;
    uint8_t type, config;
} spellings[] = {
    {"alignment-faults", PERF_SOFTWARE, SW_ALIGNMENT_FAULTS},
    {"bpf-output", PERF_SOFTWARE, SW_BPF_OUTPUT},
    {"branch-instructions", PERF_HARDWARE, HW_BRANCHES},
    {"branch-misses", PERF_HARDWARE, HW_BRANCH_MISSES},
    {"branches", PERF_HARDWARE, HW_BRANCHES},
    {"bus-cycles", PERF_HARDWARE, HW_BUS_CYCLES},
    {"cache-misses", PERF_HARDWARE, HW_CACHE_MISSES},
    {"cache-references", PERF_HARDWARE, HW_CACHE_REFERENCES},
    {"cgroup-switches", PERF_SOFTWARE, SW_CGROUP_SWITCHES},
    {"context-switches", PERF_SOFTWARE, SW_CONTEXT_SWITCHES},
    {"cpu-clock", PERF_SOFTWARE, SW_CPU_CLOCK},
    {"cpu-cycles", PERF_HARDWARE, HW_CYCLES},
    {"cpu-migrations", PERF_SOFTWARE, SW_CPU_MIGRATIONS},
    {"cs", PERF_SOFTWARE, SW_CONTEXT_SWITCHES},
    {"cycles", PERF_HARDWARE, HW_CYCLES},
    {"dummy", PERF_SOFTWARE, SW_DUMMY},
    {"emulation-faults", PERF_SOFTWARE, SW_EMULATION_FAULTS},
    {"faults", PERF_SOFTWARE, SW_PAGE_FAULTS},
    {"idle-cycles-backend", PERF_HARDWARE, HW_STALLED_BACKEND},
    {"idle-cycles-frontend", PERF_HARDWARE, HW_STALLED_FRONTEND},
    {"instructions", PERF_HARDWARE, HW_INSTRUCTIONS},
    {"major-faults", PERF_SOFTWARE, SW_PAGE_FAULTS_MAJ},
    {"migrations", PERF_SOFTWARE, SW_CPU_MIGRATIONS},
    {"minor-faults", PERF_SOFTWARE, SW_PAGE_FAULTS_MIN},
    {"page-faults", PERF_SOFTWARE, SW_PAGE_FAULTS},
    {"page-faults-maj", PERF_SOFTWARE, SW_PAGE_FAULTS_MAJ},
    {"page-faults-min", PERF_SOFTWARE, SW_PAGE_FAULTS_MIN},
    {"ref-cpu-cycles", PERF_HARDWARE, HW_REF_CYCLES},
    {"ref-cycles", PERF_HARDWARE, HW_REF_CYCLES},
    {"stalled-cycles-backend", PERF_HARDWARE, HW_STALLED_BACKEND},
    {"stalled-cycles-frontend", PERF_HARDWARE, HW_STALLED_FRONTEND},
    {"task-clock", PERF_SOFTWARE, SW_TASK_CLOCK},
};

/* A word of a cache event's name, and its number. */
struct word {
    const char *folded;
    uint8_t number;
};
static const struct word cache_words[] = {
    {"l1-dcache", 0},
    {"l1-data", 0},
    {"l1-d", 0},
    {"l1d", 0},
    {"l1-icache", 1},
    {"l1-i", 1},
    {"l1i", 1},
    {"llc", 2},
    {"l1-instruction", 1},
    {"ll", 2},
    {"l2", 2},
    {"dtlb", 3},
    {"d-tlb", 3},
    {"data-tlb", 3},
    {"itlb", 4},
    {"i-tlb", 4},
    {"bpu", 5},
    {"branches", 5},
    {"instruction-tlb", 4},
    {"branch", 5},
    {"btb", 5},
    {"bpc", 5},
    {"node", 6},
};
static const struct word operation_words[] = {
    {"loads", 0}, {"load", 0},       {"read", 0},     {"stores", 1},           {"store", 1},
    {"write", 1}, {"prefetches", 2}, {"prefetch", 2}, {"speculative-read", 2}, {"speculative-load", 2},
};
static const struct word result_words[] = {
    {"access", 0}, {"refs", 0}, {"reference", 0}, {"ops", 0}, {"misses", 1}, {"miss", 1},
};

bool name_fold(char to[static NAME_MAX_FOLDED], const char *text, size_t n)
{
    if (n >= NAME_MAX_FOLDED)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        to[i] = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    to[n] = '\0';
    return true;
}

static const struct spelling *find_spelling(const char *folded)
{
    size_t low = 0, high = N(spellings);

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(folded, spellings[middle].folded);
        if (order == 0)
            return &spellings[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* A word that ends at a '-' or at the end of the text. *at moves behind it and the '-'. */
static int take_word(const char **at, const struct word *words, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(words[i].folded);
        if (strncmp(*at, words[i].folded, length) != 0 || ((*at)[length] != '-' && (*at)[length] != '\0'))
            continue;
        *at += length + ((*at)[length] == '-');
        return words[i].number;
    }
    return -1;
}

static bool find_cache(const char *folded, uint64_t *ret_config)
{
    const char *at = folded;
    int operation = -1, result = -1, cache = take_word(&at, cache_words, N(cache_words));

    if (cache < 0)
        return false;
    while (*at) { /* operation and result, in either order, each at most once */
        int got = operation < 0 ? take_word(&at, operation_words, N(operation_words)) : -1;
        if (got >= 0) {
            operation = got;
            continue;
        }
        got = result < 0 ? take_word(&at, result_words, N(result_words)) : -1;
        if (got < 0)
            return false;
        result = got;
    }
    if (at[-1] == '-')
        return false;
    *ret_config = (uint64_t)cache | (uint64_t)(operation < 0 ? 0 : operation) << 8 |
                  (uint64_t)(result < 0 ? 0 : result) << 16;
    return true;
}

/* Behind the prefix, or NULL where the text doesn't begin with it. */
static const char *behind(const char *text, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(text, prefix, n) == 0 ? text + n : NULL;
}

bool name_find(const char *folded, uint32_t *ret_type, uint64_t *ret_config)
{
    const char *of_hardware = behind(folded, "perf-count-hw-"),
               *of_software = behind(folded, "perf-count-sw-");
    const char *of_cache = of_hardware ? behind(of_hardware, "cache-") : NULL;
    const char *name = of_hardware ? of_hardware : of_software ? of_software : folded;
    const struct spelling *found = find_spelling(name);

    if (found && !(of_hardware && found->type != PERF_HARDWARE) &&
        !(of_software && found->type != PERF_SOFTWARE)) {
        *ret_type = found->type;
        *ret_config = found->config;
        return true;
    }
    if (name != folded && !of_cache)
        return false;
    if (!find_cache(of_cache ? of_cache : folded, ret_config))
        return false;
    *ret_type = PERF_HW_CACHE;
    return true;
}

const char *name_of_abi(uint32_t type, uint64_t config, char to[static NAME_MAX_FOLDED])
{
    static const char *const cache_names[] = {"L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE"};
    static const char *const operations[] = {"READ", "WRITE", "PREFETCH"};
    const char *name = abi_event_name(type, config);

    if (!name || type == PERF_SOFTWARE)
        return "";
    if (type == PERF_HW_CACHE) {
        snprintf(to, NAME_MAX_FOLDED, "PERF_COUNT_HW_CACHE_%s_%s_%s", cache_names[config & 0xff],
                 operations[config >> 8 & 0xff], config >> 16 ? "MISS" : "ACCESS");
        return to;
    }
    name = config == HW_CYCLES       ? "cpu-cycles"
           : config == HW_BRANCHES   ? "branch-instructions"
           : config == HW_REF_CYCLES ? "ref-cpu-cycles"
                                     : name;
    snprintf(to, NAME_MAX_FOLDED, "PERF_COUNT_HW_%s", name);
    for (char *at = to; *at; at++)
        *at = *at == '-' ? '_' : *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
    return to;
}

const char *name_unit(uint32_t type, uint64_t config)
{
    return type == PERF_SOFTWARE && (config == SW_CPU_CLOCK || config == SW_TASK_CLOCK) ? "ns" : "";
}

const char *name_at(size_t index)
{
    if (index < N(spellings))
        return spellings[index].folded;
    index -= N(spellings);
    uint64_t cache = index / 6, operation = index / 2 % 3, result = index % 2;
    return abi_event_name(PERF_HW_CACHE, cache | operation << 8 | result << 16);
}

/* As the kernel's own drivers map them: x86's sysfs has the generic names, arm64's the architecture's. */
const char *name_of_alias(uint32_t type, uint64_t config, size_t index)
{
#define CACHE(cache, operation, result) (cache | operation << 8 | result << 16)
    static const struct {
        uint32_t type;
        uint32_t config;
        const char *names[3];
    } rows[] = {
        {PERF_HARDWARE, 0, {"cpu-cycles", "cpu_cycles"}},
        {PERF_HARDWARE, 1, {"instructions", "inst_retired"}},
        {PERF_HARDWARE, 2, {"cache-references", "l1d_cache"}},
        {PERF_HARDWARE, 3, {"cache-misses", "l1d_cache_refill"}},
        {PERF_HARDWARE, 4, {"branch-instructions", "br_retired", "pc_write_retired"}},
        {PERF_HARDWARE, 5, {"branch-misses", "br_mis_pred"}},
        {PERF_HARDWARE, 6, {"bus-cycles", "bus_cycles"}},
        {PERF_HARDWARE, 7, {"stalled-cycles-frontend", "stall_frontend"}},
        {PERF_HARDWARE, 8, {"stalled-cycles-backend", "stall_backend"}},
        {PERF_HARDWARE, 9, {"ref-cycles"}},
        {PERF_HW_CACHE, CACHE(0, 0, 0), {"l1d_cache"}},
        {PERF_HW_CACHE, CACHE(0, 0, 1), {"l1d_cache_refill"}},
        {PERF_HW_CACHE, CACHE(1, 0, 0), {"l1i_cache"}},
        {PERF_HW_CACHE, CACHE(1, 0, 1), {"l1i_cache_refill"}},
        {PERF_HW_CACHE, CACHE(2, 0, 0), {"ll_cache_rd"}},
        {PERF_HW_CACHE, CACHE(2, 0, 1), {"ll_cache_miss_rd"}},
        {PERF_HW_CACHE, CACHE(3, 0, 0), {"l1d_tlb"}},
        {PERF_HW_CACHE, CACHE(3, 0, 1), {"l1d_tlb_refill"}},
        {PERF_HW_CACHE, CACHE(4, 0, 0), {"l1i_tlb"}},
        {PERF_HW_CACHE, CACHE(4, 0, 1), {"l1i_tlb_refill"}},
        {PERF_HW_CACHE, CACHE(5, 0, 0), {"br_pred"}},
        {PERF_HW_CACHE, CACHE(5, 0, 1), {"br_mis_pred"}},
    };
#undef CACHE

    for (size_t i = 0; i < sizeof rows / sizeof *rows && index < 3; i++)
        if (rows[i].type == type && rows[i].config == config)
            return rows[i].names[index];
    return NULL;
}

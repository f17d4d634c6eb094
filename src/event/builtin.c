/*
 * Generic names and raw numbers. Where the CPU is hybrid, each becomes one event per core PMU: the PMU's number
 * stands in config's upper half (RK_FEATURE_PMU_TYPE; else it is the PMU's own event of that meaning), a raw event
 * has it as its type.
 */
#include "base/abi.h"
#include "event/names.h"
#include "event/parse.h"
#include "event/term.h"

#include <errno.h>
#include <inttypes.h>

/* The core PMUs, where there are several: how many, 0, or -errno with p->e filled. */
static int several(struct parser *p, struct host_pmu *const **ret)
{
    int n = host_cores(p->host, ret);

    if (n < 0)
        return parse_refuse(p, p->at, n, n == -ENOMEM ? RK_CAUSE_MEMORY : RK_CAUSE_DESCRIPTORS, NULL,
                            "cannot list the PMUs: %s", strerror(-n));
    return n > 1 ? n : 0;
}

/* A raw event is the PMU's own. */
static int raw_on(struct parser *p, struct host_pmu *pmu, uint64_t config, struct event_item *item)
{
    int rc = host_pmu_type(p->host, pmu, &item->event.type);

    if (rc < 0)
        return parse_unreadable(p, p->at, pmu, "type", rc);
    item->event.config = config;
    item->terms = true;
    item->body = parse_text(p, "%s/config=%#" PRIx64, pmu->name, config);
    return item->body ? 0 : -ENOMEM;
}

/* One event for each of n PMUs. */
static int spread(struct parser *p, struct host_pmu *const *pmus, int n, size_t length, uint32_t type,
                  uint64_t config)
{
    for (int i = 0; i < n; i++) {
        int rc;
        struct event_item *item = parse_add(p, &rc);
        if (!item)
            return rc;
        rc = type == PERF_RAW ? raw_on(p, pmus[i], config, item)
                              : terms_generic(p, p->at, type, config, pmus[i], item);
        if (rc < 0)
            return rc;
        const char *shown = parse_text(p, "%s/%.*s/", pmus[i]->name, (int)length, p->at);
        if (!shown || parse_spread(p, item, pmus[i], shown) < 0)
            return -ENOMEM;
    }
    p->at += length;
    return 1;
}

int generic_add(struct parser *p, size_t length, uint32_t type, uint64_t config)
{
    struct host_pmu *const *cores;
    int n = type == PERF_SOFTWARE ? 0 : several(p, &cores), rc;

    if (n != 0)
        return n < 0 ? n : spread(p, cores, n, length, type, config);
    struct event_item *item = parse_add(p, &rc);
    if (!item)
        return rc;
    item->event.type = type;
    item->event.config = config;
    item->event.unit = name_unit(type, config);
    p->at += length;
    return 1;
}

int read_builtin(struct parser *p)
{
    char folded[NAME_MAX_FOLDED];
    size_t n = name_bytes(p->at);
    uint32_t type;
    uint64_t config;

    if (!name_fold(folded, p->at, n) || !name_find(folded, &type, &config))
        return 0;
    return generic_add(p, n, type, config);
}

int raw_parse(const char *text, size_t n, uint64_t *ret)
{
    size_t first = n > 3 && text[1] == '0' && (text[2] | 0x20) == 'x' ? 3 : 1;
    uint64_t value = 0;

    if (n < 2 || text[0] != 'r')
        return 0;
    for (size_t i = first; i < n; i++) {
        char c = (char)(text[i] | 0x20);
        bool letter = c >= 'a' && c <= 'f';
        if (!letter && !(text[i] >= '0' && text[i] <= '9'))
            return 0;
        if (i < first + 16)
            value = value << 4 | (uint64_t)(letter ? c - 'a' + 10 : c - '0');
    }
    if (n - first > 16)
        return -ERANGE;
    *ret = value;
    return 1;
}

int read_raw(struct parser *p)
{
    size_t n = name_bytes(p->at);
    uint64_t config;
    int rc = raw_parse(p->at, n, &config);

    if (rc < 0)
        return parse_fail(p, p->at + (p->at[2] == 'x' || p->at[2] == 'X' ? 3 : 1) + 16,
                          "a raw event has 64 bits: 16 hexadecimal digits at most");
    return rc == 0 ? 0 : generic_add(p, n, PERF_RAW, config);
}

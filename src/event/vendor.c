/*
 * The vendors' names: INST_RETIRED:ANY_P, skl::BR_INST_RETIRED.CONDITIONAL:u:c=1, through libpfm4 and only when
 * nothing else knew them. libpfm4 finds PMUs by the processor's model, also where the kernel shows none: so that the
 * PMU is looked for in sysfs, and without it the name is refused with that reason.
 */
#include "event/vendor.h"

#include "base/text.h"
#include "event/libpfm.h"
#include "event/modifier.h"
#include "event/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define VENDOR_MAX 255

/* Bytes of what could be one: letters, digits, _ . : = - with an underscore, a capital or "::" among them; else 0. */
static size_t vendor_bytes(const char *at)
{
    size_t n = strcspn(at, ",{}/ \t\r\n");
    bool vendor = false;

    for (size_t i = 0; i < n && n <= VENDOR_MAX; i++) {
        char c = at[i];
        bool capital = c >= 'A' && c <= 'Z', letter = capital || (c >= 'a' && c <= 'z');
        if (!letter && !(i > 0 && ((c >= '0' && c <= '9') || strchr("_.:=-", c))))
            return 0;
        vendor |= capital || c == '_' || (c == ':' && at[i + 1] == ':');
    }
    return vendor && n > 1 && n <= VENDOR_MAX ? n : 0;
}

/* Our own modifiers at the end, less than which libpfm4 may know the name: bytes before their ':', or n. */
static size_t without_modifiers(const char *text, size_t n)
{
    size_t colon = n;

    while (colon > 0 && text[colon - 1] != ':')
        colon--;
    if (colon < 2 || colon == n || strspn(text + colon, MODIFIER_LETTERS) < n - colon)
        return n;
    return text[colon - 2] == ':' ? n : colon - 1;
}

/* libpfm4 leaves the hypervisor in where a PMU does not know one; asked for is what the name says of user and kernel. */
static uint32_t flags_of(const struct perf_attr *attr)
{
    bool user = !(attr->flags & ATTR_EXCLUDE_USER), kernel = !(attr->flags & ATTR_EXCLUDE_KERNEL);

    if (user != kernel)
        return user ? RK_EVENT_USER : RK_EVENT_KERNEL;
    return user || (attr->flags & ATTR_EXCLUDE_HV) ? 0 : RK_EVENT_HYPERVISOR;
}

static int no_pmu(struct parser *p, const char *name)
{
    return parse_refuse(p, p->at, -ENOENT, RK_CAUSE_NO_PMU, VENDOR_NO_PMU_FIX, "%.100s: " VENDOR_NO_PMU,
                        name);
}

/* The PMU that sysfs has for it: of a core where libpfm4 says "raw". */
static struct host_pmu *find_pmu(struct parser *p, const struct perf_attr *attr)
{
    struct host_pmu *const *cores;

    if (attr->type != PERF_RAW)
        return host_pmu_of_type(p->host, attr->type);
    return host_cores(p->host, &cores) > 0 ? cores[0] : NULL;
}

static int add(struct parser *p, const struct perf_attr *attr, const char *name, size_t n)
{
    size_t first = p->events->list.n;
    int rc;

    if (attr->type <= PERF_RAW && !attr->config1 && !attr->config2 &&
        (attr->type == PERF_RAW || name_of(attr->type, attr->config))) {
        struct host_pmu *const *cores;
        if (attr->type == PERF_RAW && host_cores(p->host, &cores) <= 0)
            return no_pmu(p, name);
        rc = generic_add(p, n, attr->type, attr->config);
    } else {
        struct host_pmu *pmu = find_pmu(p, attr);
        if (!pmu)
            return no_pmu(p, name);
        struct event_item *item = parse_add(p, &rc);
        if (!item)
            return rc;
        rc = host_pmu_type(p->host, pmu, &item->event.type);
        if (rc < 0)
            return parse_unreadable(p, p->at, pmu, "type", rc);
        item->event.config = attr->config;
        item->event.config1 = attr->config1;
        item->event.config2 = attr->config2;
        item->event.pmu = pmu->name;
        item->terms = true;
        item->body = parse_text(p, "%s/config=%#" PRIx64 ",config1=%#" PRIx64 ",config2=%#" PRIx64, pmu->name,
                                attr->config, attr->config1, attr->config2);
        if (!item->body)
            return -ENOMEM;
        p->at += n;
        rc = 1;
    }
    for (size_t i = first; rc > 0 && i < p->events->list.n; i++) {
        p->events->list.items[i].event.flags |= flags_of(attr);
        p->events->list.items[i].event.precise = (uint32_t)(attr->flags >> ATTR_PRECISE_SHIFT) & 3;
    }
    return rc;
}

int read_vendor(struct parser *p)
{
    size_t n = vendor_bytes(p->at), less = n ? without_modifiers(p->at, n) : 0;
    char name[VENDOR_MAX + 1];
    struct perf_attr attr;
    const char *why = "";

    if (!n)
        return 0;
    snprintf(name, sizeof name, "%.*s", (int)n, p->at);
    enum libpfm_answer answer = libpfm_encode(name, &attr, &why);
    if (less < n && answer != LIBPFM_ENCODED) {
        name[less] = '\0';
        answer = libpfm_encode(name, &attr, &why);
        n = less;
    }
    if (answer == LIBPFM_WRONG)
        return parse_refuse(p, p->at, -EINVAL, RK_CAUSE_SYNTAX, "reckon list shows its umasks",
                            "%.100s: libpfm4: %s", name, why);
    if (answer == LIBPFM_NO_PMU)
        return no_pmu(p, name);
    return answer == LIBPFM_ENCODED ? add(p, &attr, name, n) : 0;
}

bool vendor_missing(const struct parser *p)
{
    struct perf_attr attr;
    const char *why;
    size_t n = vendor_bytes(p->at);

    for (size_t i = 0; i < n && p->at[i] != ':'; i++)
        if (p->at[i] >= 'a' && p->at[i] <= 'z' && p->at[i + 1] != ':')
            return false; /* vendors write capitals */
    return n > 0 && libpfm_encode("", &attr, &why) == LIBPFM_MISSING;
}

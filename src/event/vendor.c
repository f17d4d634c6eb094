/*
 * The vendors' names: INST_RETIRED:ANY_P, skl::BR_INST_RETIRED.CONDITIONAL:u:c=1, through libpfm4 and only when
 * nothing else knew them. libpfm4 finds PMUs by the processor's model, also where the kernel shows none: so that the
 * PMU is looked for in sysfs, and without it the name is refused with that reason.
 */
#include "event/vendor.h"

#include "base/error.h"
#include "base/text.h"
#include "event/libpfm.h"
#include "event/modifier.h"
#include "event/names.h"
#include "event/nearest.h"
#include "host/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

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
        (attr->type == PERF_RAW || abi_event_name(attr->type, attr->config))) {
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

/* The bytes of "pmu::" at p->at, or 0. */
static size_t prefix_bytes(const struct parser *p)
{
    size_t n = name_bytes(p->at);

    return n > 0 && p->at[n] == ':' && p->at[n + 1] == ':' ? n + 2 : 0;
}

struct offering {
    struct nearest *nearest;
    const char *pmu; /* of these alone; NULL: of any */
    size_t n;
};

static int offer_event(void *context, const struct libpfm_event *event)
{
    struct offering *offering = context;

    if (strcmp(event->pmu, "perf") == 0 ||
        strcmp(event->pmu, "perf_raw") == 0) /* the kernel's own, offered anyway */
        return 0;
    if (!offering->pmu ||
        (strlen(event->pmu) == offering->n && memcmp(event->pmu, offering->pmu, offering->n) == 0))
        nearest_offer(offering->nearest, event->name);
    return 0;
}

void vendor_offer(const struct parser *p, struct nearest *nearest)
{
    if (vendor_bytes(p->at))
        libpfm_each(offer_event, &(struct offering){.nearest = nearest});
}

int vendor_unknown(struct parser *p)
{
    size_t prefix = prefix_bytes(p), n = prefix ? prefix - 2 : 0;
    char shown[60], remedy[256];
    struct nearest nearest;
    bool here = false;

    if (!prefix || !vendor_bytes(p->at))
        return 0;
    text_show(shown, sizeof shown, p->at, n);
    const char *about = libpfm_pmu(p->at, n, &here);
    if (!about)
        return parse_refuse(p, p->at, -ENOENT, RK_CAUSE_NO_EVENT, "leave PMU:: out: libpfm4 then finds it",
                            "%s: libpfm4 has no PMU of that name", shown);
    if (!here)
        return parse_refuse(p, p->at, -ENOENT, RK_CAUSE_NO_PMU, "`reckon list --all` shows this one's names",
                            "%s: these are names of another processor than this one, %.80s", shown, about);
    nearest_start(&nearest, p->at + prefix, name_bytes(p->at + prefix));
    libpfm_each(offer_event, &(struct offering){&nearest, p->at, n});
    return parse_refuse(p, p->at + prefix, -ENOENT, RK_CAUSE_NO_EVENT,
                        nearest_remedy(&nearest, remedy, sizeof remedy),
                        "%s: libpfm4 has no such event of %s",
                        text_show(shown, sizeof shown, p->at + prefix, name_bytes(p->at + prefix)), about);
}

/* The umasks nearest to the last part of a name: "INST_RETIRED:ANY_Q". */
struct umasks {
    struct nearest nearest;
    const char *event;
    size_t n;
};

static int offer_umasks(void *context, const struct libpfm_event *event)
{
    struct umasks *umasks = context;
    struct libpfm_umask umask;

    if (strlen(event->name) == umasks->n && strncasecmp(event->name, umasks->event, umasks->n) == 0)
        for (int i = 0; i < event->attributes && libpfm_umask(event, i, &umask); i++)
            nearest_offer(&umasks->nearest, umask.name);
    return 0;
}

static int wrong(struct parser *p, const char *name, const char *why)
{
    size_t prefix = prefix_bytes(p), n = name_bytes(p->at + prefix);
    struct umasks umasks = {.event = p->at + prefix, .n = n};
    const char *last = strrchr(name, ':');
    char remedy[256];

    nearest_start(&umasks.nearest, last ? last + 1 : "", last ? strlen(last + 1) : 0);
    libpfm_each(offer_umasks, &umasks);
    return parse_refuse(
        p, p->at, -EINVAL, RK_CAUSE_SYNTAX,
        nearest_or(&umasks.nearest, "`reckon list EVENT` shows its umasks", remedy, sizeof remedy),
        "%.100s: libpfm4: %s", name, why);
}

/* libpfm4's answer, which the host keeps where it is an encoding: to find one takes it some microseconds. An enum
 * libpfm_answer, or -ENOMEM. */
static int encode(struct rk_host *host, const char *name, struct perf_attr *ret, const char **ret_why)
{
    char key[VENDOR_MAX + 16];
    struct memo memo;

    snprintf(key, sizeof key, "libpfm:%s", name);
    if (host_memo_get(host, key, &memo)) {
        *ret = (struct perf_attr){.type = (uint32_t)memo.stamp[0],
                                  .flags = memo.stamp[1],
                                  .config = memo.value[0],
                                  .config1 = memo.value[1],
                                  .config2 = memo.value[2]};
        return LIBPFM_ENCODED;
    }
    enum libpfm_answer answer = libpfm_encode(name, ret, ret_why);
    if (answer != LIBPFM_ENCODED)
        return (int)answer;
    memo = (struct memo){{ret->type, ret->flags}, {ret->config, ret->config1, ret->config2}, 0};
    return host_memo_put(host, key, &memo) < 0 ? -ENOMEM : LIBPFM_ENCODED;
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
    int answer = encode(p->host, name, &attr, &why);
    if (less < n && answer > LIBPFM_ENCODED) {
        name[less] = '\0';
        answer = encode(p->host, name, &attr, &why);
        n = less;
    }
    if (answer < 0)
        return fail_memory(p->e, RK_STAGE_EVENT);
    if (answer == LIBPFM_WRONG)
        return wrong(p, name, why);
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

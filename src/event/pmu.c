/*
 * pmu/terms/: an event of a PMU that sysfs shows, on one or on several.
 *
 *     cpu/…/              the PMU of that name
 *     uncore_imc_?/…/     every PMU that the pattern fits
 *     uncore_imc/…/       where no PMU has just that name: all that have it with a number behind, uncore_imc_0 …
 *     imc_0/…/, imc/…/    "uncore_" may be left out
 *
 * Of several, those that do not know the terms are passed over; at least one must.
 */
#include "event/parse.h"

#include "base/error.h"
#include "base/text.h"
#include "event/glob.h"
#include "event/nearest.h"
#include "event/term.h"
#include "host/host.h"

#include <errno.h>

#define PMU_NAME_MAX 255 /* as a file's */
#define UNCORE "uncore_"

/* Whether text is "", or '_' and a number: decimal, or hexadecimal of more than two digits, as addresses are. */
static bool is_number(const char *text)
{
    size_t digits = 0, n = 0;

    if (*text != '_')
        return false;
    for (text++; text[n]; n++) {
        bool decimal = text[n] >= '0' && text[n] <= '9';
        if (!decimal && !(text[n] >= 'a' && text[n] <= 'f'))
            return false;
        digits += decimal;
    }
    return n > 0 && (digits == n || n > 2);
}

static bool fits(const char *wanted, size_t n, const char *name, bool numbered)
{
    for (int without = 0; without < 2; without++) {
        if (without && strncmp(name, UNCORE, strlen(UNCORE)) != 0)
            break;
        const char *part = name + (without ? strlen(UNCORE) : 0);
        if (glob_is(wanted, n) ? glob_match(wanted, n, part)
                               : strncmp(part, wanted, n) == 0 && (numbered ? is_number(part + n) : !part[n]))
            return true;
    }
    return false;
}

/* How many fit, the first and only one in *ret. */
static size_t count(struct parser *p, size_t n, bool numbered, struct host_pmu **ret)
{
    int all = host_pmus(p->host);
    size_t found = 0;

    for (int i = 0; i < all; i++) {
        struct host_pmu *pmu = host_pmu_at(p->host, (size_t)i);
        if (fits(p->at, n, pmu->name, numbered) && found++ == 0)
            *ret = pmu;
    }
    return found;
}

static int no_such_pmu(struct parser *p, size_t n)
{
    char shown[100], remedy[256];
    struct nearest nearest;
    int all = host_pmus(p->host);

    text_show(shown, sizeof shown, p->at, n);
    if (all < 0)
        return parse_refuse(p, p->at, all, RK_CAUSE_NO_PMU, "mount -t sysfs sysfs /sys",
                            "%s: cannot list the PMUs: /sys/bus/event_source/devices: %s", shown,
                            strerror(-all));
    nearest_start(&nearest, p->at, n);
    for (int i = 0; i < all; i++)
        nearest_offer(&nearest, host_pmu_at(p->host, (size_t)i)->name);
    return parse_refuse(p, p->at, -ENOENT, RK_CAUSE_NO_PMU, nearest_remedy(&nearest, remedy, sizeof remedy),
                        "%s: this machine has no PMU of that name", shown);
}

static int on_one(struct parser *p, size_t n, size_t n_terms, struct host_pmu *pmu, bool spread)
{
    int rc;
    struct event_item *item = parse_add(p, &rc);

    if (!item)
        return rc;
    rc = terms_read(p, p->at + n + 1, n_terms, pmu, item);
    if (rc == 0 && spread) {
        const char *shown = parse_text(p, "%s/%.*s/", pmu->name, (int)n_terms, p->at + n + 1);
        rc = shown ? parse_spread(p, item, pmu, shown) : -ENOMEM;
    }
    if (rc < 0)
        p->events->list.n--;
    return rc;
}

static int on_several(struct parser *p, size_t n, size_t n_terms, bool numbered)
{
    struct rk_error first = {.size = sizeof first}, next, *e = p->e;
    int all = host_pmus(p->host), rc = 0;
    size_t added = 0;

    for (int i = 0; i < all; i++) {
        struct host_pmu *pmu = host_pmu_at(p->host, (size_t)i);
        if (!fits(p->at, n, pmu->name, numbered))
            continue;
        next = (struct rk_error){.size = sizeof next};
        p->e = first.code ? &next : &first;
        rc = on_one(p, n, n_terms, pmu, true);
        if (rc == -ENOMEM || rc == -E2BIG) {
            first = *p->e;
            added = 0;
            break;
        }
        added += rc == 0;
    }
    p->e = e;
    return added ? 0 : error_give(e, &first);
}

int read_pmu(struct parser *p)
{
    size_t n = name_bytes(p->at), found;
    struct host_pmu *pmu = NULL;
    char name[PMU_NAME_MAX + 1];
    bool numbered = false;
    int rc;

    if (p->at[n] != '/' || n == 0)
        return 0;
    if (n > PMU_NAME_MAX)
        return no_such_pmu(p, n);
    memcpy(name, p->at, n);
    name[n] = '\0';
    pmu = host_pmu_find(p->host, name, &rc);
    if (!pmu && host_transient(rc))
        return parse_refuse(p, p->at, rc, rc == -ENOMEM ? RK_CAUSE_MEMORY : RK_CAUSE_DESCRIPTORS, NULL,
                            "cannot list the PMUs: %s", strerror(-rc));
    found = pmu ? 1 : count(p, n, false, &pmu);
    if (!found) {
        numbered = true;
        found = count(p, n, true, &pmu);
    }
    if (!found)
        return read_builtin(p) == 1 || read_raw(p) == 1 ? 1 : no_such_pmu(p, n);
    int64_t n_terms = terms_bytes(p, p->at + n);
    if (n_terms < 0)
        return (int)n_terms;
    rc = found == 1 ? on_one(p, n, (size_t)n_terms, pmu, false) : on_several(p, n, (size_t)n_terms, numbered);
    if (rc < 0)
        return rc;
    p->at += n + (size_t)n_terms + 2;
    return 1;
}

/* An alias of the core PMUs without its PMU: on each of them that has it. */
int read_alias(struct parser *p)
{
    struct host_pmu *const *cores;
    const struct pmu_alias *alias;
    size_t n = name_bytes(p->at), added = 0;
    int n_cores = host_cores(p->host, &cores), have = 0, rc;

    if (n_cores < 0)
        return parse_refuse(p, p->at, n_cores, n_cores == -ENOMEM ? RK_CAUSE_MEMORY : RK_CAUSE_DESCRIPTORS,
                            NULL, "cannot list the PMUs: %s", strerror(-n_cores));
    if (n == 0 || n > PMU_NAME_MAX)
        return 0;
    for (int i = 0; i < n_cores; i++)
        have += host_pmu_alias(p->host, cores[i], p->at, n, &alias) != -ENOENT;
    for (int i = 0; i < n_cores && have; i++) {
        if (host_pmu_alias(p->host, cores[i], p->at, n, &alias) == -ENOENT)
            continue;
        struct event_item *item = parse_add(p, &rc);
        if (!item)
            return rc;
        rc = terms_read(p, p->at, n, cores[i], item);
        if (rc == 0 && have > 1) {
            const char *shown = parse_text(p, "%s/%.*s/", cores[i]->name, (int)n, p->at);
            rc = shown ? parse_spread(p, item, cores[i], shown) : -ENOMEM;
        }
        if (rc < 0)
            return rc;
        added++;
    }
    if (!added)
        return 0;
    p->at += n;
    return 1;
}

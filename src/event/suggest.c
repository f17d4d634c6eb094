/*
 * The nearest names are looked for among the built-in ones, the aliases of every PMU (written with their PMU, so that
 * the proposal can be pasted); for what looks like a tracepoint, among those.
 */
#include "event/suggest.h"

#include "base/text.h"
#include "event/modifier.h"
#include "event/names.h"
#include "event/nearest.h"
#include "event/tracepoint.h"
#include "event/vendor.h"
#include "host/host.h"

#include <errno.h>

/* "msr/tsc/" for what is near to "tsc". */
static void offer_aliases(struct parser *p, struct nearest *nearest)
{
    int pmus = host_pmus(p->host);

    for (int i = 0; i < pmus; i++) {
        struct host_pmu *pmu = host_pmu_at(p->host, (size_t)i);
        int n = host_pmu_aliases(p->host, pmu);
        for (int k = 0; k < n; k++)
            nearest_offer_of(nearest, pmu->aliases.items[k].name, pmu->name);
    }
}

/* Whether "name:…" has letters behind its colon that are modifiers, all of them: then the name is wrong. */
static bool has_modifiers(const char *colon)
{
    size_t n = strcspn(colon + 1, ",{} \t\r\n");

    return n == strspn(colon + 1, MODIFIER_LETTERS);
}

int no_such_event(struct parser *p)
{
    char shown[100], remedy[256];
    struct nearest nearest;
    const char *name = p->at;
    size_t n = name_bytes(name), prefix = strlen("PERF_COUNT_HW_"), skip = 0;

    if (vendor_missing(p))
        return parse_refuse(
            p, name, -ENOENT, RK_CAUSE_MISSING_LIBRARY,
            "install libpfm4: sudo apt-get install libpfm4, or sudo dnf install libpfm",
            "%s: no such event; if it is a vendor's name, libpfm4 is needed, which is not installed",
            text_show(shown, sizeof shown, name, strcspn(name, ",{} \t\r\n")));
    int rc = vendor_unknown(p);
    if (rc < 0)
        return rc;
    if (name[n] == ':' && strchr(",{} \t\r\n", name[n + 1]) && tracepoint_system(p)) /* the NUL too */
        return parse_fail(p, name + n + 1, "expected the name of a tracepoint after '%s:'",
                          text_show(shown, sizeof shown, name, n));
    if (name[n] == ':' && !has_modifiers(name + n)) {
        rc = tracepoint_missing(p);
        if (rc < 0)
            return rc;
    }
    if (n > prefix &&
        (strncmp(name, "PERF_COUNT_HW_", prefix) == 0 || strncmp(name, "PERF_COUNT_SW_", prefix) == 0))
        skip = prefix;
    nearest_start(&nearest, name + skip, n - skip);
    for (size_t i = 0; name_at(i); i++)
        nearest_offer(&nearest, name_at(i));
    offer_aliases(p, &nearest);
    if (!skip)
        vendor_offer(p, &nearest);
    text_show(shown, sizeof shown, name, n);
    if (nearest.n == 0 && name[n] == ':' && strchr(",{} \t\r\n", name[n + 1]))
        return parse_fail(p, name + n + 1, "expected the name of a tracepoint after '%s:'", shown);
    return parse_refuse(p, name, -ENOENT, RK_CAUSE_NO_EVENT, nearest_remedy(&nearest, remedy, sizeof remedy),
                        "%s: no such event", shown);
}

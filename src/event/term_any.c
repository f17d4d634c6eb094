/*
 * Terms that need no PMU.
 */
#include "base/error.h"
#include "event/filter.h"
#include "event/reading.h"

#include <errno.h>
#include <inttypes.h>

static int rate(struct reading *r, const struct term *term, uint64_t *field, const uint64_t *other)
{
    uint64_t value;
    int rc = term_value(r, term, &value);

    if (rc < 0)
        return rc;
    if (value == 0)
        return parse_fail(r->p, term->value, "0 is invalid");
    if (*other)
        return parse_fail(r->p, term->name, "an event has a period or a freq, not both");
    *field = value;
    return 1;
}

static int call(struct reading *r, const struct term *term)
{
    if (!term->value || term->n_value == 0)
        return parse_fail(r->p, term->name + term->n, "name wants a text, as in name=loads");
    r->item->event.name = arena_text(&r->p->events->arena, term->value, term->n_value);
    if (!r->item->event.name)
        return fail_memory(r->p->e, RK_STAGE_EVENT);
    r->item->named = true;
    return 1;
}

/* Where the program's own count of a uprobe's users lies in the file: USDT probes have one. */
static int reference(struct reading *r, const struct term *term)
{
    const struct pmu_format *format = NULL;
    struct event_item *item = r->item;
    uint64_t value = 0;
    int rc;
    struct host_pmu *pmu = host_pmu_find(r->p->host, item->event.pmu, &rc);

    rc = pmu ? host_pmu_format(r->p->host, pmu, term->name, term->n, &format) : rc;
    if (rc == -ENOENT)
        return parse_refuse(r->p, term->name, -EOPNOTSUPP, RK_CAUSE_KERNEL_OLD, "leave it out",
                            "this kernel's uprobes have no ref_ctr_offset: Linux 4.20 brought it");
    if (rc < 0)
        return pmu ? parse_unreadable(r->p, term->name, pmu, "ref_ctr_offset", rc)
                   : parse_refuse(r->p, term->name, rc, RK_CAUSE_NO_PMU, NULL, "cannot list the PMUs");
    rc = term_value(r, term, &value);
    if (rc < 0)
        return rc;
    if (!format || format->word != 0 || term_deposit(value, format->mask, &item->event.config) < 0)
        return parse_fail(r->p, term->value, "ref_ctr_offset has %d bits",
                          format ? __builtin_popcountll(format->mask) : 0);
    item->extra = value ? parse_text(r->p, "ref_ctr_offset=%#" PRIx64, value) : NULL;
    return item->extra || !value ? 1 : -ENOMEM;
}

static int filter(struct reading *r, const struct term *term)
{
    if (!term->value || term->n_value == 0)
        return parse_fail(r->p, term->name + term->n, "filter wants a text, as in filter='prev_pid==1'");
    int rc = filter_read(r->p, term->value, term->n_value, r->item);
    return rc < 0 ? rc : 1;
}

/* Terms that need no PMU: 1, 0 it is none of them, -errno. */
int term_any(struct reading *r, const struct term *term)
{
    struct rk_event *event = &r->item->event;

    if (term_is(term, "period"))
        return rate(r, term, &event->period, &event->frequency);
    if (term_is(term, "freq"))
        return rate(r, term, &event->frequency, &event->period);
    if (!r->pmu && term_is(term, "filter"))
        return filter(r, term);
    if (!r->pmu && term_is(term, "ref_ctr_offset") && strcmp(event->pmu, "uprobe") == 0)
        return reference(r, term);
    return term_is(term, "name") ? call(r, term) : 0;
}

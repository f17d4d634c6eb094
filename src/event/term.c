/*
 * The canonical form of a PMU's event is its alias, where it has one, and those words of config … config4 that the
 * alias alone does not give: "uncore_imc_0/cas_count_read", "cpu/config=0x3c", "cpu/mem-loads,config1=0x32".
 */
#include "event/term.h"

#include "base/error.h"
#include "base/text.h"
#include "event/filter.h"
#include "event/names.h"
#include "event/nearest.h"
#include "event/reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static int unknown(struct reading *r, const struct term *term)
{
    char shown[60], remedy[256];
    struct nearest nearest;
    struct rk_host *host = r->p->host;

    nearest_start(&nearest, term->name, term->n);
    for (int i = 0, n = r->pmu ? host_pmu_formats(host, r->pmu) : 0; i < n; i++)
        nearest_offer(&nearest, host_pmu_format_at(host, r->pmu, (size_t)i)->name);
    for (int i = 0, n = r->pmu ? host_pmu_aliases(host, r->pmu) : 0; i < n; i++)
        nearest_offer(&nearest, host_pmu_alias_at(host, r->pmu, (size_t)i)->name);
    static const char *const others[] = {"period", "freq", "name", "filter", "ref_ctr_offset"};
    bool filters = !r->pmu && filter_possible(r->item);
    bool refers = !r->pmu && strcmp(r->item->event.pmu, "uprobe") == 0;
    for (size_t i = 0; i < 3u + filters + refers; i++)
        nearest_offer(&nearest, others[i]);
    for (size_t i = 0; r->pmu && i < PMU_WORDS; i++)
        nearest_offer(&nearest, term_words[i]);
    text_show(shown, sizeof shown, term->name, term->n);
    if (!r->pmu)
        return parse_refuse(r->p, term->name, -EINVAL, RK_CAUSE_SYNTAX,
                            nearest_remedy(&nearest, remedy, sizeof remedy),
                            "%s: after this event only period, freq%s%s and name are known", shown,
                            filters ? ", filter" : "", refers ? ", ref_ctr_offset" : "");
    bool named = !term->value;
    return parse_refuse(r->p, term->name, named ? -ENOENT : -EINVAL,
                        named ? RK_CAUSE_NO_EVENT : RK_CAUSE_SYNTAX,
                        nearest_remedy(&nearest, remedy, sizeof remedy), "%s: the PMU %s has no such %s",
                        shown, r->pmu->name, named ? "event or field" : "field");
}

/* The canonical body. */
static int make_body(struct reading *r)
{
    struct rk_event *event = &r->item->event;
    char text[PMU_WORDS * 32] = "", abi[NAME_MAX_FOLDED];
    size_t at = 0;

    r->item->terms = true;
    if (r->generic) {
        name_of_abi(event->type, event->config & UINT32_MAX, abi);
        r->item->body = parse_text(r->p, "%s/%s", r->pmu->name, abi);
        return r->item->body ? 0 : -ENOMEM;
    }
    for (size_t i = 0; i < PMU_WORDS; i++)
        if (r->words[i] != (r->alias ? r->of_alias[i] : 0) || (r->open_words >> i & 1))
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%#" PRIx64, at || r->alias ? "," : "",
                                   term_words[i], r->words[i]);
    if (!r->alias && at == 0)
        snprintf(text, sizeof text, "config=0");
    r->item->body = parse_text(r->p, "%s/%s%s", r->pmu->name, r->alias ? r->alias->name : "", text);
    return r->item->body ? 0 : -ENOMEM;
}

static int finish(struct reading *r, const char *text)
{
    struct rk_event *event = &r->item->event;
    char name[40];
    int rc;

    if (!r->pmu)
        return 0;
    if (r->n_open)
        return parse_fail(r->p, r->alias_at, "this event wants %s= too",
                          text_show(name, sizeof name, r->open[0].name, r->open[0].n));
    if (r->generic && (r->fields || r->alias))
        return parse_fail(r->p, text, "a generic event takes no fields");
    if (!r->generic) {
        rc = host_pmu_type(r->p->host, r->pmu, &event->type);
        if (rc < 0)
            return parse_unreadable(r->p, text, r->pmu, "type", rc);
        event->config = r->words[0];
        event->config1 = r->words[1];
        event->config2 = r->words[2];
        event->config3 = r->words[3];
        event->config4 = r->words[4];
    }
    event->pmu = arena_text(&r->p->events->arena, r->pmu->name, strlen(r->pmu->name));
    if (!event->pmu)
        return fail_memory(r->p->e, RK_STAGE_EVENT);
    return make_body(r);
}

int terms_read(struct parser *p, const char *text, size_t n, struct host_pmu *pmu, struct event_item *item)
{
    struct reading r = {.p = p, .pmu = pmu, .item = item};
    const char *at = text, *end = text + n;
    struct term term;
    int rc;

    while ((rc = term_next(&at, end, &term)) > 0) {
        rc = term_any(&r, &term);
        if (rc == 0 && pmu)
            rc = term_word(&r, &term);
        if (rc == 0 && pmu)
            rc = term_alias(&r, &term);
        if (rc == 0 && pmu)
            rc = term_field(&r, &term, term.value ? term.value : term.name);
        if (rc == 0 && pmu)
            rc = term_generic(&r, &term);
        if (rc <= 0)
            return rc < 0 ? rc : unknown(&r, &term);
        if (at < end)
            at++;
    }
    if (rc < 0)
        return parse_fail(p, at,
                          at == end            ? "expected a term, got '/'"
                          : term_is_quote(*at) ? "a quote stands around the whole value, as in name='a b'"
                                               : "expected a term, as in event=0x3c");
    return finish(&r, text);
}

int terms_generic(struct parser *p, const char *at, uint32_t type, uint64_t config, struct host_pmu *pmu,
                  struct event_item *item)
{
    struct reading r = {.p = p, .pmu = pmu, .item = item};
    int rc = term_on_core(&r, at, type, config);

    return rc < 0 ? rc : finish(&r, at);
}

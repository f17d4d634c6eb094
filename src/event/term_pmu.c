/*
 * Terms of a PMU: what its format/ and events/ have, whole words, and on a core PMU the generic events.
 */
#include "base/abi.h"
#include "base/error.h"
#include "base/text.h"
#include "event/names.h"
#include "event/number.h"
#include "event/reading.h"

#include <errno.h>
#include <inttypes.h>

const char *const term_words[PMU_WORDS] = {"config", "config1", "config2", "config3", "config4"};

/* A field has its value: of that name, or (NULL) each that lies in the word. */
static void fill_open(struct reading *r, const char *name, size_t n, uint32_t in_word)
{
    for (size_t i = 0; i < r->n_open;)
        if (name ? r->open[i].n == n && memcmp(r->open[i].name, name, n) == 0 : r->open[i].word == in_word)
            r->open[i] = r->open[--r->n_open];
        else
            i++;
}

int term_word(struct reading *r, const struct term *term)
{
    for (uint32_t i = 0; i < PMU_WORDS; i++)
        if (term_is(term, term_words[i])) {
            int rc = term_value(r, term, &r->words[i]);
            r->fields = true;
            fill_open(r, NULL, 0, i);
            return rc < 0 ? rc : 1;
        }
    return 0;
}

/* `at`: where in the text it is to be blamed. */
int term_field(struct reading *r, const struct term *term, const char *at)
{
    const struct pmu_format *format;
    char name[40];
    uint64_t value = 1;
    int rc = host_pmu_format(r->p->host, r->pmu, term->name, term->n, &format);

    if (rc == -ENOENT)
        return 0;
    text_show(name, sizeof name, term->name, term->n);
    if (rc < 0)
        return parse_unreadable(r->p, at, r->pmu, name, rc);
    if (term->value && (rc = number_parse(term->value, term->n_value, &value)) == -EINVAL)
        return parse_fail(r->p, at, "%s wants a number, as in %s=0x1", name, name);
    if (rc < 0 || term_deposit(value, format->mask, &r->words[format->word]) < 0) {
        int bits = __builtin_popcountll(format->mask);
        return parse_fail(r->p, at, "%s has %d bit%s: at most %#" PRIx64, name, bits, bits == 1 ? "" : "s",
                          bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
    }
    fill_open(r, term->name, term->n, 0);
    r->fields = true;
    return 1;
}

/* "core=?" of an alias: 1, or 0 where the PMU has no such field. */
static int leave_open(struct reading *r, const struct term *term)
{
    const struct pmu_format *format = NULL;

    if (r->n_open == OPEN_MAX || host_pmu_format(r->p->host, r->pmu, term->name, term->n, &format) < 0)
        return 0;
    r->open[r->n_open].name = term->name;
    r->open[r->n_open].n = term->n;
    r->open[r->n_open++].word = format->word;
    r->open_words |= UINT32_C(1) << format->word;
    return 1;
}

/* What an alias stands for, from sysfs. */
static int alias_terms(struct reading *r, const struct pmu_alias *alias, const char *at)
{
    const char *text = alias->terms, *end = text + strlen(text);
    struct term term;
    int rc;

    while ((rc = term_next(&text, end, &term)) > 0) {
        if (term.value && term.n_value == 1 && *term.value == '?') {
            rc = leave_open(r, &term);
        } else if ((rc = term_word(r, &term)) == 0) {
            rc = term_field(r, &term, at);
        }
        if (rc < 0)
            return rc;
        if (rc == 0) /* no such field, be it the last: without it, it would be another event */
            return parse_unreadable(r->p, at, r->pmu, alias->name, -EBADMSG);
        if (text < end)
            text++;
    }
    if (rc < 0 || text < end)
        return parse_unreadable(r->p, at, r->pmu, alias->name, -EBADMSG);
    r->alias = alias;
    r->alias_at = at;
    r->item->event.scale = alias->scale;
    memcpy(r->of_alias, r->words, sizeof r->words);
    r->item->event.unit = arena_text(&r->p->events->arena, alias->unit, strlen(alias->unit));
    return r->item->event.unit ? 1 : fail_memory(r->p->e, RK_STAGE_EVENT);
}

int term_alias(struct reading *r, const struct term *term)
{
    /* event=NAME is another spelling of NAME */
    bool by_event = term->value && term_is(term, "event");
    const char *name = by_event ? term->value : term->name;
    size_t n = by_event ? term->n_value : term->n;
    const struct pmu_alias *found;

    if (term->value && (!by_event || (n > 0 && name[0] >= '0' && name[0] <= '9')))
        return 0;
    int rc = host_pmu_alias(r->p->host, r->pmu, name, n, &found);
    if (rc == -ENOENT)
        return 0;
    char shown[40];
    if (rc < 0)
        return parse_unreadable(r->p, name, r->pmu, text_show(shown, sizeof shown, name, n), rc);
    if (r->alias)
        return parse_fail(r->p, name, "an event has one alias; this is the second");
    return alias_terms(r, found, name);
}

/* The kernel knows no generic events of a PMU: its own of that meaning. 1 or -errno. */
static int by_alias(struct reading *r, const char *at, uint32_t type, uint64_t config)
{
    const struct pmu_alias *found;
    const char *name;
    int rc = -ENOENT;

    for (size_t i = 0; rc == -ENOENT && (name = name_of_alias(type, config, i)); i++)
        if ((rc = host_pmu_alias(r->p->host, r->pmu, name, strlen(name), &found)) == 0)
            return alias_terms(r, found, at);
    if (rc != -ENOENT)
        return parse_unreadable(r->p, at, r->pmu, name, rc);
    return parse_refuse(r->p, at, -EOPNOTSUPP, RK_CAUSE_KERNEL_OLD,
                        "name an event that the PMU has: `reckon list` shows them",
                        "this kernel cannot open generic events of one of several core PMUs (Linux 5.13, on "
                        "arm64 6.6, can), and %s has none of its own that means the same",
                        r->pmu->name);
}

/* Of several core PMUs: 1 or -errno. */
int term_on_core(struct reading *r, const char *at, uint32_t type, uint64_t config)
{
    uint32_t own;

    if (rk_host_feature(r->p->host, RK_FEATURE_PMU_TYPE) == 0)
        return by_alias(r, at, type, config);
    int rc = host_pmu_type(r->p->host, r->pmu, &own);
    if (rc < 0)
        return parse_unreadable(r->p, at, r->pmu, "type", rc);
    r->item->event.type = type;
    r->item->event.config = config | (uint64_t)own << 32;
    r->generic = true;
    return 1;
}

/* cycles or r3c on a core PMU. */
int term_generic(struct reading *r, const struct term *term)
{
    char folded[NAME_MAX_FOLDED];
    struct rk_event *event = &r->item->event;
    struct host_pmu *const *cores;
    uint32_t type;
    uint64_t config;

    if (term->value || host_pmu_core(r->p->host, r->pmu) != 1)
        return 0;
    if (raw_parse(term->name, term->n, &config) == 1) {
        r->words[0] = config;
        r->fields = true;
        return 1;
    }
    if (!name_fold(folded, term->name, term->n) || !name_find(folded, &type, &config) ||
        type == PERF_SOFTWARE)
        return 0;
    if (r->generic)
        return parse_fail(r->p, term->name, "an event has one name; this is the second");
    if (host_cores(r->p->host, &cores) > 1)
        return term_on_core(r, term->name, type, config);
    event->type = type;
    event->config = config;
    r->generic = true;
    return 1;
}

/*
 * The canonical form of a PMU's event is its alias, where it has one, and those words of config … config4 that the
 * alias alone does not give: "uncore_imc_0/cas_count_read", "cpu/config=0x3c", "cpu/mem-loads,config1=0x32".
 */
#include "event/term.h"

#include "base/abi.h"
#include "base/error.h"
#include "base/text.h"
#include "event/filter.h"
#include "event/names.h"
#include "event/nearest.h"
#include "event/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

struct term {
    const char *name, *value; /* value NULL: none is written */
    size_t n, n_value;
};

#define OPEN_MAX 16

struct reading {
    struct parser *p;
    struct host_pmu *pmu;
    struct event_item *item;
    const struct pmu_alias *alias;
    bool generic; /* the event is HARDWARE or HW_CACHE: it has no fields */
    bool fields;  /* some field or word was set */
    uint64_t words[PMU_WORDS], of_alias[PMU_WORDS];
    struct { /* fields of the alias for which the user must give the value: "core=?" */
        const char *name;
        size_t n;
        uint32_t word;
    } open[OPEN_MAX];
    size_t n_open;
    uint32_t open_words;  /* bit by bit: words that they lie in */
    const char *alias_at; /* in the text */
};

static const char *const words[PMU_WORDS] = {"config", "config1", "config2", "config3", "config4"};

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

int64_t terms_bytes(struct parser *p, const char *slash)
{
    char quote = 0;
    size_t n = 1;

    for (; slash[n] && (quote || slash[n] != '/'); n++)
        if (quote ? slash[n] == quote : is_quote(slash[n]))
            quote = quote ? 0 : slash[n];
    if (!slash[n])
        return parse_fail(p, slash + n,
                          quote ? "the quote is not closed" : "expected '/' behind the terms, got the end");
    return (int64_t)(n - 1);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The next term of [*at, end): 1, or 0 at the end, or -EINVAL where there is a comma and no term. */
static int next_term(const char **at, const char *end, struct term *ret)
{
    const char *c = *at, *last;

    while (c < end && is_blank(*c))
        c++;
    if (c == end)
        return 0;
    *ret = (struct term){.name = c};
    while (c < end && *c != ',' && *c != '=')
        c++;
    ret->n = (size_t)(c - ret->name);
    while (ret->n > 0 && is_blank(ret->name[ret->n - 1]))
        ret->n--;
    if (c < end && *c == '=') {
        for (c++; c < end && is_blank(*c);)
            c++;
        char quote = 0;
        if (c < end && is_quote(*c))
            quote = *c++;
        ret->value = c;
        while (c < end && (quote ? *c != quote : *c != ',' && !is_quote(*c)))
            c++;
        last = c;
        while (!quote && last > ret->value && is_blank(last[-1]))
            last--;
        ret->n_value = (size_t)(last - ret->value);
        if (quote && c < end)
            c++;
        while (c < end && is_blank(*c))
            c++;
    }
    *at = c;
    return ret->n == 0 || (c < end && *c != ',') ? -EINVAL : 1;
}

static bool is(const struct term *term, const char *name)
{
    return strlen(name) == term->n && memcmp(term->name, name, term->n) == 0;
}

/* The value's bits to the mask's, from the lowest on: 0, or -ERANGE where it has more. */
static int deposit(uint64_t value, uint64_t mask, uint64_t *word)
{
    uint64_t bits = 0;

    for (uint64_t left = mask; left && value; left &= left - 1, value >>= 1)
        if (value & 1)
            bits |= left & -left;
    if (value)
        return -ERANGE;
    *word = (*word & ~mask) | bits;
    return 0;
}

static int value_of(struct reading *r, const struct term *term, uint64_t *ret)
{
    char name[40];
    int rc = term->value ? number_parse(term->value, term->n_value, ret) : -EINVAL;

    if (rc < 0)
        rc = parse_fail(r->p, term->value ? term->value : term->name + term->n,
                        rc == -ERANGE ? "the value of %s has more than 64 bits"
                                      : "%s wants a number, as in %s=0x1f",
                        text_show(name, sizeof name, term->name, term->n), name);
    return rc;
}

static int rate(struct reading *r, const struct term *term, uint64_t *field, const uint64_t *other)
{
    uint64_t value;
    int rc = value_of(r, term, &value);

    if (rc < 0)
        return rc;
    if (value == 0)
        return parse_fail(r->p, term->value, "it can't be 0");
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
                   : parse_refuse(r->p, term->name, rc, RK_CAUSE_NO_PMU, NULL, "the PMUs can't be listed");
    rc = value_of(r, term, &value);
    if (rc < 0)
        return rc;
    if (format->word != 0 || deposit(value, format->mask, &item->event.config) < 0)
        return parse_fail(r->p, term->value, "ref_ctr_offset has %d bits",
                          __builtin_popcountll(format->mask));
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
static int universal(struct reading *r, const struct term *term)
{
    struct rk_event *event = &r->item->event;

    if (is(term, "period"))
        return rate(r, term, &event->period, &event->frequency);
    if (is(term, "freq"))
        return rate(r, term, &event->frequency, &event->period);
    if (!r->pmu && is(term, "filter"))
        return filter(r, term);
    if (!r->pmu && is(term, "ref_ctr_offset") && strcmp(event->pmu, "uprobe") == 0)
        return reference(r, term);
    return is(term, "name") ? call(r, term) : 0;
}

/* A field has its value: of that name, or (NULL) each that lies in the word. */
static void fill_open(struct reading *r, const char *name, size_t n, uint32_t in_word)
{
    for (size_t i = 0; i < r->n_open;)
        if (name ? r->open[i].n == n && memcmp(r->open[i].name, name, n) == 0 : r->open[i].word == in_word)
            r->open[i] = r->open[--r->n_open];
        else
            i++;
}

static int word(struct reading *r, const struct term *term)
{
    for (uint32_t i = 0; i < PMU_WORDS; i++)
        if (is(term, words[i])) {
            int rc = value_of(r, term, &r->words[i]);
            r->fields = true;
            fill_open(r, NULL, 0, i);
            return rc < 0 ? rc : 1;
        }
    return 0;
}

/* `at`: where in the text it is to be blamed. */
static int field(struct reading *r, const struct term *term, const char *at)
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
    if (rc < 0 || deposit(value, format->mask, &r->words[format->word]) < 0) {
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

    while ((rc = next_term(&text, end, &term)) > 0) {
        if (term.value && term.n_value == 1 && *term.value == '?') {
            rc = leave_open(r, &term);
        } else if ((rc = word(r, &term)) == 0) {
            rc = field(r, &term, at);
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

static int alias(struct reading *r, const struct term *term)
{
    /* event=NAME is another spelling of NAME */
    bool by_event = term->value && is(term, "event");
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
    return parse_refuse(
        r->p, at, -EOPNOTSUPP, RK_CAUSE_KERNEL_OLD,
        "name an event that the PMU has: `reckon list` shows them",
        "this kernel can't be asked for generic events of one of several core PMUs (Linux 5.13, on "
        "arm64 6.6, can), and %s has none of its own that means the same",
        r->pmu->name);
}

/* Of several core PMUs: 1 or -errno. */
static int on_core(struct reading *r, const char *at, uint32_t type, uint64_t config)
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
static int generic(struct reading *r, const struct term *term)
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
        return on_core(r, term->name, type, config);
    event->type = type;
    event->config = config;
    r->generic = true;
    return 1;
}

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
        nearest_offer(&nearest, words[i]);
    text_show(shown, sizeof shown, term->name, term->n);
    if (!r->pmu)
        return parse_refuse(r->p, term->name, -EINVAL, RK_CAUSE_SYNTAX,
                            nearest_remedy(&nearest, remedy, sizeof remedy),
                            "%s: behind this event only period, freq%s%s and name can be said", shown,
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
                                   words[i], r->words[i]);
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

    while ((rc = next_term(&at, end, &term)) > 0) {
        rc = universal(&r, &term);
        if (rc == 0 && pmu)
            rc = word(&r, &term);
        if (rc == 0 && pmu)
            rc = alias(&r, &term);
        if (rc == 0 && pmu)
            rc = field(&r, &term, term.value ? term.value : term.name);
        if (rc == 0 && pmu)
            rc = generic(&r, &term);
        if (rc <= 0)
            return rc < 0 ? rc : unknown(&r, &term);
        if (at < end)
            at++;
    }
    if (rc < 0)
        return parse_fail(p, at,
                          at == end       ? "expected a term, got '/'"
                          : is_quote(*at) ? "a quote stands around the whole value, as in name='a b'"
                                          : "expected a term, as in event=0x3c");
    return finish(&r, text);
}

int terms_generic(struct parser *p, const char *at, uint32_t type, uint64_t config, struct host_pmu *pmu,
                  struct event_item *item)
{
    struct reading r = {.p = p, .pmu = pmu, .item = item};
    int rc = on_core(&r, at, type, config);

    return rc < 0 ? rc : finish(&r, at);
}

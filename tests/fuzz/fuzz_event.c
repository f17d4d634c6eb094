/*
 * The event grammar, on a machine that has PMUs with formats and aliases, tracepoints and probes (the fake root in
 * tests/fuzz/root). What parses must print, and what was printed must parse to the same events; what does
 * not must say where.
 */
#include "fuzz.h"

#include <reckon/event.h>

#include <errno.h>
#include <string.h>

#ifndef FUZZ_ROOT
#error "FUZZ_ROOT is the fake machine"
#endif

static void check_same(const struct rk_events *a, const struct rk_events *b)
{
    HOLDS(rk_events_count(a) == rk_events_count(b));
    for (size_t i = 0; i < rk_events_count(a); i++) {
        struct rk_event x = {.size = sizeof x}, y = {.size = sizeof y};
        HOLDS(rk_events_get(a, i, &x) == 0 && rk_events_get(b, i, &y) == 0);
        fuzz_touch_text(x.name);
        fuzz_touch_text(x.unit);
        HOLDS(x.type == y.type && x.config == y.config && x.config1 == y.config1 && x.config2 == y.config2 &&
              x.config3 == y.config3 && x.config4 == y.config4);
        HOLDS(x.flags == y.flags && x.precise == y.precise && x.bp_type == y.bp_type);
        HOLDS(!strcmp(x.unit, y.unit) && !strcmp(x.probe, y.probe) &&
              !memcmp(&x.scale, &y.scale, sizeof x.scale));
        HOLDS(!strcmp(x.filter, y.filter) && !strcmp(x.pmu, y.pmu));
        HOLDS(x.group == y.group && x.period == y.period && x.frequency == y.frequency);
    }
}

/* Where unknown names stay: what parses without them parses to the same, and what is printed to as many. */
static void check_kept(struct rk_host *host, const char *text, const struct rk_events *strict)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *kept = NULL, *again = NULL;

    if (rk_events_parse_keep(host, text, &kept, &e) < 0) {
        HOLDS(!strict && e.code < 0 && e.what[0] && e.position <= strlen(text));
        return;
    }
    if (strict)
        check_same(strict, kept);
    for (size_t i = 0; i < rk_events_count(kept); i++) {
        struct rk_event event = {.size = sizeof event};
        HOLDS(rk_events_get(kept, i, &event) == 0);
        int rc = rk_events_explain(kept, i, &e);
        HOLDS(event.flags & RK_EVENT_ABSENT ? rc == 0 && e.code < 0 && e.what[0] : rc == -ENOENT);
        fuzz_touch_text(event.name);
    }
    if (rk_events_parse_keep(host, rk_events_print(kept), &again, &e) < 0) {
        fprintf(stderr, "\"%s\" was kept as \"%s\": %s\n", text, rk_events_print(kept), e.what);
        abort();
    }
    check_same(kept, again);
    rk_events_free(again);
    rk_events_free(kept);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rk_host *host;
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events = NULL, *again = NULL;

    if (!host)
        HOLDS(rk_host_open(FUZZ_ROOT, &host, NULL) == 0);
    char *text = malloc(size + 1);
    HOLDS(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    int rc = rk_events_parse(host, text, &events, &e);
    if (rc < 0) {
        HOLDS(e.code == rc && e.what[0] && !events && e.position <= strlen(text));
    } else {
        const char *printed = rk_events_print(events);
        HOLDS(printed);
        if (rk_events_parse(host, printed, &again, &e) < 0) {
            fprintf(stderr, "\"%s\" was printed as \"%s\": %s\n", text, printed, e.what);
            abort();
        }
        check_same(events, again);
        HOLDS(!strcmp(printed, rk_events_print(again)));
    }
    check_kept(host, text, rc < 0 ? NULL : events);
    rk_events_free(events);
    rk_events_free(again);
    free(text);
    return 0;
}

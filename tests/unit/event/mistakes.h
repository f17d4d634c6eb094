/*
 * What is said of mistakes: a table of texts, each with the code, the cause, the place and words of the error.
 * Includes nothing of cmocka's own: the test has.
 */
#ifndef MISTAKES_H
#define MISTAKES_H

#include <reckon/event.h>

struct mistake {
    const char *text;
    int rc;
    uint32_t cause, position;
    const char *what, *remedy; /* are in it */
};

/* Each is told so, with or without an error to fill; the result stays untouched, and what is said is one line. */
static inline void expect_mistakes(struct rk_host *host, const struct mistake *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct rk_events *const untouched = (struct rk_events *)1, *events = untouched;
        struct rk_error e = {.size = sizeof e};
        int rc = rk_events_parse(host, rows[i].text, &events, &e);
        if (rc != rows[i].rc || e.code != rc || e.cause != rows[i].cause || e.position != rows[i].position ||
            e.stage != RK_STAGE_EVENT || !strstr(e.what, rows[i].what) || !strstr(e.remedy, rows[i].remedy))
            fail_msg("\"%s\": %d, cause %s at %u: %s / %s", rows[i].text, rc, rk_cause_name(e.cause),
                     e.position, e.what, e.remedy);
        assert_ptr_equal(events, untouched);
        for (const char *c = e.what; *c; c++)
            assert_true((unsigned char)*c >= 0x20);
        assert_int_equal(rk_events_parse(host, rows[i].text, &events, NULL), rc);
    }
}

#endif

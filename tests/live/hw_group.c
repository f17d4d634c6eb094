/*
 * A group that fits counts together, all of the time. One with a member too many must not be zeros without
 * a word: the kernel on arm64 lets it open under a disabled leader, and then never runs it.
 *
 * The guest's PMU has six counters and one for cycles, so that seven events fit.
 */
#include "session.h"

#define FITS "{cycles:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u}"
#define TOO_MANY "{cycles:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u,r8:u}"

static void run(struct rk_set *set, struct rk_value *v, size_t n)
{
    EQUAL(rk_set_event_count(set), n);
    EQUAL(rk_set_enable(set), 0);
    spin(1000000);
    EQUAL(rk_set_disable(set), 0);
    EQUAL(rk_set_total(set, v, NULL, n), 0);
}

static void check_fits(struct rk_host *host)
{
    struct rk_value v[7];
    struct rk_set *set = live_self(host, FITS, NULL);
    run(set, v, 7);
    for (int i = 0; i < 7; i++) {
        CHECK(v[i].running > 0);
        EQUAL(v[i].running, v[i].enabled);
        if (i > 0)
            EQUAL(v[i].value, v[1].value);
    }
    CHECK(v[1].value > 2000000 && v[1].value < 2002000);
    rk_set_free(set);
}

static void check_too_many(struct rk_host *host)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;
    struct rk_value v[8];

    OK(rk_events_parse(host, TOO_MANY, &events, &e));
    OK(rk_target_self(&self, &e));
    int rc = rk_set_open(host, events, self, NULL, &set, &e);
    if (rc < 0) {
        EQUAL(e.code, rc);
        CHECK(e.what[0]);
    } else {
        run(set, v, 8);
        for (size_t i = 0; i < 8; i++) {
            struct rk_error why = {.size = sizeof why};
            if (v[i].running == 0)
                CHECK(rk_set_explain(set, SIZE_MAX, i, &why) == 0 && why.what[0]);
            else /* split, and each counted */
                CHECK(v[i].value > 2000000);
        }
    }
    rk_set_free(set);
    rk_target_free(self);
    rk_events_free(events);
}

/* The same on another process, where the trick that makes the kernel check can't be used. */
static void check_attached(struct rk_host *host)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events = NULL;
    struct rk_target *target = NULL;
    struct rk_set *set = NULL;
    struct rk_note note = {.size = sizeof note};
    pid_t pid = fork();

    if (pid == 0)
        for (;;)
            pause();
    OK(rk_target_process(pid, &target, &e));
    OK(rk_events_parse(host, TOO_MANY, &events, &e));
    EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -EINVAL);
    CHECK(set == NULL && strstr(e.what, "does not fit"));
    rk_events_free(events);
    OK(rk_events_parse(host, FITS, &events, &e));
    OK(rk_set_open(host, events, target, NULL, &set, &e));
    EQUAL(rk_set_note_count(set), 0);
    set = rk_set_free(set);
    rk_events_free(events);
    OK(rk_events_parse(host, "{instructions:u,r8:u,r8:u,r8:u,cycles:u,r8:u,r8:u,r8:u}:W", &events, &e));
    OK(rk_set_open(host, events, target, NULL, &set, &e));
    EQUAL(rk_set_note_count(set), 1);
    EQUAL(rk_set_note_get(set, 0, &note), 0);
    CHECK(strstr(note.what, "those of a ratio together"));
    rk_set_free(set);
    rk_events_free(events);
    rk_target_free(target);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    if (!live_exact())
        SKIP("how many counters there are is known of the guest only");
    OK(rk_host_open(NULL, &host, &e));
    check_fits(host);
    check_too_many(host);
    check_attached(host);
    rk_host_free(host);
    return 0;
}

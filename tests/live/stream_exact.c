/* At period 1 every page fault is a sample: kept + lost = count, exactly; and in the order of time. */
#include "session.h"

static const char *self;

struct tally {
    uint64_t samples, forks, maps, execs;
};

static void read_all(struct rk_stream *st, struct tally *t)
{
    const struct rk_record *r;
    uint64_t last = 0;
    int rc;
    while ((rc = rk_stream_next(st, &r)) == 1) {
        struct rk_sample s = {.size = sizeof s};
        CHECK((r->present & RK_SAMPLE_TIME) && r->time >= last);
        last = r->time;
        CHECK(r->event == 0);
        t->forks += r->type == RK_RECORD_FORK;
        t->maps += r->type == RK_RECORD_MMAP2;
        t->execs += r->type == RK_RECORD_COMM && (r->misc & RK_MISC_COMM_EXEC);
        if (r->type == RK_RECORD_SAMPLE) {
            CHECK(rk_stream_sample(st, r, &s) == 0);
            EQUAL(s.period, 1);
            EQUAL(s.time, r->time);
            EQUAL(s.tid, r->tid);
            t->samples++;
        }
        rk_stream_release(st);
    }
    EQUAL(rc, 0);
}

static void check_sums(struct rk_stream *st, struct rk_set *set, const struct tally *t)
{
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_value v;
    EQUAL(rk_set_total(set, &v, NULL, 1), 0);
    EQUAL(rk_stream_loss(st, 0, &loss), 0);
    EQUAL(loss.kept, t->samples);
    EQUAL(loss.present, RK_LOSS_LOST | RK_LOSS_SKIPPED);
    EQUAL(loss.lost, 0);
    EQUAL(loss.skipped, 0);
    EQUAL(loss.kept, v.value);
}

/* One thread, one ring, straight from it. */
static void own_thread(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {
        .size = sizeof o, .period = 1, .flags = RK_SET_NO_INHERIT, .ring_bytes = 256 << 10};
    struct session s = session_open("page-faults", NULL, &o);
    struct rk_stream *st;
    struct tally t = {0};
    OK(rk_stream_live(s.set, &st, &e));
    CHECK(rk_stream_fd(st) >= 0);
    EQUAL(rk_set_enable(s.set), 0);
    touch(1000);
    EQUAL(rk_set_disable(s.set), 0);
    EQUAL(rk_stream_drain(st), 0);
    read_all(st, &t);
    CHECK(t.samples >= 1000); /* a sanitizer makes faults of its own */
    check_sums(st, s.set, &t);
    rk_stream_free(st);
    session_close(&s);
}

/* A command with threads and children: one ring per CPU, merged while it runs. */
static void command(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {.size = sizeof o, .period = 1, .records = RK_RECORDS_PROFILE};
    char *argv[] = {(char *)self, "fault", NULL};
    struct session s = session_open("page-faults", argv, &o);
    struct rk_stream *st;
    struct tally t = {0};
    OK(rk_stream_live(s.set, &st, &e));
    OK(rk_target_start(s.target, &e));
    session_wait(&s, 0);
    rk_set_disable(s.set);
    EQUAL(rk_stream_drain(st), 0);
    read_all(st, &t);
    CHECK(t.samples >= 2000);
    EQUAL(t.execs, 1);
    CHECK(t.forks >= 4);
    CHECK(t.maps >= 1);
    check_sums(st, s.set, &t);
    rk_stream_free(st);
    session_close(&s);
}

static void both(void)
{
    own_thread();
    command();
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* the command: four children, 500 faults each */
        for (int i = 0; i < 4; i++)
            if (fork() == 0) {
                touch(500);
                _exit(0);
            }
        while (wait(NULL) > 0)
            ;
        return 0;
    }
    static char path[4096];
    use_directory_and_self(path, sizeof path);
    self = path;
    both();
    as_plain_user(both);
    (void)argv;
    return 0;
}

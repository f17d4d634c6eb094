/*
 * Counts the instructions of fib(30) and samples its user stack, 8 bytes a thousand times a second.
 * Where this machine has no hardware counters it says so and takes the task's clock.
 */
#include <reckon/reckon.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

static struct rk_host *host;
static struct rk_error e = {.size = sizeof e};

__attribute__((noinline)) static uint64_t fib(uint64_t n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* The event on the calling thread, sampling; NULL and the reason in e. */
static struct rk_set *open_set(const char *name)
{
    struct rk_set_options options = {
        .size = sizeof options,
        .flags = RK_SET_NO_INHERIT,
        .frequency = 1000,
        .sample = RK_SAMPLE_STACK_USER,
        .stack_user = 8,
        .ring_bytes = 64 << 10,
    };
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;
    struct rk_set *set = NULL;

    if (rk_events_parse(host, name, &events, &e) == 0 && rk_target_self(&self, &e) == 0)
        rk_set_open(host, events, self, &options, &set, &e);
    rk_target_free(self);
    rk_events_free(events);
    return set;
}

static void print_sample(const struct rk_record *record, const struct rk_sample *sample)
{
    static const char *const modes[] = {"?", "kernel", "user"};
    unsigned mode = record->misc & RK_MISC_MODE;

    printf("%-6s ip %#014" PRIx64 "  user stack", mode < 3 ? modes[mode] : "other", sample->ip);
    for (uint64_t i = 0; i < sample->stack_used; i++)
        printf(" %02x", sample->stack[i]);
    printf("%s\n", sample->stack_used ? "" : " not readable here");
}

int main(void)
{
    const struct rk_record *record;
    const char *unit = "instructions";
    struct rk_stream *stream;
    struct rk_value value;
    struct rk_loss loss = {.size = sizeof loss};
    unsigned n = 0;
    int rc;

    if (rk_host_open(NULL, &host, &e) < 0) {
        fprintf(stderr, "%s\n", e.what);
        return 1;
    }
    struct rk_set *set = open_set("instructions");
    if (!set && e.cause == RK_CAUSE_NO_PMU) {
        fprintf(stderr, "%s; counting the task's clock in its place\n", e.what);
        unit = "ns of task-clock";
        set = open_set("task-clock");
    }
    if (!set || rk_stream_live(set, &stream, &e) < 0) {
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
        return 1;
    }

    rk_set_enable(set);
    volatile uint64_t result = fib(30);
    rk_set_disable(set);

    rk_set_total(set, &value, NULL, 1);
    printf("fib(30) = %" PRIu64 ": %" PRIu64 " %s\n", result, value.value, unit);
    rk_stream_drain(stream);
    while ((rc = rk_stream_next(stream, &record)) == 1 || rc == -EBADMSG) { /* a damaged one is left out */
        struct rk_sample sample = {.size = sizeof sample};
        if (rc == 1 && rk_stream_sample(stream, record, &sample) == 0)
            print_sample(record, &sample);
        if (++n % 256 == 0)
            rk_stream_release(stream);
    }
    if (rc < 0 && rk_stream_explain(stream, &e) == 0)
        fprintf(stderr, "%s\n", e.what);
    rk_stream_loss(stream, 0, &loss);
    printf("%" PRIu64 " samples, %" PRIu64 " lost\n", loss.kept, loss.lost);
    rk_stream_free(stream);
    rk_set_free(set);
    rk_host_free(host);
    return rc < 0;
}

/*
 * The whole line: this program runs itself, is recorded, and its recording becomes a profile that names where
 * the time went.
 */
#include "live.h"

#include <time.h>
#include <unistd.h>

/* No memory is touched, so that both take the same time for each round. */
#define BURN(name)                                   \
    __attribute__((noinline)) void name(uint64_t n); \
    void name(uint64_t n)                            \
    {                                                \
        for (uint64_t i = 0; i < n; i++)             \
            __asm__ volatile("" : "+r"(i));          \
    }
BURN(burn_most)
BURN(burn_some)

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int work(void)
{
    while (seconds() < 0.3) {
        burn_most(300000);
        burn_some(100000);
    }
    return 0;
}

static void record(const char *path)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_capture *capture;
    char *argv[] = {"/proc/self/exe", "work", NULL};
    struct rk_set_options options = {.size = sizeof options,
                                     .frequency = 2000,
                                     .records = RK_RECORDS_PROFILE,
                                     .sample = RK_SAMPLE_CALLCHAIN};
    struct rk_capture_options to = {.size = sizeof to, .path = path};
    int rc;

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "cpu-clock:u", &events, &e));
    OK(rk_target_command(argv, NULL, &target, &e));
    if (rk_set_open(host, events, target, &options, &set, &e) < 0)
        SKIP("cpu-clock can't be sampled: %s", e.what);
    OK(rk_capture_open(host, set, target, &to, &capture, &e));
    OK(rk_target_start(target, &e));
    while ((rc = rk_capture_step(capture, 100)) == 1)
        ;
    CHECK(rc == 0);
    OK(rk_capture_finish(capture, NULL, &e));
    rk_capture_free(capture);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
}

static char text[1 << 20];
static size_t text_n;

static int keep(void *context, const void *data, size_t n)
{
    (void)context;
    if (text_n + n >= sizeof text)
        return -ENOSPC;
    memcpy(text + text_n, data, n);
    text_n += n;
    text[text_n] = '\0';
    return 0;
}

static struct rk_profile *profile(const char *path)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_sink out = {sizeof out, 0, keep, NULL};
    struct rk_stream *stream;
    struct rk_profile_builder *builder;
    struct rk_profile *p;
    const struct rk_record *r;
    int rc;

    OK(rk_stream_file(path, &stream, &e));
    OK(rk_profile_builder_open(NULL, &builder, &e));
    while ((rc = rk_stream_next(stream, &r)) == 1) {
        CHECK(rk_profile_builder_feed(builder, stream, r) >= 0);
        text_n = 0;
        OK(rk_record_export(stream, r, "json", &out, NULL, &e));
        CHECK(text_n > 2 && text[0] == '{' && strchr(text, '\n') == text + text_n - 1);
        CHECK(!strstr(text, "damaged"));
        rk_stream_release(stream);
    }
    CHECK(rc == 0);
    OK(rk_profile_builder_finish(builder, stream, &p, &e));
    rk_profile_builder_free(builder);
    rk_stream_free(stream);
    return p;
}

static void judge(const struct rk_profile *p)
{
    struct rk_profile_summary s = {.size = sizeof s};
    uint64_t most = 0, some = 0, self = 0, samples = 0;
    struct rk_error e = {.size = sizeof e};
    struct rk_sink out = {sizeof out, 0, keep, NULL};

    CHECK(rk_profile_summary(p, &s) == 0);
    printf("%" PRIu64 " samples, %" PRIu64 " lost, %" PRIu64 " unnamed\n", s.samples, s.loss.lost, s.unnamed);
    CHECK(s.samples >= 100);
    EQUAL(s.loss.kept, s.samples);
    CHECK(!s.cut);
    CHECK(strcmp(s.event, "cpu-clock:u") == 0);
    struct rk_aggregate *a;
    OK(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, &e));
    for (size_t i = 0; i < a->n; i++) {
        CHECK(a->total[i] >= a->self[i] && a->total[i] <= s.weight);
        self += a->self[i];
        samples += a->self_samples[i];
        if (strcmp(a->name[i], "burn_most") == 0)
            most = a->self_samples[i];
        if (strcmp(a->name[i], "burn_some") == 0)
            some = a->self_samples[i];
    }
    rk_aggregate_free(a);
    EQUAL(self, s.weight);
    EQUAL(samples, s.samples);
    printf("burn_most %" PRIu64 ", burn_some %" PRIu64 "\n", most, some);
    CHECK(most > 2 * some && most < 4 * some && (most + some) * 10 > s.samples * 8);
    text_n = 0;
    OK(rk_profile_export(p, "folded", &out, &e));
    CHECK(strstr(text, "burn_most "));
    text_n = 0;
    OK(rk_profile_export(p, "csv", &out, &e));
    CHECK(strncmp(text, "symbol,module,self,self_percent,total,total_percent\nburn_most,", 62) == 0);
}

static char path[TEMPORARY];

static void remove_recording(void)
{
    char old[TEMPORARY + 8];

    snprintf(old, sizeof old, "%s.old", path);
    unlink(path);
    unlink(old);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "work") == 0)
        return work();
    int fd = mkstemp(temporary(path, "reckon-profile-XXXXXX"));
    CHECK(fd >= 0);
    close(fd);
    atexit(remove_recording);
    record(path);
    struct rk_profile *p = profile(path);
    judge(p);
    rk_profile_free(p);
    return 0;
}

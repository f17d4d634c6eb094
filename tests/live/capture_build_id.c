/* The recording knows which build ran: a program that is another one by the time of the report names nothing. And beside
 * a recording with build-ids, one without has none (record/layout.h), nor the bit that perf would die of. */
#include "perf_script.h"

static void copy(const char *from, const char *to)
{
    char buffer[65536];
    int in = open(from, O_RDONLY), out;
    unlink(to);
    out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
    CHECK(in >= 0 && out >= 0);
    for (ssize_t n; (n = read(in, buffer, sizeof buffer)) > 0;)
        CHECK(write(out, buffer, (size_t)n) == n);
    close(in);
    close(out);
}

/* Samples of "prog" with a name, and without one because it has changed. */
static void report(uint64_t *ret_named, uint64_t *ret_changed)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile_builder *b;
    struct rk_profile *p;
    struct rk_stream *st;
    const struct rk_record *r;

    *ret_named = *ret_changed = 0;
    OK(rk_stream_file("data", &st, &e));
    OK(rk_profile_builder_open(NULL, &b, &e));
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st))
        CHECK(rk_profile_builder_feed(b, st, r) >= 0);
    OK(rk_profile_builder_finish(b, st, &p, &e));
    rk_profile_builder_free(b);
    struct rk_profile_columns c = {.size = sizeof c};
    OK(rk_profile_columns(p, &c));
    for (size_t i = 0; i < c.sample_n; i++) {
        uint32_t frame = c.node_frame[c.sample_node[i]];
        if (!strcmp(c.text[c.frame_module[frame]], "prog"))
            *(c.frame_miss[frame] == RK_MISS_CHANGED ? ret_changed : ret_named) += c.sample_count[i];
    }
    rk_profile_free(p);
    rk_stream_free(st);
}

/* The byte in the middle of the build-id's note, turned over, makes it another build. */
static void change_build_id(const char *path)
{
    static char text[8 << 20];
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0);
    ssize_t n = read(fd, text, sizeof text);
    CHECK(n > 0);
    char *note = memmem(text, (size_t)n, "\x14\0\0\0\3\0\0\0GNU", 12);
    if (!note)
        SKIP("this test was linked without a build-id");
    note[12] = (char)~note[12];
    CHECK(pwrite(fd, note + 12, 1, note + 12 - text) == 1);
    close(fd);
}

/* As many MMAP2 as have the bit, whatever their records say: the file's bytes are looked at. */
static unsigned bits_in(const char *path, unsigned *ret_mappings)
{
    struct rk_error e = {.size = sizeof e};
    const struct rk_record *r;
    struct rk_stream *st;
    unsigned bits = 0;

    *ret_mappings = 0;
    OK(rk_stream_file(path, &st, &e));
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
        uint16_t misc;
        memcpy(&misc, (const char *)r->data + 4, sizeof misc);
        bits += r->type == RK_RECORD_MMAP2 && (misc & RK_MISC_BUILD_ID);
        *ret_mappings += r->type == RK_RECORD_MMAP2;
    }
    rk_stream_free(st);
    return bits;
}

static void beside_another(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options with = {
        .size = sizeof with, .period = 1000000000, .records = RK_RECORDS_PROFILE | RK_RECORDS_BUILD_IDS};
    struct rk_set_options without = {
        .size = sizeof without, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    struct rk_capture_options co = {.size = sizeof co, .path = "beside"};
    char *command[] = {"./prog", "busy", NULL};
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *machine;
    struct rk_set *other = NULL;
    struct rk_stream *others;
    struct rk_capture *c;
    unsigned mappings;

    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, "dummy", &events, &e));
    OK(rk_target_cpus(host, NULL, &machine, &e));
    if (rk_host_feature(host, RK_FEATURE_BUILD_ID) != 1 ||
        rk_set_open(host, events, machine, &with, &other, &e) < 0)
        printf("beside another: no recording of the machine here\n");
    else {
        OK(rk_stream_live(other, &others, &e));
        EQUAL(rk_set_enable(other), 0);
        struct session s = session_open("cpu-clock", command, &without);
        OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
        OK(rk_target_start(s.target, &e));
        while (rk_capture_step(c, 100) == 1)
            ;
        OK(rk_capture_finish(c, NULL, &e));
        rk_capture_free(c);
        session_wait(&s, 0);
        session_close(&s);
        rk_stream_free(others);
        unsigned bits = bits_in("beside", &mappings);
        printf("beside another: %u mappings, %u with the bit\n", mappings, bits);
        CHECK(mappings > 1);
        EQUAL(bits, 0);
        if (have("perf"))
            CHECK(same_sights("beside", NULL) > 20);
    }
    rk_set_free(other);
    rk_target_free(machine);
    rk_events_free(events);
    rk_host_free(host);
}

int main(int argc, char **argv)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {.size = sizeof o, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    char *command[] = {"./prog", "busy", NULL};
    struct rk_capture *c;
    struct rk_stream *st;
    uint64_t named, changed;
    bool stored = false;

    if (argc > 1) {
        busy_ms(100);
        return 0;
    }
    (void)argv;
    use_directory();
    copy("/proc/self/exe", "prog");
    beside_another();
    struct session s = session_open("cpu-clock", command, &o);
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 100) == 1)
        ;
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
    session_wait(&s, 0);
    session_close(&s);

    OK(rk_stream_file("data", &st, &e));
    for (size_t i = 0; i < rk_stream_build_id_count(st); i++) {
        struct rk_stream_build_id id = {.size = sizeof id};
        EQUAL(rk_stream_build_id_get(st, i, &id), 0);
        CHECK(id.bytes >= 1 && id.bytes <= 20);
        stored |= strstr(id.path, "/prog") != NULL;
    }
    struct rk_stream_build_id id = {.size = sizeof id};
    EQUAL(rk_stream_build_id_get(st, rk_stream_build_id_count(st), &id), -ERANGE);
    rk_stream_free(st);
    if (!stored)
        SKIP("this test was linked without a build-id");

    report(&named, &changed);
    CHECK(named > 20);
    EQUAL(changed, 0);
    change_build_id("prog");
    report(&named, &changed);
    EQUAL(named, 0);
    CHECK(changed > 20);
    return 0;
}

/* A recording read: in order by its rounds, and by an index; every record and all that is said of it. */
#include "fault.h"

#include "perfdata/writer.h"
#include "record/encode.h"
#include "stream/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const uint64_t ids[] = {7};
static struct perf_attr attr = {.type = PERF_SOFTWARE,
                                .size = 128,
                                .config = SW_CPU_CLOCK,
                                .sample_period = 100,
                                .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TIME,
                                .flags = ATTR_SAMPLE_ID_ALL};

static int write_file(const char *path, int rounds, int ledger)
{
    struct perfdata_writer_event event = {&attr, ids, 1, "cpu-clock"};
    struct perfdata_writer *w = NULL;
    struct layout layout;
    uint64_t buffer[32];
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc = fd < 0 ? -errno : layout_init(&layout, &attr);

    if (rc == 0)
        rc = perfdata_writer_open(fd, &event, 1, &w, NULL);
    for (uint64_t i = 0; i < 3000 && rc == 0; i++) {
        struct rk_sample s = {.size = sizeof s,
                              .present = attr.sample_type,
                              .id = 7,
                              .ip = i,
                              .time = ledger ? 1 + i : 1 + i % 1000 * 3 + i / 1000};
        int n = encode_sample(&layout, 2, &s, buffer, sizeof buffer);
        rc = n < 0 ? n : perfdata_writer_append(w, buffer, (size_t)n);
        if (rc == 0 && rounds && i % 100 == 99)
            rc = perfdata_writer_round(w);
    }
    if (rc == 0 && ledger && (rc = perfdata_writer_ledger(w, "ordered", "1")) == 0)
        rc = perfdata_writer_ledger(w, "event", "0 kept 3000 lost 1 skipped 2 throttled 3 records-lost 4");
    if (rc == 0)
        rc = perfdata_writer_build_id(w, -1, 2, "abcdefgh", 8, "/bin/true");
    if (rc == 0)
        rc = perfdata_writer_finish(w, NULL);
    perfdata_writer_close(w);
    close(fd);
    return rc;
}

static int prepare(void)
{
    int rc = write_file("rounds", 1, 0);
    if (rc == 0)
        rc = write_file("index", 0, 0);
    return rc < 0 ? rc : write_file("straight", 0, 1);
}

static int read_file(const char *path, uint64_t *digest)
{
    struct rk_error why = {.size = sizeof why};
    struct rk_stream_build_id id = {.size = sizeof id};
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_stream *st = NULL;
    const struct rk_record *r = NULL;
    uint64_t n = 0;
    int rc = 0;

    NEW(st, rk_stream_file(path, &st, e));
    st->order.limit = 100000; /* so that "index" gets one */
    while ((rc = rk_stream_next(st, &r)) == 1) {
        struct rk_sample s = {.size = sizeof s};
        HOT(rk_stream_sample(st, r, &s));
        *digest = fault_fold(*digest, &s.ip, sizeof s.ip);
        n++;
        HOT(rk_stream_release(st));
    }
    if (rc < 0) {
        EXPECT(rk_stream_explain(st, &why) == 0);
        EXPECT(why.code == rc && why.what[0]);
        goto end;
    }
    EXPECT(n == 3000);
    HOT(rk_stream_loss(st, RK_NO_EVENT, &loss));
    *digest = fault_fold(*digest, &loss, sizeof loss);
    EXPECT(rk_stream_build_id_count(st) == 1);
    HOT(rk_stream_build_id_get(st, 0, &id));
    *digest = fault_fold(*digest, id.id, id.bytes);
end:
    rk_stream_free(st);
    return rc;
}

static int scenario(uint64_t *digest)
{
    int rc = read_file("rounds", digest);
    if (rc == 0)
        rc = read_file("index", digest);
    return rc < 0 ? rc : read_file("straight", digest);
}

int main(int argc, char **argv)
{
    struct fault_scenario s = {.name = "stream", .prepare = prepare, .run = scenario};
    return fault_main(&s, argc, argv);
}

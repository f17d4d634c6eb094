/* A recording written, and read again: whatever fails is said, and nothing is left behind. */
#include "fault.h"

#include "perfdata/reader.h"
#include "perfdata/writer.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static int write_file(int fd, const struct perfdata_writer_options *how)
{
    struct perf_attr attrs[2] = {{.type = PERF_SOFTWARE}, {.type = PERF_RAW, .config = 0x1a8}};
    uint64_t ids[3] = {1, 2, 3}, record[512] = {0};
    const struct perfdata_writer_event events[] = {{&attrs[0], ids, 2, "cpu-clock"},
                                                   {&attrs[1], ids + 2, 1, "r1a8"}};
    static const char *const words[] = {"a", "b"};
    struct perfdata_writer *w = NULL;
    int rc = 0;

    memcpy(record, &(struct perf_header){9, 2, sizeof record}, 8);
    NEW(w, perfdata_writer_start(fd, events, 2, how, &w, e));
    for (int i = 0; i < 100; i++) {
        HOT(perfdata_writer_append(w, record, sizeof record));
        if (i % 40 == 0)
            HOT(perfdata_writer_flush(w));
    }
    HOT(perfdata_writer_round(w));
    HOT(perfdata_writer_text(w, FEATURE_HOSTNAME, "box"));
    HOT(perfdata_writer_list(w, FEATURE_CMDLINE, words, 2));
    HOT(perfdata_writer_cpus(w, 2, 1));
    HOT(perfdata_writer_times(w, 1, 2));
    HOT(perfdata_writer_build_id(w, -1, 2, "0123456789abcdefghij", 20, "/bin/true"));
    HOT(perfdata_writer_ledger(w, "kept", "100"));
    TRY(perfdata_writer_finish(w, e));
end:
    perfdata_writer_close(w);
    return rc;
}

static int one(uint64_t *digest, const struct perfdata_writer_options *how)
{
    struct perfdata_reader *r = NULL;
    const struct perf_header *record;
    struct perfdata_info info;
    uint64_t offset, n = 0;
    int rc = 0, fd = open("perf.data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0)
        return -1;
    HOT(write_file(fd, how));
    NEW(r, perfdata_reader_open("perf.data", &r, e));
    while ((rc = perfdata_reader_next(r, &record, &offset)) == 1) {
        *digest = fault_fold(*digest, record, record->size);
        n++;
    }
    if (rc < 0) {
        struct rk_error e = {.size = sizeof e};
        EXPECT(perfdata_reader_explain(r, &e) == 0 && e.code == rc && e.what[0]);
        goto end;
    }
    EXPECT(n == 101 && !perfdata_reader_cut(r));
    perfdata_reader_info(r, &info);
    *digest = fault_fold(*digest, info.host, strlen(info.host));
    *digest = fault_fold(*digest, info.command, strlen(info.command));
    *digest = fault_fold(*digest, info.ledger, strlen(info.ledger));
    for (size_t i = 0; i < perfdata_reader_events(r); i++)
        *digest =
            fault_fold(*digest, perfdata_reader_event(r, i)->name, strlen(perfdata_reader_event(r, i)->name));
end:
    perfdata_reader_close(r);
    close(fd);
    return rc;
}

/* As a file; as a pipe, packed. */
static int scenario(uint64_t *digest)
{
    int rc = one(digest, &(struct perfdata_writer_options){0});

    return rc < 0 ? rc : one(digest, &(struct perfdata_writer_options){.pipe = true, .level = 1});
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "perfdata", .run = scenario}, argc, argv);
}

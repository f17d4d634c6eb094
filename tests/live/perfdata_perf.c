/* perf reads what we write, sample by sample, and we read what perf writes, to a file and to a pipe. */
#include "session.h"

#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "record/encode.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

struct line { /* what perf script prints of a sample, and we find in it */
    int64_t tid;
    uint64_t time, ip;
    char event[32];
};
struct lines {
    struct line at[20000];
    size_t n;
};

static char directory[TEMPORARY];

static const char *file(const char *name)
{
    static char path[4][TEMPORARY + 64];
    static unsigned next;
    char *to = path[next++ % 4];
    snprintf(to, sizeof path[0], "%s/%s", directory, name);
    return to;
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->time != y->time ? (x->time < y->time ? -1 : 1) : x->ip < y->ip ? -1 : x->ip > y->ip;
}

/* The samples that perf finds in a file (or, with "-", in what `from` gives). */
static void perf_script(const char *from, struct lines *lines)
{
    char command[512], text[1024];
    snprintf(command, sizeof command, "perf script -G -F tid,time,event,ip --ns %s 2>'%s'", from,
             file("errors"));
    FILE *p = popen(command, "r");
    CHECK(p);
    lines->n = 0;
    while (fgets(text, sizeof text, p)) {
        struct line *l = &lines->at[lines->n];
        uint64_t seconds, ns;
        if (sscanf(text, "%" SCNd64 " %" SCNu64 ".%9" SCNu64 ": %31[^ ] %" SCNx64, &l->tid, &seconds, &ns,
                   l->event, &l->ip) != 5)
            FAIL("perf script printed: %s", text);
        l->time = seconds * 1000000000 + ns;
        CHECK(++lines->n < sizeof lines->at / sizeof *lines->at);
    }
    int status = pclose(p);
    if (status != 0)
        FAIL("%s ended with status %#x", command, (unsigned)status);
    qsort(lines->at, lines->n, sizeof *lines->at, compare);
}

/* The samples that we find. */
static void our_script(const char *path, struct lines *lines, uint64_t *ret_chain)
{
    struct rk_error e = {.size = sizeof e};
    struct perfdata_reader *r;
    const struct perf_header *header;
    struct layout layouts[8];
    uint64_t offset;
    int k;

    OK(perfdata_reader_open(path, &r, &e));
    size_t n = perfdata_reader_events(r);
    CHECK(n > 0 && n <= 8);
    for (size_t i = 0; i < n; i++) {
        CHECK(layout_init(&layouts[i], &perfdata_reader_event(r, i)->attr) == 0);
        CHECK(i == 0 || layout_same_id(&layouts[0], &layouts[i]));
    }
    lines->n = 0;
    *ret_chain = 0;
    while ((k = perfdata_reader_next(r, &header, &offset)) == 1) {
        struct rk_sample sample = {.size = sizeof sample};
        struct rk_record record;
        uint32_t event = 0;
        uint64_t id;
        if (n > 1 && layout_id(&layouts[0], header, &id) == 0 && perfdata_reader_find(r, id) < n)
            event = perfdata_reader_find(r, id);
        CHECK(layout_record(&layouts[event], header, &record) == 0);
        if (record.type != RK_RECORD_SAMPLE)
            continue;
        CHECK(layout_sample(&layouts[event], &record, &sample) == 0);
        EQUAL(sample.time, record.time);
        struct line *l = &lines->at[lines->n++];
        *l = (struct line){.tid = sample.tid, .time = sample.time, .ip = sample.ip};
        snprintf(l->event, sizeof l->event, "%s:", perfdata_reader_event(r, event)->name);
        *ret_chain += sample.chain_n;
        CHECK(lines->n < sizeof lines->at / sizeof *lines->at);
    }
    if (k < 0) {
        perfdata_reader_explain(r, &e);
        FAIL("%s: %s", path, e.what);
    }
    CHECK(!perfdata_reader_cut(r));
    perfdata_reader_close(r);
    qsort(lines->at, lines->n, sizeof *lines->at, compare);
}

static void same(const struct lines *ours, const struct lines *perfs)
{
    EQUAL(ours->n, perfs->n);
    for (size_t i = 0; i < ours->n; i++) {
        EQUAL(ours->at[i].tid, perfs->at[i].tid);
        EQUAL(ours->at[i].time, perfs->at[i].time);
        EQUAL(ours->at[i].ip, perfs->at[i].ip);
        if (strncmp(ours->at[i].event, perfs->at[i].event, strlen(perfs->at[i].event)) != 0)
            FAIL("event %s, not %s", ours->at[i].event, perfs->at[i].event);
    }
}

static struct lines ours, perfs;

/* A recording of two events, 1000 samples, all that a file of ours holds. */
static struct perfdata_writer *write_file(const char *path, int *ret_fd)
{
    struct perf_attr attrs[2];
    struct layout layout;
    uint64_t ids[2] = {101, 102}, chain[3] = {RK_CHAIN_USER, 0x401000, 0x402000};
    _Alignas(8) static unsigned char record[RECORD_BYTES_MAX];
    struct rk_error e = {.size = sizeof e};
    struct perfdata_writer *w;

    for (int i = 0; i < 2; i++)
        attrs[i] = (struct perf_attr){
            .type = PERF_SOFTWARE,
            .size = sizeof attrs[i],
            .config = i ? SW_PAGE_FAULTS : SW_CPU_CLOCK,
            .sample_period = 1000,
            .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME |
                           RK_SAMPLE_CPU | RK_SAMPLE_PERIOD | RK_SAMPLE_CALLCHAIN,
            .flags = ATTR_SAMPLE_ID_ALL | ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_TASK};
    CHECK(layout_init(&layout, &attrs[0]) == 0);
    const struct perfdata_writer_event events[] = {{&attrs[0], &ids[0], 1, "cpu-clock"},
                                                   {&attrs[1], &ids[1], 1, "page-faults"}};
    *ret_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(*ret_fd >= 0);
    OK(perfdata_writer_open(*ret_fd, events, 2, &w, &e));

    struct rk_record from = {.misc = 2, .pid = 42, .tid = 42, .time = 1000, .id = 101};
    struct rk_comm comm = {.size = sizeof comm, .pid = 42, .tid = 42, .name = "made-up"};
    struct rk_mapping mapping = {.size = sizeof mapping,
                                 .pid = 42,
                                 .tid = 42,
                                 .start = 0x400000,
                                 .length = 0x10000,
                                 .protection = 5,
                                 .build_id = (const unsigned char *)"0123456789abcdefghij",
                                 .build_id_bytes = 20,
                                 .path = "/nonexistent/made-up"};
    struct rk_task task = {.size = sizeof task, .pid = 42, .tid = 43, .parent_pid = 42, .parent_tid = 42};
    struct rk_lost lost = {.size = sizeof lost, .id = 101, .count = 5};
    CHECK(perfdata_writer_append(w, record,
                                 (size_t)encode_comm(&layout, &from, &comm, record, sizeof record)) == 0);
    CHECK(perfdata_writer_append(
              w, record, (size_t)encode_mapping(&layout, &from, &mapping, record, sizeof record)) == 0);
    CHECK(perfdata_writer_append(
              w, record, (size_t)encode_task(&layout, &from, RK_RECORD_FORK, &task, record, sizeof record)) ==
          0);
    for (uint64_t i = 0; i < 1000; i++) {
        struct rk_sample sample = {.size = sizeof sample,
                                   .present = layout.sample_type,
                                   .id = ids[i % 3 == 0],
                                   .ip = 0x401000 + i,
                                   .pid = 42,
                                   .tid = 42 + (int32_t)(i & 1),
                                   .time = 2000000000 + i * 1001,
                                   .cpu = i & 1,
                                   .period = 1000,
                                   .chain = chain,
                                   .chain_n = 3};
        chain[1] = sample.ip;
        int n = encode_sample(&layout, 2, &sample, record, sizeof record);
        CHECK(n > 0);
        CHECK(perfdata_writer_append(w, record, (size_t)n) == 0);
        if (i % 100 == 99)
            CHECK(perfdata_writer_round(w) == 0);
    }
    from.time = 3000000000;
    CHECK(perfdata_writer_append(
              w, record, (size_t)encode_lost(&layout, &from, RK_RECORD_LOST, &lost, record, sizeof record)) ==
          0);
    CHECK(perfdata_writer_append(
              w, record, (size_t)encode_task(&layout, &from, RK_RECORD_EXIT, &task, record, sizeof record)) ==
          0);
    CHECK(perfdata_writer_flush(w) == 0);
    return w;
}

static bool output_has(const char *command, const char *text)
{
    char line[1024];
    bool found = false;
    FILE *p = popen(command, "r");
    CHECK(p);
    while (fgets(line, sizeof line, p))
        found |= strstr(line, text) != NULL;
    CHECK(pclose(p) == 0);
    return found;
}

static void perf_reads_ours(void)
{
    static const char *const words[] = {"reckon", "record", "made-up"};
    struct rk_error e = {.size = sizeof e};
    char command[256];
    uint64_t chain;
    int fd;
    struct perfdata_writer *w = write_file(file("ours.data"), &fd);

    /* As a kill would leave it here. */
    snprintf(command, sizeof command, "-i '%s'", file("ours.data"));
    perf_script(command, &perfs);
    EQUAL(perfs.n, 1000);

    CHECK(perfdata_writer_text(w, FEATURE_HOSTNAME, "made-up-host") == 0);
    CHECK(perfdata_writer_text(w, FEATURE_OSRELEASE, "6.18.0") == 0);
    CHECK(perfdata_writer_text(w, FEATURE_VERSION, "made-up 1.2") == 0);
    CHECK(perfdata_writer_text(w, FEATURE_ARCH, "x86_64") == 0);
    CHECK(perfdata_writer_cpus(w, 8, 6) == 0);
    CHECK(perfdata_writer_list(w, FEATURE_CMDLINE, words, 3) == 0);
    CHECK(perfdata_writer_times(w, 2000000000, 2000000000 + 999 * 1001) == 0);
    CHECK(perfdata_writer_build_id(w, -1, 2, "0123456789abcdefghij", 20, "/nonexistent/made-up") == 0);
    CHECK(perfdata_writer_ledger(w, "kept", "1000") == 0);
    OK(perfdata_writer_finish(w, &e));
    perfdata_writer_close(w);
    close(fd);

    perf_script(command, &perfs);
    our_script(file("ours.data"), &ours, &chain);
    EQUAL(perfs.n, 1000);
    EQUAL(chain, 3000);
    same(&ours, &perfs);

    static const char *const shown[] = {
        "made-up-host",      "6.18.0",           "made-up 1.2",           "x86_64",
        "nrcpus online : 6", "nrcpus avail : 8", "reckon record made-up", "name = page-faults"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        snprintf(command, sizeof command, "perf report --header-only -I -i '%s' 2>&1", file("ours.data"));
        if (!output_has(command, shown[i]))
            FAIL("perf report --header-only does not say: %s", shown[i]);
    }
    snprintf(command, sizeof command, "perf report --stdio -i '%s' 2>&1", file("ours.data"));
    CHECK(output_has(command, "made-up"));
    snprintf(command, sizeof command, "perf buildid-list -i '%s' 2>&1", file("ours.data"));
    CHECK(output_has(command, "303132333435363738396162636465666768696a /nonexistent/made-up"));
}

static void we_read_perfs(void)
{
    const char *workload =
        "sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; ls -R /proc/self >/dev/null 2>&1'";
    char command[512];
    uint64_t chain;

    snprintf(command, sizeof command,
             "perf record -q -e cpu-clock,page-faults -c 1000000 -g -o '%s' %s 2>/dev/null",
             file("perfs.data"), workload);
    char from[TEMPORARY + 128];
    snprintf(from, sizeof from, "-i '%s'", file("perfs.data"));
    if (!perf_recorded(command, from))
        SKIP("perf reads what we write; it can't record here");
    our_script(file("perfs.data"), &ours, &chain);
    perf_script(from, &perfs);
    CHECK(perfs.n > 0);
    CHECK(chain > 0);
    same(&ours, &perfs);

    snprintf(command, sizeof command, "perf record -q -e cpu-clock -c 1000000 -g -o - %s 2>/dev/null >'%s'",
             workload, file("pipe.data"));
    snprintf(from, sizeof from, "-i - <'%s'", file("pipe.data"));
    CHECK(perf_recorded(command, from));
    our_script(file("pipe.data"), &ours, &chain);
    perf_script(from, &perfs);
    CHECK(perfs.n > 0);
    same(&ours, &perfs);
}

static void clean(void)
{
    char command[TEMPORARY + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        puts("could not clean up");
}

int main(void)
{
    if (system("perf --version >/dev/null 2>&1") != 0)
        SKIP("no perf to compare with");
    CHECK(mkdtemp(temporary(directory, "reckon-perfdata-XXXXXX")));
    atexit(clean);
    perf_reads_ours();
    we_read_perfs();
    return 0;
}

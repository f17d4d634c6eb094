/*
 * A recording into a profile: millions of samples a second on one core, chains of 30 frames. "repeated": five
 * thousand stacks come again and again, as in a program that runs for long; "distinct": no stack comes twice,
 * the worst there is. Reading the same records without a profile is the measure. A line each: what, samples read a
 * second, samples fed a second, seconds to finish, rows, bytes of memory.
 *
 *     bench-profile [--all]                          --all: up to ten million samples (a file of 3 GB in memory)
 *     bench-profile --write FILE SAMPLES STACKS      the recording alone
 */
#include "base/table.h"
#include "perfdata/writer.h"
#include "record/encode.h"

#include <fcntl.h>
#include <reckon/reckon.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FRAMES 30
#define ROUND 1000
#define PID 4242

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Where this program's code lies in its file, as a mapping at 0x400000. */
static void write_mapping(struct perfdata_writer *w, const struct layout *layout)
{
    static uint64_t buffer[512];
    char path[256] = "";
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        abort();
    struct rk_record from = {.misc = 2, .pid = PID, .tid = PID, .time = 1, .id = 1};
    struct rk_mapping mapping = {.pid = PID, .tid = PID, .start = 0x400000, .length = 1 << 20, .path = path};
    int n = encode_mapping(layout, &from, &mapping, buffer, sizeof buffer);
    if (n < 0 || perfdata_writer_append(w, buffer, (size_t)n) < 0)
        abort();
}

/* Stacks share their outer frames, as calls do: of eight neighbours all but the innermost. */
static void make_chain(uint64_t which, uint64_t *chain)
{
    chain[0] = RK_CHAIN_USER;
    for (uint64_t i = 0; i < FRAMES; i++)
        chain[1 + i] = 0x400000 + hash_mix((3 * i < 64 ? which >> 3 * i : 0) * 64 + i) % (1 << 20);
}

static void write_recording(int fd, uint64_t samples, uint64_t stacks)
{
    static uint64_t buffer[512], chain[FRAMES + 1];
    struct perf_attr attr = {.type = PERF_SOFTWARE,
                             .sample_period = 1000,
                             .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID |
                                            RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD |
                                            RK_SAMPLE_CALLCHAIN,
                             .flags = ATTR_SAMPLE_ID_ALL};
    struct perfdata_writer_event event = {&attr, (uint64_t[]){1}, 1, "cpu-clock"};
    struct perfdata_writer *w;
    struct layout layout;
    if (ftruncate(fd, 0) || layout_init(&layout, &attr) || perfdata_writer_open(fd, &event, 1, &w, NULL))
        abort();
    write_mapping(w, &layout);
    for (uint64_t i = 0; i < samples; i++) {
        make_chain(hash_mix(i) % stacks, chain);
        struct rk_sample s = {.size = sizeof s,
                              .present = attr.sample_type,
                              .ip = chain[1],
                              .time = 2 + i * 250000,
                              .id = 1,
                              .period = 1000,
                              .pid = PID,
                              .tid = PID,
                              .chain = chain,
                              .chain_n = FRAMES + 1};
        int n = encode_sample(&layout, 2, &s, buffer, sizeof buffer);
        if (n < 0 || perfdata_writer_append(w, buffer, (size_t)n) < 0)
            abort();
        if (i % ROUND == ROUND - 1 && perfdata_writer_append(w, (uint32_t[]){68, 8 << 16}, 8) < 0)
            abort(); /* FINISHED_ROUND, as perf writes it: without, an index of all records is needed to order them */
    }
    perfdata_writer_finish(w, NULL);
    perfdata_writer_close(w);
}

static long peak_kib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static void measure(const char *path, uint64_t samples, const char *what)
{
    struct rk_profile_builder *builder;
    struct rk_profile *profile;
    struct rk_stream *stream;
    const struct rk_record *record;

    double begin = now();
    if (rk_stream_file(path, &stream, NULL) < 0)
        abort();
    while (rk_stream_next(stream, &record) == 1)
        rk_stream_release(stream);
    rk_stream_free(stream);
    double read = now() - begin;

    long before = peak_kib();
    begin = now();
    if (rk_stream_file(path, &stream, NULL) < 0 || rk_profile_builder_open(NULL, &builder, NULL) < 0)
        abort();
    while (rk_stream_next(stream, &record) == 1) {
        rk_profile_builder_feed(builder, stream, record);
        rk_stream_release(stream);
    }
    double fed = now() - begin;
    begin = now();
    if (rk_profile_builder_finish(builder, stream, &profile, NULL) < 0)
        abort();
    rk_profile_builder_free(builder);
    double finished = now() - begin;
    struct rk_profile_columns columns = {.size = sizeof columns};
    rk_profile_columns(profile, &columns);
    printf("%s\t%.0f\t%.0f\t%.6f\t%zu\t%ld\n", what, (double)samples / read, (double)samples / fed, finished,
           columns.sample_n, (peak_kib() - before) << 10);
    rk_profile_free(profile);
    rk_stream_free(stream);
}

/* In a process of its own, so that each has its own peak of memory. */
static void run(const char *what, uint64_t samples, uint64_t stacks)
{
    char path[32];
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int fd = memfd_create("bench", MFD_CLOEXEC);
        if (fd < 0)
            abort();
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        write_recording(fd, samples, stacks);
        measure(path, samples, what);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) < 0)
        abort();
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--write") == 0) {
        int fd = open(argv[2], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            abort();
        write_recording(fd, strtoull(argv[3], NULL, 0), strtoull(argv[4], NULL, 0));
        return 0;
    }
    bool all = argc > 1 && strcmp(argv[1], "--all") == 0;

    run("repeated", 1000000, 5000);
    run("distinct", 1000000, 1 << 28);
    if (all) { /* ten times as many: ten times as long, in as much memory */
        run("1 M", 1000000, 5000);
        run("3 M", 3000000, 5000);
        run("10 M", 10000000, 5000);
    }
    return 0;
}

/*
 * perf.data files in memory, for tests.
 */
#ifndef TESTS_PERFDATA_FILES_H
#define TESTS_PERFDATA_FILES_H

#include "base/vector.h"
#include "perfdata/reader.h"
#include "perfdata/writer.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

typedef VECTOR(unsigned char) bytes_t;

static inline void add(bytes_t *b, const void *bytes, size_t n)
{
    vector_reserve(b, n + 1);
    if (bytes)
        memcpy(b->items + b->n, bytes, n);
    else
        memset(b->items + b->n, 0, n);
    b->n += n;
}

static inline void add_u64(bytes_t *b, uint64_t value)
{
    add(b, &value, 8);
}

static inline void add_u32(bytes_t *b, uint32_t value)
{
    add(b, &value, 4);
}

/* A record with a body. */
static inline void add_record(bytes_t *b, uint32_t type, const void *body, size_t n)
{
    struct perf_header header = {type, 0, (uint16_t)(sizeof header + n)};
    add(b, &header, sizeof header);
    add(b, body, n);
}

/* A descriptor of a file with these bytes. */
static inline int file_of(const void *bytes, size_t n)
{
    int fd = memfd_create("perf.data", MFD_CLOEXEC);
    if (fd < 0 || (n && pwrite(fd, bytes, n, 0) != (ssize_t)n))
        abort();
    return fd;
}

static inline bytes_t bytes_of(int fd)
{
    bytes_t b = {0};
    size_t n = (size_t)lseek(fd, 0, SEEK_END);
    add(&b, NULL, n);
    if (pread(fd, b.items, n, 0) != (ssize_t)n)
        abort();
    return b;
}

static inline struct perfdata_header *header_of(bytes_t *b)
{
    return (struct perfdata_header *)(void *)b->items;
}

/* A small finished file of our own: two events, `n` records of rising size, all features. */
static inline int small_file(size_t n)
{
    static const uint64_t ids[] = {11, 12, 13};
    static const struct perf_attr attrs[] = {
        {.type = PERF_SOFTWARE, .config = SW_CPU_CLOCK, .sample_type = 0x10007, .flags = ATTR_SAMPLE_ID_ALL},
        {.type = PERF_SOFTWARE,
         .config = SW_PAGE_FAULTS,
         .sample_type = 0x10007,
         .flags = ATTR_SAMPLE_ID_ALL},
    };
    const struct perfdata_writer_event events[] = {{&attrs[0], ids, 2, "cpu-clock:u"},
                                                   {&attrs[1], ids + 2, 1, "page-faults"}};
    static const char *const words[] = {"reckon", "record", "a b", "true"};
    struct perfdata_writer *w;
    int fd = memfd_create("perf.data", MFD_CLOEXEC), r = perfdata_writer_open(fd, events, 2, &w, NULL);
    for (size_t i = 0; r == 0 && i < n; i++) {
        uint64_t record[64];
        struct perf_header header = {9, 2, (uint16_t)(8 + 8 * (i % 63))};
        for (size_t k = 0; k < 64; k++)
            record[k] = i << 32 | k;
        memcpy(record, &header, sizeof header);
        r = perfdata_writer_append(w, record, header.size);
    }
    r |= perfdata_writer_round(w);
    r |= perfdata_writer_text(w, FEATURE_HOSTNAME, "box");
    r |= perfdata_writer_text(w, FEATURE_OSRELEASE, "6.18.0");
    r |= perfdata_writer_text(w, FEATURE_VERSION, "reckon 0.1");
    r |= perfdata_writer_text(w, FEATURE_ARCH, "x86_64");
    r |= perfdata_writer_cpus(w, 8, 6);
    r |= perfdata_writer_list(w, FEATURE_CMDLINE, words, 4);
    r |= perfdata_writer_times(w, 1000, 2000);
    r |= perfdata_writer_build_id(w, -1, 2, "0123456789abcdefghij", 20, "/bin/true");
    r |= perfdata_writer_build_id(w, -1, 1, "01234567", 8, "[kernel.kallsyms]");
    r |= perfdata_writer_ledger(w, "kept", "17");
    r |= perfdata_writer_ledger(w, "lost", "0 of 17");
    r |= perfdata_writer_finish(w, NULL);
    perfdata_writer_close(w);
    if (r)
        abort();
    return fd;
}

#endif

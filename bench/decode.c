/*
 * Records through ring, layout, writer and reader, and the same bytes copied: a line each, what, records a second, bytes
 * a second, by the process's CPU time. The best of five.
 */
#include "perfdata/reader.h"
#include "perfdata/writer.h"
#include "record/layout.h"
#include "ring/ring.h"
#include "sys/perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define BYTES (size_t)(1 << 20)
#define ROUNDS 64

struct bench {
    struct perf_page *page;
    unsigned char *data;
    struct ring *ring;
    struct layout layout;
    size_t filled, records;
    uint64_t frames;
    uint64_t sum; /* so that nothing is optimised away */
    int fd;
    unsigned char *copy;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A ring full of samples with `frames` in their chain (0: no chain). */
static void fill(struct bench *b, uint64_t frames)
{
    struct perf_attr attr = {.type = PERF_SOFTWARE,
                             .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID |
                                            RK_SAMPLE_TIME | RK_SAMPLE_CPU | RK_SAMPLE_PERIOD |
                                            (frames ? RK_SAMPLE_CALLCHAIN : 0),
                             .flags = ATTR_SAMPLE_ID_ALL};
    uint64_t words[256] = {0}, n = 7 + (frames ? 1 + frames : 0);
    b->frames = frames;
    layout_init(&b->layout, &attr);
    memcpy(words, &(struct perf_header){RK_RECORD_SAMPLE, 2, (uint16_t)(n * 8)}, 8);
    words[7] = frames;
    for (b->filled = b->records = 0; b->filled + n * 8 <= BYTES; b->filled += n * 8)
        memcpy(b->data + b->filled, words, n * 8), b->records++;

    struct perfdata_writer_event event = {&attr, NULL, 0, "cpu-clock"};
    struct perfdata_writer *w;
    if (ftruncate(b->fd, 0) || perfdata_writer_open(b->fd, &event, 1, &w, NULL))
        abort();
    for (int i = 0; i < ROUNDS; i++)
        perfdata_writer_append(w, b->data, b->filled);
    perfdata_writer_finish(w, NULL);
    perfdata_writer_close(w);
}

static void refill(struct bench *b)
{
    b->page->data_tail = 0;
    b->page->data_head = b->filled;
    ring_init(b->ring, b->page, BYTES);
}

static void do_copy(struct bench *b)
{
    const unsigned char *span;
    size_t n;
    while (ring_span(b->ring, &span, &n) == 1)
        memcpy(b->copy, span, n);
    b->sum += b->copy[64];
}

static void do_identity(struct bench *b)
{
    const struct perf_header *header;
    struct rk_record record;
    while (ring_next(b->ring, &header) == 1)
        b->sum += layout_record(&b->layout, header, &record) == 0 ? record.time + record.id : 0;
}

static void do_sample(struct bench *b)
{
    const struct perf_header *header;
    struct rk_record record;
    struct rk_sample sample = {.size = sizeof sample};
    while (ring_next(b->ring, &header) == 1)
        if (layout_record(&b->layout, header, &record) == 0 &&
            layout_sample(&b->layout, &record, &sample) == 0)
            b->sum += sample.ip + sample.chain_n;
}

static void report(const struct bench *b, const char *what, double seconds)
{
    double records = (double)b->records * ROUNDS, bytes = (double)b->filled * ROUNDS;
    printf("%zu bytes%s: %s\t%.0f\t%.0f\n", b->filled / b->records, b->frames ? " (chain of 30)" : "", what,
           records / seconds, bytes / seconds);
}

static void run_ring(struct bench *b, const char *what, void (*work)(struct bench *))
{
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        double begin = now();
        for (int k = 0; k < ROUNDS; k++) {
            refill(b);
            work(b);
            ring_release(b->ring);
        }
        best = now() - begin < best ? now() - begin : best;
    }
    report(b, what, best);
}

static void run_file(struct bench *b)
{
    double best = 1e9;
    for (int i = 0; i < 5; i++) {
        struct perfdata_reader *r;
        const struct perf_header *header;
        uint64_t offset;
        double begin = now();
        if (perfdata_reader_open_fd(b->fd, "bench", &r, NULL))
            abort();
        while (perfdata_reader_next(r, &header, &offset) == 1)
            b->sum += header->size;
        perfdata_reader_close(r);
        best = now() - begin < best ? now() - begin : best;
    }
    report(b, "a file's records", best);
}

int main(void)
{
    struct bench b = {.fd = memfd_create("bench", MFD_CLOEXEC)};
    size_t page = sys_page_size();
    b.page = aligned_alloc(page, page + BYTES);
    b.ring = malloc(sizeof *b.ring);
    b.copy = malloc(BYTES);
    if (b.fd < 0 || !b.page || !b.ring || !b.copy)
        return 1;
    memset(b.page, 0, page + BYTES);
    b.data = (unsigned char *)b.page + page;
    for (uint64_t frames = 0; frames <= 30; frames += 30) {
        fill(&b, frames);
        run_ring(&b, "ring, copied", do_copy);
        run_ring(&b, "ring, identity", do_identity);
        run_ring(&b, "ring, identity and sample", do_sample);
        run_file(&b);
    }
    free(b.page);
    free(b.ring);
    free(b.copy);
    return b.sum == 1; /* never */
}

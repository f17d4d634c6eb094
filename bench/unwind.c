/*
 * Stacks of a recording unwound: millions of frames a second, from memory (all stacks in turn, more than any cache holds)
 * and warm (sixteen stacks again and again). The best of five.
 *
 *     bench-unwind FILE [OUT]      OUT: the same stacks for bench/peers/unwind
 *
 * Prints frames, frames a second from memory, warm, the first time (with reading the tables), and how many stacks.
 */
#include <reckon/reckon.h>

#include "elf/elf.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct stack_sample {
    struct rk_sample sample;
    uint64_t regs[64];
};

static struct stack_sample *samples;
static size_t n;
static int32_t process; /* the first one's: others are left out */
static FILE *out;
static uint64_t mapping_n;
static char mappings[1 << 20];
static size_t mappings_bytes;

/* CPU time, since other programs run too. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void put(const void *bytes, size_t count)
{
    if (mappings_bytes + count > sizeof mappings)
        abort();
    memcpy(mappings + mappings_bytes, bytes, count);
    mappings_bytes += count;
}

static void keep_mapping(const struct rk_record *r)
{
    struct rk_mapping m = {.size = sizeof m};
    struct elf *elf = NULL;
    uint64_t address;
    int root = sys_root_open(NULL);

    if (rk_record_mapping(r, &m) == 0 && m.pid > 0 && m.path[0] == '/' &&
        elf_open_at(root, m.path, &elf, NULL) == 0 && elf_address(elf, m.file_offset, &address) == 0) {
        uint64_t words[4] = {m.start, m.start + m.length, m.start - address, strlen(m.path)};
        put(words, sizeof words);
        put(m.path, words[3]);
        mapping_n++;
    }
    elf_close(elf);
    sys_close(root);
}

static void keep_sample(const struct rk_sample *s)
{
    size_t count = (size_t)__builtin_popcountll(s->regs_user_mask);

    samples = realloc(samples, (n + 1) * sizeof *samples);
    unsigned char *stack = malloc(s->stack_used + 8);
    if (!samples || !stack || count > 64)
        abort();
    struct stack_sample *to = &samples[n++];
    to->sample = *s;
    memcpy(to->regs, s->regs_user, count * 8);
    memcpy(stack, s->stack, s->stack_used);
    to->sample.stack = stack;
}

static uint64_t pass(struct rk_unwinder *unwinder, const struct rk_image *image, size_t from, size_t to)
{
    uint64_t pcs[512], frames = 0;

    for (size_t i = from; i < to; i++) {
        struct rk_unwind_status status = {.size = sizeof status};
        frames += (uint64_t)rk_unwinder_sample(unwinder, image, &samples[i].sample, pcs, 512, &status);
    }
    return frames;
}

static void write_out(const char *path)
{
    out = fopen(path, "we");
    if (!out)
        abort();
    fwrite(&mapping_n, 8, 1, out);
    fwrite(mappings, 1, mappings_bytes, out);
    uint64_t count = n;
    fwrite(&count, 8, 1, out);
    for (size_t i = 0; i < n; i++) { /* pc, sp, bp by the kernel's numbers 8, 7, 6 */
        uint64_t words[4] = {samples[i].regs[8], samples[i].regs[7], samples[i].regs[6],
                             samples[i].sample.stack_used};
        fwrite(words, 8, 4, out);
        fwrite(samples[i].sample.stack, 1, words[3], out);
    }
    if (fclose(out) != 0)
        abort();
}

int main(int argc, char **argv)
{
    struct rk_stream *stream;
    struct rk_image *image;
    struct rk_unwinder *unwinder;
    const struct rk_record *r;
    double memory = 0, warm = 0, first = 0;
    uint64_t frames = 0;

    if (argc < 2 || rk_stream_file(argv[1], &stream, NULL) < 0 || rk_image_open(&image, NULL) < 0 ||
        rk_unwinder_open(NULL, &unwinder, NULL) < 0)
        return 1;
    while (rk_stream_next(stream, &r) == 1) {
        struct rk_sample s = {.size = sizeof s};
        rk_image_feed(image, r);
        keep_mapping(r);
        if (rk_stream_sample(stream, r, &s) == 0 && s.regs_user && s.stack_used) {
            process = process ? process : s.pid;
            if (s.pid == process)
                keep_sample(&s);
        }
    }
    for (size_t i = 0; i < n; i++)
        samples[i].sample.regs_user = samples[i].regs;
    for (int i = 0; i < 6; i++) {
        double begin = now();
        frames = pass(unwinder, image, 0, n);
        double rate = (double)frames / (now() - begin);
        first = i == 0 ? rate : first;
        memory = i && rate > memory ? rate : memory;
    }
    for (int i = 0; i < 5; i++) {
        double begin = now();
        uint64_t some = 0;
        for (int k = 0; k < 2000; k++)
            some += pass(unwinder, image, n / 2, n / 2 + 16 < n ? n / 2 + 16 : n);
        double rate = (double)some / (now() - begin);
        warm = rate > warm ? rate : warm;
    }
    printf("%llu\t%.0f\t%.0f\t%.0f\t%zu\n", (unsigned long long)frames, memory, warm, first, n);
    if (argc > 2)
        write_out(argv[2]);
    return 0;
}

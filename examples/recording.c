/*
 * Samples of one's own in a perf.data file: what each call of a function took, in nanoseconds.
 *
 *     recording [FILE]        by default perf.data; reckon report FILE, perf report -i FILE
 */
#include <reckon/reckon.h>

#include <link.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t turns;

__attribute__((noinline)) static void quick(void)
{
    for (int i = 0; i < 10000; i++)
        turns++;
}

__attribute__((noinline)) static void slow(void)
{
    for (int i = 0; i < 1000000; i++)
        turns++;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Where this program's code lies; the first that is reported is the program itself. */
static int find_code(struct dl_phdr_info *info, size_t size, void *ret)
{
    struct rk_mapping *code = ret;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            code->start = info->dlpi_addr + segment->p_vaddr;
            code->length = segment->p_memsz;
            code->file_offset = segment->p_offset;
        }
    }
    return 1;
}

int main(int argc, char **argv)
{
    struct perf_event_attr attr = {.size = sizeof attr,
                                   .type = PERF_TYPE_SOFTWARE,
                                   .config = PERF_COUNT_SW_CPU_CLOCK,
                                   .sample_period = 1,
                                   .sample_type =
                                       RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_PERIOD,
                                   .sample_id_all = 1};
    struct rk_recording_event event = {.attr = &attr, .attr_bytes = sizeof attr, .name = "ns"};
    struct rk_record record = {
        .type = RK_RECORD_COMM, .misc = RK_MODE_USER, .pid = getpid(), .tid = getpid()};
    struct rk_comm comm = RK_INIT(comm, .pid = getpid(), .tid = getpid(), .name = "recording");
    struct rk_sample sample = RK_INIT(sample, .present = attr.sample_type, .pid = getpid(), .tid = getpid());
    char path[4096] = "";
    struct rk_mapping code = RK_INIT(code, .pid = getpid(), .tid = getpid(), .protection = 5, .path = path);
    void (*const calls[])(void) = {quick, slow};
    struct rk_recording *recording = NULL;
    struct rk_error e = RK_INIT(e);

    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return 1;
    dl_iterate_phdr(find_code, &code);
    int rc = rk_recording_open(argc > 1 ? argv[1] : "perf.data", &event, 1, NULL, &recording, &e);
    if (rc < 0) {
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
        return 1;
    }
    rk_recording_write(recording, 0, &record, &comm);
    record.type = RK_RECORD_MMAP2;
    rk_recording_write(recording, 0, &record, &code);
    record.type = RK_RECORD_SAMPLE;
    for (int i = 0; i < 100; i++) {
        uint64_t begin = now();
        calls[i & 1]();
        sample.time = now();
        sample.period = sample.time - begin;
        sample.ip = (uint64_t)(uintptr_t)calls[i & 1];
        rk_recording_write(recording, 0, &record, &sample);
    }
    if ((rc = rk_recording_finish(recording, &e)) < 0) /* where a write failed, this says so */
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
    rk_recording_free(recording);
    return rc < 0;
}

/* `reckon report` with lines and inlined functions as frames: samples in each byte of a small program that has both. */
#include "debug.h"
#include "fault.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

enum { PID = 4711, CODE_AT = 0x1000, CODE_BYTES = 0x6f };

#define BASE UINT64_C(0x400000)

/* Appends a record: its header, n bytes, and a text filled up to a multiple of 8. */
static size_t append(unsigned char *at, uint32_t type, const void *body, size_t n, const char *text)
{
    char filled[64] = {0};
    size_t text_bytes = 0;
    if (text)
        text_bytes = ((size_t)snprintf(filled, sizeof filled, "%s", text) + 8) / 8 * 8;
    uint16_t misc = 2, size = (uint16_t)(8 + n + text_bytes); /* PERF_RECORD_MISC_USER */
    memcpy(at, &type, 4);
    memcpy(at + 4, &misc, 2);
    memcpy(at + 6, &size, 2);
    memcpy(at + 8, body, n);
    memcpy(at + 8 + n, filled, text_bytes);
    return size;
}

/* perf.data: the program mapped where it was linked, a sample (IP, TID, TIME) at each of its bytes. */
static int make(void)
{
    enum { HEADER = 104, ATTRIBUTE = 144 };
    unsigned char file[65536] = {0};
    size_t n = HEADER + ATTRIBUTE;
    uint32_t ids[2] = {PID, PID}, software = 1, attribute_bytes = 128;
    uint64_t sample_type = 7, period = 1000000;
    unsigned char map[32];
    uint64_t place[3] = {BASE + CODE_AT, 4096, CODE_AT};

    mkdir("lib", 0755);
    memcpy(map, ids, 8);
    memcpy(map + 8, place, 24);
    n += append(file + n, 1, map, sizeof map, "/lib/gcc5"); /* MMAP */
    for (uint64_t i = 0; i < CODE_BYTES; i++) {
        unsigned char sample[24];
        uint64_t address = BASE + CODE_AT + i, time = i + 1;
        memcpy(sample, &address, 8);
        memcpy(sample + 8, ids, 8);
        memcpy(sample + 16, &time, 8);
        n += append(file + n, 9, sample, sizeof sample, NULL);
    }
    uint64_t header[13] = {
        0, HEADER, ATTRIBUTE, HEADER, ATTRIBUTE, HEADER + ATTRIBUTE, n - HEADER - ATTRIBUTE};
    memcpy(header, "PERFILE2", 8);
    memcpy(file, header, sizeof header);
    memcpy(file + HEADER, &software, 4);
    memcpy(file + HEADER + 4, &attribute_bytes, 4);
    memcpy(file + HEADER + 16, &period, 8);
    memcpy(file + HEADER + 24, &sample_type, 8);
    return copy("gcc5", "lib/gcc5") < 0 ? -1 : put("perf.data", file, n);
}

/* What is written, and that a function that was inlined is a frame. */
struct seen {
    uint64_t digest;
    bool inlined;
};

static int look(void *context, const void *data, size_t n)
{
    struct seen *seen = context;
    seen->digest = fault_fold(seen->digest, data, n);
    seen->inlined = seen->inlined || memmem(data, n, "work;outer;inner", 16);
    return 0;
}

static int report(struct seen *seen)
{
    struct rk_profile_options options = {.size = sizeof options, .root = ".", .symfs = "."};
    struct rk_profile *profile = NULL;
    struct rk_sink sink = {sizeof sink, 0, look, seen};
    int rc = 0;

    NEW(profile, rk_profile_file("perf.data", &options, &profile, NULL, e));
    TRY(rk_profile_export(profile, "folded", &sink, e));
end:
    EXPECT(rk_profile_free(profile) == NULL);
    return rc;
}

static int scenario(uint64_t *digest)
{
    struct seen seen = {.digest = *digest};
    int rc = report(&seen);

    *digest = seen.digest;
    return rc;
}

static int prepare(void)
{
    struct seen seen = {0};

    return make() < 0 || report(&seen) < 0 || !seen.inlined ? -1 : 0;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "inlined", .prepare = prepare, .run = scenario}, argc,
                      argv);
}

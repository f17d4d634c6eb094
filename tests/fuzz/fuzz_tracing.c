/*
 * Tracing data with samples: the input is what tracefs said of a tracepoint, in trace-cmd's form, and payloads; a recording of
 * one tracepoint is made of them. Fields lie in the payload, values are those that the payload has, and each sample is a line
 * of text and of JSON.
 *
 *     an input: bytes of tracing data, 16 bits │ tracing data │ bytes of a payload, 8 bits │ a payload │ …
 */
#include "fuzz.h"

#include "perfdata/format.h"

#include <reckon/export.h>
#include <reckon/stream.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NUMBER = 372, BYTES_MAX = 1 << 17 };

struct file {
    unsigned char bytes[BYTES_MAX];
    size_t n;
};

static void add(struct file *f, const void *bytes, size_t n)
{
    HOLDS(f->n + n <= sizeof f->bytes);
    memcpy(f->bytes + f->n, bytes, n);
    f->n += n;
}

/* A sample: header, raw's size, raw, up to a multiple of 8. */
static void add_sample(struct file *f, const uint8_t *payload, uint32_t n)
{
    static const char zeros[8];
    uint32_t padded = (n + 4 + 7) / 8 * 8 - 4;
    struct perf_header header = {.type = RK_RECORD_SAMPLE, .misc = 2, .size = (uint16_t)(8 + 8 + 4 + padded)};
    uint64_t time = f->n;

    add(f, &header, sizeof header);
    add(f, &time, sizeof time);
    add(f, &padded, sizeof padded);
    add(f, payload, n);
    add(f, zeros, padded - n);
}

static size_t make(struct file *f, const uint8_t *data, size_t size)
{
    struct perfdata_header header = {
        .magic = PERFDATA_MAGIC, .size = sizeof header, .features = {1u << FEATURE_TRACING_DATA}};
    struct perf_attr attr = {.type = 2, .size = sizeof attr, .config = NUMBER, .sample_period = 1};
    struct perfdata_section ids = {0}, table;
    size_t tracing = size >= 2 ? (size_t)data[0] | (size_t)data[1] << 8 : 0, samples = 0;

    data += size < 2 ? size : 2;
    size -= size < 2 ? size : 2;
    tracing = tracing < size ? tracing : size;
    attr.sample_type = RK_SAMPLE_TIME | RK_SAMPLE_RAW;
    header.attr_size = sizeof attr + sizeof ids;
    header.attrs = (struct perfdata_section){sizeof header, header.attr_size};
    header.data.offset = sizeof header + header.attr_size;
    f->n = 0;
    add(f, &header, sizeof header);
    add(f, &attr, sizeof attr);
    add(f, &ids, sizeof ids);
    for (const uint8_t *at = data + tracing, *end = data + size; at < end && f->n < BYTES_MAX / 2;
         samples++) {
        uint32_t n = *at++;
        n = n < (size_t)(end - at) ? n : (uint32_t)(end - at);
        add_sample(f, at, n);
        at += n;
    }
    header.data.size = f->n - header.data.offset;
    table = (struct perfdata_section){f->n + sizeof table, tracing};
    add(f, &table, sizeof table);
    add(f, data, tracing < BYTES_MAX / 4 ? tracing : BYTES_MAX / 4);
    memcpy(f->bytes, &header, sizeof header);
    return samples;
}

static int take(void *context, const void *data, size_t n)
{
    fuzz_touch(data, n);
    *(uint64_t *)context += n;
    return 0;
}

static void use_fields(struct rk_stream *st, const struct rk_sample *s, size_t fields)
{
    for (size_t i = 0; i < fields; i++) {
        struct rk_field field = {.size = sizeof field};
        struct rk_field_value value;
        HOLDS(rk_stream_field_get(st, 0, i, &field) == 0);
        fuzz_touch_text(field.name);
        fuzz_touch_text(field.type);
        if (rk_field_value(&field, s, &value) < 0)
            continue;
        HOLDS(!value.bytes || (value.bytes >= s->raw && value.n <= s->raw_bytes &&
                               value.bytes + value.n <= s->raw + s->raw_bytes));
        fuzz_touch(value.bytes, value.n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {"text", "json"};
    static struct file file;
    static char path[64];
    static int fd = -1;
    struct rk_stream *st = NULL;
    const struct rk_record *r;
    size_t made = make(&file, data, size), seen = 0;

    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    HOLDS(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, file.bytes, file.n, 0) == (ssize_t)file.n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    HOLDS(rk_stream_file(path, &st, NULL) == 0);
    size_t fields = rk_stream_field_count(st, 0);
    while (rk_stream_next(st, &r) == 1) {
        struct rk_sample s = {.size = sizeof s};
        HOLDS(r->type == RK_RECORD_SAMPLE && rk_stream_sample(st, r, &s) == 0);
        use_fields(st, &s, fields);
        for (int i = 0; i < 2; i++) {
            uint64_t n = 0;
            struct rk_sink sink = {sizeof sink, 0, take, &n};
            HOLDS(rk_record_export(st, r, formats[i], &sink, NULL, NULL) == 0 && n > 0);
        }
        seen++;
        rk_stream_release(st);
    }
    HOLDS(seen == made);
    rk_stream_free(st);
    return 0;
}

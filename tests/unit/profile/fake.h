/*
 * A stream, an image and a symbolizer that are made up, so that what the profile makes of them can be said in
 * advance. They stand in for the library's own: a test that includes this links without those rooms.
 *
 * Module m (1 … 7) lies at m << 32 in every process, the kernel (module 0) above KERNEL. Functions are 0x100
 * bytes long: at offset 0x3xx of module 2 there is "m2_f3". Module 6 has no symbols, module 7 no file.
 */
#ifndef FAKE_H
#define FAKE_H

#include <reckon/image.h>
#include <reckon/profile.h>
#include <reckon/symbol.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define KERNEL UINT64_C(0xffff800000000000)
#define AT(module, function, offset) ((uint64_t)(module) << 32 | (function) << 8 | (offset))

/* The stream: the sample that comes next, and what it says of itself. */
static struct rk_sample fake_sample;
static struct rk_stream_event fake_events[] = {{.name = "cpu-clock"}, {.name = "page-faults", .period = 10}};
static struct rk_loss fake_loss;
static uint32_t fake_cut;
static const char *fake_machine = "x86_64";
static const char *fake_comm = "worker";
static const char *fake_name; /* of what is in modules 4 and 5; NULL: "same" */
static uint64_t fake_shift;   /* added to every address below the kernel when it is looked up */
static int fake_finds;        /* calls of rk_image_find() */

static const struct rk_stream *const a_stream = (const void *)&fake_events; /* never looked at */

int rk_stream_sample(const struct rk_stream *stream, const struct rk_record *record, struct rk_sample *ret)
{
    (void)stream, (void)record;
    *ret = fake_sample;
    return 0;
}

int rk_stream_event_get(const struct rk_stream *stream, size_t index, struct rk_stream_event *ret)
{
    (void)stream;
    if (index >= sizeof fake_events / sizeof *fake_events)
        return -ERANGE;
    *ret = fake_events[index];
    return 0;
}

int rk_stream_loss(const struct rk_stream *stream, uint32_t event, struct rk_loss *ret)
{
    (void)stream, (void)event;
    *ret = fake_loss;
    return 0;
}

int rk_stream_info(const struct rk_stream *stream, struct rk_stream_info *ret)
{
    (void)stream;
    *ret = (struct rk_stream_info){.size = ret->size, .cut = fake_cut, .architecture = fake_machine};
    return 0;
}

/* Tracepoint fields of event 1. */
static struct rk_field fake_fields[4];
static int fake_field_n;

static inline int fake_fields_of(uint32_t event)
{
    return event == 1 ? fake_field_n : 0;
}

size_t rk_stream_field_count(struct rk_stream *stream, uint32_t event)
{
    (void)stream;
    return (size_t)fake_fields_of(event);
}

int rk_stream_field_get(struct rk_stream *stream, uint32_t event, size_t index, struct rk_field *ret)
{
    (void)stream;
    if (index >= (size_t)fake_fields_of(event))
        return -ERANGE;
    *ret = fake_fields[index];
    return 0;
}

/* One build-id, of "/bin/told". */
size_t rk_stream_build_id_count(const struct rk_stream *stream)
{
    (void)stream;
    return 1;
}

int rk_stream_build_id_get(const struct rk_stream *stream, size_t index, struct rk_stream_build_id *ret)
{
    (void)stream;
    if (index > 0)
        return -ERANGE;
    *ret = (struct rk_stream_build_id){ret->size, 20, (const unsigned char *)"twenty bytes of an id",
                                       "/bin/told"};
    return 0;
}

struct rk_image {
    int fed;
};

int rk_image_open(struct rk_image **ret, struct rk_error *e)
{
    (void)e;
    *ret = calloc(1, sizeof **ret);
    return *ret ? 0 : -ENOMEM;
}

struct rk_image *rk_image_free(struct rk_image *image)
{
    free(image);
    return NULL;
}

int rk_image_feed(struct rk_image *image, const struct rk_record *record)
{
    (void)record;
    image->fed++;
    return 1;
}

int rk_image_feed_build_id(struct rk_image *image, const char *path, const unsigned char *id, uint32_t bytes)
{
    (void)image;
    return bytes == 20 && !strcmp(path, "/bin/told") && !memcmp(id, "twenty", 6) ? 0 : -EINVAL;
}

int rk_image_find(const struct rk_image *image, int32_t pid, const uint64_t *addresses, size_t n,
                  struct rk_place *ret)
{
    (void)image;
    fake_finds++;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = addresses[i];
        ret[i] = (struct rk_place){RK_NO_MODULE, pid == 999 ? RK_PLACE_NO_PROCESS : RK_PLACE_NO_MAPPING, at};
        if (at < KERNEL)
            at += fake_shift;
        if (at >= KERNEL)
            ret[i] = (struct rk_place){0, RK_PLACE_FOUND, at};
        else if (pid != 999 && at >> 32 >= 1 && at >> 32 <= 7)
            ret[i] = (struct rk_place){(uint32_t)(at >> 32),
                                       at >> 32 == 7 ? RK_PLACE_ANONYMOUS : RK_PLACE_FOUND, at & UINT32_MAX};
    }
    return 0;
}

size_t rk_image_module_count(const struct rk_image *image)
{
    (void)image;
    return 8;
}

int rk_image_module_get(const struct rk_image *image, uint32_t module, struct rk_module *ret)
{
    static const char *const paths[] = {"[kernel]", "/bin/one", "/lib/two.so",   "/lib/three.so",
                                        "/a/same",  "/b/same",  "/bin/stripped", "//anon"};
    (void)image;
    if (module >= sizeof paths / sizeof *paths)
        return -ERANGE;
    const char *slash = strrchr(paths[module], '/');
    *ret = (struct rk_module){.size = ret->size,
                              .kind = module ? RK_MODULE_FILE : RK_MODULE_KERNEL,
                              .path = paths[module],
                              .name = slash ? slash + 1 : paths[module],
                              .start = module}; /* so that the symbolizer knows which */
    return 0;
}

const char *rk_image_comm(const struct rk_image *image, int32_t pid, int32_t tid)
{
    (void)image, (void)pid, (void)tid;
    return fake_comm;
}

const char *rk_image_cgroup(const struct rk_image *image, uint64_t id)
{
    (void)image;
    return id == 7 ? "/seven" : "";
}

size_t rk_stream_event_count(const struct rk_stream *stream)
{
    (void)stream;
    return sizeof fake_events / sizeof *fake_events;
}

struct rk_symbolizer {
    char names[8][64][32];
};

int rk_symbolizer_open(const struct rk_symbolizer_options *options, struct rk_symbolizer **ret,
                       struct rk_error *e)
{
    (void)options, (void)e;
    *ret = calloc(1, sizeof **ret);
    return *ret ? 0 : -ENOMEM;
}

struct rk_symbolizer *rk_symbolizer_free(struct rk_symbolizer *symbolizer)
{
    free(symbolizer);
    return NULL;
}

int rk_stream_names(const struct rk_stream *stream, const void **ret, size_t *ret_bytes)
{
    (void)stream, (void)ret, (void)ret_bytes;
    return -ENOENT;
}

int rk_symbolizer_names(struct rk_symbolizer *s, const void *names, size_t bytes, struct rk_error *e)
{
    (void)s, (void)names, (void)bytes, (void)e;
    return 0;
}

int rk_symbolizer_resolve(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                          const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t function = (offsets[i] & 0xffffff) >> 8, m = module->start;
        ret[i] = (struct rk_symbol){.distance = offsets[i] & 0xff};
        if (m == 6 || m == 7 || function >= 64) {
            ret[i].miss = m == 6 ? RK_MISS_STRIPPED : m == 7 ? RK_MISS_ANONYMOUS : RK_MISS_NO_SYMBOL;
            continue;
        }
        char *name = symbolizer->names[m][function];
        if (m == 4 || m == 5)
            snprintf(name, 32, "%s", fake_name ? fake_name : "same");
        else
            snprintf(name, 32, m ? "m%d_f%d" : "k%d_f%d", (int)m, (int)function);
        ret[i].name = name;
    }
    return 0;
}

/* In module 3, the upper half of a function has deeper(), line 7 of in.h, inlined into inlined(), line 20 of m3.c, inlined
 * into it; all else is a line of its own at its offset. A fourth one at 0xf0 and above has no name. */
int rk_symbolizer_sources(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                          const uint64_t *offsets, size_t n, const struct rk_sources_options *options,
                          struct rk_sources **ret, struct rk_error *e)
{
    size_t most = 4 * n + 1;
    struct rk_sources *made = calloc(1, sizeof *made + most * 48);
    assert_non_null(made);
    struct rk_symbol *symbols = (struct rk_symbol *)(made + 1);
    const char **function = (const char **)(symbols + n), **file = function + most,
               **declared = file + most; /* unknown */
    uint32_t *line = (uint32_t *)(declared + most), *column = line + most, *first = column + most,
             *miss = first + n + 1;
    uint32_t at = 0;
    (void)options, (void)e;
    rk_symbolizer_resolve(symbolizer, module, offsets, n, symbols);
    for (size_t i = 0; i < n; i++) {
        const struct rk_symbol symbol = symbols[i];
        first[i] = at;
        if (module->start == 3 && (offsets[i] & 0xff) >= 0xf0)
            at++;
        if (module->start == 3 && (offsets[i] & 0xff) >= 0x80) {
            function[at] = "deeper", file[at] = "/src/in.h", line[at++] = 7;
            function[at] = "inlined", file[at] = "/src/m3.c", line[at++] = 20;
        }
        function[at] = symbol.name, file[at] = symbol.name ? "/src/m.c" : NULL;
        line[at++] = symbol.name ? (uint32_t)(offsets[i] & 0xff) : 0;
    }
    first[n] = at;
    *made = (struct rk_sources){.size = sizeof *made,
                                .n = n,
                                .symbol = symbols,
                                .frame_n = at,
                                .first = first,
                                .miss = miss,
                                .function = function,
                                .file = file,
                                .line = line,
                                .column = column,
                                .declared_file = declared,
                                .declared_line = column};
    *ret = made;
    return 0;
}

struct rk_sources *rk_sources_free(struct rk_sources *sources)
{
    free(sources);
    return NULL;
}

const char *rk_miss_text(uint32_t miss)
{
    return miss == RK_MISS_STRIPPED ? "it has no symbol table" : miss ? "no name" : "";
}

/* A sample's record, of thread 100/tid. */
static inline struct rk_record fake_record(uint16_t mode, uint32_t event)
{
    return (struct rk_record){.type = RK_RECORD_SAMPLE, .misc = mode, .event = event};
}

/* Feeds a sample with this chain (n entries, the first is the sampled address too, behind a marker). */
static inline void fake_feed_in(struct rk_profile_builder *b, int32_t pid, int32_t tid, uint32_t event,
                                uint64_t period, const uint64_t *chain, size_t n)
{
    bool user = chain[0] == RK_CHAIN_USER;
    struct rk_record record = fake_record(user ? 2 : 1, event);
    fake_sample = (struct rk_sample){
        .size = sizeof fake_sample,
        .present = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CALLCHAIN |
                   (period ? RK_SAMPLE_PERIOD : 0),
        .ip = n > 1 ? chain[1] : 0,
        .time = fake_sample.time + 5,
        .pid = pid,
        .tid = tid,
        .period = period,
        .chain = chain,
        .chain_n = n,
    };
    assert_int_equal(rk_profile_builder_feed(b, a_stream, &record), 1);
}

#define FEED(builder, ...)                                                                \
    fake_feed_in(builder, 100, 100, 0, 1, (const uint64_t[]){RK_CHAIN_USER, __VA_ARGS__}, \
                 sizeof((const uint64_t[]){RK_CHAIN_USER, __VA_ARGS__}) / 8)

static inline struct rk_profile_builder *fake_builder(void)
{
    struct rk_profile_builder *b = NULL;
    assert_int_equal(rk_profile_builder_open(NULL, &b, NULL), 0);
    return b;
}

static inline struct rk_profile *fake_finish(struct rk_profile_builder *b)
{
    struct rk_profile *p = NULL;
    assert_int_equal(rk_profile_builder_finish(b, a_stream, &p, NULL), 0);
    rk_profile_builder_free(b);
    return p;
}

#endif

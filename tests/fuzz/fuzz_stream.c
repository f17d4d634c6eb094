/*
 * A recording, through everything that reads one: stream, order, samples, image, profile, and a writer. Files
 * that it names are looked for in the fake machine of tests/fuzz/root only. Each record is one line of text or
 * of JSON; what the stream counts as kept must be what it gave.
 */
#include "fuzz.h"
#include "mutate_perfdata.h"
#include "profile.h"

#include <reckon/export.h>
#include <reckon/image.h>
#include <reckon/profile.h>
#include <reckon/stream.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A sink that counts lines. */
struct lines {
    uint64_t n;
    char last;
};

static int count_lines(void *context, const void *data, size_t n)
{
    struct lines *lines = context;
    const char *text = data;
    for (const char *at = text; (at = memchr(at, '\n', n - (size_t)(at - text))); at++)
        lines->n++;
    if (n)
        lines->last = text[n - 1];
    return 0;
}

static void export_record(struct rk_stream *stream, const struct rk_record *r)
{
    struct lines lines = {0};
    struct rk_sink sink = {sizeof sink, 0, count_lines, &lines};

    HOLDS(rk_record_export(stream, r, r->offset & 8 ? "text" : "json", &sink, NULL, NULL) == 0);
    HOLDS(lines.n == 1 && lines.last == '\n');
}

/* Stands together, and can be written. */
static void use_profile(const struct rk_profile *p)
{
    struct rk_profile_summary summary = {.size = sizeof summary};
    HOLDS(rk_profile_summary(p, &summary) == 0);
    fuzz_profile(p);
    struct lines lines = {0};
    struct rk_sink sink = {sizeof sink, 0, count_lines, &lines};
    HOLDS(rk_profile_export(p, "folded", &sink, NULL) == 0); /* all others: fuzz_exports */
    HOLDS(lines.n == 0 || lines.last == '\n');
}

static void use_sample(struct rk_image *image, const struct rk_sample *s)
{
    struct rk_place place;
    rk_image_find(image, s->pid, &s->ip, 1, &place);
    for (uint64_t i = 0; i < s->chain_n && i < 64; i++)
        HOLDS(rk_image_find(image, s->pid, &s->chain[i], 1, &place) == 0);
    fuzz_touch_text(rk_image_comm(image, s->pid, s->tid));
    fuzz_touch(s->stack, s->stack_bytes);
    fuzz_touch(s->raw, s->raw_bytes);
}

static void use_about(struct rk_stream *stream, struct rk_image *image)
{
    struct rk_stream_info info = {.size = sizeof info};
    HOLDS(rk_stream_info(stream, &info) == 0);
    const char *texts[] = {info.host, info.kernel, info.architecture, info.command, info.tool};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fuzz_touch_text(texts[i]);
    for (size_t i = 0; i < rk_stream_event_count(stream); i++) {
        struct rk_stream_event event = {.size = sizeof event};
        HOLDS(rk_stream_event_get(stream, i, &event) == 0);
        fuzz_touch_text(event.name);
    }
    for (uint32_t i = 0; i < rk_image_module_count(image); i++) {
        struct rk_module module = {.size = sizeof module};
        HOLDS(rk_image_module_get(image, i, &module) == 0);
        HOLDS(module.build_id_bytes <= sizeof module.build_id);
        fuzz_touch_text(module.path);
        fuzz_touch_text(module.name);
    }
}

static void read_all(struct rk_stream *stream, struct rk_image *image, struct rk_profile_builder *builder,
                     size_t size)
{
    struct rk_loss loss = {.size = sizeof loss};
    const struct rk_record *r;
    uint64_t records = 0, samples = 0;
    int rc, errors = 0;

    while ((rc = rk_stream_next(stream, &r)) == 1 || (rc == -EBADMSG && errors++ < 100)) {
        struct rk_sample s = {.size = sizeof s};
        if (rc < 0)
            continue;
        HOLDS(r->event == RK_NO_EVENT || r->event < rk_stream_event_count(stream));
        fuzz_touch(r->data, r->bytes);
        rk_image_feed(image, r);
        HOLDS(rk_profile_builder_feed(builder, stream, r) != -ENOMEM);
        export_record(stream, r);
        if (r->type == RK_RECORD_SAMPLE)
            samples++;
        if (rk_stream_sample(stream, r, &s) == 0)
            use_sample(image, &s);
        if (++records % 16 == 0)
            HOLDS(rk_stream_release(stream) == 0);
    }
    HOLDS(records <= size / 8);
    if (rc < 0) {
        struct rk_error why = {.size = sizeof why};
        HOLDS(rk_stream_explain(stream, &why) == 0 && why.what[0]);
    }
    HOLDS(rk_stream_loss(stream, RK_NO_EVENT, &loss) == 0);
    if (rc == 0 && errors == 0 && !(loss.present & RK_LOSS_SKIPPED))
        HOLDS(loss.kept <= samples);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *stream = NULL;
    struct rk_image *image = NULL;
    struct rk_profile_builder *builder = NULL;
    struct rk_profile *profile = NULL;
    struct rk_profile_options options = {.size = sizeof options, .root = FUZZ_ROOT};
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    HOLDS(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int rc = rk_stream_file(path, &stream, &e);
    if (rc < 0) {
        HOLDS(e.code == rc && e.what[0] && !stream);
    } else {
        HOLDS(rk_image_open(&image, NULL) == 0);
        HOLDS(rk_profile_builder_open(&options, &builder, NULL) == 0);
        read_all(stream, image, builder, size);
        HOLDS(rk_profile_builder_finish(builder, stream, &profile, &e) == 0);
        HOLDS(rk_profile_builder_free(builder) == NULL);
        use_profile(profile);
        HOLDS(rk_profile_free(profile) == NULL);
        use_about(stream, image);
        HOLDS(rk_image_free(image) == NULL);
        HOLDS(rk_stream_free(stream) == NULL);
    }
    close(fd);
    return 0;
}

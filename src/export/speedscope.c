/*
 * speedscope's JSON (https://www.speedscope.app/file-format-schema.json): frames once, then a "sampled" profile for each
 * thread and event, samples in the order of time, each a stack of frames, outermost first, with its weight.
 *
 * What the format has no place for goes into the name: samples lost and skipped.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "export/formats.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void write_frames(struct json *j, const struct rk_profile_columns *c)
{
    json_open(j, "shared", '{');
    json_open(j, "frames", '[');
    for (size_t i = 0; i < c->frame_n; i++) {
        json_open(j, NULL, '{');
        bool unknown = c->frame_miss[i] && !profile_place(c, (uint32_t)i);
        json_text(j, "name", c->text[unknown ? c->frame_module[i] : c->frame_symbol[i]]);
        if (c->frame_file[i]) {
            json_text(j, "file", c->text[c->frame_file[i]]);
            json_u64(j, "line", c->frame_line[i]);
        } else if (c->frame_path[i]) {
            json_text(j, "file", c->text[c->frame_path[i]]);
        }
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void write_stack(struct json *j, const struct rk_profile *p, uint32_t node, uint32_t *path)
{
    int64_t n = rk_profile_path(p, node, path, p->summary.depth);

    json_open(j, NULL, '[');
    for (int64_t i = 0; i < n; i++)
        json_u64(j, NULL, path[i]);
    json_close(j, ']');
}

/* The rows[from, to) of one thread and event. */
static void write_thread(struct json *j, const struct rk_profile *p, const uint32_t *rows, size_t n,
                         uint32_t *path)
{
    const struct rk_profile_columns *c = &p->columns;
    uint32_t thread = c->sample_thread[rows[0]], event = c->sample_event[rows[0]];
    uint64_t sum = 0;
    char name[300];

    snprintf(name, sizeof name, "%.100s %" PRId32 "%s%.100s", c->text[c->thread_name[thread]],
             c->thread_tid[thread], c->event_n > 1 ? ", " : "",
             c->event_n > 1 ? c->text[c->event_name[event]] : "");
    json_open(j, NULL, '{');
    json_text(j, "type", "sampled");
    json_text(j, "name", name);
    const char *unit = c->text[c->event_unit[event]];
    json_text(j, "unit",
              strcmp(unit, "ns") == 0      ? "nanoseconds"
              : strcmp(unit, "bytes") == 0 ? "bytes"
                                           : "none");
    json_open(j, "samples", '[');
    for (size_t i = 0; i < n; i++)
        write_stack(j, p, c->sample_node[rows[i]], path);
    json_close(j, ']');
    json_open(j, "weights", '[');
    for (size_t i = 0; i < n; i++) {
        json_u64(j, NULL, c->sample_weight[rows[i]]);
        sum += c->sample_weight[rows[i]];
    }
    json_close(j, ']');
    json_u64(j, "startValue", 0);
    json_u64(j, "endValue", sum);
    json_close(j, '}');
}

void export_speedscope(const struct rk_profile *profile, struct output *out)
{
    const struct rk_profile_columns *c = &profile->columns;
    const struct rk_loss *l = &profile->summary.loss;
    _cleanup_free_ uint32_t *path = zeroed(profile->summary.depth, sizeof *path),
                            *order = export_by_thread(profile);
    struct json j = json_to(out);
    char name[300];

    if (!path || !order) {
        out->error = -ENOMEM;
        return;
    }
    snprintf(name, sizeof name, "%.100s: %" PRIu64 " samples, %" PRIu64 " lost, %" PRIu64 " skipped%s",
             profile->summary.event, profile->summary.samples, l->lost, l->skipped,
             profile->summary.cut ? ", cut off" : "");
    json_open(&j, NULL, '{');
    json_text(&j, "$schema", SCHEMA);
    json_text(&j, "exporter", "reckon@" RK_VERSION);
    json_text(&j, "name", name);
    json_u64(&j, "activeProfileIndex", 0);
    write_frames(&j, c);
    json_open(&j, "profiles", '[');
    for (size_t i = 0, n; i < c->sample_n; i += n) {
        n = export_same_thread(profile, order + i, c->sample_n - i);
        write_thread(&j, profile, order + i, n, path);
    }
    json_close(&j, ']');
    json_close(&j, '}');
    output_bytes(out, "\n", 1);
}

/*
 * A profile as one JSON object: its schema is in reckon/export.h. Functions come hottest first, stacks heaviest first,
 * frames outermost first. Times are nanoseconds of the recording's clock, null where samples carried none; lost and
 * skipped are null where they are not known.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "export/formats.h"
#include "profile/profile.h"

#include <errno.h>

#include <reckon/symbol.h>

static void known(struct json *j, const char *key, uint64_t value, bool is_known)
{
    if (is_known)
        json_u64(j, key, value);
    else
        json_null(j, key);
}

void summary_json(struct json *j, const struct rk_profile_summary *s)
{
    json_open(j, "summary", '{');
    json_text(j, "event", s->event);
    json_text(j, "unit", s->unit);
    json_u64(j, "events", s->events);
    json_u64(j, "samples", s->samples);
    json_u64(j, "weight", s->weight);
    json_u64(j, "threads", s->threads);
    known(j, "first_time", s->first_time, s->last_time);
    known(j, "last_time", s->last_time, s->last_time);
    known(j, "duration", s->duration, s->last_time);
    known(j, "slice_ns", s->slice_ns, s->slice_ns);
    json_u64(j, "depth", s->depth);
    json_u64(j, "kept", s->loss.kept);
    known(j, "lost", s->loss.lost, s->loss.present & RK_LOSS_LOST);
    known(j, "skipped", s->loss.skipped, s->loss.present & RK_LOSS_SKIPPED);
    json_u64(j, "throttled", s->loss.throttled);
    json_u64(j, "records_lost", s->loss.records_lost);
    json_u64(j, "unnamed", s->unnamed);
    json_u64(j, "stacks_whole", s->stacks_whole);
    json_u64(j, "stacks_cut", s->stacks_cut);
    json_u64(j, "stacks_broken", s->stacks_broken);
    json_bool(j, "cut", s->cut);
    json_close(j, '}');
}

static void write_unnamed(struct json *j, const struct rk_profile *profile)
{
    json_open(j, "unnamed", '[');
    for (size_t i = 0; i < rk_profile_unnamed_count(profile); i++) {
        struct rk_unnamed u = {.size = sizeof u};
        rk_profile_unnamed_get(profile, i, &u);
        json_open(j, NULL, '{');
        json_text(j, "module", u.module);
        json_text(j, "reason", rk_miss_text(u.miss));
        json_u64(j, "samples", u.samples);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_events(struct json *j, const struct rk_profile_columns *c)
{
    json_open(j, "events", '[');
    for (size_t i = 0; i < c->event_n; i++) {
        json_open(j, NULL, '{');
        json_text(j, "name", c->text[c->event_name[i]]);
        json_text(j, "unit", c->text[c->event_unit[i]]);
        json_u64(j, "samples", c->event_samples[i]);
        json_u64(j, "weight", c->event_weight[i]);
        known(j, "lost", c->event_lost[i], c->event_known[i] & RK_LOSS_LOST);
        known(j, "skipped", c->event_skipped[i], c->event_known[i] & RK_LOSS_SKIPPED);
        json_close(j, '}');
    }
    json_close(j, ']');
}

/* Rows heaviest first. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct rk_profile_columns *c = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    if (c->sample_weight[a] != c->sample_weight[b])
        return c->sample_weight[a] > c->sample_weight[b] ? -1 : 1;
    return (a > b) - (a < b);
}

static void write_stacks(struct json *j, struct rk_profile *p, const struct rk_aggregate *a)
{
    struct rk_profile_columns *c = &p->columns;
    _cleanup_free_ uint32_t *row_of = zeroed(c->frame_n, sizeof *row_of);
    _cleanup_free_ uint32_t *order = zeroed(c->sample_n, sizeof *order);
    _cleanup_free_ uint32_t *path = zeroed(p->summary.depth, sizeof *path);

    if (!row_of || !order || !path) {
        j->out->error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < a->n; i++)
        row_of[a->key[i]] = (uint32_t)i;
    for (size_t i = 0; i < c->sample_n; i++)
        order[i] = (uint32_t)i;
    qsort_r(order, c->sample_n, sizeof *order, compare_rows, c);
    json_open(j, "stacks", '[');
    for (size_t i = 0; i < c->sample_n; i++) {
        uint32_t row = order[i], thread = c->sample_thread[row];
        json_open(j, NULL, '{');
        json_text(j, "comm", c->text[c->thread_name[thread]]);
        json_i64(j, "pid", c->thread_pid[thread]);
        json_i64(j, "tid", c->thread_tid[thread]);
        json_text(j, "source", c->text[c->source_name[c->thread_source[thread]]]);
        json_u64(j, "event", c->sample_event[row]);
        json_u64(j, "weight", c->sample_weight[row]);
        json_u64(j, "samples", c->sample_count[row]);
        json_open(j, "frames", '[');
        int64_t n = rk_profile_path(p, c->sample_node[row], path, p->summary.depth);
        for (int64_t k = 0; k < n; k++)
            json_u64(j, NULL, row_of[c->frame_function[path[k]]]);
        json_close(j, ']');
        json_close(j, '}');
    }
    json_close(j, ']');
}

void export_json(const struct rk_profile *profile, struct output *out)
{
    struct rk_profile_filter flat = {.size = sizeof flat, .flags = RK_SELECT_NO_LINES | RK_SELECT_NO_TIMES};
    struct json j = json_to(out);
    struct rk_profile *p = NULL;
    struct rk_aggregate *a = NULL;

    int rc = rk_profile_select(profile, &flat, &p, NULL);
    if (rc == 0)
        rc = rk_profile_aggregate(p, RK_PER_FUNCTION, &a, NULL);
    if (rc == 0) {
        json_open(&j, NULL, '{');
        json_text(&j, "version", RK_VERSION);
        summary_json(&j, &profile->summary);
        rows_json(&j, "functions", p, a);
        write_unnamed(&j, profile);
        write_events(&j, &p->columns);
        write_stacks(&j, p, a);
        json_close(&j, '}');
        output_bytes(out, "\n", 1);
    } else {
        out->error = rc;
    }
    rk_aggregate_free(a);
    rk_profile_free(p);
}

/*
 * A profile as a page: see page.h. Names are bytes of a base64 block, so that none can be markup or script; the page's
 * policy allows its own script and style alone, by their hashes.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/json.h"
#include "base/sink.h"
#include "base/vector.h"
#include "export/formats.h"
#include "export/page.h"
#include "profile/profile.h"

#include <reckon/symbol.h>

#include <errno.h>

#define LINES_MOST 8 /* of a function */

/* A difference: both of them. */
struct pair {
    const struct rk_profile *before, *after;
    uint32_t normalise;
};

struct page {
    const struct pair *pair; /* NULL: no difference */
    const bool *is_before;   /* by source; NULL: no difference */
    const struct rk_profile *profile;
    uint32_t *events; /* that have samples; the first where none has */
    uint32_t event_n;
    struct rk_profile_columns c;
    struct rk_profile_summary s;
    struct page_tree tree;
    struct page_names names;
    struct page_time time;
    struct page_rows rows;
};

/* ---- facts ---- */

static void known(struct json *j, const char *key, uint64_t value, bool is_known)
{
    if (is_known)
        json_u64(j, key, value);
    else
        json_null(j, key);
}

/* What is known of an event in the profile that is shown, in a difference the one after: in that of both it is a sum. */
static struct rk_loss loss_of(const struct rk_profile *profile, const char *event)
{
    const struct rk_profile_columns *c = &profile->columns;

    for (size_t i = 0; i < c->event_n; i++)
        if (strcmp(c->text[c->event_name[i]], event) == 0)
            return profile->event_loss[i];
    return (struct rk_loss){0};
}

static void write_lost(struct json *j, const struct rk_profile *profile, const char *event)
{
    struct rk_loss loss = loss_of(profile, event);

    known(j, "lost", loss.lost, loss.present & RK_LOSS_LOST);
    known(j, "skipped", loss.skipped, loss.present & RK_LOSS_SKIPPED);
}

static void write_event(struct json *j, const struct page *p, uint32_t event)
{
    const struct rk_profile_columns *c = &p->c;
    struct page_side side = {.event = event, .is_of = p->is_before};
    struct page_sums sums = page_side_sums(c, &side);

    json_open(j, NULL, '{');
    json_text(j, "name", c->text[c->event_name[event]]);
    json_text(j, "unit", c->text[c->event_unit[event]]);
    json_u64(j, "samples", sums.samples);
    json_u64(j, "weight", sums.weight);
    write_lost(j, p->pair ? p->pair->after : p->profile, c->text[c->event_name[event]]);
    if (p->pair) {
        side.before = 1;
        sums = page_side_sums(c, &side);
        json_u64(j, "before", sums.samples);
        json_u64(j, "before_weight", sums.weight);
    }
    json_close(j, '}');
}

static void write_reasons(struct json *j, const struct page *p)
{
    uint32_t last = 0;

    for (size_t f = 0; f < p->c.frame_n; f++)
        last = p->c.frame_miss[f] > last ? p->c.frame_miss[f] : last;
    json_open(j, "reasons", '[');
    for (uint32_t miss = 0; miss <= last; miss++)
        json_text(j, NULL, miss ? rk_miss_text(miss) : "");
    json_close(j, ']');
}

/* What one recording stands on. */
static void write_ground(struct json *j, const struct rk_profile_summary *s)
{
    json_u64(j, "samples", s->samples);
    json_u64(j, "duration", s->duration);
    json_u64(j, "threads", s->threads);
    json_u64(j, "throttled", s->loss.throttled);
    json_bool(j, "cut", s->cut);
    json_open(j, "stacks", '{');
    json_u64(j, "whole", s->stacks_whole);
    json_u64(j, "cut", s->stacks_cut);
    json_u64(j, "broken", s->stacks_broken);
    json_close(j, '}');
}

static void write_before(struct json *j, const struct page *p)
{
    static const char *const words[] = {"weight", "none", "time"};
    const struct pair *pair = p->pair;

    json_text(j, "normalise", words[pair->normalise]);
    json_real(j, "scale",
              pair->normalise == RK_NORMALISE_WEIGHT
                  ? 1
                  : profile_scale(&pair->before->summary, &pair->after->summary, pair->normalise));
    json_open(j, "before", '{');
    write_ground(j, &pair->before->summary);
    json_open(j, "events", '[');
    for (uint32_t i = 0; i < p->event_n; i++) {
        json_open(j, NULL, '{');
        write_lost(j, pair->before, p->c.text[p->c.event_name[p->events[i]]]);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void write_facts(struct output *out, const struct page *p)
{
    struct json j = json_to(out);
    const struct rk_profile_summary *s = &p->s;

    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    write_ground(&j, p->pair ? &p->pair->after->summary : s);
    json_bool(&j, "timed", s->last_time > s->first_time);
    if (p->pair)
        write_before(&j, p);
    json_open(&j, "events", '[');
    for (uint32_t i = 0; i < p->event_n; i++)
        write_event(&j, p, p->events[i]);
    json_close(&j, ']');
    write_reasons(&j, p);
    json_close(&j, '}');
}

struct text {
    VECTOR(char) bytes;
};

static int append(void *context, const void *data, size_t n)
{
    struct text *text = context;

    if (vector_reserve(&text->bytes, n) < 0)
        return -ENOMEM;
    memcpy(text->bytes.items + text->bytes.n, data, n);
    text->bytes.n += n;
    return 0;
}

static int put_facts(struct page_pen *pen, const struct page *p)
{
    struct text text = {0};
    const struct rk_sink sink = {sizeof sink, 0, append, &text};
    struct output out = output_to(&sink);

    write_facts(&out, p);
    int rc = output_end(&out);
    if (rc == 0) {
        page_number(pen, text.bytes.n);
        page_bytes(pen, text.bytes.items, text.bytes.n);
    }
    vector_free(&text.bytes);
    return rc;
}

/* ---- columns ---- */

#define COLUMN(pen, n, value)          \
    for (size_t i = 0; i < (n); i++) { \
        page_number((pen), (value));   \
    }

static void put_modules(struct page_pen *pen, const struct page *p)
{
    const uint32_t *like = p->names.module_like, *place = p->names.place;

    page_number(pen, p->names.module_n);
    COLUMN(pen, p->names.module_n, place[p->c.frame_module[like[i]]]);
    COLUMN(pen, p->names.module_n, place[p->c.frame_path[like[i]]]);
    COLUMN(pen, p->names.module_n, p->c.frame_flags[like[i]] & RK_FRAME_KERNEL ? 1 : 0);
}

/* 1: wherever it was seen it was inlined. */
static uint32_t always_inline(const struct page *p, size_t function)
{
    uint32_t flags = RK_FRAME_INLINE;

    for (uint32_t i = p->tree.first[function]; i < p->tree.first[function + 1]; i++)
        flags &= p->c.frame_flags[p->tree.frames[i]];
    return flags != 0;
}

/* The lines of a function that have most samples of their own. */
static void put_lines(struct page_pen *pen, const struct page *p, size_t function)
{
    const uint32_t *frames = p->tree.frames, first = p->tree.first[function];
    uint32_t line[LINES_MOST], n = 0;
    uint64_t samples[LINES_MOST];

    for (uint32_t i = first; i < p->tree.first[function + 1]; i++) {
        uint32_t f = frames[i], k = 0;
        if (!p->c.frame_line[f] || !p->tree.self[f] || p->c.frame_file[f] != p->c.frame_file[frames[first]])
            continue;
        while (k < n && line[k] != p->c.frame_line[f])
            k++;
        if (k == LINES_MOST)
            break;
        line[k] = p->c.frame_line[f];
        samples[k] = (k == n ? 0 : samples[k]) + p->tree.self[f];
        n += k == n;
    }
    page_number(pen, n);
    for (uint32_t k = 0; k < n; k++) {
        page_number(pen, line[k]);
        page_number(pen, samples[k]);
    }
}

static void put_functions(struct page_pen *pen, const struct page *p)
{
    const struct rk_profile_columns *c = &p->c;
    const uint32_t *frames = p->tree.frames, *first = p->tree.first, *place = p->names.place;
    size_t n = p->tree.function_n;

    page_number(pen, n);
    COLUMN(pen, n, place[c->frame_symbol[frames[first[i]]]]);
    COLUMN(pen, n, p->names.module_of[i]);
    COLUMN(pen, n, c->frame_file[frames[first[i]]] ? place[c->frame_file[frames[first[i]]]] + 1u : 0u);
    COLUMN(pen, n, c->frame_line[frames[first[i]]]);
    COLUMN(pen, n, c->frame_miss[frames[first[i]]] * 2 + always_inline(p, i));
    for (size_t i = 0; i < n; i++)
        put_lines(pen, p, i);
}

static void put_threads(struct page_pen *pen, const struct page *p)
{
    const struct rk_profile_columns *c = &p->c;

    page_number(pen, c->thread_n);
    COLUMN(pen, c->thread_n, p->names.place[c->thread_name[i]]);
    /* Where all came from one machine, or one was before and one after, it need not be said. */
    bool told = c->source_n > 1 && !p->is_before;
    COLUMN(pen, c->thread_n, p->names.place[told ? c->source_name[c->thread_source[i]] : 0]);
    for (size_t i = 0; i < c->thread_n; i++)
        page_signed(pen, c->thread_pid[i]);
    for (size_t i = 0; i < c->thread_n; i++)
        page_signed(pen, c->thread_tid[i]);
}

static void put_sides(struct page_pen *pen, const struct page *p)
{
    uint32_t each = p->is_before ? 2 : 1;

    page_number(pen, p->time.buckets);
    page_number(pen, p->time.start[0]);
    page_number(pen, p->time.width);
    page_number(pen, (uint64_t)p->event_n * each);
    for (uint32_t i = 0; i < p->event_n; i++)
        for (uint32_t before = 0; before < each; before++) {
            struct page_side side = {p->events[i], before, p->is_before};
            page_number(pen, i);
            page_write_side(pen, &p->c, &p->rows, &side);
        }
}

static int put_all(struct page_pen *pen, const struct page *p)
{
    page_number(pen, 3);
    int rc = put_facts(pen, p);
    if (rc < 0)
        return rc;
    page_write_names(pen, &p->c, &p->names);
    page_write_short(pen, &p->c, &p->names);
    put_modules(pen, p);
    put_functions(pen, p);
    put_threads(pen, p);
    page_number(pen, p->tree.node_n);
    COLUMN(pen, p->tree.node_n, p->tree.up[i]);
    for (size_t i = 0; i < p->tree.node_n; i++)
        page_signed(pen, (int64_t)p->tree.function[i] - (i > 0 ? p->tree.function[i - 1] : 0));
    put_sides(pen, p);
    return 0;
}

static int choose_events(struct page *p)
{
    p->events = calloc(p->c.event_n + 1, sizeof *p->events);
    if (!p->events)
        return -ENOMEM;
    for (uint32_t event = 0; event < p->c.event_n; event++)
        if (p->c.event_samples[event] > 0)
            p->events[p->event_n++] = event;
    p->event_n += p->event_n == 0 && p->c.event_n > 0;
    return 0;
}

static int write_page(struct page *p, struct output *out)
{
    struct page_pen pen = {0};
    int rc = choose_events(p);

    if (rc == 0)
        rc = page_tree_make(&p->c, &p->tree);
    if (rc == 0)
        rc = page_names_make(&p->c, &p->tree, &p->names);
    if (rc == 0) {
        p->time = page_time_of(&p->c, &p->s, p->is_before);
        rc = page_rows_make(&p->c, &p->tree, p->is_before, &p->time, &p->rows);
    }
    if (rc == 0)
        rc = put_all(&pen, p);
    if (rc == 0) {
        output_bytes(out, page_head, page_head_size);
        rc = page_write(&pen, out);
        output_bytes(out, page_tail, page_tail_size);
    }
    page_pen_free(&pen);
    page_rows_free(&p->rows);
    page_names_free(&p->names);
    page_tree_free(&p->tree);
    free(p->events);
    return rc;
}

static int open_page(const struct rk_profile *profile, struct page *p)
{
    *p = (struct page){.profile = profile, .c = {.size = sizeof p->c}, .s = {.size = sizeof p->s}};
    int rc = rk_profile_columns(profile, &p->c);

    return rc < 0 ? rc : rk_profile_summary(profile, &p->s);
}

void export_html(const struct rk_profile *profile, struct output *out)
{
    struct page p;
    int rc = open_page(profile, &p);

    if (rc == 0)
        rc = write_page(&p, out);
    if (rc < 0 && !out->error)
        out->error = rc;
}

/* ---- a difference ---- */

/* Both in one tree, told apart by where samples came from. */
static int write_pair(const struct rk_profile *both, const struct pair *pair, struct output *out)
{
    struct page p;
    int rc = open_page(both, &p);
    _cleanup_free_ bool *is_before = rc < 0 ? NULL : calloc(p.c.source_n + 1, sizeof *is_before);

    if (rc == 0 && !is_before)
        rc = -ENOMEM;
    for (size_t i = 0; rc == 0 && i < p.c.source_n; i++)
        is_before[i] = strcmp(p.c.text[p.c.source_name[i]], "before") == 0;
    if (rc < 0)
        return rc;
    p.pair = pair;
    p.is_before = is_before;
    return write_page(&p, out);
}

int rk_profile_pair_export(const struct rk_profile *before, const struct rk_profile *after,
                           uint32_t normalise, const char *format, const struct rk_sink *sink,
                           struct rk_error *e)
{
    static const char *const names[] = {"html", NULL};
    struct rk_profile *both = NULL;
    int rc = export_format("pairs of profiles", names, format, sink, e);

    if (rc < 0)
        return rc;
    if (!before || !after)
        return fail_null(e, RK_STAGE_EXPORT, "rk_profile_pair_export", before ? "after" : "before");
    if (normalise > RK_NORMALISE_TIME)
        return fail_argument(e, RK_STAGE_EXPORT, "rk_profile_pair_export: %u is no enum rk_normalise",
                             normalise);
    rc = profile_pair(before, after, &both, e);
    if (rc < 0)
        return rc;
    struct output out = output_to(sink);
    rc = write_pair(both, &(struct pair){before, after, normalise}, &out);
    rk_profile_free(both);
    if (rc < 0 && !out.error)
        out.error = rc;
    return export_end(&out, e);
}

int rk_profile_pair_export_fd(const struct rk_profile *before, const struct rk_profile *after,
                              uint32_t normalise, const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_profile_pair_export(before, after, normalise, format, &sink, e);
}

int rk_profile_pair_export_path(const struct rk_profile *before, const struct rk_profile *after,
                                uint32_t normalise, const char *format, const char *path, struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc
                  : sink_file_close(
                        &file, rk_profile_pair_export(before, after, normalise, format, &file.sink, e), e);
}

/*
 * Regions, written out.
 *
 * A picture is taken first: of each thread a copy of its tree, with what is open ended as of now, and their sum.
 *
 * As text, the sum, then each thread where there are a few: a line per node, indented by its depth, heaviest
 * first (by self counts of the first event that was counted), two columns for each event that was counted.
 *
 * As JSON:
 *
 *     {"version", "program", "pid",
 *      "events": [{"event", "unit", "reason", "cause", "remedy", "note"}, …],     reason …: not counted, because
 *      "regions": [REGION, …],                                                    all threads summed
 *      "threads": [{"tid", "ended", "threads", "reason", "regions": [REGION, …]}, …],
 *      "notes": [TEXT, …]}
 *
 *     REGION = {"region", "parent", "calls", "unended", "inclusive": [COUNT, …], "self": [COUNT, …]}
 *     COUNT = {"value", "scaled", "bound", "enabled_ns", "running_ns"}, in the order of "events"; null: not counted
 *
 * "parent" is the index, in the same list, of the region around it; null: none. "unended": of the calls, those that were ended by a
 * jump, or the end of their thread or of the program. "scaled" is "value" times the event's scale in its unit, and, where
 * the counter had to be shared, an estimate within ± "bound". An entry of "threads" with "tid": null is the sum of
 * `threads` ended ones. Nodes come parents first.
 */
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "region/regions.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_THREADS 8 /* so many are shown apart */
#define WAIT_MS 500    /* for a thread that is in the middle of a begin or end */

struct picture {
    const struct regions *regions;
    struct tree sum;
    VECTOR(struct picture_thread {
        int32_t id; /* -1: several */
        uint32_t threads;
        bool ended;
        const char *reason; /* no counters; or NULL */
        struct tree tree;
    })
    threads;
    uint32_t unseen; /* threads that could not be looked at */
};

static void picture_free(struct picture *p)
{
    tree_free(&p->sum);
    for (size_t i = 0; i < p->threads.n; i++)
        tree_free(&p->threads.items[i].tree);
    vector_free(&p->threads);
}

static int take_tree(struct picture *p, const struct tree *from, const struct rk_value *now,
                     struct picture_thread about)
{
    if (tree_copy(from, &about.tree) < 0)
        return -ENOMEM;
    tree_end_all(&about.tree, now);
    struct picture_thread *thread = vector_push(&p->threads);
    if (!thread) {
        tree_free(&about.tree);
        return -ENOMEM;
    }
    *thread = about;
    return tree_add(&p->sum, &thread->tree);
}

static int take_thread(struct picture *p, struct region_thread *thread)
{
    if (!region_thread_take(thread, REGION_REPORTER, WAIT_MS)) {
        p->unseen++;
        return 0;
    }
    region_thread_read(thread, thread->now);
    int rc = take_tree(p, &thread->tree, thread->now,
                       (struct picture_thread){.id = thread->id,
                                               .threads = 1,
                                               .ended = thread->ended,
                                               .reason = thread->why.code ? thread->why.what : NULL});
    region_thread_give(thread);
    return rc;
}

/* regions->lock is held. */
static int take_picture(struct regions *regions, struct picture *p)
{
    *p = (struct picture){.regions = regions};
    if (tree_init(&p->sum, regions->n_events) < 0)
        return -ENOMEM;
    int rc = 0;
    for (struct region_thread *thread = regions->threads; thread && rc == 0; thread = thread->next)
        rc = take_thread(p, thread);
    for (size_t i = 0; i < p->threads.n / 2; i++) { /* the oldest first */
        struct picture_thread *a = &p->threads.items[i], *b = &p->threads.items[p->threads.n - 1 - i], c = *a;
        *a = *b;
        *b = c;
    }
    if (rc == 0 && regions->n_others)
        rc = take_tree(p, &regions->others, NULL,
                       (struct picture_thread){.id = -1, .threads = regions->n_others, .ended = true});
    return rc;
}

/* ---------------------------------------------------------------- what was counted */

static double scale_of(const struct rk_event *event)
{
    return event->scale != 0 ? event->scale : 1.0;
}

/* The estimate and its bound; NaN where it was not counted. A region may be shorter than the clock can tell: what ran all
 * the time, be it none, is exact. */
static double scaled(const struct rk_value *v, double *ret_bound)
{
    if (v->running == v->enabled) {
        *ret_bound = 0;
        return (double)v->value;
    }
    return rk_value_scale(v, NULL, ret_bound);
}

static const char *name_of(const struct picture *p, uint32_t region)
{
    return intern_text(&p->regions->names, region);
}

/* ---------------------------------------------------------------- notes */

/* Sentences about the whole, one by one: false after the last. */
static bool note_at(const struct picture *p, int at, char *text, size_t size)
{
    const struct regions *r = p->regions;
    const struct tree *sum = &p->sum;
    int n = 0;

#define NOTE(condition, ...)                   \
    do {                                       \
        if ((condition) && n++ == at) {        \
            snprintf(text, size, __VA_ARGS__); \
            return true;                       \
        }                                      \
    } while (0)
    NOTE(r->note, "%s%s%s", r->note, *r->note_remedy ? "; " : "", r->note_remedy);
    NOTE(p->unseen, "%u threads were in the middle of a call and are left out", p->unseen);
    NOTE(sum->dropped, "%llu calls were not counted: out of memory", (unsigned long long)sum->dropped);
    NOTE(sum->unread, "%llu counts are missing: a counter could not be read",
         (unsigned long long)sum->unread);
    NOTE(sum->unmatched, "%llu ends of regions that were not open were passed over",
         (unsigned long long)sum->unmatched);
    NOTE(r->nameless, "%llu times a region had no memory for its name and was left out",
         (unsigned long long)r->nameless);
    NOTE(r->strangers, "%llu times a thread had no memory for its regions and was left out",
         (unsigned long long)r->strangers);
    return false;
#undef NOTE
}

/* ---------------------------------------------------------------- JSON */

static void json_count(struct json *j, const struct rk_event *event, bool counted, const struct rk_value *v)
{
    double bound, value = scaled(v, &bound);

    if (!counted || isnan(value)) {
        json_null(j, NULL);
        return;
    }
    json_open(j, NULL, '{');
    json_u64(j, "value", v->value);
    json_real(j, "scaled", value * scale_of(event));
    json_real(j, "bound", bound * scale_of(event));
    json_u64(j, "enabled_ns", v->enabled);
    json_u64(j, "running_ns", v->running);
    json_close(j, '}');
}

static void json_tree(struct json *j, const struct picture *p, const struct tree *tree, bool counted)
{
    static const char *const columns[] = {"inclusive", "self"};
    size_t n = tree->n_events;

    json_open(j, "regions", '[');
    for (uint32_t i = 1; i < tree->nodes.n; i++) {
        const struct tree_node *node = &tree->nodes.items[i];
        json_open(j, NULL, '{');
        json_text(j, "region", name_of(p, node->region));
        if (node->parent)
            json_u64(j, "parent", node->parent - 1);
        else
            json_null(j, "parent");
        json_u64(j, "calls", node->calls);
        json_u64(j, "unended", node->unended);
        for (size_t column = 0; column < 2; column++) {
            json_open(j, columns[column], '[');
            for (size_t k = 0; k < n; k++)
                json_count(j, &p->regions->about[k].event, counted && p->regions->about[k].counted,
                           &tree_counts(tree, i)[column * n + k]);
            json_close(j, ']');
        }
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void json_events(struct json *j, const struct regions *regions)
{
    json_open(j, "events", '[');
    for (uint32_t i = 0; i < regions->n_events; i++) {
        const struct region_event *about = &regions->about[i];
        json_open(j, NULL, '{');
        json_text(j, "event", about->event.name);
        json_text(j, "unit", about->event.unit);
        if (about->reason) {
            json_text(j, "reason", about->reason);
            json_text(j, "cause", rk_cause_name(about->cause));
            json_text(j, "remedy", about->remedy);
        }
        if (about->note)
            json_text(j, "note", about->note);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_json(const struct picture *p, struct output *out)
{
    struct json j = json_to(out);
    char text[600];

    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    json_text(&j, "program", program_invocation_short_name);
    json_i64(&j, "pid", p->regions->pid);
    json_events(&j, p->regions);
    json_tree(&j, p, &p->sum, true);
    json_open(&j, "threads", '[');
    for (size_t i = 0; i < p->threads.n; i++) {
        const struct picture_thread *thread = &p->threads.items[i];
        json_open(&j, NULL, '{');
        if (thread->id < 0)
            json_null(&j, "tid");
        else
            json_i64(&j, "tid", thread->id);
        json_bool(&j, "ended", thread->ended);
        json_u64(&j, "threads", thread->threads);
        if (thread->reason)
            json_text(&j, "reason", thread->reason);
        json_tree(&j, p, &thread->tree, !thread->reason);
        json_close(&j, '}');
    }
    json_close(&j, ']');
    json_open(&j, "notes", '[');
    for (int i = 0; note_at(p, i, text, sizeof text); i++)
        json_text(&j, NULL, text);
    json_close(&j, ']');
    json_close(&j, '}');
    output_text(out, "\n");
}

/* ---------------------------------------------------------------- text */

/* 1234567.8 as 1,234,567.80 */
static void number_text(char *text, size_t size, double value, int decimals)
{
    char plain[64];
    size_t n = 0;

    snprintf(plain, sizeof plain, "%.*f", decimals, value);
    size_t whole = strcspn(plain, "."), first = plain[0] == '-';
    for (size_t i = 0; plain[i] && n + 2 < size; i++) {
        if (i > first && i < whole && (whole - i) % 3 == 0)
            text[n++] = ',';
        text[n++] = plain[i];
    }
    text[n] = 0;
}

static bool in_ms(const struct rk_event *event)
{
    return strcmp(event->unit, "ns") == 0;
}

static void count_text(char *text, size_t size, const struct rk_event *event, const struct rk_value *v)
{
    double bound, value = scaled(v, &bound) * scale_of(event);

    if (isnan(value)) {
        snprintf(text, size, "-");
        return;
    }
    size_t n = bound > 0 ? 1 : 0;
    text[0] = '~';
    if (in_ms(event))
        number_text(text + n, size - n, value / 1e6, 3);
    else
        number_text(text + n, size - n, value, event->scale != 0 && event->scale != 1.0 ? 2 : 0);
}

#define COLUMN 16
#define WIDTH_MAX 60 /* of names, their indent included; longer ones push the rest aside */

static int name_width(const struct picture *p, const struct tree *tree)
{
    size_t width = 6;

    for (uint32_t i = 1; i < tree->nodes.n; i++) {
        size_t w =
            2 * (size_t)(tree->nodes.items[i].depth - 1) + strlen(name_of(p, tree->nodes.items[i].region));
        width = w > width ? w : width;
    }
    return width > WIDTH_MAX ? WIDTH_MAX : (int)width;
}

static void text_head(const struct picture *p, struct output *out, int width)
{
    char label[80];

    output_format(out, "\n%-*s %*s", width, "", COLUMN - 2, "");
    for (uint32_t k = 0; k < p->regions->n_events; k++)
        if (p->regions->about[k].counted) {
            const struct rk_event *event = &p->regions->about[k].event;
            snprintf(label, sizeof label, "%s%s%s", event->name, *event->unit ? ", " : "",
                     in_ms(event) ? "ms" : event->unit);
            output_format(out, " %*s", 2 * COLUMN + 1, label);
        }
    output_format(out, "\n%-*s %*s", width, "region", COLUMN - 2, "calls");
    for (uint32_t k = 0; k < p->regions->n_events; k++)
        if (p->regions->about[k].counted)
            output_format(out, " %*s %*s", COLUMN, "inclusive", COLUMN, "self");
    output_text(out, "\n");
}

static void text_node(const struct picture *p, const struct tree *tree, uint32_t at, int width,
                      struct output *out)
{
    const struct tree_node *node = &tree->nodes.items[at];
    char name[256], text[64];
    int indent = 2 * (int)(node->depth - 1);

    indent = indent > WIDTH_MAX / 2 ? WIDTH_MAX / 2 : indent;
    text_show(name, sizeof name, name_of(p, node->region), strlen(name_of(p, node->region)));
    number_text(text, sizeof text, (double)node->calls, 0);
    output_format(out, "%*s%-*s %*s", indent, "", width - indent, name, COLUMN - 2, text);
    for (uint32_t k = 0; k < tree->n_events; k++) {
        if (!p->regions->about[k].counted)
            continue;
        for (size_t column = 0; column < 2; column++) {
            count_text(text, sizeof text, &p->regions->about[k].event,
                       &tree_counts(tree, at)[column * tree->n_events + k]);
            output_format(out, " %*s", COLUMN, text);
        }
    }
    output_format(out, node->unended ? "  (%llu unended)\n" : "\n", (unsigned long long)node->unended);
}

struct order {
    uint32_t node, parent;
    double weight;
};

static int by_parent_and_weight(const void *a, const void *b)
{
    const struct order *x = a, *y = b;

    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* The children of a node are next to each other in `order`, from first[node] to first[node + 1]. The tree is walked without
 * recursion: it may be as deep as there are regions. */
static void text_walk(const struct picture *p, const struct tree *tree, const struct order *order,
                      uint32_t *first, int width, struct output *out)
{
    const size_t n = tree->nodes.n;
    uint32_t *next = first + n + 1;
    uint32_t at = 0;

    memcpy(next, first, n * sizeof *next);
    for (;;) {
        if (next[at] < first[at + 1]) {
            at = order[next[at]++].node;
            text_node(p, tree, at, width, out);
        } else if (at == 0) {
            return;
        } else {
            at = tree->nodes.items[at].parent;
        }
    }
}

static void text_tree(const struct picture *p, const struct tree *tree, struct output *out)
{
    const size_t n = tree->nodes.n;
    struct order *order = calloc(n, sizeof *order);
    uint32_t *first = calloc(2 * n + 1, sizeof *first);
    uint32_t by = 0;
    double bound;

    if (!order || !first) {
        out->error = out->error ? out->error : -ENOMEM;
        free(order);
        free(first);
        return;
    }
    while (by < tree->n_events && !p->regions->about[by].counted)
        by++;
    for (uint32_t i = 1; i < n; i++) {
        double w = by < tree->n_events ? scaled(&tree_counts(tree, i)[by], &bound) : 0;
        order[i - 1] = (struct order){i, tree->nodes.items[i].parent, isnan(w) ? 0 : w};
    }
    qsort(order, n - 1, sizeof *order, by_parent_and_weight);
    for (size_t i = 0; i + 1 < n; i++)
        first[order[i].parent + 1]++;
    for (size_t i = 0; i < n; i++)
        first[i + 1] += first[i];
    int width = name_width(p, tree);
    text_head(p, out, width);
    text_walk(p, tree, order, first, width, out);
    free(order);
    free(first);
}

static void text_reasons(const struct picture *p, struct output *out)
{
    char text[600];

    for (uint32_t k = 0; k < p->regions->n_events; k++) {
        const struct region_event *about = &p->regions->about[k];
        if (about->reason)
            output_format(out, "not counted: %s%s%s\n", about->reason, *about->remedy ? "; " : "",
                          about->remedy);
        else if (about->note)
            output_format(out, "%s: %s\n", about->event.name, about->note);
    }
    for (size_t i = 0; i < p->threads.n; i++)
        if (p->threads.items[i].reason) {
            output_format(out, "thread %d has no counters: %s\n", p->threads.items[i].id,
                          p->threads.items[i].reason);
            break; /* of the others it is the same, mostly */
        }
    for (int i = 0; note_at(p, i, text, sizeof text); i++)
        output_format(out, "%s\n", text);
}

static void write_text(const struct picture *p, struct output *out)
{
    uint32_t threads = 0;

    for (size_t i = 0; i < p->threads.n; i++)
        threads += p->threads.items[i].threads;
    output_format(out, "\nreckon: regions of %s, process %d, %u thread%s\n", program_invocation_short_name,
                  (int)p->regions->pid, threads, threads == 1 ? "" : "s");
    if (p->sum.nodes.n < 2)
        output_text(out, "no region was begun\n");
    else
        text_tree(p, &p->sum, out);
    if (p->threads.n > 1 && p->threads.n <= TEXT_THREADS)
        for (size_t i = 0; i < p->threads.n; i++) {
            output_format(out, "\nthread %d", p->threads.items[i].id);
            text_tree(p, &p->threads.items[i].tree, out);
        }
    text_reasons(p, out);
}

int regions_export(struct regions *regions, const char *format, const struct rk_sink *sink,
                   struct rk_error *e)
{
    struct picture p;
    bool json = format && strcmp(format, "json") == 0;

    if (!json && (!format || strcmp(format, "text") != 0))
        return fail_argument(e, RK_STAGE_EXPORT, "regions are written as \"text\" or \"json\"");
    if (!sink || sink->size < sizeof *sink || !sink->write)
        return fail_argument(e, RK_STAGE_EXPORT, "a sink to write to is needed");
    pthread_mutex_lock(&regions->lock);
    int rc = take_picture(regions, &p);
    if (rc == 0) {
        struct output out = output_to(sink);
        (json ? write_json : write_text)(&p, &out);
        rc = output_end(&out);
    }
    picture_free(&p);
    pthread_mutex_unlock(&regions->lock);
    return output_fail(rc, e);
}

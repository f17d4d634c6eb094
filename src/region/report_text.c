/*
 * Regions as text: the sum of all threads, then each thread where there are a few: a line per node, indented by its depth,
 * heaviest first (by inclusive counts of the first event that was counted), two columns for each event that was counted.
 * Behind them what was not counted, each reason once, and notes.
 */
#include "base/error.h"
#include "base/text.h"
#include "region/picture.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define TEXT_THREADS 8 /* so many are shown apart */

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
    double bound, value = picture_scaled(v, &bound) * event_scale(event);

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
        size_t w = 2 * (size_t)(tree->nodes.items[i].depth - 1) +
                   strlen(picture_name(p, tree->nodes.items[i].region));
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
    text_show(name, sizeof name, picture_name(p, node->region), strlen(picture_name(p, node->region)));
    number_text(text, sizeof text, (double)node->calls, 0);
    output_format(out, "%*s%-*s %*s", indent, "", width - indent, name, COLUMN - 2, text);
    for (uint32_t k = 0; k < tree->n_events; k++) {
        if (!p->regions->about[k].counted)
            continue;
        for (size_t column = 0; column < 2; column++) {
            if (picture_state(p, tree, at, k) == RK_STATE_COUNTED)
                count_text(text, sizeof text, &p->regions->about[k].event,
                           &tree_counts(tree, at)[column * tree->n_events + k]);
            else
                snprintf(text, sizeof text, "-");
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
        double w = by < tree->n_events ? picture_scaled(&tree_counts(tree, i)[by], &bound) : 0;
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

/* Its own name in front of the message is said already. */
static const char *reason_of(const struct region_event *about)
{
    size_t n = strlen(about->event.name);

    return strncmp(about->reason, about->event.name, n) == 0 && strncmp(about->reason + n, ": ", 2) == 0
               ? about->reason + n + 2
               : about->reason;
}

/* Each reason once, with all the events that it stopped. */
static void text_missing(const struct picture *p, struct output *out)
{
    const struct region_event *about = p->regions->about;
    uint32_t n = p->regions->n_events;

    for (uint32_t i = 0; i < n; i++) {
        bool told = !about[i].reason;
        for (uint32_t k = 0; k < i && !told; k++)
            told = about[k].reason && strcmp(reason_of(&about[k]), reason_of(&about[i])) == 0;
        if (told)
            continue;
        output_format(out, "\nnot counted: %s", about[i].event.name);
        for (uint32_t k = i + 1; k < n; k++)
            if (about[k].reason && strcmp(reason_of(&about[k]), reason_of(&about[i])) == 0)
                output_format(out, ", %s", about[k].event.name);
        output_format(out, "\n  %s\n", reason_of(&about[i]));
        if (*about[i].remedy)
            output_format(out, "  fix: %s\n", about[i].remedy);
    }
}

static void text_notes(const struct picture *p, struct output *out)
{
    const char *before = "\n"; /* the first */
    char text[600];

    for (uint32_t k = 0; k < p->regions->n_events; k++)
        if (!p->regions->about[k].reason && p->regions->about[k].note) {
            output_format(out, "%s%s: %s\n", before, p->regions->about[k].event.name,
                          p->regions->about[k].note);
            before = "";
        }
    for (size_t i = 0; i < p->threads.n; i++)
        if (p->threads.items[i].reason) {
            output_format(out, "%sthread %d has no counters: %s\n", before, p->threads.items[i].id,
                          p->threads.items[i].reason);
            before = "";
            break; /* of the others it is the same, mostly */
        }
    for (int i = 0; picture_note(p, i, text, sizeof text); i++) {
        output_format(out, "%s%s\n", before, text);
        before = "";
    }
}

void report_text(const struct picture *p, struct output *out)
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
    text_missing(p, out);
    text_notes(p, out);
}

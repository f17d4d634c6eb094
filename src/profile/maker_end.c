/*
 * A maker's end: its tables become the profile's columns, each group in turn, and what they sum up to its summary.
 */
#include "profile/maker.h"

#include <errno.h>

#define HIGH(word) ((uint32_t)((word) >> 32))
#define LOW(word) ((uint32_t)(word))

/* A column of 32-bit halves of a table's keys: word, 0 the low half, 1 the high one. */
static uint32_t *column(const struct unique *table, uint32_t word, int half, int *rc)
{
    uint32_t *values = zeroed(table->n, sizeof *values);

    if (!values) {
        *rc = -ENOMEM;
        return NULL;
    }
    for (size_t i = 0; i < table->n; i++) {
        uint64_t key = unique_key(table, i)[word];
        values[i] = half ? HIGH(key) : LOW(key);
    }
    return values;
}

static int texts_end(struct maker *m)
{
    struct rk_profile *p = m->profile;
    size_t n = p->texts.texts.n;
    const char **text = zeroed(n, sizeof *text);

    if (!text)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        text[i] = intern_text(&p->texts, (uint32_t)i);
    p->columns.text = text;
    p->columns.text_n = n;
    return 0;
}

/* The first frame of each function, by frame. */
static int functions_end(struct maker *m)
{
    struct rk_profile_columns *c = &m->profile->columns;
    struct unique functions = {.words = 2};
    uint32_t *function = zeroed(c->frame_n, sizeof *function);
    uint32_t *first = zeroed(c->frame_n, sizeof *first);
    int rc = function && first ? 0 : -ENOMEM;

    for (size_t i = 0; i < c->frame_n && rc == 0; i++) {
        int64_t number = unique_add(
            &functions, (uint64_t[]){unique_both(c->frame_symbol[i], c->frame_path[i]), c->frame_miss[i]});
        if (number < 0) {
            rc = (int)number;
            break;
        }
        if ((size_t)number + 1 == functions.n && first[number] == 0)
            first[number] = (uint32_t)i + 1;
        function[i] = first[number] - 1;
    }
    unique_free(&functions);
    free(first);
    c->frame_function = function;
    return rc;
}

static int frames_end(struct maker *m)
{
    struct rk_profile_columns *c = &m->profile->columns;
    int rc = 0;

    c->frame_n = m->frames.n;
    c->frame_symbol = column(&m->frames, 0, 0, &rc);
    c->frame_module = column(&m->frames, 0, 1, &rc);
    c->frame_path = column(&m->frames, 1, 0, &rc);
    c->frame_file = column(&m->frames, 1, 1, &rc);
    c->frame_line = column(&m->frames, 2, 0, &rc);
    c->frame_miss = column(&m->frames, 2, 1, &rc);
    c->frame_flags = column(&m->frames, 3, 0, &rc);
    m->profile->frame_image = column(&m->frames, 3, 1, &rc);
    m->profile->frame_address = zeroed(m->frames.n, sizeof *m->profile->frame_address);
    rc = m->profile->frame_address ? rc : -ENOMEM;
    for (size_t i = 0; rc == 0 && i < m->frames.n; i++)
        m->profile->frame_address[i] = unique_key(&m->frames, i)[4];
    unique_free(&m->frames);
    return rc < 0 ? rc : functions_end(m);
}

/* Every word of the stacks is a node: they are its frames as they are. */
static int nodes_end(struct maker *m)
{
    struct rk_profile *p = m->profile;
    struct stacks *stacks = &m->stacks;
    size_t n = stacks->words.n;
    uint32_t *parent = zeroed(n, sizeof *parent);

    stacks_settle(stacks);
    if (!parent || (!stacks->words.items && vector_reserve(&stacks->words, 1) < 0)) {
        free(parent);
        return -ENOMEM;
    }
    for (size_t i = 0; i < stacks->runs.n; i++) {
        const struct stacks_run *run = &stacks->runs.items[i];
        parent[run->first] = run->outer == STACKS_NONE ? RK_NO_NODE : stacks_end(stacks, run->outer);
        for (uint32_t k = 1; k < run->n; k++)
            parent[run->first + k] = run->first + k - 1;
    }
    p->columns.node_n = n;
    p->columns.node_parent = parent;
    p->columns.node_frame = stacks->words.items;
    p->summary.depth = stacks->deepest;
    stacks->words = (struct stacks_words){0};
    return 0;
}

/* Threads, sources, cgroups: small tables. */
static int others_end(struct maker *m)
{
    struct rk_profile_columns *c = &m->profile->columns;
    uint64_t *ids = zeroed(m->cgroups.n, sizeof *ids);
    int rc = ids ? 0 : -ENOMEM;

    c->thread_n = m->threads.n;
    c->thread_source = column(&m->threads, 0, 0, &rc);
    c->thread_name = column(&m->threads, 0, 1, &rc);
    c->thread_pid = (int32_t *)column(&m->threads, 1, 0, &rc);
    c->thread_tid = (int32_t *)column(&m->threads, 1, 1, &rc);
    c->source_n = m->sources.n;
    c->source_name = column(&m->sources, 0, 0, &rc);
    c->cgroup_n = m->cgroups.n;
    c->cgroup_id = ids;
    c->cgroup_path = column(&m->cgroups, 1, 0, &rc);
    for (size_t i = 0; rc == 0 && ids && i < m->cgroups.n; i++)
        ids[i] = unique_key(&m->cgroups, i)[0];
    return rc;
}

static int compare_samples(const void *left, const void *right, void *context)
{
    const struct unique *samples = context;
    const uint64_t *a = unique_key(samples, *(const uint32_t *)left);
    const uint64_t *b = unique_key(samples, *(const uint32_t *)right);

    for (uint32_t i = 0; i < samples->words; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

/* The order of samples: by time, then whatever their keys say. The caller frees it. */
static uint32_t *sample_order(struct maker *m)
{
    uint32_t *order = zeroed(m->samples.n, sizeof *order);
    bool ordered = true;

    for (size_t i = 0; order && i < m->samples.n; i++) {
        order[i] = (uint32_t)i;
        ordered &= i == 0 || compare_samples(&order[i - 1], &order[i], &m->samples) <= 0;
    }
    if (order && !ordered)
        qsort_r(order, m->samples.n, sizeof *order, compare_samples, &m->samples);
    return order;
}

static int samples_end(struct maker *m)
{
    struct rk_profile_columns *c = &m->profile->columns;
    size_t n = m->samples.n;
    uint32_t *order = sample_order(m);
    uint32_t *node = zeroed(n, sizeof *node), *thread = zeroed(n, sizeof *thread);
    uint32_t *event = zeroed(n, sizeof *event), *cpu = zeroed(n, sizeof *cpu);
    uint32_t *cgroup = zeroed(n, sizeof *cgroup);
    uint64_t *time = zeroed(n, sizeof *time), *weight = zeroed(n, sizeof *weight);
    uint64_t *count = zeroed(n, sizeof *count);
    bool good = order && node && thread && event && cpu && cgroup && time && weight && count;

    c->sample_n = n;
    c->sample_node = node;
    c->sample_thread = thread;
    c->sample_event = event;
    c->sample_cpu = cpu;
    c->sample_cgroup = cgroup;
    c->sample_time = time;
    c->sample_weight = weight;
    c->sample_count = count;
    for (size_t i = 0; good && i < n; i++) {
        const uint64_t *key = unique_key(&m->samples, order[i]);
        time[i] = key[0];
        thread[i] = LOW(key[1]);
        node[i] = stacks_end(&m->stacks, HIGH(key[1]));
        event[i] = LOW(key[2]);
        cpu[i] = HIGH(key[2]);
        cgroup[i] = (uint32_t)key[3];
        weight[i] = m->amounts.items[order[i]].weight;
        count[i] = m->amounts.items[order[i]].samples;
    }
    free(order);
    return good ? 0 : -ENOMEM;
}

static int events_end(struct maker *m)
{
    struct rk_profile *p = m->profile;
    struct rk_profile_columns *c = &p->columns;
    size_t n = m->events.n;
    uint64_t *samples = zeroed(n, sizeof *samples), *weight = zeroed(n, sizeof *weight);
    uint64_t *lost = zeroed(n, sizeof *lost), *skipped = zeroed(n, sizeof *skipped);
    uint32_t *known = zeroed(n, sizeof *known);
    struct rk_loss *loss = zeroed(n, sizeof *loss);
    int rc = 0;

    c->event_n = n;
    c->event_name = column(&m->events, 0, 0, &rc);
    c->event_unit = column(&m->events, 0, 1, &rc);
    c->event_samples = samples;
    c->event_weight = weight;
    c->event_lost = lost;
    c->event_skipped = skipped;
    c->event_known = known;
    p->event_loss = loss;
    if (!samples || !weight || !lost || !skipped || !known || !loss)
        return -ENOMEM;
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < n; i++) {
        loss[i] = m->event_loss.items[i];
        lost[i] = loss[i].lost;
        skipped[i] = loss[i].skipped;
        known[i] = loss[i].present;
    }
    for (size_t i = 0; i < c->sample_n; i++) {
        samples[c->sample_event[i]] += c->sample_count[i];
        weight[c->sample_event[i]] += c->sample_weight[i];
    }
    return 0;
}

static int compare_unnamed(const void *left, const void *right)
{
    const struct unnamed *a = left, *b = right;

    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return a->module != b->module ? (a->module > b->module) - (a->module < b->module)
                                  : (a->miss > b->miss) - (a->miss < b->miss);
}

/* Sampled frames that have no name, by path and reason. */
static int unnamed_end(struct maker *m)
{
    struct rk_profile *p = m->profile;
    const struct rk_profile_columns *c = &p->columns;
    struct pairs seen = {0};
    int rc = 0;

    for (size_t i = 0; i < c->sample_n && rc == 0; i++) {
        uint32_t frame = c->node_frame[c->sample_node[i]];
        if (!c->frame_miss[frame])
            continue;
        int64_t row = pairs_add(&seen, c->frame_path[frame], c->frame_miss[frame]);
        if (row >= 0 && (size_t)row == p->unnamed.n && !vector_push(&p->unnamed))
            row = -ENOMEM;
        if (row < 0) {
            rc = (int)row;
            break;
        }
        struct unnamed *unnamed = &p->unnamed.items[row];
        unnamed->module = c->frame_module[frame];
        unnamed->miss = c->frame_miss[frame];
        unnamed->samples += c->sample_count[i];
        p->summary.unnamed += c->sample_count[i];
    }
    pairs_free(&seen);
    if (p->unnamed.n)
        qsort(p->unnamed.items, p->unnamed.n, sizeof *p->unnamed.items, compare_unnamed);
    return rc;
}

/* What columns tell; where no event has samples, the first one is named. */
static int summarise(struct maker *m)
{
    struct rk_profile *p = m->profile;
    const struct rk_profile_columns *c = &p->columns;
    struct rk_profile_summary *s = &p->summary;
    struct unique threads = {.words = 2};
    int64_t rc = 0;

    s->size = sizeof *s;
    s->trace = s->trace ? s->trace : "";
    s->event = s->unit = c->text[0];
    for (size_t i = c->event_n; i-- > 0;) {
        s->samples += c->event_samples[i];
        s->weight += c->event_weight[i];
        s->events += c->event_samples[i] > 0;
    }
    for (size_t i = c->event_n; i-- > 0;) /* the first one that counts */
        if (c->event_samples[i] || !s->events) {
            s->event = c->text[c->event_name[i]];
            s->unit = c->text[c->event_unit[i]];
        }
    for (size_t i = 0; i < c->thread_n && rc >= 0; i++)
        rc = unique_add(&threads, (uint64_t[]){c->thread_source[i], unique_both((uint32_t)c->thread_pid[i],
                                                                                (uint32_t)c->thread_tid[i])});
    s->threads = threads.n;
    unique_free(&threads);
    s->loss.size = sizeof s->loss;
    s->loss.kept = s->samples;
    return rc < 0 ? (int)rc : 0;
}

int maker_end(struct maker *m, const struct rk_profile_summary *summary, struct rk_profile **ret)
{
    struct rk_profile *p = m->profile;
    int rc;

    p->summary = *summary;
    p->summary.samples = p->summary.weight = p->summary.unnamed = p->summary.threads = 0;
    p->summary.events = p->summary.depth = 0;
    if (!p->summary.duration && p->summary.last_time > p->summary.first_time)
        p->summary.duration = p->summary.last_time - p->summary.first_time;
    p->columns.size = sizeof p->columns;
    if ((rc = texts_end(m)) == 0 && (rc = frames_end(m)) == 0 && (rc = nodes_end(m)) == 0 &&
        (rc = others_end(m)) == 0 && (rc = samples_end(m)) == 0 && (rc = events_end(m)) == 0 &&
        (rc = unnamed_end(m)) == 0 && (rc = summarise(m)) == 0) {
        *ret = p;
        m->profile = NULL;
    }
    maker_free(m);
    return rc;
}

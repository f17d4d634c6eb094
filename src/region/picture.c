#include "region/picture.h"

#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define WAIT_MS 500 /* for a thread that is in the middle of a begin or end */

void picture_free(struct picture *p)
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

int picture_take(struct regions *regions, struct picture *p)
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

uint32_t picture_state(const struct picture *p, const struct tree *tree, uint32_t node, uint32_t event)
{
    const struct rk_value *v = &tree_counts(tree, node)[event];

    if (!p->regions->about[event].counted || !tree_has(tree, event))
        return RK_STATE_ABSENT;
    return v->enabled && !v->running ? RK_STATE_STARVED : RK_STATE_COUNTED;
}

double picture_scaled(const struct rk_value *v, double *ret_bound)
{
    if (v->running == v->enabled) {
        *ret_bound = 0;
        return (double)v->value;
    }
    return rk_value_scale(v, NULL, ret_bound);
}

const char *picture_name(const struct picture *p, uint32_t region)
{
    return intern_text(&p->regions->names, region);
}

bool picture_note(const struct picture *p, int at, char *text, size_t size)
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
    NOTE(p->unseen, "%u thread%s in the middle of a call and left out", p->unseen,
         p->unseen == 1 ? " was" : "s were");
    NOTE(sum->dropped, "%llu calls were not counted: out of memory", (unsigned long long)sum->dropped);
    NOTE(sum->unread, "%llu counts are missing: a counter could not be read",
         (unsigned long long)sum->unread);
    for (uint32_t i = 0; i < sum->n_events; i++)
        NOTE(tree_has(sum, i) && tree_counts(sum, 0)[sum->n_events + i].value,
             "%s: %llu call%s not in its counts: there it was not counted", r->about[i].event.name,
             (unsigned long long)tree_counts(sum, 0)[sum->n_events + i].value,
             tree_counts(sum, 0)[sum->n_events + i].value == 1 ? " is" : "s are");
    NOTE(sum->unmatched, "%llu %s not open and passed over", (unsigned long long)sum->unmatched,
         sum->unmatched == 1 ? "end of a region that was" : "ends of regions that were");
    NOTE(r->nameless, "%llu times a region had no memory for its name and was left out",
         (unsigned long long)r->nameless);
    NOTE(r->strangers, "%llu times a thread had no memory for its regions and was left out",
         (unsigned long long)r->strangers);
    return false;
#undef NOTE
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
    int rc = picture_take(regions, &p);
    if (rc == 0) {
        struct output out = output_to(sink);
        (json ? report_json : report_text)(&p, &out);
        rc = output_end(&out);
    }
    picture_free(&p);
    pthread_mutex_unlock(&regions->lock);
    return output_fail(rc, e);
}

/*
 * Regions as JSON:
 *
 *     {"version", "program", "pid",
 *      "events": [{"event", "unit", "reason", "cause", "remedy", "note"}, …],     reason …: not counted, because
 *      "regions": [REGION, …],                                                    all threads summed
 *      "threads": [{"tid", "ended", "threads", "reason", "regions": [REGION, …]}, …],
 *      "notes": [TEXT, …]}
 *
 *     REGION = {"region", "parent", "calls", "unended", "states": [STATE, …], "inclusive": [COUNT, …], "self": [COUNT, …]}
 *     STATE = "counted", "starved" or "absent": rk_state_name()
 *     COUNT = {"value", "scaled", "bound", "enabled_ns", "running_ns"}, in the order of "events"; null: not counted
 *
 * "parent" is the index, in the same list, of the region around it; null: none. "unended": of the calls, those that were ended by a
 * jump, or the end of their thread or of the program. "scaled" is "value" times the event's scale in its unit, and, where
 * the counter had to be shared, an estimate within ± "bound". An entry of "threads" with "tid": null is the sum of
 * `threads` ended ones. Nodes come parents first.
 */
#include "base/json.h"
#include "region/picture.h"

#include <errno.h>
#include <math.h>

static void json_count(struct json *j, const struct rk_event *event, uint32_t state, const struct rk_value *v)
{
    double bound, value = picture_scaled(v, &bound);

    if (state != RK_STATE_COUNTED || isnan(value)) {
        json_null(j, NULL);
        return;
    }
    json_open(j, NULL, '{');
    json_u64(j, "value", v->value);
    json_real(j, "scaled", value * event_scale(event));
    json_real(j, "bound", bound * event_scale(event));
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
        json_text(j, "region", picture_name(p, node->region));
        if (node->parent)
            json_u64(j, "parent", node->parent - 1);
        else
            json_null(j, "parent");
        json_u64(j, "calls", node->calls);
        json_u64(j, "unended", node->unended);
        json_open(j, "states", '[');
        for (uint32_t k = 0; k < n; k++)
            json_text(j, NULL, rk_state_name(counted ? picture_state(p, tree, i, k) : RK_STATE_ABSENT));
        json_close(j, ']');
        for (size_t column = 0; column < 2; column++) {
            json_open(j, columns[column], '[');
            for (uint32_t k = 0; k < n; k++)
                json_count(j, &p->regions->about[k].event,
                           counted ? picture_state(p, tree, i, k) : RK_STATE_ABSENT,
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

void report_json(const struct picture *p, struct output *out)
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
    for (int i = 0; picture_note(p, i, text, sizeof text); i++)
        json_text(&j, NULL, text);
    json_close(&j, ']');
    json_close(&j, '}');
    output_text(out, "\n");
}

#include "base/error.h"
#include "profile/copy.h"
#include "profile/match.h"

#include <errno.h>

/* What both summaries say, as one. */
static void summary_add(struct rk_profile_summary *to, const struct rk_profile_summary *more)
{
    loss_add(&to->loss, &more->loss);
    to->cut |= more->cut;
    to->duration += more->duration;
    if (!to->first_time || (more->first_time && more->first_time < to->first_time))
        to->first_time = more->first_time;
    if (more->last_time > to->last_time)
        to->last_time = more->last_time;
    if (more->slice_ns > to->slice_ns)
        to->slice_ns = more->slice_ns;
    to->trace_bytes += more->trace_bytes;
    if (more->trace_bytes)
        to->trace = more->trace;
    if (!to->made || (more->made && more->made < to->made))
        to->made = more->made;
    to->stacks_whole += more->stacks_whole;
    to->stacks_cut += more->stacks_cut;
    to->stacks_broken += more->stacks_broken;
}

static int add(struct maker *m, const struct rk_profile *from, const char *label, const struct like *like,
               uint64_t slice_ns)
{
    struct copy copy;
    int rc = copy_begin(&copy, from, m);

    copy.label = label;
    copy.like = like;
    copy.slice_ns = slice_ns;
    for (uint32_t i = 0; rc >= 0 && i < from->columns.event_n; i++) {
        int64_t event = copy_event(&copy, i);
        rc = event < 0 ? (int)event : 0;
    }
    if (rc >= 0)
        rc = copy_threads(&copy, NULL);
    for (size_t i = 0; rc >= 0 && i < from->columns.sample_n; i++)
        rc = copy_sample(&copy, i, from->columns.sample_node[i]);
    if (rc >= 0)
        rc = copy_places(&copy);
    copy_free(&copy);
    return rc < 0 ? rc : 0;
}

/* `like` (NULL: modules are told apart by path): one for each. */
static int merge(const struct rk_profile *const *profiles, const char *const *labels, size_t n,
                 const struct like *like, struct rk_profile **ret, struct rk_error *e)
{
    struct rk_profile_summary summary = {.size = sizeof summary};
    struct maker m;
    int rc;

    if (!ret || (!profiles && n))
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_merge", ret ? "profiles" : "ret");
    for (size_t i = 0; i < n; i++) {
        if (!profiles[i] || (labels && !labels[i]))
            return fail_null(e, RK_STAGE_PROFILE, "rk_profile_merge", profiles[i] ? "label" : "profile");
        summary_add(&summary, &profiles[i]->summary);
    }
    rc = maker_begin(&m);
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = add(&m, profiles[i], labels ? labels[i] : NULL, like ? &like[i] : NULL, summary.slice_ns);
    if (rc == 0)
        rc = maker_end(&m, &summary, ret);
    else
        maker_free(&m);
    return rc == 0 ? 0
           : rc == -ENOMEM
               ? fail_memory(e, RK_STAGE_PROFILE)
               : fail(e, rc, RK_STAGE_PROFILE, RK_CAUSE_UNKNOWN, NULL, "rk_profile_merge: %s", strerror(-rc));
}

int rk_profile_merge(const struct rk_profile *const *profiles, const char *const *labels, size_t n,
                     struct rk_profile **ret, struct rk_error *e)
{
    return merge(profiles, labels, n, NULL, ret, e);
}

int profile_pair(const struct rk_profile *before, const struct rk_profile *after, struct rk_profile **ret,
                 struct rk_error *e)
{
    const struct rk_profile *const pair[] = {before, after};
    struct match match = {0};
    int rc = match_make(before, after, &match);

    if (rc == 0) {
        const struct like like[] = {{after, match.of}, {NULL, NULL}};
        rc = merge(pair, (const char *const[]){"before", "after"}, 2, like, ret, e);
    } else {
        rc = fail_memory(e, RK_STAGE_PROFILE);
    }
    match_free(&match);
    return rc;
}

/*
 * That a profile, whatever it was read from, stands together: every number in its columns names a row that is there, outer
 * nodes come before inner ones, sums are sums.
 */
#ifndef FUZZ_PROFILE_H
#define FUZZ_PROFILE_H

#include "fuzz.h"

#include <reckon/profile.h>

static inline void fuzz_profile_columns(const struct rk_profile_columns *c)
{
    for (size_t i = 0; i < c->text_n; i++)
        fuzz_touch_text(c->text[i]);
    for (size_t i = 0; i < c->frame_n; i++)
        HOLDS(c->frame_symbol[i] < c->text_n && c->frame_module[i] < c->text_n &&
              c->frame_path[i] < c->text_n && c->frame_file[i] < c->text_n && c->frame_function[i] <= i);
    for (size_t i = 0; i < c->node_n; i++)
        HOLDS((c->node_parent[i] == RK_NO_NODE || c->node_parent[i] < i) && c->node_frame[i] < c->frame_n);
    for (size_t i = 0; i < c->thread_n; i++)
        HOLDS(c->thread_name[i] < c->text_n && c->thread_source[i] < c->source_n);
    for (size_t i = 0; i < c->sample_n; i++) {
        HOLDS(c->sample_node[i] < c->node_n && c->sample_thread[i] < c->thread_n &&
              c->sample_event[i] < c->event_n && c->sample_cgroup[i] < c->cgroup_n);
        HOLDS(i == 0 || c->sample_time[i - 1] <= c->sample_time[i]);
    }
}

static inline void fuzz_profile(const struct rk_profile *p)
{
    struct rk_profile_summary s = {.size = sizeof s};
    struct rk_profile_columns c = {.size = sizeof c};
    uint64_t samples = 0;

    HOLDS(rk_profile_summary(p, &s) == 0 && rk_profile_columns(p, &c) == 0);
    fuzz_profile_columns(&c);
    for (size_t i = 0; i < c.sample_n; i++)
        samples += c.sample_count[i];
    HOLDS(samples == s.samples);
    for (uint32_t per = 0; per <= RK_PER_SOURCE; per++) {
        struct rk_aggregate *a = NULL;
        uint64_t self = 0;
        HOLDS(rk_profile_aggregate(p, per, &a, NULL) == 0);
        for (size_t i = 0; i < a->n; i++) {
            HOLDS(a->total_samples[i] <= s.samples && a->self_samples[i] <= a->total_samples[i]);
            fuzz_touch_text(a->name[i]);
            self += a->self_samples[i];
        }
        HOLDS(self == s.samples);
        rk_aggregate_free(a);
    }
}

#endif

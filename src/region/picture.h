/*
 * All regions at one moment: of each thread a copy of its tree, with what is open ended as of now, and their sum.
 */
#ifndef REGION_PICTURE_H
#define REGION_PICTURE_H

#include "base/output.h"
#include "base/vector.h"
#include "region/regions.h"

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

/* Takes it; regions->lock is held. 0 or -ENOMEM; free it in any case. */
int picture_take(struct regions *regions, struct picture *p);
void picture_free(struct picture *picture);

const char *picture_name(const struct picture *picture, uint32_t region);

/* What the counts of a node mean, as enum rk_state: counted, starved, absent. */
uint32_t picture_state(const struct picture *picture, const struct tree *tree, uint32_t node, uint32_t event);

/* The estimate and its bound; NaN where it was not counted. A region may be shorter than the clock can tell: what ran all
 * the time, be it none, is exact. */
double picture_scaled(const struct rk_value *value, double *ret_bound);

/* Sentences about the whole, one by one: false after the last. */
bool picture_note(const struct picture *picture, int at, char *text, size_t size);

/* An event's scale; 1 where it has none. */
static inline double event_scale(const struct rk_event *event)
{
    return event->scale != 0 ? event->scale : 1.0;
}

/* report_json.c, report_text.c: as <reckon/region.h> and their files' tops say. */
void report_json(const struct picture *picture, struct output *out);
void report_text(const struct picture *picture, struct output *out);

#endif

/*
 * What makes a profile: rows are added in any order, each is kept once, samples that differ in nothing are summed; at the
 * end all becomes columns. The builder, the readers of files, rk_profile_select() and rk_profile_merge() end in one of
 * these.
 *
 *     struct maker m;
 *     maker_begin(&m);
 *     frame = maker_frame(&m, &(struct maker_frame){.symbol = maker_text(&m, "main"), …});
 *     stack = stacks_add(&m.stacks, &frame, 1);
 *     maker_sample(&m, &(struct maker_sample){.stack = stack, …});
 *     rc = maker_end(&m, &summary, &profile);     // or maker_free(&m)
 *
 * Every call that adds gives the row's number or -errno.
 */
#ifndef PROFILE_MAKER_H
#define PROFILE_MAKER_H

#include "profile/pairs.h"
#include "profile/profile.h"
#include "profile/stacks.h"
#include "profile/unique.h"

#include <stdbool.h>

struct amount {
    uint64_t weight, samples;
};

struct maker_frame {
    uint32_t symbol, module, path, file; /* texts */
    uint32_t line, miss, flags;
    uint32_t image; /* with miss: where it lies, number + 1; 0: unknown, or of no use */
    uint64_t address;
};

struct maker_sample {
    uint32_t stack, thread, event, cpu, cgroup;
    uint64_t time;
    struct amount amount;
};

struct maker {
    struct rk_profile *profile; /* its texts */
    struct unique frames, threads, events, cgroups, sources, samples, images;
    struct pairs places;               /* as the profile's */
    struct stacks stacks;              /* of frames */
    VECTOR(struct amount) amounts;     /* beside samples */
    VECTOR(struct rk_loss) event_loss; /* beside events */
};

/* 0 or -ENOMEM. The struct may be freed in either case. */
int maker_begin(struct maker *m);
void maker_free(struct maker *m);

int64_t maker_text(struct maker *m, const char *text);
int64_t maker_frame(struct maker *m, const struct maker_frame *frame);
/* The number of an image, told apart by path and build-id; one that is there stays as it is. */
int64_t maker_image(struct maker *m, const struct profile_image *image);
/* The number of a place; one that is there stays as it is. */
int64_t maker_place(struct maker *m, const struct profile_place *place);
int64_t maker_source(struct maker *m, const char *name);
int64_t maker_thread(struct maker *m, uint32_t source, int32_t pid, int32_t tid, const char *name);
/* `loss` (NULL: nothing is known) is added to what is known of the event. */
int64_t maker_event(struct maker *m, const char *name, const char *unit, const struct rk_loss *loss);
int64_t maker_cgroup(struct maker *m, uint64_t id, const char *path);
int maker_sample(struct maker *m, const struct maker_sample *sample);

/* Adds up two losses; what only one of them knows is not known of both, but for one that kept nothing. */
void loss_add(struct rk_loss *to, const struct rk_loss *more);

/* The profile; of `summary` all that samples don't tell is taken: cut, loss, times, slice_ns, stacks_…. 0 or -ENOMEM; the maker is free
 * in either case. */
int maker_end(struct maker *m, const struct rk_profile_summary *summary, struct rk_profile **ret);

#endif

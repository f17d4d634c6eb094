#include "profile/copy.h"

#include "base/cleanup.h"
#include "profile/match.h"

#include <errno.h>

int copy_begin(struct copy *copy, const struct rk_profile *from, struct maker *to)
{
    const struct rk_profile_columns *c = &from->columns;

    *copy = (struct copy){
        .from = from,
        .to = to,
        .slice_ns = from->summary.slice_ns,
        .frames = zeroed(c->frame_n, sizeof *copy->frames),
        .threads = zeroed(c->thread_n, sizeof *copy->threads),
        .events = zeroed(c->event_n, sizeof *copy->events),
        .cgroups = zeroed(c->cgroup_n, sizeof *copy->cgroups),
        .stacks = zeroed(c->node_n, sizeof *copy->stacks),
        .images = zeroed(from->images.n, sizeof *copy->images),
    };
    return copy->images && copy->frames && copy->threads && copy->events && copy->cgroups && copy->stacks
               ? 0
               : -ENOMEM;
}

void copy_free(struct copy *copy)
{
    free(copy->frames);
    free(copy->threads);
    free(copy->events);
    free(copy->cgroups);
    free(copy->stacks);
    free(copy->images);
    vector_free(&copy->path);
}

/* Remembers where a row has gone. */
static int64_t gone(uint32_t *row, int64_t number)
{
    if (number >= 0)
        *row = (uint32_t)number + 1;
    return number;
}

static int64_t copy_image(struct copy *copy, uint32_t image)
{
    if (copy->images[image])
        return copy->images[image] - 1;
    const struct rk_profile *from = copy->from;
    struct profile_image its = from->images.items[image];
    int64_t path = maker_text(copy->to, intern_text(&from->texts, its.path));
    int64_t build_id = maker_text(copy->to, intern_text(&from->texts, its.build_id));
    if (path < 0 || build_id < 0)
        return -ENOMEM;
    its.path = (uint32_t)path;
    its.build_id = (uint32_t)build_id;
    return gone(&copy->images[image], maker_image(copy->to, &its));
}

/* An address in one of its images, as an image of the same build lies there. */
static uint64_t moved(const struct copy *copy, uint32_t image, int64_t to, uint64_t address)
{
    const struct profile_image *old = &copy->from->images.items[image],
                               *now = &copy->to->profile->images.items[to];

    return address - (old->start - old->offset) + (now->start - now->offset);
}

int copy_places(struct copy *copy)
{
    const struct rk_profile *from = copy->from;
    _cleanup_free_ uint32_t *numbers = zeroed(from->places.n, sizeof *numbers);

    if (!numbers)
        return -ENOMEM;
    if (copy->flags & (RK_SELECT_NO_LINES | RK_SELECT_REVERSE))
        return 0; /* a frame is of many addresses, or what it is inlined into comes behind it */
    for (size_t i = 0; i < from->places.n; i++) {
        struct profile_place place = from->places.items[i];
        bool inlined = place.outer != PAIRS_NONE;
        if (inlined)
            place.outer = numbers[place.outer];
        numbers[i] = place.outer;
        if (!copy->frames[place.frame] || (inlined && place.outer == PAIRS_NONE) ||
            (copy->flags & RK_SELECT_NO_INLINE && inlined)) {
            continue;
        }
        int64_t image = copy_image(copy, place.image - 1);
        if (image < 0)
            return (int)image;
        place.address = moved(copy, place.image - 1, image, place.address);
        place.image = (uint32_t)image + 1;
        place.frame = copy->frames[place.frame] - 1;
        int64_t number = maker_place(copy->to, &place);
        if (number < 0)
            return (int)number;
        numbers[i] = (uint32_t)number;
    }
    return 0;
}

int64_t copy_frame(struct copy *copy, uint32_t frame)
{
    const struct rk_profile_columns *c = &copy->from->columns;
    bool lines = !(copy->flags & RK_SELECT_NO_LINES);
    uint32_t lies = lines && !copy->like ? copy->from->frame_image[frame] : 0;
    uint64_t address = 0;

    if (copy->frames[frame])
        return copy->frames[frame] - 1;
    const struct rk_profile_columns *called = c;
    uint32_t as = frame;
    if (copy->like && copy->like->of && copy->like->of[frame] != MATCH_NONE) {
        called = &copy->like->profile->columns;
        as = copy->like->of[frame];
    }
    int64_t symbol = maker_text(copy->to, called->text[called->frame_symbol[as]]);
    int64_t module = maker_text(copy->to, called->text[called->frame_module[as]]);
    int64_t path = copy->like ? module : maker_text(copy->to, c->text[c->frame_path[frame]]);
    int64_t file = lines ? maker_text(copy->to, c->text[c->frame_file[frame]]) : 0;
    int64_t image = lies ? copy_image(copy, lies - 1) : 0;
    if (symbol < 0 || module < 0 || path < 0 || file < 0 || image < 0)
        return -ENOMEM;
    if (lies)
        address = moved(copy, lies - 1, image, copy->from->frame_address[frame]);
    return gone(&copy->frames[frame], maker_frame(copy->to, &(struct maker_frame){
                                                                .symbol = (uint32_t)symbol,
                                                                .module = (uint32_t)module,
                                                                .path = (uint32_t)path,
                                                                .file = (uint32_t)file,
                                                                .line = lines ? c->frame_line[frame] : 0,
                                                                .miss = c->frame_miss[frame],
                                                                .flags = c->frame_flags[frame],
                                                                .image = lies ? (uint32_t)image + 1 : 0,
                                                                .address = address,
                                                            }));
}

int64_t copy_event(struct copy *copy, uint32_t event)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    if (copy->events[event])
        return copy->events[event] - 1;
    return gone(&copy->events[event],
                maker_event(copy->to, c->text[c->event_name[event]],
                            copy->flags & RK_SELECT_COUNTS ? "samples" : c->text[c->event_unit[event]],
                            &copy->from->event_loss[event]));
}

static int64_t copy_thread(struct copy *copy, uint32_t thread)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    if (copy->threads[thread])
        return copy->threads[thread] - 1;
    const char *name = copy->label ? copy->label : c->text[c->source_name[c->thread_source[thread]]];
    int64_t source = maker_source(copy->to, name);
    if (source < 0)
        return source;
    return gone(&copy->threads[thread], maker_thread(copy->to, (uint32_t)source, c->thread_pid[thread],
                                                     c->thread_tid[thread], c->text[c->thread_name[thread]]));
}

int copy_threads(struct copy *copy, const uint8_t *rows)
{
    const struct rk_profile_columns *c = &copy->from->columns;
    _cleanup_free_ uint8_t *used = zeroed(c->thread_n, 1);
    int64_t number = used ? 0 : -ENOMEM;

    for (size_t i = 0; used && i < c->sample_n; i++)
        used[c->sample_thread[i]] |= !rows || rows[i];
    for (uint32_t i = 0; number >= 0 && i < c->thread_n; i++)
        if (used[i])
            number = copy_thread(copy, i);
    return number < 0 ? (int)number : 0;
}

static int64_t copy_cgroup(struct copy *copy, uint32_t cgroup)
{
    const struct rk_profile_columns *c = &copy->from->columns;

    if (copy->cgroups[cgroup])
        return copy->cgroups[cgroup] - 1;
    return gone(&copy->cgroups[cgroup],
                maker_cgroup(copy->to, c->cgroup_id[cgroup], c->text[c->cgroup_path[cgroup]]));
}

/* The frames of a node's stack that are wanted, innermost first: 0 or -errno. */
static int path_of(struct copy *copy, uint32_t node)
{
    const struct rk_profile_columns *c = &copy->from->columns;
    size_t n = 0;

    copy->path.n = 0;
    for (uint32_t at = node; at != RK_NO_NODE; at = c->node_parent[at]) {
        uint32_t frame = c->node_frame[at];
        if (copy->flags & RK_SELECT_NO_INLINE && c->frame_flags[frame] & RK_FRAME_INLINE)
            continue;
        int64_t added = copy_frame(copy, frame);
        if (added < 0 || vector_reserve(&copy->path, 1) < 0)
            return added < 0 ? (int)added : -ENOMEM;
        copy->path.items[copy->path.n++] = (uint32_t)added;
        n = !copy->begins || copy->begins[frame] ? copy->path.n : n;
    }
    copy->path.n = n;
    return 0;
}

/* The stack of a node there; STACKS_NONE: it has no frame. */
static int64_t copy_stack(struct copy *copy, uint32_t node)
{
    if (copy->stacks[node])
        return copy->stacks[node] - 1;
    int rc = path_of(copy, node);
    size_t n = copy->path.n;
    if (rc < 0 || n == 0)
        return rc < 0 ? rc : (int64_t)STACKS_NONE;
    for (size_t i = 0; !(copy->flags & RK_SELECT_REVERSE) && i < n / 2; i++) {
        uint32_t inner = copy->path.items[i];
        copy->path.items[i] = copy->path.items[n - 1 - i];
        copy->path.items[n - 1 - i] = inner;
    }
    return gone(&copy->stacks[node], stacks_add(&copy->to->stacks, copy->path.items, n));
}

int copy_sample(struct copy *copy, size_t i, uint32_t node)
{
    const struct rk_profile_columns *c = &copy->from->columns;
    uint64_t count = c->sample_count[i];
    int64_t stack = copy_stack(copy, node);
    if (stack < 0 || stack == STACKS_NONE)
        return stack < 0 ? (int)stack : 0;
    int64_t thread = copy_thread(copy, c->sample_thread[i]);
    int64_t event = thread < 0 ? thread : copy_event(copy, c->sample_event[i]);
    int64_t cgroup = event < 0 ? event : copy_cgroup(copy, c->sample_cgroup[i]);

    if (cgroup < 0)
        return (int)cgroup;
    return maker_sample(copy->to,
                        &(struct maker_sample){
                            .stack = (uint32_t)stack,
                            .thread = (uint32_t)thread,
                            .event = (uint32_t)event,
                            .cpu = c->sample_cpu[i],
                            .cgroup = (uint32_t)cgroup,
                            .time = copy->slice_ns ? c->sample_time[i] / copy->slice_ns * copy->slice_ns : 0,
                            .amount = {copy->flags & RK_SELECT_COUNTS ? count : c->sample_weight[i], count},
                        });
}

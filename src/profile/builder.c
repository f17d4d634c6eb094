#include "profile/builder.h"

#include "base/error.h"
#include "profile/chain.h"
#include "profile/unwound.h"
#include "symbol/jitdump.h"

#include <errno.h>
#include <string.h>

enum {
    FLAGS = RK_PROFILE_EVENT | RK_PROFILE_NO_INLINE | RK_PROFILE_NO_LINES | RK_PROFILE_RAW,
};

static int begin(struct rk_profile_builder *builder, struct rk_error *e)
{
    struct rk_profile_options *o = &builder->options;
    const char **const paths[BUILDER_PATHS] = {&o->root, &o->symfs, &o->vmlinux, &o->kallsyms};

    for (size_t i = 0; i < BUILDER_PATHS; i++) {
        const char *path = *paths[i];
        if (path && !(builder->paths[i] = strdup(path)))
            return fail_memory(e, RK_STAGE_PROFILE);
        *paths[i] = builder->paths[i];
    }
    return rk_image_open(&builder->image, e);
}

int profile_options_take(const struct rk_profile_options *options, struct rk_profile_options *ret,
                         struct rk_error *e)
{
    int rc = options_check(ret, sizeof *ret, options, "rk_profile_options", RK_STAGE_PROFILE, e);

    if (rc == 0 && ret->times > RK_TIMES_EACH)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_options.times is no enum rk_times: %u",
                             ret->times);
    if (rc == 0 && ret->flags & ~(uint32_t)FLAGS)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_options: unknown flags %#x",
                             ret->flags & ~(uint32_t)FLAGS);
    if (rc == 0 && ret->event && !(ret->flags & RK_PROFILE_EVENT))
        return fail_argument(e, RK_STAGE_PROFILE,
                             "rk_profile_options.event is used with RK_PROFILE_EVENT only");
    return rc == 0 ? options_reserved(ret->reserved, "rk_profile_options", RK_STAGE_PROFILE, e) : rc;
}

int rk_profile_builder_open(const struct rk_profile_options *options, struct rk_profile_builder **ret,
                            struct rk_error *e)
{
    struct rk_profile_options ours;

    if (!ret)
        return fail_null(e, RK_STAGE_PROFILE, "rk_profile_builder_open", "ret");
    int rc = profile_options_take(options, &ours, e);
    if (rc < 0)
        return rc;
    if (ours.wait_ns)
        return fail_argument(e, RK_STAGE_PROFILE, "rk_profile_options.wait_ns is for rk_profile_stream()");

    struct rk_profile_builder *builder = calloc(1, sizeof *builder);
    if (!builder)
        return fail_memory(e, RK_STAGE_PROFILE);
    builder->options = ours;
    builder->slices.times = ours.times;
    rc = begin(builder, e);
    if (rc < 0)
        rk_profile_builder_free(builder);
    else
        *ret = builder;
    return rc;
}

/* What was made of samples. */
static void free_samples(struct rk_profile_builder *builder)
{
    vector_free(&builder->frames);
    for (size_t i = 0; i < builder->frame_of.n; i++)
        table_free(&builder->frame_of.items[i]);
    vector_free(&builder->frame_of);
    table_free(&builder->unplaced);
    stacks_free(&builder->stacks);
    vector_free(&builder->threads);
    table_free(&builder->thread_of);
    intern_free(&builder->comms);
    pairs_free(&builder->identities);
    pairs_free(&builder->owners);
    vector_free(&builder->cgroups);
    table_free(&builder->cgroup_of);
    pairs_free(&builder->scenes);
    pairs_free(&builder->origins);
    pairs_free(&builder->cells);
    slices_free(&builder->slices);
    waits_free(&builder->waits);
    free(builder->cache);
    vector_free(&builder->addresses);
    vector_free(&builder->places);
    vector_free(&builder->words);
    vector_free(&builder->event_of);
    vector_free(&builder->unwound);
    vector_free(&builder->ready_of);
}

void builder_restart(struct rk_profile_builder *builder)
{
    struct rk_profile_builder old = *builder;

    free_samples(builder);
    *builder = (struct rk_profile_builder){
        .options = builder->options,
        .image = builder->image,
        .generation_of = builder->generation_of,
        .generation = builder->generation,
        .jit = builder->jit,
        .unwinder = builder->unwinder,
        .unwinder_error = builder->unwinder_error,
        .slices.times = builder->options.times,
    };
    memcpy(builder->paths, old.paths, sizeof old.paths);
}

struct rk_profile_builder *rk_profile_builder_free(struct rk_profile_builder *builder)
{
    if (!builder)
        return NULL;
    free_samples(builder);
    rk_image_free(builder->image);
    table_free(&builder->generation_of);
    jitcode_free(builder->jit);
    rk_unwinder_free(builder->unwinder);
    for (size_t i = 0; i < BUILDER_PATHS; i++)
        free(builder->paths[i]);
    free(builder);
    return NULL;
}

/* The mappings of `pid` are not what they were: chains of before don't count as seen. */
static int changed(struct rk_profile_builder *builder, int32_t pid)
{
    if (pid == -1) {
        builder->generation++;
        return 0;
    }
    uint32_t old = table_get(&builder->generation_of, (uint32_t)pid);
    return table_put(&builder->generation_of, (uint32_t)pid, old == TABLE_NONE ? 1 : old + 1);
}

/* A process mapped what it tells of code that it makes. */
static int learn_jit(struct rk_profile_builder *builder, const struct rk_record *record,
                     const struct rk_mapping *mapping)
{
    bool timed = record->present & RK_SAMPLE_TIME && !(record->present & RK_PRESENT_SYNTHESISED);
    struct rk_module module = {.size = sizeof module};
    struct rk_place place;
    int rc = rk_image_find(builder->image, mapping->pid, &mapping->start, 1, &place);

    if (rc < 0 || rk_image_module_get(builder->image, place.module, &module) < 0)
        return rc;
    return jitcode_mapping(&builder->jit, builder->options.root, mapping->pid, timed ? record->time : 0,
                           &module, place.module);
}

static int mapped(struct rk_profile_builder *builder, const struct rk_record *record,
                  const struct rk_mapping *mapping)
{
    int rc = jitdump_is_path(mapping->path) ? learn_jit(builder, record, mapping) : 0;

    return rc < 0 ? rc : changed(builder, mapping->pid);
}

/* Any record but a sample: the image learns from it, and what was remembered may be stale. */
static int feed_image(struct rk_profile_builder *builder, const struct rk_record *record)
{
    struct rk_mapping mapping = {.size = sizeof mapping};
    struct rk_task task = {.size = sizeof task};
    struct rk_comm comm = {.size = sizeof comm};
    int rc = rk_image_feed(builder->image, record);

    if (rc <= 0)
        return rc;
    builder->last_valid = false;
    rc = 0;
    if (record->type == RK_RECORD_KSYMBOL)
        rc = changed(builder, -1);
    else if (rk_record_mapping(record, &mapping) == 0)
        rc = mapped(builder, record, &mapping);
    else if (rk_record_task(record, &task) == 0 && (task.pid != task.parent_pid || task.pid == task.tid))
        rc = changed(builder, task.pid);
    else if (rk_record_comm(record, &comm) == 0 && record->misc & RK_MISC_COMM_EXEC)
        rc = changed(builder, comm.pid);
    return rc;
}

/* A frame's number; an address without a module is a frame of its own. */
static int64_t frame_of(struct rk_profile_builder *builder, uint64_t address, const struct rk_place *place)
{
    struct table *table = &builder->unplaced;
    struct frame frame = {.offset = address, .module = RK_NO_MODULE};

    if (place->module != RK_NO_MODULE) {
        while (builder->frame_of.n <= place->module)
            if (!vector_push(&builder->frame_of))
                return -ENOMEM;
        table = &builder->frame_of.items[place->module];
        frame = (struct frame){.offset = place->offset, .module = place->module};
    }
    uint32_t number = table_get(table, frame.offset);
    if (number != TABLE_NONE)
        return number;
    if (builder->frames.n >= TABLE_NONE)
        return -EOVERFLOW;
    if (vector_reserve(&builder->frames, 1) < 0 ||
        table_put(table, frame.offset, (uint32_t)builder->frames.n) < 0)
        return -ENOMEM;
    builder->frames.items[builder->frames.n] = frame;
    return (int64_t)builder->frames.n++;
}

/* 0: unknown. */
static uint64_t time_of(const struct rk_sample *sample)
{
    return sample->present & RK_SAMPLE_TIME ? sample->time : 0;
}

/* The long way: chain → addresses → places → frames → stack. */
static int64_t build_stack(struct rk_profile_builder *builder, const struct rk_sample *sample, uint16_t misc,
                           bool unwound)
{
    builder->addresses.n = builder->places.n = builder->words.n = 0;
    if (vector_reserve(&builder->addresses, sample->chain_n + 1) < 0 ||
        vector_reserve(&builder->places, sample->chain_n + 1) < 0 ||
        vector_reserve(&builder->words, sample->chain_n + 1) < 0)
        return -ENOMEM;
    uint64_t *addresses = builder->addresses.items;
    struct rk_place *places = builder->places.items;
    size_t n = chain_addresses(sample, misc, unwound, builder->options.flags & RK_PROFILE_RAW, addresses);
    if (n == 0) /* neither address nor chain was sampled: it counts, in no known place */
        addresses[n++] = 0;
    int rc = rk_image_find(builder->image, sample->pid, addresses, n, places);
    if (rc < 0)
        return rc;
    if (builder->jit)
        jitcode_place(builder->jit, sample->pid, time_of(sample), addresses, n, places);

    while (n-- > 0) {
        int64_t frame = frame_of(builder, addresses[n], &places[n]);
        if (frame < 0)
            return frame;
        builder->words.items[builder->words.n++] = (uint32_t)frame;
    }
    return stacks_add(&builder->stacks, builder->words.items, builder->words.n);
}

static inline void hash_word(uint64_t hash[2], uint64_t word)
{
    hash[0] = (hash[0] ^ word) * UINT64_C(0xd6e8feb86659fd93);
    hash[0] ^= hash[0] >> 32;
    hash[1] = (hash[1] + word) * UINT64_C(0x9e3779b97f4a7c15);
    hash[1] ^= hash[1] >> 29;
}

/* The number of the sample's stack, from the cache where the same chain was met before. */
static int64_t stack_of(struct rk_profile_builder *builder, const struct rk_sample *sample, uint16_t misc,
                        bool unwound)
{
    uint32_t generation = table_get(&builder->generation_of, (uint32_t)sample->pid);
    uint64_t hash[2] = {(uint32_t)sample->pid, (misc & RK_MISC_MODE) | (uint64_t)unwound << 32};

    if (!builder->cache && !(builder->cache = calloc(CHAIN_SLOTS, sizeof *builder->cache)))
        return -ENOMEM;
    hash_word(hash, (uint64_t)builder->generation << 32 | generation);
    if (builder->jit)
        hash_word(hash, jitcode_generation(builder->jit, sample->pid, time_of(sample)));
    hash_word(hash, sample->ip);
    for (uint64_t i = 0; i < sample->chain_n; i++)
        hash_word(hash, sample->chain[i]);

    struct chain_slot *slot = &builder->cache[hash_mix(hash[0]) & (CHAIN_SLOTS - 1)];
    if (slot->used && slot->hash[0] == hash[0] && slot->hash[1] == hash[1])
        return slot->stack;
    int64_t stack = build_stack(builder, sample, misc, unwound);
    if (stack >= 0)
        *slot = (struct chain_slot){{hash[0], hash[1]}, (uint32_t)stack, true};
    return stack;
}

static int64_t thread_of(struct rk_profile_builder *builder, int32_t pid, int32_t tid)
{
    uint64_t key = (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
    uint32_t number = table_get(&builder->thread_of, key);

    if (number != TABLE_NONE)
        return number;
    if (vector_reserve(&builder->threads, 1) < 0 ||
        table_put(&builder->thread_of, key, (uint32_t)builder->threads.n) < 0)
        return -ENOMEM;
    builder->threads.items[builder->threads.n] = (struct thread){pid, tid};
    return (int64_t)builder->threads.n++;
}

static int64_t cgroup_of(struct rk_profile_builder *builder, uint64_t id)
{
    uint32_t number = table_get(&builder->cgroup_of, id);

    if (number != TABLE_NONE)
        return number;
    if (vector_reserve(&builder->cgroups, 1) < 0 ||
        table_put(&builder->cgroup_of, id, (uint32_t)builder->cgroups.n) < 0)
        return -ENOMEM;
    builder->cgroups.items[builder->cgroups.n] = id;
    return (int64_t)builder->cgroups.n++;
}

/* Whose the sample is, and where it was taken. */
static int64_t origin_of(struct rk_profile_builder *b, const struct rk_sample *sample, uint32_t event)
{
    uint32_t cpu = sample->present & RK_SAMPLE_CPU ? sample->cpu : RK_NO_CPU;
    uint64_t id = sample->present & RK_SAMPLE_CGROUP ? sample->cgroup : 0;

    if (b->last_valid && b->last_pid == sample->pid && b->last_tid == sample->tid && b->last_event == event &&
        b->last_cpu == cpu && b->last_cgroup == id)
        return b->last_origin;

    const char *name = rk_image_comm(b->image, sample->pid, sample->tid);
    int64_t thread = thread_of(b, sample->pid, sample->tid);
    int64_t comm = thread < 0 ? thread : intern_add(&b->comms, name, strlen(name));
    int64_t identity = comm < 0 ? comm : pairs_add(&b->identities, (uint32_t)thread, (uint32_t)comm);
    int64_t owner = identity < 0 ? identity : pairs_add(&b->owners, (uint32_t)identity, event);
    int64_t cgroup = owner < 0 ? owner : cgroup_of(b, id);
    int64_t scene = cgroup < 0 ? cgroup : pairs_add(&b->scenes, cpu, (uint32_t)cgroup);
    int64_t origin = scene < 0 ? scene : pairs_add(&b->origins, (uint32_t)owner, (uint32_t)scene);
    if (origin >= 0) {
        b->last_valid = true;
        b->last_pid = sample->pid;
        b->last_tid = sample->tid;
        b->last_event = event;
        b->last_cpu = cpu;
        b->last_cgroup = id;
        b->last_origin = (uint32_t)origin;
    }
    return origin;
}

/* What is known of an event: 0, or -ENOMEM. A sample that does not say what it stands for stands for the event's fixed
 * period, else for itself. */
static int event_of(struct rk_profile_builder *builder, const struct rk_stream *stream, uint32_t event,
                    struct builder_event *ret)
{
    *ret = (struct builder_event){.weight = 1};
    if (event == RK_NO_EVENT)
        return 0;
    while (builder->event_of.n <= event) {
        struct rk_stream_event info = {.size = sizeof info};
        if (rk_stream_event_get(stream, builder->event_of.n, &info) < 0)
            return 0;
        struct builder_event *row = vector_push(&builder->event_of);
        if (!row)
            return -ENOMEM;
        row->weight = info.period ? info.period : 1;
        row->off_cpu = strcmp(info.name, WAITS_EVENT) == 0;
    }
    *ret = builder->event_of.items[event];
    return 0;
}

int builder_add(struct rk_profile_builder *builder, uint32_t cell, uint64_t time, struct amount amount)
{
    int rc = slices_add(&builder->slices, cell, time, amount, builder->cells.items.n);
    if (rc < 0)
        return rc;
    builder->summary.weight += amount.weight;
    builder->summary.samples += amount.samples;
    return 0;
}

static void note_time(struct rk_profile_summary *summary, uint64_t time)
{
    if (!summary->first_time || time < summary->first_time)
        summary->first_time = time;
    if (time > summary->last_time)
        summary->last_time = time;
}

/* A sample whose stack is known. */
static int add(struct rk_profile_builder *b, const struct rk_sample *sample, uint32_t stack, uint32_t event,
               const struct builder_event *what)
{
    uint64_t time = sample->present & RK_SAMPLE_TIME ? sample->time : 0;
    uint64_t weight = sample->present & RK_SAMPLE_PERIOD && sample->period ? sample->period : what->weight;
    int64_t origin = origin_of(b, sample, event);

    if (origin < 0 || origin >= WAITS_CELL)
        return origin < 0 ? (int)origin : -EOVERFLOW;
    if (what->off_cpu && time) /* weighs what comes until its thread goes on */
        return waits_begin(b, sample->tid, stack, (uint32_t)origin, time);
    int64_t cell = pairs_add(&b->cells, stack, (uint32_t)origin);
    return cell < 0 ? (int)cell : builder_add(b, (uint32_t)cell, time, (struct amount){weight, 1});
}

int rk_profile_builder_feed(struct rk_profile_builder *builder, const struct rk_stream *stream,
                            const struct rk_record *record)
{
    struct rk_sample sample = {.size = sizeof sample};
    struct builder_event what;

    if (!builder || !record)
        return -EINVAL;
    if (record->type != RK_RECORD_SAMPLE) {
        int rc = waits_feed(builder, record);
        return rc < 0 ? rc : feed_image(builder, record);
    }
    if (builder->options.flags & RK_PROFILE_EVENT && record->event != builder->options.event)
        return 0;
    if (!stream)
        return -EINVAL;
    int rc = rk_stream_sample(stream, record, &sample);
    if (rc < 0 || (rc = event_of(builder, stream, record->event, &what)) < 0)
        return rc;
    if (!(sample.present & RK_SAMPLE_CALLCHAIN))
        sample.chain_n = 0;
    if (!(sample.present & RK_SAMPLE_TID))
        sample.pid = sample.tid = -1;

    rc = unwound_chain(builder, stream, record, &sample);
    if (rc < 0)
        return rc;
    int64_t stack = stack_of(builder, &sample, record->misc, rc == 1);
    if (stack < 0)
        return (int)stack;
    rc = add(builder, &sample, (uint32_t)stack, record->event, &what);
    if (rc < 0)
        return rc;
    if (sample.present & RK_SAMPLE_TIME)
        note_time(&builder->summary, sample.time);
    return 1;
}

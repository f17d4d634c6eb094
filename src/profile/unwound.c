#include "profile/unwound.h"

#include "profile/chain.h"

#include <errno.h>

#define FRAMES_MAX 2048u

/* As uname(2) says it. */
static uint32_t machine_of_recording(const char *architecture)
{
    if (!*architecture)
        return RK_MACHINE_HERE;
    return strcmp(architecture, "x86_64") == 0                                          ? RK_MACHINE_X86_64
           : strcmp(architecture, "aarch64") == 0 || strcmp(architecture, "arm64") == 0 ? RK_MACHINE_AARCH64
           : strcmp(architecture, "riscv64") == 0                                       ? RK_MACHINE_RISCV64
                                                                                        : UINT32_MAX;
}

/* What the recording knows of the files that ran: unwinding by another's tables would lead anywhere. */
static int tell_build_ids(struct rk_image *image, const struct rk_stream *stream)
{
    int rc = 0;

    for (size_t i = 0; i < rk_stream_build_id_count(stream) && rc == 0; i++) {
        struct rk_stream_build_id id = {.size = sizeof id};
        rc = rk_stream_build_id_get(stream, i, &id);
        if (rc == 0 && id.bytes)
            rc = rk_image_feed_build_id(image, id.path, id.id, id.bytes);
    }
    return rc;
}

/* 0, or -errno: -EOPNOTSUPP is kept, stacks then stay as they are. */
static int begin(struct rk_profile_builder *b, const struct rk_stream *stream)
{
    struct rk_stream_info info = {.size = sizeof info, .architecture = ""};
    struct rk_unwinder_options options = {.size = sizeof options, .root = b->options.root};

    rk_stream_info(stream, &info);
    options.machine = machine_of_recording(info.architecture);
    int rc = rk_unwinder_open(&options, &b->unwinder, NULL);
    if (rc == -EOPNOTSUPP)
        b->unwinder_error = rc;
    return rc < 0 ? rc : tell_build_ids(b->image, stream);
}

/* Where this event's chains are: 1 unwound by the recorder, 2 in its branches, 0 as the kernel has them; -errno. */
static int ready(struct rk_profile_builder *b, const struct rk_stream *stream, uint32_t event)
{
    if (event == RK_NO_EVENT)
        return 0;
    while (b->ready_of.n <= event) {
        struct rk_stream_event info = {.size = sizeof info};
        if (rk_stream_event_get(stream, b->ready_of.n, &info) < 0)
            return 0;
        uint8_t *unwound = vector_push(&b->ready_of);
        if (!unwound)
            return -ENOMEM;
        *unwound = info.unwound ? 1 : info.call_stack ? 2 : 0;
    }
    return b->ready_of.items[event];
}

/* 1, 0: it has none; -ENOMEM. */
static int from_branches(struct rk_profile_builder *b, struct rk_sample *sample)
{
    b->unwound.n = 0;
    if (vector_reserve(&b->unwound, (size_t)(sample->chain_n + sample->branch_n + 2)) < 0)
        return -ENOMEM;
    size_t n = chain_of_branches(sample, b->unwound.items);
    if (n == 0)
        return 0;
    sample->chain = b->unwound.items;
    sample->chain_n = n;
    sample->present |= RK_SAMPLE_CALLCHAIN;
    return 1;
}

int unwound_chain(struct rk_profile_builder *b, const struct rk_stream *stream,
                  const struct rk_record *record, struct rk_sample *sample)
{
    int rc = 0;

    if (!chain_has_stack(sample->present)) {
        rc = sample->chain_n || sample->branch_n ? ready(b, stream, record->event) : 0;
        return rc == 2 ? from_branches(b, sample) : rc;
    }
    if (b->unwinder_error)
        return 0;
    if (!b->unwinder && (rc = begin(b, stream)) < 0)
        return rc == -EOPNOTSUPP ? 0 : rc;
    size_t room = FRAMES_MAX + 1 + (size_t)sample->chain_n;
    b->unwound.n = 0;
    if (vector_reserve(&b->unwound, room) < 0)
        return -ENOMEM;
    rc = chain_unwind(b->unwinder, b->image, sample, record->misc, b->unwound.items, room, &b->tally);
    if (rc < 0)
        return rc;
    sample->chain = b->unwound.items;
    sample->chain_n = (uint64_t)rc;
    sample->present |= RK_SAMPLE_CALLCHAIN;
    return 1;
}

void unwound_summarise(const struct rk_profile_builder *b, const struct rk_stream *stream,
                       struct rk_profile_summary *ret)
{
    struct rk_stream_info info = {.size = sizeof info};

    if (stream && !b->unwinder && rk_stream_info(stream, &info) == 0) {
        ret->stacks_whole = info.stacks_whole;
        ret->stacks_cut = info.stacks_cut;
        ret->stacks_broken = info.stacks_broken;
        return;
    }
    ret->stacks_whole = b->tally.whole;
    ret->stacks_cut = b->tally.cut;
    ret->stacks_broken = b->tally.broken;
}

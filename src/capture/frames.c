#include "capture/frames.h"

#include "base/error.h"
#include "record/encode.h"
#include "set/set.h"
#include "unwind/memo.h"

#include <errno.h>
#include <stdlib.h>

#define FRAMES_MAX 1024u  /* where the set does not say */
#define CHAIN_WORDS 8000u /* a record has room for as many and some fixed words */

void frames_attr(const struct frames *frames, uint32_t event, struct perf_attr *attr)
{
    if (!frames->unwinder || !frames->layouts[event].sample_type)
        return;
    attr->sample_regs_user &= frames->regs;
    attr->sample_type &=
        ~(RK_SAMPLE_STACK_USER | (attr->sample_regs_user ? UINT64_C(0) : RK_SAMPLE_REGS_USER));
    attr->sample_type |= RK_SAMPLE_CALLCHAIN;
    attr->flags &= ~ATTR_EXCLUDE_CALLCHAIN_USER;
}

/* What may change what is mapped where, or whose it is. */
static bool is_change(uint32_t type, uint16_t misc)
{
    return type == RK_RECORD_MMAP || type == RK_RECORD_MMAP2 || type == RK_RECORD_FORK ||
           (type == RK_RECORD_COMM && misc & RK_MISC_COMM_EXEC);
}

/* reader_answer. */
static size_t answer(void *context, const struct perf_header *header, uint32_t event,
                     const struct rk_sample *sample, unsigned char *to, size_t room)
{
    struct frames *frames = context;

    if (!sample) {
        if (is_change(header->type, header->misc))
            memo_change_seen(frames->memo);
        return 0;
    }
    size_t n = chain_recall(frames->memo, sample, frames->answer, CHAIN_WORDS);
    if (n == 0)
        return 0;
    struct rk_sample known = *sample;
    known.chain = frames->answer;
    known.chain_n = n;
    known.present |= RK_SAMPLE_CALLCHAIN;
    int bytes = encode_sample(&frames->layouts[event], header->misc, &known, to, room);
    return bytes < 0 ? 0 : (size_t)bytes;
}

int frames_reader(struct frames *frames, struct reader_stacks *ret)
{
    if (!frames->unwinder)
        return 0;
    *ret = (struct reader_stacks){.sp = chain_stack_register(frames->unwinder)};
    if (frames->regs || frames->limited)
        return 1; /* rare: each sample has its own, or is cut where its kernel part ends */
    frames->answer = malloc(CHAIN_WORDS * sizeof *frames->answer);
    if (!frames->answer || chain_remember(frames->unwinder, &frames->memo) < 0)
        return -ENOMEM;
    ret->answer = answer;
    ret->context = frames;
    return 1;
}

void frames_fed(struct frames *frames, const struct rk_record *record)
{
    if (frames->memo && is_change(record->type, record->misc))
        memo_change_done(frames->memo);
}

int frames_answered(struct frames *frames, const struct rk_record *record, struct rk_sample *ret)
{
    int r = layout_sample(&frames->layouts[record->event], record, ret);

    if (r == 0)
        frames->tally.whole++;
    return r;
}

static bool has_stacks(const struct rk_set *set, uint32_t event)
{
    return !set_absent(set, event) && chain_has_stack(set_attr(set, event)->sample_type);
}

int frames_open(struct frames *frames, const struct rk_set *set, uint64_t regs, const char *root,
                struct rk_error *e)
{
    const struct rk_unwinder_options options = {.size = sizeof options, .root = root};
    uint32_t some = 0;

    for (uint32_t i = 0; i < set_n_events(set); i++)
        some += has_stacks(set, i);
    if (some == 0 || rk_unwinder_registers(RK_MACHINE_HERE) == 0)
        return 0;
    frames->layouts = calloc(set_n_events(set), sizeof *frames->layouts);
    frames->chain = malloc(CHAIN_WORDS * sizeof *frames->chain);
    frames->record = aligned_alloc(8, RECORD_BYTES_MAX);
    if (!frames->layouts || !frames->chain || !frames->record)
        return fail_memory(e, RK_STAGE_CAPTURE);
    int r = rk_unwinder_open(&options, &frames->unwinder, e);
    if (r < 0)
        return r;
    frames->regs = regs;
    frames->limited = set_options(set)->max_stack != 0;
    frames->max = frames->limited ? set_options(set)->max_stack : FRAMES_MAX;
    for (uint32_t i = 0; i < set_n_events(set); i++) {
        struct perf_attr attr = *set_attr(set, i);
        if (!has_stacks(set, i))
            continue;
        frames->layouts[i].sample_type =
            attr.sample_type; /* so that frames_attr() takes it for one of ours */
        frames_attr(frames, i, &attr);
        if (layout_init(&frames->layouts[i], &attr) < 0)
            return fail_argument(e, RK_STAGE_CAPTURE, "%s: its sample fields exclude each other",
                                 set_event(set, i)->name);
    }
    return 0;
}

void frames_close(struct frames *frames)
{
    frames->unwinder = rk_unwinder_free(frames->unwinder);
    free(frames->layouts);
    free(frames->chain);
    free(frames->record);
    memo_close(frames->memo);
    free(frames->answer);
    *frames = (struct frames){0};
}

/* The registers that stay, of those that were sampled. */
static void keep_registers(struct frames *frames, uint64_t mask, struct rk_sample *sample)
{
    size_t n = 0;

    for (unsigned i = 0; i < 64 && sample->regs_user_abi; i++)
        if (mask >> i & 1)
            rk_sample_register(sample, 0, i, &frames->kept[n++]);
    sample->regs_user = frames->kept;
    sample->regs_user_mask = mask;
}

/* The words that the chain may have; *ret_full: the kernel's frames leave no room for another one. */
static size_t room_for(const struct frames *frames, const struct rk_sample *sample, bool *ret_full)
{
    uint64_t kernel = sample->present & RK_SAMPLE_CALLCHAIN ? sample->chain_n : 0;
    size_t before = 0, taken = 0,
           room = frames->max + 1 + (kernel < CHAIN_WORDS ? (size_t)kernel : CHAIN_WORDS);

    *ret_full = false;
    if (frames->limited) {
        for (; before < kernel && sample->chain[before] != RK_CHAIN_USER; before++)
            taken += sample->chain[before] < RK_CHAIN_MAX;
        *ret_full = taken >= frames->max;
        room = before + (*ret_full ? 0 : 1 + frames->max - taken);
    }
    return room < CHAIN_WORDS ? room : CHAIN_WORDS;
}

int frames_sample(struct frames *frames, const struct rk_image *image, const struct rk_record *record,
                  struct rk_sample *sample, const struct perf_header **ret)
{
    const struct layout *layout = &frames->layouts[record->event];
    bool full;

    if (!layout->sample_type)
        return 0;
    size_t room = room_for(frames, sample, &full);
    int n = chain_unwind(frames->unwinder, image, sample, record->misc, frames->chain, room, &frames->tally);
    if (n < 0)
        return n;
    frames->tally.cut += full;
    sample->chain = frames->chain;
    sample->chain_n = (uint64_t)n;
    sample->present |= RK_SAMPLE_CALLCHAIN;
    if (layout->sample_type & RK_SAMPLE_REGS_USER)
        keep_registers(frames, layout->regs_user, sample);
    int bytes = encode_sample(layout, record->misc, sample, frames->record, RECORD_BYTES_MAX);
    if (bytes < 0)
        return bytes;
    *ret = (const void *)frames->record;
    return 1;
}

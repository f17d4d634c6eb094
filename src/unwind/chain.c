#include "unwind/chain.h"

#include "unwind/unwinder.h"

#include <errno.h>
#include <string.h>

#define MODE_USER 2u
#define AGREEMENT_MAX 64u /* frames: more say no more */

/* The user part of the kernel's own chain: where it begins and ends. */
struct user_part {
    const uint64_t *words;
    size_t n;
    size_t before; /* words in front of its marker, or all */
};

static struct user_part find_user_part(const struct rk_sample *sample)
{
    struct user_part part = {NULL, 0, 0};

    if (!(sample->present & RK_SAMPLE_CALLCHAIN))
        return part;
    part.before = (size_t)sample->chain_n;
    for (size_t i = 0; i < sample->chain_n; i++)
        if (sample->chain[i] == RK_CHAIN_USER) {
            part.before = i;
            part.words = sample->chain + i + 1;
            while (i + 1 + part.n < sample->chain_n && part.words[part.n] < RK_CHAIN_MAX &&
                   part.words[part.n] != 0) /* nothing returns to 0: it ends a chain */
                part.n++;
            break;
        }
    return part;
}

/* As it is to be looked up: return addresses less 1. */
static uint64_t lookup(const struct user_part *part, size_t i)
{
    return part->words[i] - (i > 0);
}

/* How far the kernel's part agrees with the frames, from the outermost of these inwards, if that is its `at`-th. */
static size_t agreement(const struct user_part *part, size_t at, const uint64_t *pcs, size_t n)
{
    size_t run = 0;

    while (run < AGREEMENT_MAX && run <= at && run < n && lookup(part, at - run) == pcs[n - 1 - run])
        run++;
    return run;
}

/* Appends what the kernel found above the outermost frame. Recursion makes several places possible: that with the longest
 * agreement is taken, of equals the outermost, which adds the least. How many frames there are then; 0: nowhere do they agree. */
static size_t join(const struct user_part *part, uint64_t *pcs, size_t n, size_t max)
{
    size_t best = 0, run = 0;

    for (size_t at = 0; at < part->n && n > 0; at++) {
        size_t now = agreement(part, at, pcs, n);
        if (now && now >= run) {
            run = now;
            best = at;
        }
    }
    if (run == 0)
        return 0;
    for (size_t i = best + 1; i < part->n && n < max; i++)
        pcs[n++] = lookup(part, i);
    return n;
}

/* The frames, made longer if they can be. One that lies in no mapping, where unwinding broke, may be no frame at all. */
static size_t lengthen(const struct user_part *part, uint32_t end, uint64_t *pcs, size_t n, size_t max)
{
    size_t longer = part->n ? join(part, pcs, n, max) : 0;

    if (longer == 0 && part->n && end == RK_UNWIND_BROKEN)
        longer = join(part, pcs, n - 1, max);
    return longer > n ? longer : n;
}

/* Nothing was unwound: the kernel's part as it is, or the sampled address alone. */
static size_t without_frames(const struct user_part *part, const struct rk_sample *sample, uint16_t misc,
                             uint64_t *pcs, size_t max)
{
    size_t n = 0;

    for (; n < part->n && n < max; n++)
        pcs[n] = lookup(part, n);
    if (n == 0 && max && (misc & RK_MISC_MODE) == MODE_USER && sample->present & RK_SAMPLE_IP)
        pcs[n++] = sample->ip;
    return n;
}

static void count(struct chain_tally *tally, uint32_t end, bool joined)
{
    if (end == RK_UNWIND_WHOLE)
        tally->whole++;
    else if (end == RK_UNWIND_BROKEN)
        tally->broken++;
    else
        tally->cut++;
    tally->joined += joined;
}

int chain_unwind(struct rk_unwinder *unwinder, const struct rk_image *image, const struct rk_sample *sample,
                 uint16_t misc, uint64_t *ret, size_t max, struct chain_tally *tally)
{
    struct rk_unwind_status status = {.size = sizeof status};
    struct user_part part = find_user_part(sample);
    size_t at = part.before < max ? part.before : max;

    if (at)
        memcpy(ret, sample->chain, at * sizeof *ret);
    if (max - at < 2)
        return (int)at;
    uint64_t *pcs = ret + at + 1;
    size_t room = max - at - 1;
    int n = rk_unwinder_sample(unwinder, image, sample, pcs, room, &status);
    if (n < 0)
        return n;
    size_t frames = (size_t)n;
    if (frames == 0)
        frames = without_frames(&part, sample, misc, pcs, room);
    else if (status.end != RK_UNWIND_WHOLE)
        frames = lengthen(&part, status.end, pcs, frames, room);
    if (sample->regs_user_abi != 0)
        count(tally, status.end, frames > (size_t)n && n > 0);
    if (frames == 0)
        return (int)at;
    ret[at] = RK_CHAIN_USER;
    return (int)(at + 1 + frames);
}

size_t chain_recall(struct memo *memo, const struct rk_sample *sample, uint64_t *ret, size_t max)
{
    struct user_part part = find_user_part(sample);

    if (max < 2 || part.before > max - 2)
        return 0;
    size_t n = memo_find(memo, sample, ret + part.before + 1, max - part.before - 1);
    if (n == 0)
        return 0;
    if (part.before)
        memcpy(ret, sample->chain, part.before * sizeof *ret);
    ret[part.before] = RK_CHAIN_USER;
    return part.before + 1 + n;
}

int chain_remember(struct rk_unwinder *unwinder, struct memo **ret)
{
    unwinder->memo = memo_open(unwinder->machine);
    if (!unwinder->memo)
        return -ENOMEM;
    *ret = unwinder->memo;
    return 0;
}

uint64_t chain_top(const struct rk_unwinder *unwinder)
{
    return unwinder->top;
}

uint32_t chain_stack_register(const struct rk_unwinder *unwinder)
{
    const struct machine *machine = unwinder->machine;
    uint32_t number = 0;

    while (machine->from_kernel[number] != (int8_t)machine->sp)
        number++;
    return number;
}

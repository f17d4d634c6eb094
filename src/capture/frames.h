/*
 * Stacks → frames, while recording: a sample that carries the user's registers and a piece of its stack is written
 * with its frames in place of both, some 200 bytes for 16 KiB.
 *
 * In the file the event looks as if the kernel had found the chain: its attr has CALLCHAIN and no STACK_USER; REGS_USER
 * only where registers are wanted for themselves (rk_capture_options.unwind_regs), and these alone. perf looks the entries of a chain up as they are, so the user part has addresses ready for that, as perf's
 * own unwinder would give them, where a kernel's has return addresses. That it is so is told by sample_stack_user, which
 * stays what it was and which nobody reads where no stack is sampled: it survives a kill, a pipe and perf inject.
 */
#ifndef CAPTURE_FRAMES_H
#define CAPTURE_FRAMES_H

#include "capture/reader.h"
#include "record/layout.h"
#include "unwind/chain.h"

#include <reckon/stream.h>

struct rk_set;

struct frames {
    struct rk_unwinder *unwinder; /* NULL: nothing to unwind */
    struct chain_tally tally;
    size_t max;             /* frames */
    bool limited;           /* max is what was asked for, of the kernel's and the user's together */
    struct layout *layouts; /* in the file, by the set's event; sample_type 0: that one's stay as they are */
    uint64_t *chain;        /* scratch: the words of one */
    unsigned char *record;  /* scratch: one record */
    uint64_t regs;          /* a mask: registers that samples keep */
    uint64_t kept[64];      /* scratch: these */
    struct memo *memo;      /* NULL: the reader answers nothing */
    uint64_t *answer;       /* scratch of the reader's: the words of a chain */
};

/* For the set's events that have stacks; where there are none, or this machine's can't be unwound, nothing is. `regs`:
 * registers that samples keep. 0 or -errno. */
int frames_open(struct frames *frames, const struct rk_set *set, uint64_t regs, const char *root,
                struct rk_error *e);
void frames_close(struct frames *frames);

/* What the reader of rings needs to know of stacks: 1, 0 where nothing is unwound, -ENOMEM. It then answers what was
 * unwound before. */
int frames_reader(struct frames *frames, struct reader_stacks *ret);

/* A record of the stream's, in the order of time, when the image has been fed. */
void frames_fed(struct frames *frames, const struct rk_record *record);

/* The fields of a sample that the reader has answered. 0 or -EBADMSG. Hot. */
int frames_answered(struct frames *frames, const struct rk_record *record, struct rk_sample *ret);

/* The event's attr as the file has it. */
void frames_attr(const struct frames *frames, uint32_t event, struct perf_attr *attr);

/* The sample's chain becomes its frames (in memory of `frames`), *ret the record to write in place of its own. 1; 0: it
 * stays as it is; or -errno. Hot. */
int frames_sample(struct frames *frames, const struct rk_image *image, const struct rk_record *record,
                  struct rk_sample *sample, const struct perf_header **ret);

#endif

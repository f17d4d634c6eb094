/*
 * Recording: a stream's records, in order, into a perf.data file.
 *
 *     open    map the rings; make the file, write its header, let it take its path
 *     step    wait for records or the target's end; one round: next → image → frames → hits → append; FINISHED_ROUND; flush when
 *             due
 *     close   the last round; then build-ids, features, ledger (finish.c)
 *
 * The stream begins with what runs already (stream/world.c). Those records have no time and stand first in the file, where a
 * reader wants them. switch.c changes files and steers meanwhile.
 *
 * Stacks are unwound here (frames.h) and not where a ring is read: the mapping that a stack needs may sit in another
 * CPU's ring, and comes before it only in the order of time.
 *
 * With `threads` a thread empties the rings (reader.h): it copies and releases. Whoever calls step() orders, follows the image
 * and writes.
 */
#include "capture/capture.h"

#include "base/error.h"
#include "base/unset.h"
#include "capture/tracing.h"
#include "host/host.h"
#include "sys/process.h"
#include "sys/ready.h"

#include <errno.h>
#include <unistd.h>

#define FLUSH_NS UINT64_C(500000000)
#define FLUSH_MS 500
#define STACKS_MS \
    20 /* stacks fill a ring in a fraction of a second, and are cheapest to unwind while they are in cache */
#define READER_MS 100 /* its thread wakes us sooner when there is much */
#define QUEUE_BYTES (64u << 20)
#define QUEUE_LEAST (1u << 20)
#define MAPPING_BYTES_MAX 8192 /* an MMAP2 with the longest path */
#define BLIND_MS 10            /* how often to ask whether the command has ended, where no descriptor tells */

static int capture_fail(struct rk_capture *c, int code)
{
    if (c->error == 0)
        c->error = code;
    return c->error;
}

/* --- Opening --- */

struct rk_capture *rk_capture_free(struct rk_capture *c)
{
    if (!c)
        return NULL;
    perfdata_writer_close(c->writer);
    if (c->pipe)
        c->place.fd = -1; /* not ours */
    place_close(&c->place);
    hits_close(&c->hits);
    rk_image_free(c->image);
    reader_close(c->reader, c->stream); /* it asks frames */
    rk_stream_free(c->stream);
    frames_close(&c->frames);
    for (size_t i = 0; i < c->command_n; i++)
        free(c->command[i]);
    free(c->command);
    free(c->file_events);
    free(c->told);
    free(c->path);
    rk_set_free(c->set);
    rk_target_free(c->target);
    rk_host_free(c->host);
    free(c);
    return NULL;
}

static int copy_command(struct rk_capture *c, const char *const *words)
{
    size_t n = 0;

    while (words && words[n])
        n++;
    if (n == 0)
        return 0;
    c->command = calloc(n, sizeof *c->command);
    for (; c->command && c->command_n < n; c->command_n++)
        if (!(c->command[c->command_n] = strdup(words[c->command_n])))
            return -ENOMEM;
    return c->command ? 0 : -ENOMEM;
}

/* The header: every event that was opened, with the ids that its records carry. */
static int write_header(struct rk_capture *c, uint32_t level, struct rk_error *e)
{
    const struct rk_set *set = c->set;
    const struct perfdata_writer_options how = {.pipe = c->pipe, .begin = true, .level = (int)level};
    _cleanup_free_ struct perf_attr *attrs = calloc(set_n_events(set), sizeof *attrs);
    _cleanup_free_ struct perfdata_writer_event *events = calloc(set_n_events(set), sizeof *events);
    _cleanup_free_ uint64_t *ids = calloc((size_t)set_n_events(set) * set_n_slots(set), sizeof *ids);
    if (!c->file_events)
        c->file_events = calloc(set_n_events(set), sizeof *c->file_events);
    if (!c->told)
        c->told = calloc(set_n_events(set), sizeof *c->told);
    c->file_events_n = 0;
    if (!events || !ids || !attrs || !c->file_events || !c->told)
        return fail_memory(e, RK_STAGE_CAPTURE);

    uint64_t *at = ids;
    for (uint32_t i = 0; i < set_n_events(set); i++) {
        if (set_absent(set, i))
            continue;
        struct perfdata_writer_event *event = &events[c->file_events_n];
        attrs[i] = *set_attr(set, i);
        frames_attr(&c->frames, i, &attrs[i]);
        if (*set_event(set, i)->probe)
            attrs[i].config1 = 0; /* an address in this process, where the probe's text was */
        *event = (struct perfdata_writer_event){&attrs[i], at, 0, set_event(set, i)->name};
        for (uint32_t slot = 0; slot < set_n_slots(set); slot++)
            if (set_fd(set, slot, i) >= 0)
                *at++ = set_id(set, slot, i);
        event->ids_n = (size_t)(at - event->ids);
        c->file_events[c->file_events_n++] = i;
    }
    return perfdata_writer_start(c->place.fd, events, c->file_events_n, &how, &c->writer, e);
}

/* What tracefs says of tracepoints: perf refuses their samples without. Where it can't be read nothing is written. */
static int write_tracing(struct rk_capture *c, struct rk_error *e)
{
    const struct rk_set *set = c->set;
    _cleanup_free_ const char **names = calloc(set_n_events(set), sizeof *names);
    tracing_bytes bytes = {0};
    size_t n = 0;

    if (!names)
        return fail_memory(e, RK_STAGE_CAPTURE);
    for (uint32_t i = 0; i < set_n_events(set); i++)
        if (!set_absent(set, i) && set_attr(set, i)->type == PERF_TRACEPOINT)
            names[n++] = set_event(set, i)->name;
    int r = n ? tracing_collect(c->host, names, n, &bytes) : 0;
    if (n == 0 || (r < 0 && r != -ENOMEM))
        return 0;
    if (r == 0)
        r = perfdata_writer_tracing(c->writer, bytes.items, bytes.n);
    vector_free(&bytes);
    if (r == -ENOMEM)
        return fail_memory(e, RK_STAGE_CAPTURE);
    return r == 0 ? 0
                  : fail(e, r, RK_STAGE_CAPTURE, RK_CAUSE_UNKNOWN, NULL,
                         "the recording cannot be written: %s", strerror(-r));
}

int capture_file_open(struct rk_capture *c, struct rk_error *e)
{
    int r = 0;

    if (c->pipe)
        c->place.fd = STDOUT_FILENO;
    else
        r = place_make(&c->place, c->path, e);
    if (r < 0 || (r = write_header(c, c->compression, e)) < 0 || (r = write_tracing(c, e)) < 0)
        return r;
    return c->pipe ? 0 : place_take(&c->place, e);
}

/* How many frames the kernel gives at most. */
static uint64_t longest_chain(struct rk_host *host, const struct rk_set *set)
{
    int64_t limit;

    if (set_options(set)->max_stack)
        return set_options(set)->max_stack;
    return rk_host_limit(host, RK_LIMIT_MAX_STACK, &limit) == 0 && limit > 0 ? (uint64_t)limit : UINT64_MAX;
}

static int start_reader(struct rk_capture *c, size_t limit)
{
    struct reader_stacks stacks;
    int r = frames_reader(&c->frames, &stacks);

    return r < 0 ? r : reader_open(c->stream, limit, r ? &stacks : NULL, &c->reader);
}

/* `sample`: what the set was asked for, whether this kernel can give it or not. */
static int check(const struct rk_capture_options *o, uint64_t sample, struct rk_error *e)
{
    uint32_t unknown = o->flags & ~(RK_CAPTURE_THREAD | RK_CAPTURE_UNWIND | RK_CAPTURE_NAMES);

    if (unknown)
        return fail_argument(e, RK_STAGE_CAPTURE, "rk_capture_options.flags: 0x%x is unknown", unknown);
    if (o->compression > 22)
        return fail_argument(e, RK_STAGE_CAPTURE, "compression is more than 22");
    if ((o->flags & RK_CAPTURE_NAMES) && o->path && strcmp(o->path, "-") == 0)
        return fail_argument(e, RK_STAGE_CAPTURE, "a pipe has no place for names: RK_CAPTURE_NAMES");
    if (o->queue_bytes && o->queue_bytes < QUEUE_LEAST)
        return fail_argument(e, RK_STAGE_CAPTURE, "queue_bytes is less than 1 MiB");
    if (o->queue_bytes && !(o->flags & RK_CAPTURE_THREAD))
        return fail_argument(e, RK_STAGE_CAPTURE, "queue_bytes has no effect without RK_CAPTURE_THREAD");
    if ((o->flags & RK_CAPTURE_UNWIND) && !(sample & RK_SAMPLE_STACK_USER))
        return fail_argument(e, RK_STAGE_CAPTURE,
                             "RK_CAPTURE_UNWIND has no effect: the set takes no RK_SAMPLE_STACK_USER");
    if (o->unwind_regs && !(o->flags & RK_CAPTURE_UNWIND))
        return fail_argument(e, RK_STAGE_CAPTURE, "unwind_regs has no effect without RK_CAPTURE_UNWIND");
    return 0;
}

int rk_capture_open(struct rk_host *host, struct rk_set *set, struct rk_target *target,
                    const struct rk_capture_options *options, struct rk_capture **ret, struct rk_error *e)
{
    struct rk_capture_options o;

    if (!host || !set || !ret)
        return fail_null(e, RK_STAGE_CAPTURE, "rk_capture_open", !host ? "host" : !set ? "set" : "ret");
    int r = options_check(&o, sizeof o, options, "rk_capture_options", RK_STAGE_CAPTURE, e);
    if (r < 0)
        return r;
    if ((r = check(&o, set_options(set)->sample, e)) < 0)
        return r;

    _cleanup_(rk_capture_free_cleanup) struct rk_capture *c = calloc(1, sizeof *c);
    if (!c)
        return fail_memory(e, RK_STAGE_CAPTURE);
    c->host = host_keep(host);
    c->set = set_keep(set);
    c->target = target_keep(target);
    c->place.fd = -1;
    c->made = sys_wall_ns();
    if (copy_command(c, o.command) < 0)
        return fail_memory(e, RK_STAGE_CAPTURE);
    c->pipe = o.path && strcmp(o.path, "-") == 0;
    c->compression = o.compression;
    c->hits.named = o.flags & RK_CAPTURE_NAMES;
    c->longest_chain = longest_chain(host, set);
    if (!(c->path = strdup(o.path ? o.path : "perf.data")))
        return fail_memory(e, RK_STAGE_CAPTURE);
    if ((r = rk_stream_live(set, &c->stream, e)) < 0 || (r = rk_image_open(&c->image, e)) < 0 ||
        ((o.flags & RK_CAPTURE_UNWIND) && (r = frames_open(&c->frames, set, o.unwind_regs, NULL, e)) < 0) ||
        (r = capture_file_open(c, e)) < 0)
        return r;
    if ((o.flags & RK_CAPTURE_THREAD) &&
        (r = start_reader(c, o.queue_bytes ? o.queue_bytes : QUEUE_BYTES)) < 0)
        return r == -ENOMEM
                   ? fail_memory(e, RK_STAGE_CAPTURE)
                   : fail(e, r, RK_STAGE_CAPTURE, r == -EMFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_UNKNOWN,
                          NULL, "cannot start the reader's thread: %s", strerror(-r));
    c->flushed_ns = sys_clock_ns();
    *ret = TAKE_PTR(c);
    return 0;
}

/* --- Writing --- */

int capture_follow(struct rk_capture *c, const struct rk_record *record)
{
    switch (record->type) {
    case RK_RECORD_MMAP:
    case RK_RECORD_MMAP2:
        hits_moved(&c->hits);
        break;
    case RK_RECORD_COMM:
        if (c->hits.named && record->misc & RK_MISC_COMM_EXEC &&
            keep_process(&c->hits.keep, c->host->root, record->pid) < 0)
            return -ENOMEM;
        break;
    case RK_RECORD_FORK:
    case RK_RECORD_EXIT:
    case RK_RECORD_CGROUP:
        break;
    default:
        return 0;
    }
    int r = rk_image_feed(c->image, record);
    return r == -ENOMEM ? r : 0; /* a damaged record costs a build-id, not the recording */
}

int capture_append(struct rk_capture *c, const void *record, size_t bytes)
{
    int r = perfdata_writer_append(c->writer, record, bytes);

    c->records++;
    c->unflushed = true;
    return r;
}

/* A stack that was longer than what was asked for: its outermost callers are missing. */
static bool is_cut(const struct rk_capture *c, const struct rk_sample *sample)
{
    if ((sample->present & RK_SAMPLE_STACK_USER) && sample->stack_bytes)
        return sample->stack_used >= sample->stack_bytes;
    if (!(sample->present & RK_SAMPLE_CALLCHAIN) || sample->chain_n < c->longest_chain)
        return false;
    uint64_t frames = 0;
    for (uint64_t i = 0; i < sample->chain_n; i++)
        frames += sample->chain[i] < RK_CHAIN_MAX;
    return frames >= c->longest_chain;
}

/* Without the bit that the kernel left there by mistake (record/layout.h), of which perf dies. */
static int append_mended(struct rk_capture *c, const struct rk_record *record)
{
    UNSET _Alignas(8) unsigned char copy[MAPPING_BYTES_MAX];
    struct perf_header header;

    memcpy(&header, record->data, sizeof header);
    if (header.misc == record->misc || record->bytes > sizeof copy)
        return capture_append(c, record->data, record->bytes);
    header.misc = record->misc;
    memcpy(copy, record->data, record->bytes);
    memcpy(copy, &header, sizeof header);
    return capture_append(c, copy, record->bytes);
}

static int write_record(struct rk_capture *c, const struct rk_record *record)
{
    struct rk_sample sample = {.size = sizeof sample};
    const struct perf_header *frames = NULL; /* what is written in place of the record */
    uint64_t before = c->newest;
    int r = capture_follow(c, record);

    if (!(record->present & RK_PRESENT_SYNTHESISED)) { /* which the reader has not seen */
        if (c->reader && record->type == RK_RECORD_COMM && record->misc & RK_MISC_COMM_EXEC)
            reader_exec(c->reader, record->tid);
        frames_fed(&c->frames, record);
    }
    c->disordered |= stream_key(record, &c->newest) < before;
    if (r == 0 && record->type == RK_RECORD_SAMPLE) {
        if (record->present & RK_SAMPLE_TIME) {
            if (c->first_time == 0)
                c->first_time = record->time;
            c->last_time = record->time;
        }
        if (c->reader && live_unwound(c->stream, record)) {
            if ((r = frames_answered(&c->frames, record, &sample)) == 0)
                r = hits_sample(&c->hits, c->image, c->host->root, &sample, true);
        } else if (rk_stream_sample(c->stream, record, &sample) == 0) {
            bool cut = is_cut(c, &sample);
            uint64_t before_cut = c->frames.tally.cut;
            if (c->frames.unwinder && (r = frames_sample(&c->frames, c->image, record, &sample, &frames)) < 0)
                return r;
            if (c->reader && frames && chain_top(c->frames.unwinder))
                reader_top(c->reader, sample.tid, chain_top(c->frames.unwinder));
            c->truncated += frames ? c->frames.tally.cut - before_cut : cut;
            r = hits_sample(&c->hits, c->image, c->host->root, &sample, frames != NULL);
        } else if (c->frames.unwinder) {
            c->damaged++; /* its bytes would not fit the file's layout */
            return 0;
        }
    }
    return r < 0                             ? r
           : frames                          ? capture_append(c, frames, frames->size)
           : record->type == RK_RECORD_MMAP2 ? append_mended(c, record)
                                             : capture_append(c, record->data, record->bytes);
}

/* One round: all that the stream has due, then the mark. */
int capture_round(struct rk_capture *c)
{
    const struct rk_record *record;
    uint64_t before = c->records;
    int r = 0;

    c->begun = true;
    while (r == 0 && (r = rk_stream_next(c->stream, &record)) != 0) {
        if (r == 1)
            r = write_record(c, record);
        else if (r == -EBADMSG)
            c->damaged++, r = 0; /* told in the ledger; the rest is sound */
    }
    if (r < 0)
        return r;
    rk_stream_release(c->stream);
    return c->records > before ? perfdata_writer_round(c->writer) : 0;
}

static int flush_if_due(struct rk_capture *c, bool now)
{
    uint64_t clock = sys_clock_ns();

    if (!c->unflushed || (!now && clock - c->flushed_ns < FLUSH_NS))
        return 0;
    c->unflushed = false;
    c->flushed_ns = clock;
    return perfdata_writer_flush(c->writer);
}

static int put_cgroup(void *context, const struct perf_header *header)
{
    struct rk_capture *c = context;
    struct rk_record record = {.type = header->type, .bytes = header->size, .data = (const void *)header};
    struct rk_cgroup cgroup = {.size = sizeof cgroup};

    if (rk_record_cgroup(&record, &cgroup) < 0 || *rk_image_cgroup(c->image, cgroup.id))
        return 0;
    return capture_append(c, header, header->size);
}

/* No more will come: the set is stopped and everything in the rings written. The kernel does not tell an event of a cgroup of
 * one that was made by others than its own: those that are there and were not told follow. */
int capture_end(struct rk_capture *c)
{
    if (c->ended)
        return 0;
    c->ended = true;
    rk_set_disable(c->set); /* a thread that has ended can't be: that is no failure here */
    int r = rk_stream_drain(c->stream);
    if (r == 0)
        r = capture_round(c);
    if (r == 0)
        r = live_cgroups(c->stream, put_cgroup, c);
    return r < 0 ? r : flush_if_due(c, true);
}

/* --- Stepping --- */

/* Whether the target has ended: bit 1 of what poll said, or by asking. */
static bool target_ended(struct rk_capture *c, int polled, int fd)
{
    if (live_ended(c->stream->live))
        return true;
    if (fd >= 0)
        return polled > 0 && (polled & 2);
    if (!c->target || c->target->kind != TARGET_COMMAND)
        return false;
    struct rk_exit end = {.size = sizeof end};
    return rk_target_wait(c->target, 0, &end) != 0;
}

int rk_capture_step(struct rk_capture *c, int timeout_ms)
{
    if (!c)
        return -EINVAL;
    if (c->error)
        return c->error;
    if (c->ended)
        return 0;

    int fd = c->target ? rk_target_fd(c->target) : -1;
    int limit = c->target && c->target->kind == TARGET_COMMAND && fd < 0 ? BLIND_MS
                : c->reader                                              ? READER_MS
                : c->frames.unwinder                                     ? STACKS_MS
                                                                         : FLUSH_MS;
    if (timeout_ms < 0 || timeout_ms > limit)
        timeout_ms = limit;
    int polled = c->begun ? sys_poll_two(rk_stream_fd(c->stream), fd < 0 ? -1 : fd, timeout_ms) : 0;
    if (polled == -EINTR)
        return 1; /* the caller's signal handler may have something to say */
    if (polled < 0)
        return capture_fail(c, polled);

    int r = capture_round(c);
    if (r == 0 && target_ended(c, polled, fd))
        r = capture_end(c);
    if (r == 0)
        r = flush_if_due(c, false);
    return r < 0 ? capture_fail(c, r) : !c->ended;
}

int rk_capture_stats(const struct rk_capture *c, struct rk_capture_stats *ret)
{
    if (!c || !ret)
        return -EINVAL;
    struct rk_capture_stats mine = {.size = sizeof mine,
                                    .bytes =
                                        c->bytes_before + (c->writer ? perfdata_writer_bytes(c->writer) : 0),
                                    .records = c->records,
                                    .queue_full = c->reader ? reader_full(c->reader) : 0,
                                    .truncated = c->truncated,
                                    .code_maps = c->code_maps,
                                    .stacks_whole = c->frames.tally.whole,
                                    .stacks_cut = c->frames.tally.cut,
                                    .stacks_broken = c->frames.tally.broken,
                                    .stacks_joined = c->frames.tally.joined,
                                    .loss = {.size = sizeof mine.loss}};

    rk_stream_loss(c->stream, RK_NO_EVENT, &mine.loss);
    return result_give(ret, &mine, sizeof mine);
}

/*
 * A perf.data file or pipe, as a source.
 *
 * A file of reckon's that was closed properly says that it is in order, and its records go straight through. Others
 * are ordered by their rounds (order.h). A file without rounds, too large for the queue, is read twice: once for an
 * index of (time, offset), 16 bytes per record and as much again while it is sorted, then record by record in that
 * order. A pipe can't be read twice: there the older half of what waits goes out, and what comes too late is
 * counted as disorder.
 *
 * The second reading jumps between as many places as the file has runs. Windows, each two blocks long so that a
 * record that begins in the first block is whole, are kept by block number:
 *
 *     file     │ block 0 │ block 1 │ block 2 │ …
 *     window k │ block b │ b+1 │     where b mod WINDOWS = k
 */
#include "sys/file.h"
#include "base/error.h"
#include "perfdata/reader.h"
#include "stream/stream.h"

#include <errno.h>

#define BLOCK ((size_t)64 << 10) /* no record is longer */
#define WINDOWS 16

struct window {
    uint64_t base; /* where it begins: at its block, so far on that records are aligned */
    size_t bytes;  /* read: less than 2 blocks at the file's end; 0: empty */
    unsigned char *data;
};

struct stream_file {
    struct perfdata_reader *reader;
    struct ledger ledger;
    uint64_t last;  /* time of the last record read */
    uint64_t asked; /* the highest time that went straight */
    bool rounds;    /* a FINISHED_ROUND was seen */
    int error;      /* what the reader ended with, to be told once the queue is empty */

    struct runs index; /* second reading: time, offset */
    size_t at;
    struct window windows[WINDOWS];
};

struct stream_file *file_close(struct stream_file *file)
{
    if (!file)
        return NULL;
    perfdata_reader_close(file->reader);
    ledger_free(&file->ledger);
    runs_free(&file->index);
    for (size_t i = 0; i < WINDOWS; i++)
        free(file->windows[i].data);
    free(file);
    return NULL;
}

/* Events of the file that the stream does not have yet: all of them at first; in a pipe more may come. */
static int take_events(struct rk_stream *st)
{
    size_t n = perfdata_reader_events(st->file->reader);

    for (size_t i = st->events.n; i < n; i++) {
        const struct perfdata_event *event = perfdata_reader_event(st->file->reader, i);
        int r = stream_event_add(st, &event->attr, event->name);
        for (size_t k = 0; k < event->ids_n && r == 0; k++)
            r = stream_id_add(st, event->ids[k], (uint32_t)i);
        if (r < 0)
            return r;
    }
    return 0;
}

static int take_ledger(struct rk_stream *st)
{
    struct perfdata_info info;

    perfdata_reader_info(st->file->reader, &info);
    return ledger_read(&st->file->ledger, info.ledger, st->events.n);
}

/* --- Reading --- */

/* The file can't be read on from here: told once, then it is the stream's end. */
static int file_failed(struct rk_stream *st, int code)
{
    st->broken = true;
    return stream_fail(
        st, (struct stream_fault){.code = code,
                                  .where = code == -ENOMEM ? STREAM_FAULT_QUEUE : STREAM_FAULT_FILE});
}

/* The next record of the file, identified; FINISHED_ROUND comes too. 1, 0 at the end, -errno, which the caller takes to
 * file_failed() when all that was read before it has gone out. */
static int read_next(struct rk_stream *st, struct rk_record *ret)
{
    const struct perf_header *header;
    uint64_t offset;

    int r = perfdata_reader_next(st->file->reader, &header, &offset);
    if (r == 0 && !st->drained) {
        st->drained = true;
        r = take_ledger(st); /* a pipe brings it last */
    }
    if (r == 1) {
        if (perfdata_reader_events(st->file->reader) > st->events.n && (r = take_events(st)) < 0)
            return r;
        stream_identify(st, header, offset, ret);
        r = 1;
    }
    return r;
}

static int file_straight(struct rk_stream *st, struct rk_record *ret)
{
    struct stream_file *file = st->file;
    int r;

    do
        r = read_next(st, ret);
    while (r == 1 && ret->type == PERFDATA_FINISHED_ROUND);
    if (r < 0)
        return file_failed(st, r);
    if (r == 1) {
        uint64_t time = stream_key(ret, &file->last);
        if (time > file->asked)
            file->asked = time;
        else if (time < file->asked)
            st->order.disorder++;
    }
    return r;
}

static int index_begin(struct rk_stream *st);

/* One more round of the file into the queue, or all that is left. */
static int file_refill(struct rk_stream *st)
{
    struct stream_file *file = st->file;
    struct rk_record record = {0};
    int r = 0;

    if (st->drained)
        return 0;
    if (file->error)
        return file_failed(st, file->error);
    while (st->order.ready == st->order.at) {
        if (order_full(&st->order)) {
            if (!file->rounds && perfdata_reader_again(file->reader))
                return index_begin(st);
            r = order_half(&st->order);
        } else if ((r = read_next(st, &record)) <= 0) {
            file->error = r; /* what was read before goes out first */
            r = order_drain(&st->order);
            if (r == 0 && st->order.ready == 0)
                return file->error ? file_failed(st, file->error) : 0;
        } else if (record.type == PERFDATA_FINISHED_ROUND) {
            file->rounds = true;
            r = order_round(&st->order);
        } else if ((r = stream_push(st, &record, stream_key(&record, &file->last))) < 0) {
            return r;
        }
        if (r < 0)
            return file_failed(st, r);
    }
    return 1;
}

/* --- The second reading, by an index --- */

/* The record at an offset of the file, aligned. 0, -EBADMSG (it was whole once; the file has changed), -errno. */
static int read_at(struct stream_file *file, uint64_t offset, const struct perf_header **ret)
{
    struct window *window = &file->windows[offset / BLOCK % WINDOWS];
    size_t within = offset % BLOCK & ~(size_t)7;
    uint64_t base = offset - within;

    if (window->base != base || window->bytes == 0) {
        if (!window->data && !(window->data = malloc(2 * BLOCK)))
            return -ENOMEM;
        window->bytes = 0;
        int64_t n = perfdata_reader_read_at(file->reader, window->data, 2 * BLOCK, base);
        if (n < 0)
            return (int)n;
        window->bytes = (size_t)n;
        window->base = base;
    }
    const struct perf_header *header = (const void *)(window->data + within);
    if (window->bytes < within + sizeof *header || header->size < sizeof *header ||
        window->bytes - within < header->size)
        return -EBADMSG;
    *ret = header;
    return 0;
}

static int index_straight(struct rk_stream *st, struct rk_record *ret)
{
    struct stream_file *file = st->file;
    const struct perf_header *header = NULL;

    if (file->at == file->index.items.n)
        return file->error ? file_failed(st, file->error) : 0;
    uint64_t offset = file->index.items.items[file->at].where;
    int r = read_at(file, offset, &header);
    file->at++; /* a record that can't be had is left out, told once */
    if (r < 0)
        return stream_fail(
            st, (struct stream_fault){.code = r,
                                      .where = r == -ENOMEM ? STREAM_FAULT_QUEUE : STREAM_FAULT_RECORD,
                                      .offset = offset});
    stream_identify(st, header, offset, ret);
    return 1;
}

/* What waits in the queue, then the rest of the file, becomes an index. Nothing has gone out yet. */
static int index_begin(struct rk_stream *st)
{
    struct stream_file *file = st->file;
    const struct rk_record *queued;
    struct rk_record record = {0};
    uint64_t last = 0;
    int r = order_drain(&st->order);

    while (r == 0 && (queued = order_next(&st->order)))
        r = runs_push(&file->index, stream_key(queued, &last), queued->offset);
    bool sorted = st->order.sorted;
    uint64_t newest = st->order.newest;
    order_free(&st->order); /* its memory; the queue is done with */
    if (r == 0) {
        while ((r = read_next(st, &record)) == 1) {
            uint64_t time = stream_key(&record, &file->last);
            sorted |= time < newest;
            newest = time > newest ? time : newest;
            if (runs_push(&file->index, time, record.offset) < 0)
                return file_failed(st, -ENOMEM);
        }
        file->error = r;
        r = runs_sort(&file->index);
    }
    if (r < 0)
        return file_failed(st, r);
    st->order.sorted = sorted;
    st->straight = index_straight;
    return 1;
}

/* --- Opening, and what is known of it --- */

int rk_stream_file(const char *path, struct rk_stream **ret, struct rk_error *e)
{
    if (!path || !ret)
        return fail_null(e, RK_STAGE_STREAM, "rk_stream_file", path ? "ret" : "path");
    struct rk_stream *st = stream_new();
    if (!st)
        return fail_memory(e, RK_STAGE_STREAM);
    st->file = calloc(1, sizeof *st->file);
    if (!st->file) {
        rk_stream_free(st);
        return fail_memory(e, RK_STAGE_STREAM);
    }
    int r = perfdata_reader_open(path, &st->file->reader, e);
    if (r < 0) {
        rk_stream_free(st);
        return r;
    }
    if ((r = take_events(st)) < 0 || (r = take_ledger(st)) < 0) {
        rk_stream_free(st);
        return r == -ENOMEM ? fail_memory(e, RK_STAGE_STREAM)
                            : fail(e, r, RK_STAGE_STREAM, RK_CAUSE_BAD_FILE, NULL,
                                   "%s: an event's sample fields exclude each other", path);
    }
    st->refill = file_refill;
    if (st->file->ledger.ordered)
        st->straight = file_straight;
    *ret = st;
    return 0;
}

/* What perf's enum auxtrace_type calls a trace. */
static const char *trace_name(uint32_t kind)
{
    static const char *const names[] = {"of an unknown kind", "Intel PT", "Intel BTS",
                                        "CoreSight",          "Arm SPE",  "s390 CPU-MF",
                                        "HiSilicon PTT"};

    return names[kind < sizeof names / sizeof *names ? kind : 0];
}

void file_info(const struct rk_stream *st, struct rk_stream_info *ret)
{
    struct perfdata_info info;

    perfdata_reader_info(st->file->reader, &info);
    ret->cut = st->broken || perfdata_reader_cut(st->file->reader);
    ret->cpus = info.cpus_online;
    ret->host = info.host;
    ret->kernel = info.kernel;
    ret->architecture = info.architecture;
    ret->command = info.command;
    ret->tool = info.tool;
    ret->recorded = 1;
    ret->trace_bytes = info.trace_bytes;
    ret->trace = info.trace_bytes ? trace_name(info.trace_kind) : "";
    ret->made = info.made ? info.made : st->file->ledger.made;
    ret->stacks_whole = st->file->ledger.stacks.whole;
    ret->stacks_cut = st->file->ledger.stacks.cut;
    ret->stacks_broken = st->file->ledger.stacks.broken;
    ret->stacks_joined = st->file->ledger.stacks.joined;
}

int file_explain(const struct stream_file *file, struct rk_error *ret)
{
    return perfdata_reader_explain(file->reader, ret);
}

const char *file_event_name(const struct rk_stream *st, size_t index)
{
    return perfdata_reader_event(st->file->reader, index)->name;
}

size_t rk_stream_build_id_count(const struct rk_stream *st)
{
    const struct perfdata_build_id *ids;

    return st && st->file ? perfdata_reader_build_ids(st->file->reader, &ids) : 0;
}

int rk_stream_build_id_get(const struct rk_stream *st, size_t index, struct rk_stream_build_id *ret)
{
    const struct perfdata_build_id *ids;

    if (!st)
        return -EINVAL;
    if (!st->file || index >= perfdata_reader_build_ids(st->file->reader, &ids))
        return -ERANGE;
    struct rk_stream_build_id mine = {sizeof mine, ids[index].bytes, ids[index].id, ids[index].path};
    return result_give(ret, &mine, sizeof mine);
}

int rk_stream_names(const struct rk_stream *st, const void **ret, size_t *ret_bytes)
{
    size_t n = 0;

    if (!st || !ret || !ret_bytes)
        return -EINVAL;
    const void *names = st->file ? perfdata_reader_names(st->file->reader, &n) : NULL;
    if (!names)
        return -ENOENT;
    *ret = names;
    *ret_bytes = n;
    return 0;
}

const char *file_format(const struct rk_stream *st, uint64_t number, size_t *ret_n)
{
    return st->file ? perfdata_reader_format(st->file->reader, number, ret_n) : NULL;
}

const struct ledger_event *file_ledger(const struct rk_stream *st, uint32_t event)
{
    if (!st->file || !st->drained || event >= st->file->ledger.events.n)
        return NULL;
    const struct ledger_event *told = &st->file->ledger.events.items[event];
    return told->told ? told : NULL;
}

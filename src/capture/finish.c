/*
 * The end of a recording: what was lost, what was hit, where and how it was made.
 */
#include "base/error.h"
#include "capture/capture.h"
#include "record/encode.h"
#include "sys/name.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

/* What the kernel counted as lost, as a record that perf understands too. */
static int write_lost(struct rk_capture *c, uint32_t file_event, const struct rk_loss *loss)
{
    uint32_t event = c->file_events[file_event];
    struct rk_record from = {.time = c->last_time, .id = set_id(c->set, 0, event)};
    struct rk_lost lost = {.size = sizeof lost, .count = loss->lost};
    _Alignas(8) unsigned char buffer[128];

    if (!(loss->present & RK_LOSS_LOST) || loss->lost == 0)
        return 0;
    int n = encode_lost(&c->stream->events.items[event].layout, &from, RK_RECORD_LOST_SAMPLES, &lost, buffer,
                        sizeof buffer);
    return n < 0 ? n : capture_append(c, buffer, (size_t)n);
}

static int write_losses(struct rk_capture *c)
{
    char line[LEDGER_LINE_MAX];
    int r = 0;

    for (uint32_t i = 0; i < c->file_events_n && r == 0; i++) {
        struct rk_loss loss = {.size = sizeof loss};
        struct rk_loss *told = &c->told[c->file_events[i]];
        rk_stream_loss(c->stream, c->file_events[i], &loss);
        struct rk_loss all = loss;
        loss.kept -= told->kept;
        loss.lost -= told->lost < loss.lost ? told->lost : loss.lost;
        loss.throttled -= told->throttled;
        loss.records_lost -= told->records_lost;
        if (c->switched) /* of the run, not of this file */
            loss.present &= ~RK_LOSS_SKIPPED;
        *told = all;
        r = write_lost(c, i, &loss);
        ledger_event_print(i, &loss, line);
        if (r == 0)
            r = perfdata_writer_ledger(c->writer, "event", line);
    }
    return r;
}

static int write_features(struct rk_capture *c)
{
    struct perfdata_writer *w = c->writer;
    struct sys_name name;
    char number[24];
    int r;

    sys_name(&name);
    if ((r = perfdata_writer_text(w, FEATURE_HOSTNAME, name.host)) < 0 ||
        (r = perfdata_writer_text(w, FEATURE_OSRELEASE, name.kernel)) < 0 ||
        (r = perfdata_writer_text(w, FEATURE_VERSION, "reckon " RK_VERSION)) < 0 ||
        (r = perfdata_writer_text(w, FEATURE_ARCH, name.machine)) < 0 || (r = capture_machine(c)) < 0 ||
        (c->command_n &&
         (r = perfdata_writer_list(w, FEATURE_CMDLINE, (const char *const *)c->command, c->command_n)) < 0) ||
        (c->last_time && (r = perfdata_writer_times(w, c->first_time, c->last_time)) < 0) ||
        (r = hits_write(&c->hits, c->image, c->host->root, w)) < 0 ||
        (r = hits_code_maps(&c->hits, c->image, c->host->root, w, &c->code_maps)) < 0)
        return r;
    snprintf(number, sizeof number, "%" PRIu64, c->made);
    if ((r = perfdata_writer_ledger(w, "made", number)) < 0)
        return r;
    if (c->damaged) {
        snprintf(number, sizeof number, "%" PRIu64, c->damaged);
        if ((r = perfdata_writer_ledger(w, "damaged", number)) < 0)
            return r;
    }
    if (c->frames.unwinder) {
        const struct chain_tally *t = &c->frames.tally;
        char stacks[128];
        snprintf(stacks, sizeof stacks,
                 "whole %" PRIu64 " cut %" PRIu64 " broken %" PRIu64 " joined %" PRIu64, t->whole, t->cut,
                 t->broken, t->joined);
        if ((r = perfdata_writer_ledger(w, "stacks", stacks)) < 0)
            return r;
    }
    if (!c->disordered && (r = perfdata_writer_ledger(w, "ordered", "1")) < 0)
        return r;
    return perfdata_writer_ledger(w, "clean", "1");
}

int capture_explain(const struct rk_capture *c, int code, struct rk_error *e)
{
    const char *path = c->pipe ? "standard output" : c->path;

    if (code == -ENOMEM)
        return fail(e, code, RK_STAGE_CAPTURE, RK_CAUSE_MEMORY, NULL,
                    "%s: out of memory; the recording is readable up to its last flush", path);
    if (code == -ENOSPC || code == -EDQUOT || code == -EFBIG)
        return fail(e, code, RK_STAGE_CAPTURE, RK_CAUSE_NO_SPACE,
                    "free some space, choose another file with -o, or sample less often",
                    "%s: %s; the recording is readable up to its last flush", path, strerror(-code));
    return fail(e, code, RK_STAGE_CAPTURE, RK_CAUSE_UNKNOWN, NULL,
                "%s: recording failed: %s; what is there is readable up to the last flush", path,
                strerror(-code));
}

int capture_file_finish(struct rk_capture *c)
{
    int r = write_losses(c);

    if (r == 0)
        r = write_features(c);
    return r < 0 ? r : perfdata_writer_finish(c->writer, NULL);
}

int rk_capture_finish(struct rk_capture *c, struct rk_capture_stats *ret, struct rk_error *e)
{
    struct rk_capture_stats stats = {.size = sizeof stats};

    if (!c)
        return 0;
    if (set_forked(c->set)) /* the file is the parent's */
        return fail(e, -ESTALE, RK_STAGE_CAPTURE, RK_CAUSE_FORKED, NULL,
                    "this recording belongs to the process that forked this one");
    if (!c->finished) {
        int rc = c->error ? c->error : capture_end(c);
        if (rc == 0)
            rc = capture_file_finish(c);
        if (rc < 0 && c->writer)
            perfdata_writer_flush(c->writer); /* keep what was appended, unless writing itself failed */
        c->finished = true;
        c->error = rc;
    }
    if (c->error < 0)
        return capture_explain(c, c->error, e);
    rk_capture_stats(c, &stats);
    return ret ? result_give(ret, &stats, sizeof stats) : 0;
}

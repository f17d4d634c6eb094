/*
 * Text as `perf script` prints it, for what reads that: stackcollapse-perf.pl, inferno, Speedscope, the Firefox Profiler.
 *
 *     comm  pid/tid [cpu] seconds:  period event:
 *     \t       address symbol (path)        innermost first
 *     (empty line)
 *
 * A row that stands for several samples is written as many times, its weight shared among them; one that weighs something
 * and has no sample, once; so is one that stands for more than are written at all, which a comment in front says. Addresses are not kept by profiles: they are 0. In front, as comments, what was lost.
 */
#include "base/cleanup.h"
#include "export/formats.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

/* A name that fits one line, and one word where `word` is true. */
static void write_name(struct output *out, const char *name, bool word)
{
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        output_bytes(out, c < ' ' || c == 0x7f ? "?" : c == ' ' && word ? "_" : name, 1);
    }
}

static void write_frames(struct output *out, const struct rk_profile_columns *c, uint32_t node)
{
    for (uint32_t at = node; at != RK_NO_NODE; at = c->node_parent[at]) {
        uint32_t frame = c->node_frame[at];
        output_text(out, "\t               0 ");
        write_name(out, c->text[c->frame_symbol[frame]], false);
        output_text(out, c->frame_flags[frame] & RK_FRAME_INLINE ? " (inlined)\n" : " (");
        if (!(c->frame_flags[frame] & RK_FRAME_INLINE)) {
            write_name(out, c->text[c->frame_path[frame]], false);
            output_text(out, ")\n");
        }
    }
}

static void write_head(struct output *out, const struct rk_profile_columns *c, size_t i, uint64_t weight)
{
    uint32_t thread = c->sample_thread[i];
    const char *comm = c->text[c->thread_name[thread]], *event = c->text[c->event_name[c->sample_event[i]]];

    write_name(out, comm[0] ? comm : ":-1", false);
    output_format(out, " %5" PRId32 "/%-5" PRId32, c->thread_pid[thread], c->thread_tid[thread]);
    if (c->sample_cpu[i] != RK_NO_CPU)
        output_format(out, " [%03" PRIu32 "]", c->sample_cpu[i]);
    output_format(out, " %5" PRIu64 ".%09" PRIu64 ": %10" PRIu64 " ", c->sample_time[i] / 1000000000,
                  c->sample_time[i] % 1000000000, weight);
    write_name(out, event[0] ? event : "events", true);
    output_text(out, ": \n");
}

/* As perf script --header begins: the Firefox Profiler knows the format by its first two lines. */
static void write_header(struct output *out, const struct rk_profile_columns *c)
{
    const char *host = c->source_n == 1 ? c->text[c->source_name[0]] : "";

    output_text(out, "# ========\n# captured on    : unknown\n");
    if (host[0]) {
        output_text(out, "# hostname : ");
        write_name(out, host, false);
        output_bytes(out, "\n", 1);
    }
    output_text(out, "# ========\n#\n");
}

static void write_loss(struct output *out, const struct rk_profile *p)
{
    const struct rk_profile_columns *c = &p->columns;

    for (size_t i = 0; i < c->event_n; i++) {
        output_text(out, "# ");
        write_name(out, c->text[c->event_name[i]], false);
        output_format(out, ": %" PRIu64 " samples", c->event_samples[i]);
        if (c->event_known[i] & RK_LOSS_LOST)
            output_format(out, ", %" PRIu64 " lost", c->event_lost[i]);
        if (c->event_known[i] & RK_LOSS_SKIPPED)
            output_format(out, ", %" PRIu64 " skipped", c->event_skipped[i]);
        output_bytes(out, "\n", 1);
    }
    if (p->summary.cut)
        output_text(out, "# the recording was cut off\n");
    if (p->summary.stacks_cut || p->summary.stacks_broken)
        output_format(out, "# stacks: %" PRIu64 " whole, %" PRIu64 " cut, %" PRIu64 " broken\n",
                      p->summary.stacks_whole, p->summary.stacks_cut, p->summary.stacks_broken);
}

#define ENTRIES_MOST (UINT64_C(1) << 24) /* of all rows: some gigabytes of text */

/* How many entries a row is, of those that are left. */
static uint64_t entries_of(const struct rk_profile_columns *c, size_t i, uint64_t *left)
{
    uint64_t n = c->sample_count[i] ? c->sample_count[i] : c->sample_weight[i] != 0;

    if (n > *left)
        return 1;
    *left -= n;
    return n;
}

static void write_shortened(struct output *out, const struct rk_profile_columns *c)
{
    uint64_t left = ENTRIES_MOST, shortened = 0;

    for (size_t i = 0; i < c->sample_n; i++)
        shortened += entries_of(c, i, &left) < c->sample_count[i];
    if (shortened)
        output_format(out,
                      "# %" PRIu64 " stacks of many samples are one entry each, with the weight of all\n",
                      shortened);
}

void export_perf_script(const struct rk_profile *profile, struct output *out)
{
    const struct rk_profile_columns *c = &profile->columns;

    uint64_t left = ENTRIES_MOST;

    write_header(out, c);
    write_loss(out, profile);
    write_shortened(out, c);
    for (size_t i = 0; i < c->sample_n && out->error == 0; i++)
        for (uint64_t k = 0, n = entries_of(c, i, &left); k < n && out->error == 0; k++) {
            write_head(out, c, i, c->sample_weight[i] / n + (k < c->sample_weight[i] % n));
            write_frames(out, c, c->sample_node[i]);
            output_bytes(out, "\n", 1);
        }
}

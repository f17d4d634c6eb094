/*
 * Folded stacks, what flamegraph.pl, inferno and speedscope read, one line a stack:
 *
 *     comm;outermost;…;sampled N
 *
 * N is the weight, in the event's unit, so that a graph of it has the shares that report shows. Threads of one name are
 * one; a process is told apart by its name alone, as those tools expect. Samples that are of no thread (folded stacks,
 * read) have no name before them, so that what was read is written again. Unnamed functions are "[module+0x1130]", or "[module]". The format
 * has no quoting: ';' in a name becomes ':', control characters become ' '. It has no place for a unit, and a line
 * "a;b 0" is nothing to those tools: what weighs nothing is left out.
 */
#include "base/cleanup.h"
#include "export/formats.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>

/* A name with nothing in it that would break the line, in pieces, without a copy. */
static void write_name(struct output *out, const char *name)
{
    while (*name) {
        size_t n = 0;
        while (name[n] && name[n] != ';' && (unsigned char)name[n] >= ' ' && name[n] != 0x7f)
            n++;
        output_bytes(out, name, n);
        name += n;
        if (*name)
            output_bytes(out, *name++ == ';' ? ":" : " ", 1);
    }
}

static void write_frame(const struct rk_profile_columns *c, uint32_t frame, struct output *out)
{
    const char *module = c->text[c->frame_module[frame]], *place = profile_place(c, frame);
    bool unnamed = c->frame_miss[frame];

    if (place || (unnamed && module[0] != '[')) {
        output_bytes(out, "[", 1);
        write_name(out, place ? place : module);
        output_bytes(out, "]", 1);
    } else {
        write_name(out, unnamed ? module : c->text[c->frame_symbol[frame]]);
    }
}

#define NO_THREAD UINT32_MAX

/* A line to be. */
struct line {
    uint32_t node, comm; /* comm: a text, or NO_THREAD */
    uint64_t weight;
};

static uint32_t comm_of(const struct rk_profile_columns *c, uint32_t thread)
{
    uint32_t name = c->thread_name[thread];

    return c->thread_tid[thread] < 0 && c->thread_pid[thread] < 0 && !c->text[name][0] ? NO_THREAD : name;
}

static int compare_keys(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return (a->comm > b->comm) - (a->comm < b->comm);
}

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return compare_keys(left, right);
}

/* Threads of one name are one: sorts, sums neighbours, returns how many lines are left, heaviest first. */
static size_t merge(const struct rk_profile_columns *c, struct line *lines)
{
    size_t kept = 0;

    for (size_t i = 0; i < c->sample_n; i++)
        lines[i] = (struct line){c->sample_node[i], comm_of(c, c->sample_thread[i]), c->sample_weight[i]};
    qsort(lines, c->sample_n, sizeof *lines, compare_keys);
    for (size_t i = 0; i < c->sample_n; i++) {
        if (kept > 0 && compare_keys(&lines[kept - 1], &lines[i]) == 0)
            lines[kept - 1].weight += lines[i].weight;
        else
            lines[kept++] = lines[i];
    }
    qsort(lines, kept, sizeof *lines, compare_lines);
    return kept;
}

static void write_comm(const struct rk_profile_columns *c, uint32_t comm, struct output *out)
{
    write_name(out, comm != NO_THREAD && c->text[comm][0] ? c->text[comm] : "[unknown]");
}

static void write_lines(const struct rk_profile_columns *c, uint32_t depth, struct output *out)
{
    _cleanup_free_ struct line *lines = calloc(c->sample_n + 1, sizeof *lines);
    _cleanup_free_ uint32_t *path = calloc(depth + (size_t)1, sizeof *path);

    if (!lines || !path) {
        out->error = -ENOMEM;
        return;
    }
    size_t n = merge(c, lines);
    for (size_t i = 0; i < n && lines[i].weight; i++) {
        uint32_t frames = 0;
        for (uint32_t at = lines[i].node; at != RK_NO_NODE; at = c->node_parent[at])
            path[frames++] = c->node_frame[at];
        bool begun = lines[i].comm != NO_THREAD || frames == 0;
        if (begun)
            write_comm(c, lines[i].comm, out);
        for (; frames > 0; begun = true) {
            output_bytes(out, ";", begun);
            write_frame(c, path[--frames], out);
        }
        output_format(out, " %" PRIu64 "\n", lines[i].weight);
    }
}

void export_folded(const struct rk_profile *profile, struct output *out)
{
    struct rk_profile_filter flat = {.size = sizeof flat, .flags = RK_SELECT_NO_LINES | RK_SELECT_NO_TIMES};
    struct rk_profile *functions = NULL;
    int rc = rk_profile_select(profile, &flat, &functions, NULL);

    if (rc < 0) {
        out->error = rc;
        return;
    }
    write_lines(&functions->columns, functions->summary.depth, out);
    rk_profile_free(functions);
}

/*
 * Folded stacks, what flamegraph.pl, inferno and speedscope read, one line a stack:
 *
 *     comm;outermost;…;sampled N
 *
 * N is the number of samples: the sum of periods would be right too, and unreadable. Threads of one name
 * are one; a process is told apart by its name alone, as those tools expect. Unnamed functions are
 * "[module]". The format has no quoting: ';' in a name becomes ':', control characters become ' '.
 */
#include "base/cleanup.h"
#include "export/formats.h"
#include "profile/profile.h"

#include <errno.h>
#include <inttypes.h>

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

static void write_function(const struct rk_profile *profile, uint32_t index, struct output *out)
{
    struct rk_function f = {.size = sizeof f};

    rk_profile_function(profile, index, &f);
    output_bytes(out, ";", 1);
    if (f.miss && f.module[0] != '[') {
        output_bytes(out, "[", 1);
        write_name(out, f.module);
        output_bytes(out, "]", 1);
    } else {
        write_name(out, f.miss ? f.module : f.symbol);
    }
    if (f.file) {
        const char *slash = strrchr(f.file, '/');
        output_text(out, " (");
        write_name(out, slash ? slash + 1 : f.file);
        output_format(out, ":%" PRIu32 ")", f.line);
    }
}

/* A line to be: the path, whose place in the profile is the same for all stacks that have it; the name. */
struct line {
    size_t first;
    uint32_t frame_n, comm;
    uint64_t samples;
};

static int compare_keys(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->frame_n != b->frame_n)
        return a->frame_n < b->frame_n ? -1 : 1;
    return (a->comm > b->comm) - (a->comm < b->comm);
}

static int compare_lines(const void *left, const void *right)
{
    const struct line *a = left, *b = right;

    if (a->samples != b->samples)
        return a->samples > b->samples ? -1 : 1;
    return compare_keys(left, right);
}

/* Threads of one name are one: sorts, sums neighbours, returns how many lines are left, heaviest first. */
static size_t merge(const struct rk_profile *profile, struct line *lines)
{
    size_t n = profile->stacks.n, kept = 0;

    for (size_t i = 0; i < n; i++) {
        const struct stack *s = &profile->stacks.items[i];
        lines[i] = (struct line){s->first, s->frame_n, profile->owners.items[s->owner].comm, s->samples};
    }
    qsort(lines, n, sizeof *lines, compare_keys);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && compare_keys(&lines[kept - 1], &lines[i]) == 0)
            lines[kept - 1].samples += lines[i].samples;
        else
            lines[kept++] = lines[i];
    }
    qsort(lines, kept, sizeof *lines, compare_lines);
    return kept;
}

void export_folded(const struct rk_profile *profile, struct output *out)
{
    _cleanup_free_ struct line *lines = calloc(profile->stacks.n + 1, sizeof *lines);
    if (!lines) {
        out->error = -ENOMEM;
        return;
    }
    size_t n = merge(profile, lines);
    for (size_t i = 0; i < n; i++) {
        const char *comm = intern_text(&profile->texts, lines[i].comm);
        write_name(out, comm[0] ? comm : "[unknown]");
        for (uint32_t k = 0; k < lines[i].frame_n; k++)
            write_function(profile, profile->frames.items[lines[i].first + k], out);
        output_format(out, " %" PRIu64 "\n", lines[i].samples);
    }
}

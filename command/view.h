/*
 * What part of a profile is looked at: the options that report, diff, merge and export share, and the profiles that they
 * leave of a file.
 */
#ifndef COMMAND_VIEW_H
#define COMMAND_VIEW_H

#include "options.h"
#include "recording.h"

#include <reckon/profile.h>

#include <stdbool.h>

/* Numbers of the options that have no letter. */
enum {
    VIEW_TIME = 0x100,
    VIEW_THREAD,
    VIEW_CGROUP,
    VIEW_SOURCE,
    VIEW_NO_INLINE,
    VIEW_RAW,
    VIEW_WEIGHT,
    VIEW_SYMFS,
    VIEW_VMLINUX,
    VIEW_KALLSYMS,
    VIEW_OWN
};

/* Where names of a recording from elsewhere are; dump and symbolize have these rows too. */
#define VIEW_NAMES_OPTIONS                                                                      \
    {VIEW_SYMFS, 0, "symfs", "DIR",                                                             \
     "look programs and libraries up below it: the recorded machine's files"},                  \
        {VIEW_VMLINUX, 0, "vmlinux", "FILE", "the recorded kernel, with its symbols"},          \
    {                                                                                           \
        VIEW_KALLSYMS, 0, "kallsyms", "FILE", "a copy of the recorded machine's /proc/kallsyms" \
    }

/* Rows of a verb's table of options. */
#define VIEW_OPTIONS                                                                                        \
    {'e', 'e', "event", "NAME", "only this event of a recording that has several"},                         \
        {VIEW_TIME, 0, "time", "FROM,TO",                                                                   \
         "only these seconds from the first sample on, or per cent: 10%,20%"},                              \
        {'p', 'p', "pid", "LIST", "only these processes"},                                                  \
        {VIEW_THREAD, 0, "thread", "LIST", "only these threads, by number"},                                \
        {'c', 'c', "comm", "REGEX", "only threads of such a name"},                                         \
        {'C', 'C', "cpu", "LIST", "only these CPUs: 0,2-3"},                                                \
        {VIEW_CGROUP, 0, "cgroup", "REGEX", "only cgroups of such a path"},                                 \
        {VIEW_SOURCE, 0, "source", "REGEX", "only what came from such a machine, or file that was merged"}, \
        {'d', 'd', "module", "REGEX", "only samples taken in such a module"},                               \
        {'S', 'S', "symbol", "REGEX", "only stacks that have such a function"},                             \
        {VIEW_WEIGHT, 0, "weight", "WHAT",                                                                  \
         "what figures are of: event (time, or events; default) or samples, each the same"},                \
        {VIEW_NO_INLINE, 0, "no-inline", NULL, "functions that were inlined are no frames of their own"},   \
        VIEW_NAMES_OPTIONS,                                                                                 \
    {                                                                                                       \
        VIEW_RAW, 0, "raw", NULL, "look return addresses up as they are, as perf does, not the byte before" \
    }

struct view {
    struct rk_profile_options how;
    struct rk_profile_filter filter;
    const char *time; /* FROM,TO */
    int32_t *pids, *tids;
    uint32_t *cpus;
    char *again; /* the command, to be typed again with more options; NULL: none is shown */
};

void view_begin(struct view *view);
void view_free(struct view *view);
#define handle_view __attribute__((cleanup(view_free)))

/* An option of the above: 0, or OPTIONS_BAD with the message printed; 1: it is none of them. */
int view_take(const struct options *o, struct view *view, int id);

/* Reads a file (NULL: perf.data) and takes that part of it: all events in one profile, or with `each` one for each event
 * that has samples. 0, or an exit status with the message printed. Says so where nothing matches. */
int view_read(const char *verb, const char *path, const struct view *view, bool each, struct recording *ret);

/* What a word of --by means (enum rk_per); -1: nothing. */
int view_per(const char *word);
#define VIEW_PER "function, line, module, thread, process, comm, cgroup, cpu, event or source"

#endif

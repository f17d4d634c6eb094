/*
 * reckon report, in parts:
 *
 *     report.c         the options; a section for each event
 *     report_table.c   what the figures stand on, the hottest rows with bars, shares of modules and threads, what has no
 *                      name
 *     report_tree.c    --tree, --callers, --callees
 *     view.c           what part of the recording
 */
#ifndef COMMAND_REPORT_H
#define COMMAND_REPORT_H

#include <reckon/reckon.h>

#include <stdbool.h>
#include <stdio.h>

enum report_order { REPORT_SELF, REPORT_TOTAL, REPORT_NAME };

struct report {
    uint32_t per; /* enum rk_per */
    enum report_order order;
    bool no_children, tree, reverse;
    double percent_limit; /* rows below it are left out */
    uint64_t lines;       /* 0: all */
    size_t width;         /* columns of a line; SIZE_MAX: no end */
    const char *again;    /* the command, to be typed again with more options */
    uint64_t filtered;    /* samples that the filter was applied to; 0: there is none */
};

/* The profile of one event, for people. 0, or an exit status with the message printed. */
int report_text(const struct rk_profile *profile, const struct report *how);

/* Its stacks as a tree, heaviest first. The same. */
int report_tree(const struct rk_profile *profile, const struct report *how);

/* A name from outside, cut with an ellipsis to so many columns. Gives buffer. */
const char *report_name(const char *name, size_t columns, char *buffer, size_t size);

/* A row's name and, behind it, where that is, in so many columns. The place is cut or left out before the name; with
 * whole_place the name is cut to make room for it. */
void report_row_name(const char *name, const char *place, bool whole_place, size_t room, char *text,
                     size_t text_size, char *rest, size_t rest_size);

#endif

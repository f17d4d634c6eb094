/*
 * The options that report and diff share: what rows are, which of them are shown, in what form.
 */
#ifndef COMMAND_SHAPE_H
#define COMMAND_SHAPE_H

#include "options.h"
#include "page.h"
#include "view.h"

#include <stdbool.h>
#include <stdint.h>

/* Their numbers in a table of options; a verb's own begin at SHAPE_OWN. */
enum {
    SHAPE_BY = VIEW_OWN,
    SHAPE_LIMIT,
    SHAPE_LINES,
    SHAPE_CSV,
    SHAPE_JSON,
    SHAPE_HTML,
    SHAPE_OPEN,
    SHAPE_OWN,
};

/* Their rows; what differs is said by each verb. */
#define SHAPE_OPTIONS(limit, lines, csv, html)                                                         \
    {SHAPE_LIMIT, 0, "percent-limit", "PERCENT", (limit)}, {SHAPE_LINES, 0, "lines", "N", (lines)},    \
        VIEW_OPTIONS, {SHAPE_CSV, 0, "csv", NULL, (csv)}, {SHAPE_JSON, 0, "json", NULL, "print JSON"}, \
        {SHAPE_HTML, 0, "html", "OUT", (html)},                                                        \
    {                                                                                                  \
        SHAPE_OPEN, 0, "open", NULL, "... and show it"                                                 \
    }

struct shape {
    uint32_t per;   /* enum rk_per */
    double limit;   /* per cent: rows below it are left out */
    uint64_t lines; /* 0: all */
    bool limit_set, lines_set;
    const char *format; /* "csv", "json", NULL: text */
    struct page_options page;
};

/* Takes an option of these or of the view: 0, or an exit status with the message printed. */
int shape_take(const struct options *o, struct shape *shape, struct view *view, int id);

/* What doesn't go together. The same. */
int shape_check(const struct options *o, const struct shape *shape);

#endif

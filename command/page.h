/*
 * A profile as a page for a browser: written, and shown where that is asked for.
 */
#ifndef COMMAND_PAGE_H
#define COMMAND_PAGE_H

#include "view.h"

#include <reckon/profile.h>

#include <stdbool.h>

/* --html and --open. */
struct page_options {
    const char *path; /* NULL: no page; "-": standard output */
    bool show;        /* --open */
    bool quiet;       /* doesn't tell that it was written */
};

/*
 * Each writes a page, tells where it is, and shows it if that was asked for. 0, or an exit status with the message printed;
 * a page that can't be written whole is not left behind.
 */

/* Of a file (NULL: perf.data), all events that the view leaves of it. */
int page_of_file(const char *verb, const char *path, const struct view *view,
                 const struct page_options *options);
/* Of a difference; `normalise` is an enum rk_normalise. */
int page_of_pair(const char *verb, const struct rk_profile *before, const struct rk_profile *after,
                 uint32_t normalise, const struct page_options *options);

/* What is wrong with the two together, or NULL. */
const char *page_mistake(const struct page_options *options);

#endif

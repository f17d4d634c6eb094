/*
 * The sections of a perf.data file, taken into its contents: events before the data, features behind it.
 */
#ifndef PERFDATA_SECTION_H
#define PERFDATA_SECTION_H

#include "perfdata/contents.h"
#include "perfdata/window.h"

/* Of tracing data: a recording with more (all of tracefs, and all symbols) is read without. */
#define TRACING_BYTES_MAX (UINT64_C(8) << 20)

/* Of stored names: an honest section is no longer. */
#define NAMES_BYTES_MAX (UINT64_C(16) << 20)

/* What is wrong with a file, and where in it that stands. */
struct section_fault {
    const char *what;
    uint64_t offset;
};

/* The events. 0, -errno of reading, -ENOMEM, or -EBADMSG and what is wrong. */
int section_attrs(const struct window *file, const struct perfdata_header *header, struct contents *contents,
                  struct section_fault *ret_fault);

/* The features, whose table is at `table`. 0, -errno of reading, or -ENOMEM. A file without any, or with
 * one that is missing or damaged, was cut: *ret_whole is then false, and what is there is taken in. */
int section_features(const struct window *file, const struct perfdata_header *header, uint64_t table,
                     struct contents *contents, bool *ret_whole);

/* Where in the file the entry for stored names stands, of a header whose data end at `table`. 0; -ENOENT: it has none; or
 * -errno of reading. */
int section_find_names(const struct window *file, const struct perfdata_header *header, uint64_t table,
                       uint64_t *ret);

#endif

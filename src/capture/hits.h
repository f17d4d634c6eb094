/*
 * Which modules have samples, so that the recording stores build-ids of these and of no others.
 *
 * The addresses of every sample (its ip, and its chain's) are looked up in the capture's image. Most fall where others fell
 * before: a small table of (process, page) seen takes those.
 */
#ifndef CAPTURE_HITS_H
#define CAPTURE_HITS_H

#include "base/vector.h"
#include "perfdata/writer.h"

#include <reckon/image.h>
#include <stdbool.h>

#define HITS_SEEN 1024u

struct hits {
    VECTOR(bool) modules; /* by the image's index */
    uint64_t seen[HITS_SEEN];
};

void hits_close(struct hits *hits);

/* The image has changed: another module may lie where samples fell. */
void hits_moved(struct hits *hits);

/* Marks where the sample fell. Returns 0 or -ENOMEM. */
int hits_sample(struct hits *hits, const struct rk_image *image, const struct rk_sample *sample);

/* A new file: nothing was hit yet. */
void hits_forget(struct hits *hits);

/* Notes in the ledger the files that name code which was hit and has no file of its own (/tmp/perf-PID.map). *ret: how
 * many there are. Returns 0 or -errno of the writer. */
int hits_code_maps(const struct hits *hits, const struct rk_image *image, int root,
                   struct perfdata_writer *writer, uint64_t *ret);

/* Writes the build-ids of what was hit, which are read below `root`. Returns 0 or -errno of the writer. */
int hits_write(const struct hits *hits, const struct rk_image *image, int root,
               struct perfdata_writer *writer);

#endif

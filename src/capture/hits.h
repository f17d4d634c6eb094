/*
 * Where samples fell: the modules, of which the recording stores build-ids, and where names are wanted each address once.
 *
 * The addresses of every sample (its ip, its chain's, its branches') are looked up in the capture's image. Most fall where
 * others fell before: a small table of those seen takes them, by address, or by page where only modules are wanted.
 *
 * Where names are wanted the file of a module is opened when it is hit first (keep.h).
 */
#ifndef CAPTURE_HITS_H
#define CAPTURE_HITS_H

#include "base/table.h"
#include "base/vector.h"
#include "capture/keep.h"
#include "perfdata/writer.h"

#include <reckon/image.h>
#include <stdbool.h>

#define HITS_SEEN 1024u
#define HITS_SEEN_NAMED 16384u
#define HITS_PLACES_MAX (1u << 19) /* 20 MB */

struct hits {
    bool named;           /* addresses are wanted; set before the first sample */
    VECTOR(bool) modules; /* by the image's index */
    VECTOR(struct hit {
        uint64_t offset;
        uint32_t module;
    })
    places;                /* in the order in which they were hit first */
    struct table place_of; /* hash of both → place */
    uint64_t beyond;       /* looked up when there were HITS_PLACES_MAX */
    struct keep keep;
    uint64_t generation; /* the image has changed so often */
    uint64_t seen[HITS_SEEN_NAMED];
};

void hits_close(struct hits *hits);

/* The image has changed: another module may lie where samples fell. */
void hits_moved(struct hits *hits);

/* Marks where the sample fell. `unwound`: its user part has no return addresses. `root`: where files are. 0 or -ENOMEM. */
int hits_sample(struct hits *hits, const struct rk_image *image, int root, const struct rk_sample *sample,
                bool unwound);

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

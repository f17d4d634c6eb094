/*
 * The page (rk_profile_export "html"): what web/embed made of web/, with the profile between its two halves as base64 of
 * gzip. web/data.js has the layout of what that holds, a column after another:
 *
 *     page_pen.c       numbers and bytes → gzip → base64 → output
 *     page_tree.c      frames (lines) → functions; their tree in preorder
 *     page_samples.c   samples → (thread, bucket of time, node), summed
 *     page_names.c     texts that are used, sorted; modules
 *     html.c           facts, and all of it in order
 */
#ifndef EXPORT_PAGE_H
#define EXPORT_PAGE_H

#include "base/output.h"
#include "base/vector.h"

#include <reckon/profile.h>

#include <stdbool.h>

/* Made by web/embed when this is built. */
extern const unsigned char page_head[], page_tail[];
extern const size_t page_head_size, page_tail_size;

/* ---- the pen ---- */

struct page_pen {
    VECTOR(unsigned char) bytes;
    int error; /* the first: nothing is added after it */
};

void page_pen_free(struct page_pen *pen);
void page_bytes(struct page_pen *pen, const void *bytes, size_t n);
void page_number(struct page_pen *pen, uint64_t value); /* LEB128 */
void page_signed(struct page_pen *pen, int64_t value);  /* zigzag */
/* All of it, as base64 of gzip. 0 or -ENOMEM. */
int page_write(const struct page_pen *pen, struct output *out);

/* ---- functions and their tree ---- */

struct page_tree {
    size_t function_n;
    uint32_t *function_of; /* by frame */
    uint32_t *frames;      /* all frames by function, those with most samples of their own first … */
    uint32_t *first;       /* … function f's are frames[first[f]] to frames[first[f + 1] - 1] */
    uint64_t *self;        /* by frame: samples of its own */

    size_t node_n;
    /* By node of the profile: its place in preorder. Nodes of one path and function share one. */
    uint32_t *place;
    uint32_t *up, *function; /* by place */
};

/* 0 or -ENOMEM; page_tree_free() takes a half-built one. */
int page_tree_make(const struct rk_profile_columns *c, struct page_tree *ret);
void page_tree_free(struct page_tree *tree);

/* ---- samples ---- */

/* Which rows of a profile are meant: of an event; in a difference, of one of the two sources. */
struct page_side {
    uint32_t event;
    uint32_t before;   /* 1: what it was before */
    const bool *is_of; /* by source: whether it is of what was before; NULL: there is no difference */
};

struct page_time {
    uint64_t buckets, width;
    uint64_t start[2]; /* the first sample's slice; of a difference, [1]: of what was before */
};
struct page_time page_time_of(const struct rk_profile_columns *c, const struct rk_profile_summary *s,
                              const bool *is_before);

struct page_sums {
    uint64_t samples, weight;
};
struct page_sums page_side_sums(const struct rk_profile_columns *c, const struct page_side *side);

struct page_row {
    uint64_t samples, weight;
    uint32_t event, thread, bucket, place;
};

/* All of a profile's, by event, thread, bucket and place; equal ones are one. */
struct page_rows {
    struct page_row *items, *scratch;
    size_t n;
};

/* Fewer and wider buckets, if there would be too many rows. 0 or -ENOMEM. */
int page_rows_make(const struct rk_profile_columns *c, const struct page_tree *tree, const bool *is_before,
                   struct page_time *time, struct page_rows *ret);
void page_rows_free(struct page_rows *rows);

void page_write_side(struct page_pen *pen, const struct rk_profile_columns *c, const struct page_rows *rows,
                     const struct page_side *side);

/* ---- names ---- */

struct page_names {
    uint32_t *place; /* by text: its place in the page */
    bool *function;  /* by text: whether it is a function's name */
    uint32_t *texts; /* by place */
    size_t n;

    uint32_t *module_of;   /* by function */
    uint32_t *module_like; /* by module: a frame of it */
    size_t module_n;
};
int page_names_make(const struct rk_profile_columns *c, const struct page_tree *tree, struct page_names *ret);
void page_names_free(struct page_names *names);
void page_write_names(struct page_pen *pen, const struct rk_profile_columns *c,
                      const struct page_names *names);
void page_write_short(struct page_pen *pen, const struct rk_profile_columns *c,
                      const struct page_names *names);

#endif

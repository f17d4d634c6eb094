/* A pprof file being read: what its messages number, and the profile that is made of it. pprof.c has the format. */
#ifndef PROFILE_PPROF_H
#define PROFILE_PPROF_H

#include "profile/file.h"
#include "profile/wire.h"

struct type {
    uint32_t count, weight; /* values; UINT32_MAX: 1 for each sample */
    uint64_t scale;
    uint32_t event;
};

struct function {
    uint64_t name, file, system; /* strings */
};

struct pprof_mapping {
    uint64_t path, build_id; /* strings */
    uint64_t start, end, offset;
    uint32_t image; /* number + 1; 0: not yet */
};

struct location {
    uint64_t mapping, address;
    struct cursor bytes;
    uint32_t first, n; /* frames of it, outermost first; n 0: not yet */
};

struct value_type {
    uint64_t type, unit; /* strings */
};

struct pprof {
    struct maker m;
    struct cursor all;
    VECTOR(struct pprof_string {
        struct cursor bytes;
        uint32_t text; /* its number + 1; 0: not asked for yet */
    })
    strings;
    struct table function_of, mapping_of, location_of; /* id → index */
    VECTOR(struct function) functions;
    VECTOR(struct pprof_mapping) mappings;
    VECTOR(struct location) locations;
    VECTOR(struct value_type) value_types;
    VECTOR(struct type) types;
    VECTOR(uint64_t) comments;
    uint64_t time, duration;
    VECTOR(uint64_t) ids, values; /* scratch: one sample */
    struct stacks_words lines;    /* locations' frames */
    struct stacks_words path;     /* scratch: one stack */
    uint64_t frames;              /* of all stacks */
    uint64_t good, damaged;
    bool *negative; /* by sample type: it has values below 0 */
    struct pprof_left left;
    uint64_t weight, count; /* of all so far, which must fit 63 bits */
    struct rk_profile_summary summary;
};

/* A string's text, up to a NUL; "" where there is none of that number. */
int64_t pprof_text_of(struct pprof *p, uint64_t string);
const char *pprof_chars_of(struct pprof *p, uint64_t string);
/* The first two numbers that a message has under fields a and b, and its id (field 1). */
void pprof_numbers_of(struct cursor c, uint32_t a, uint32_t b, uint64_t *ret_id, uint64_t *ret_a,
                      uint64_t *ret_b);
/* Few bytes that say much: made to do harm. */
bool pprof_overdone(const struct pprof *p);
/* Notes which of a sample's values are below 0. */
void pprof_sample_signs(struct pprof *p, struct cursor c);
/* 1: added, 0: damaged, -errno. */
int pprof_sample_add(struct pprof *p, struct cursor c, uint64_t slice_ns);

#endif

/*
 * From what the builder collected to a profile, in this order:
 *
 *     name        frames → functions and lines, module by module; a frame in inlined code is several, one inside the other
 *     apart       different functions of one name → names of their own
 *     fold        stacks of addresses → stacks of functions, which are fewer: two addresses in one line are one
 *     rows        threads, events, cgroups; samples follow to where their stacks have gone
 */
#ifndef PROFILE_FINISH_H
#define PROFILE_FINISH_H

#include "profile/builder.h"
#include "profile/maker.h"

#include <reckon/symbol.h>

struct finish {
    const struct rk_profile_builder *builder;
    struct maker maker;
    struct rk_symbolizer *symbolizer;
    struct frame_functions {
        size_t first;
        uint32_t n;
    } * functions_of;         /* by frame of the builder: of `inlines`, one at least */
    VECTOR(uint32_t) inlines; /* frames of the maker, outermost first */
    VECTOR(struct declared {
        uint32_t file; /* a text, the last part of its path; 0: unknown */
        uint32_t line;
    })
    declared;                         /* beside inlines */
    struct stacks_words path, folded; /* scratch: one stack */
    VECTOR(struct finish_image {
        uint32_t image; /* number + 1; 0: not of a file, nor of the kernel */
        uint64_t shift; /* what is added to an offset for its address */
    })
    images; /* by module of the image */
};

/* Where the addresses of a module lie, noted before its frames are named: 0 or -errno. */
int finish_image(struct finish *f, size_t number, const struct rk_module *module);

/* Where a frame of the builder's lies; image 0: unknown, or nothing that has a build-id. */
struct profile_place finish_at(const struct finish *f, uint32_t frame);

/* So many frames are named at once: each needs some 200 bytes until it is. */
enum { NAME_SLICE = 1 << 18 };

/* 0 or -errno; needs symbolizer, makes functions_of. */
int finish_name(struct finish *f);

/* After finish_apart(): the address that each location was met at first. 0 or -errno. */
int finish_place(struct finish *f);

/* After that: different functions of one name get names of their own. 0 or -ENOMEM. */
int finish_apart(struct finish *f);

#endif

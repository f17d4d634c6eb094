/*
 * A finished profile: immutable, names and all its own.
 *
 *     texts       symbols, modules, threads' names, each once
 *     functions   unique (symbol, module path), or, unnamed, (reason, module path), by line with (file, line); hottest
 *                 first
 *     stacks      unique (path of functions, thread, event); heaviest first
 *     frames      the paths, outermost first; a path that begins another is a part of it
 *     unnamed     rows of `functions` that have no name and samples of their own
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "base/intern.h"
#include "base/vector.h"

#include <reckon/profile.h>

struct function {
    uint32_t symbol, module, path; /* texts */
    uint32_t file;                 /* by line: text + 1; 0: unknown */
    uint32_t line;
    uint32_t miss;
    uint64_t self, total;
    uint64_t self_samples, total_samples;
};

struct owner {
    int32_t pid, tid;
    uint32_t comm; /* text */
    uint32_t event;
};

struct stack {
    uint64_t weight, samples;
    size_t first; /* of frames */
    uint32_t frame_n;
    uint32_t owner;
};

struct rk_profile {
    struct rk_profile_summary summary;
    struct intern texts;
    VECTOR(struct function) functions;
    VECTOR(struct owner) owners;
    VECTOR(struct stack) stacks;
    VECTOR(uint32_t) frames;
    VECTOR(uint32_t) unnamed;
};

#endif

/*
 * A profile while it is built. Memory grows with what is distinct, never with the number of samples:
 *
 *     frames    (module, offset in it), or an address that lies in no module
 *     stacks    of frames, each once, as one prefix tree (stacks.h)
 *     origins   (thread, its name, event, CPU, cgroup)
 *     cells     (stack, origin, or of a wait its turn), and their weights and counts by slices of time (slices.h)
 *
 * Most samples repeat a chain seen before, so the way from a raw chain to its stack is remembered in a cache
 * of fixed size, keyed by two independent 64-bit hashes over the process, its address space's generation
 * and the chain's words. A generation is counted up whenever a record changes the mappings.
 */
#ifndef PROFILE_BUILDER_H
#define PROFILE_BUILDER_H

#include "base/intern.h"
#include "profile/slices.h"
#include "profile/stacks.h"
#include "profile/waits.h"
#include "symbol/jitcode.h"
#include "unwind/chain.h"

#include <reckon/image.h>
#include <reckon/profile.h>
#include <stdbool.h>

struct frame {
    uint64_t offset; /* an address where module is RK_NO_MODULE */
    uint32_t module; /* the image's index */
};

struct thread {
    int32_t pid, tid;
};

struct chain_slot {
    uint64_t hash[2];
    uint32_t stack;
    bool used;
};
#define CHAIN_SLOTS 32768 /* a power of two */

/* root, symfs, vmlinux and kallsyms of the options. */
enum { BUILDER_PATHS = 4 };

struct rk_profile_builder {
    struct rk_profile_options options;
    char *paths[BUILDER_PATHS]; /* our own copies of what the options point to */
    struct rk_image *image;

    VECTOR(struct frame) frames;
    VECTOR(struct table) frame_of; /* by module: offset → frame */
    struct table unplaced;         /* address in no module → frame */
    struct stacks stacks;          /* of frames */

    VECTOR(struct thread) threads;
    struct table thread_of;   /* pid << 32 | tid → thread */
    struct intern comms;      /* threads' names */
    struct pairs identities;  /* (thread, comm) */
    struct pairs owners;      /* (identity, event) */
    VECTOR(uint64_t) cgroups; /* ids; 0: not known */
    struct table cgroup_of;   /* id → cgroup */
    struct pairs scenes;      /* (CPU, cgroup) */
    struct pairs origins;     /* (owner, scene) */

    struct pairs cells; /* (stack, origin; or a turn of waits, with WAITS_CELL) */
    struct slices slices;
    struct waits waits; /* off-CPU */

    struct table generation_of; /* pid → how often its mappings changed */
    uint32_t generation;        /* … and the kernel's */
    struct jitcode *jit;        /* code made at run time; NULL: no process has told of any */
    struct chain_slot *cache;
    VECTOR(uint64_t) addresses; /* scratch: one chain */
    VECTOR(struct rk_place) places;
    struct stacks_words words;

    /* Stored stacks, unwound when read. */
    struct rk_unwinder *unwinder; /* opened for the first of them */
    int unwinder_error;       /* … or why it could not be: told once, stacks are then left as they are */
    VECTOR(uint64_t) unwound; /* scratch: one chain */
    struct chain_tally tally;
    VECTOR(uint8_t)
    ready_of; /* by event: 1 its chains were unwound by the recorder, 2 they are its branches */

    VECTOR(struct builder_event {
        uint64_t weight; /* what a sample without a period stands for */
        bool off_cpu;    /* samples weigh what follows them */
    })
    event_of;                          /* by event */
    struct rk_profile_summary summary; /* samples, weight and times so far */

    /* The last sample's origin, until a name changes. */
    bool last_valid;
    int32_t last_pid, last_tid;
    uint32_t last_event, last_cpu, last_origin;
    uint64_t last_cgroup;
};

/* Copies and checks a caller's options (NULL: defaults). 0 or -errno. */
int profile_options_take(const struct rk_profile_options *options, struct rk_profile_options *ret,
                         struct rk_error *e);

/* Forgets the samples. What is known of processes and their mappings stays. */
void builder_restart(struct rk_profile_builder *builder);

/* Adds to a cell. 0 or -errno. */
int builder_add(struct rk_profile_builder *builder, uint32_t cell, uint64_t time, struct amount amount);

#endif

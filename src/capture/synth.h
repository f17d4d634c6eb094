/*
 * The records that the kernel would have given, had we listened from the beginning: where the kernel and its modules
 * lie, and the names and mappings of processes that run already, as /proc tells them. They carry no time.
 */
#ifndef CAPTURE_SYNTH_H
#define CAPTURE_SYNTH_H

#include "record/layout.h"

#include <stdbool.h>

struct synth {
    int root;                                                    /* below which /proc lies */
    const struct layout *layout;                                 /* what trailer they get */
    bool data_maps;                                              /* mappings that can't be executed too */
    int (*put)(void *context, const struct perf_header *record); /* 0 or -errno, which ends it */
    void *context;
    uint64_t records;
    int error; /* what put() failed with */
    _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
};

/* The kernel, and its modules. 0, also where addresses are hidden from this user: then there are no records. */
int synth_kernel(struct synth *synth);

/* The functions of BPF programs. 0, also where this user may not see them, or -errno of put(). */
int synth_bpf(struct synth *synth);

/* A process or thread by its id: of a process all threads, of another thread that one. 0, also where it has ended
 * meanwhile, or -errno. */
int synth_task(struct synth *synth, int32_t id);

/* A process by its leader's id; another thread's id is passed over. */
int synth_leader(struct synth *synth, int32_t id);

/* Every process there is. */
int synth_all(struct synth *synth);

#endif

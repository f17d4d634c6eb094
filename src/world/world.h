/*
 * What runs already, as the records that the kernel would have written, had it been listened to from the beginning:
 *
 *     kernel.c    where the kernel and its modules lie
 *     bpf.c       the functions of BPF programs
 *     process.c   processes, their threads' names and their mappings
 *     cgroup.c    the paths of cgroups
 *
 * Records have the trailer of an event's layout, with no time and no id.
 */
#ifndef WORLD_WORLD_H
#define WORLD_WORLD_H

#include "record/layout.h"

#include <stdbool.h>

struct world {
    int root;                    /* the directory that has /proc */
    const struct layout *layout; /* of the trailer */
    bool data_maps;              /* mappings that are not executable too */
    /* Takes each record. What it returns below 0 ends the call that made the record. */
    int (*put)(void *context, const struct perf_header *record);
    void *context;
    uint64_t records;
    int error; /* what put() failed with */
    _Alignas(8) unsigned char buffer[RECORD_BYTES_MAX];
};

/* All return 0 or -errno: what put() failed with, -ENOMEM, or why a file can't be read (-EMFILE …). What has ended meanwhile,
 * or is hidden from this user, has no records: that is no failure. */

int world_kernel(struct world *world);
int world_bpf(struct world *world);

/* The cgroups of the hierarchy that is mounted at `mount`, WORLD_CGROUPS_MOST of them, higher ones first. */
int world_cgroups(struct world *world, const char *mount);
#define WORLD_CGROUPS_MOST 16384u

/* A process or thread by its id: of a process all threads, of another thread that one. */
int world_task(struct world *world, int32_t id);

/* A process by its leader's id; another thread's id is ignored. */
int world_leader(struct world *world, int32_t id);

/* A process and all that descend from it. */
int world_tree(struct world *world, int32_t pid);

/* Every process of the machine. */
int world_all(struct world *world);

/* 0 where a file of /proc is not there, not for this user to read, or beyond all measure; else `rc`. */
int world_unless_hidden(int rc);

/* Hands on the record in the buffer, of so many bytes, or the encoder's -errno. A name too long for a record is left out. */
int world_put(struct world *world, int encoded);

#endif

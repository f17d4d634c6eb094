/*
 * Writing records, as the kernel would: header, body, and the trailer that the layout asks for. Pure.
 *
 * Each returns the record's size, a multiple of 8; -ENOSPC where it does not fit `room`, -EMSGSIZE where no
 * record can be that long (RECORD_BYTES_MAX), -EINVAL where the layout asks for what the struct does not
 * have. `buffer` is 8-byte aligned; RECORD_BYTES_MAX bytes always suffice. Nothing is promised of its
 * content on failure.
 *
 * `from` gives header.misc and the trailer's pid, tid, time, cpu and id (also for its stream id); its other
 * fields are not looked at. A layout without trailers writes none.
 */
#ifndef RECORD_ENCODE_H
#define RECORD_ENCODE_H

#include "record/layout.h"

/* MMAP2, with its build-id (and RK_MISC_BUILD_ID) where mapping->build_id_bytes is 1 … 20. */
int encode_mapping(const struct layout *layout, const struct rk_record *from,
                   const struct rk_mapping *mapping, void *buffer, size_t room);
int encode_comm(const struct layout *layout, const struct rk_record *from, const struct rk_comm *comm,
                void *buffer, size_t room);
/* type: RK_RECORD_FORK or RK_RECORD_EXIT. */
int encode_task(const struct layout *layout, const struct rk_record *from, uint32_t type,
                const struct rk_task *task, void *buffer, size_t room);
/* type: RK_RECORD_LOST or RK_RECORD_LOST_SAMPLES. */
int encode_lost(const struct layout *layout, const struct rk_record *from, uint32_t type,
                const struct rk_lost *lost, void *buffer, size_t room);
/* A SAMPLE with every field that the layout has: the inverse of layout_sample(). Fields that the layout
 * does not have are left out: decode by the kernel's layout, encode by the file's. */
int encode_sample(const struct layout *layout, uint16_t misc, const struct rk_sample *sample, void *buffer,
                  size_t room);

#endif

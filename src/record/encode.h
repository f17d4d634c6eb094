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
/* type: RK_RECORD_THROTTLE or RK_RECORD_UNTHROTTLE. */
int encode_throttle(const struct layout *layout, const struct rk_record *from, uint32_t type,
                    const struct rk_throttle *throttle, void *buffer, size_t room);
int encode_aux(const struct layout *layout, const struct rk_record *from, const struct rk_aux *aux,
               void *buffer, size_t room);
int encode_itrace(const struct layout *layout, const struct rk_record *from, const struct rk_itrace *itrace,
                  void *buffer, size_t room);
/* SWITCH, or SWITCH_CPU_WIDE where it is wide; its misc bits come from the struct. */
int encode_switch(const struct layout *layout, const struct rk_record *from, const struct rk_switch *change,
                  void *buffer, size_t room);
int encode_namespaces(const struct layout *layout, const struct rk_record *from,
                      const struct rk_namespaces *namespaces, void *buffer, size_t room);
int encode_ksymbol(const struct layout *layout, const struct rk_record *from, const struct rk_ksymbol *symbol,
                   void *buffer, size_t room);
int encode_bpf(const struct layout *layout, const struct rk_record *from, const struct rk_bpf *bpf,
               void *buffer, size_t room);
int encode_cgroup(const struct layout *layout, const struct rk_record *from, const struct rk_cgroup *cgroup,
                  void *buffer, size_t room);
int encode_text_poke(const struct layout *layout, const struct rk_record *from,
                     const struct rk_text_poke *poke, void *buffer, size_t room);
int encode_hw_id(const struct layout *layout, const struct rk_record *from, const struct rk_hw_id *id,
                 void *buffer, size_t room);
int encode_deferred(const struct layout *layout, const struct rk_record *from,
                    const struct rk_deferred *deferred, void *buffer, size_t room);
/* READ: pid, tid and the values of layout_read(). */
int encode_read(const struct layout *layout, const struct rk_record *from, const struct rk_sample *read,
                void *buffer, size_t room);
/* A SAMPLE with every field that the layout has: the inverse of layout_sample(). Fields that the layout
 * does not have are left out: decode by the kernel's layout, encode by the file's. */
int encode_sample(const struct layout *layout, uint16_t misc, const struct rk_sample *sample, void *buffer,
                  size_t room);

/* Any of the above by from->type; `body` is the struct that goes with it, which begins with its size. -EINVAL: a type that
 * is not written. */
int layout_encode(const struct layout *layout, const struct rk_record *from, const void *body, void *buffer,
                  size_t room);

#endif

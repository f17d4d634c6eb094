/*
 * Memory shared with the kernel.
 */
#ifndef SYS_BARRIER_H
#define SYS_BARRIER_H

#include <stdint.h>

/* Reads a ring's head. Acquire: the kernel wrote the records before it moved the head, so what is read
 * after this sees them whole. */
static inline uint64_t barrier_load_head(const uint64_t *head)
{
    return __atomic_load_n(head, __ATOMIC_ACQUIRE);
}

/* Gives records back. Release: our last read of them comes before the kernel may overwrite them. */
static inline void barrier_store_tail(uint64_t *tail, uint64_t value)
{
    __atomic_store_n(tail, value, __ATOMIC_RELEASE);
}

/* The metadata page's seqlock is written by the kernel on this very CPU (a user-space read is valid only in
 * the owning thread), so that the compiler alone must keep the order. */
static inline uint32_t barrier_load_lock(const uint32_t *lock)
{
    uint32_t value = *(const volatile uint32_t *)lock;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return value;
}

#endif

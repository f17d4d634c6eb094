/*
 * What other rooms ask of a set (set.h).
 */
#include "set/births.h"
#include "set/private.h"

uint32_t set_n_events(const struct rk_set *set)
{
    return set->n_events;
}

uint32_t set_n_slots(const struct rk_set *set)
{
    return set->n_slots;
}

uint32_t set_n_rings(const struct rk_set *set)
{
    return set->n_rings;
}

struct rk_host *set_host(const struct rk_set *set)
{
    return set->host;
}

const struct rk_set_options *set_options(const struct rk_set *set)
{
    return &set->options;
}

const struct set_whom *set_whom(const struct rk_set *set)
{
    return &set->whom;
}

const struct set_ring *set_ring(const struct rk_set *set, uint32_t ring)
{
    return &set->rings[ring];
}

int32_t set_slot_cpu(const struct rk_set *set, uint32_t slot)
{
    return set->slots[slot].cpu;
}

bool set_absent(const struct rk_set *set, uint32_t event)
{
    return set->events[event].absent;
}

const struct rk_event *set_event(const struct rk_set *set, uint32_t event)
{
    return &set->events[event].event;
}

const struct perf_attr *set_attr(const struct rk_set *set, uint32_t event)
{
    return &set->events[event].attr;
}

uint32_t set_leader(const struct rk_set *set, uint32_t event)
{
    return set->events[event].leader;
}

int set_fd(const struct rk_set *set, uint32_t slot, uint32_t event)
{
    return fd_of(set, slot, event);
}

uint64_t set_id(const struct rk_set *set, uint32_t slot, uint32_t event)
{
    return id_of(set, slot, event);
}

bool set_enabled(const struct rk_set *set)
{
    return set->enabled;
}

bool set_has_heirs(const struct rk_set *set)
{
    return set->inherit && births_between(set, set->mark, births_mark()) != 0;
}

bool set_reads_in_user_space(const struct rk_set *set)
{
    return set->user_read && set->pages[0] && set_page_readable(set->pages[0]);
}

bool set_forked(const struct rk_set *set)
{
    return is_forked(set);
}

const uint32_t *set_fork_word(const struct rk_set *set)
{
    return set->fork_word;
}

bool set_stream_begin(struct rk_set *set)
{
    if (set->streamed)
        return false;
    set->streamed = true;
    return true;
}

void set_stream_enabled(struct rk_set *set, void (*enabled)(void *context), void *context)
{
    set->when_enabled = enabled;
    set->when_enabled_context = context;
}

void set_stream_end(struct rk_set *set)
{
    set->streamed = false;
    set->when_enabled = NULL;
}

struct set_ring_bytes set_ring_bytes(const struct rk_set *set)
{
    return set->ring_bytes;
}

void set_ring_mapped(struct rk_set *set, uint32_t bytes)
{
    set->ring_bytes.now = bytes;
}

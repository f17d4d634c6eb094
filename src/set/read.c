/*
 * Reading: the hot calls. Nothing is allocated, nothing is said; what goes wrong is remembered in set->faults for
 * rk_set_explain().
 *
 * What read(2) gives, in words (stride s = 1, + 1 with FORMAT_ID, + 1 with FORMAT_LOST):
 *
 *     single   value enabled running [id] [lost]
 *     group    n enabled running, then n × (value [id] [lost])
 */
#include "set/private.h"

#include "set/descriptor.h"
#include "set/follow.h"
#include "set/here.h"
#include "set/state.h"
#include "set/user_read.h"
#include "sys/perf.h"
#include "sys/process.h"

#include <errno.h>

#define WORD ((int)sizeof(uint64_t))

static __attribute__((noinline, cold)) void remember(struct rk_set *set, uint32_t slot, uint32_t event,
                                                     int fault)
{
    set->faults[(size_t)slot * set->n_events + event] = fault;
    set->faulty |= fault != 0;
    set->plain = false;
    set->only_read = 0;
}

static void settle(struct rk_set *set, uint32_t slot, uint32_t event, int fault, struct rk_value *ret)
{
    if (__builtin_expect(fault || set->faulty, 0))
        remember(set, slot, event, fault);
    if (fault)
        ret[event] = (struct rk_value){0};
}

static void read_single(struct rk_set *set, uint32_t slot, uint32_t event, struct rk_value *ret)
{
    uint64_t *w = set->words;
    int n = sys_perf_read(fd_of(set, slot, event), w, 5);

    if (n >= 3 * WORD)
        ret[event] = (struct rk_value){w[0], w[1], w[2]};
    settle(set, slot, event, n >= 3 * WORD ? 0 : n < 0 ? n : SET_FAULT_EMPTY, ret);
}

/* A group that can't be read together: siblings are opened to be read singly, the leader is not. When a CPU goes, the
 * kernel takes its groups apart, and each member keeps its count: the leader is then a group of one. */
static __attribute__((noinline, cold)) void read_broken(struct rk_set *set, uint32_t slot,
                                                        const struct set_group *group, int got,
                                                        struct rk_value *ret)
{
    const uint64_t *w = set->words;
    bool alone = got == (3 + (int)group->stride) * WORD && w[0] == 1;
    int fault = alone ? 0 : got < 0 ? got : got == 0 ? SET_FAULT_EMPTY : -EBADMSG;

    if (alone)
        ret[set->members[group->first]] = (struct rk_value){w[3], w[1], w[2]};
    settle(set, slot, set->members[group->first], fault, ret);
    for (uint32_t m = 1; m < group->n; m++)
        if (fault == -ECHILD || alone)
            read_single(set, slot, set->members[group->first + m], ret);
        else
            settle(set, slot, set->members[group->first + m], fault, ret);
}

/* Where the group could not be read the last time either, it is not waited for again. */
static __attribute__((noinline, cold)) int read_again(struct rk_set *set, uint32_t slot,
                                                      const struct set_group *group)
{
    uint32_t leader = set->members[group->first];

    if (set->faults[(size_t)slot * set->n_events + leader] == -ECHILD)
        return -ECHILD;
    return descriptor_read_group(fd_of(set, slot, leader), set->words, group->bytes / WORD);
}

static inline void read_together(struct rk_set *set, uint32_t slot, const struct set_group *group,
                                 struct rk_value *ret)
{
    const uint32_t *member = &set->members[group->first];
    uint64_t *w = set->words;
    uint32_t n = group->n, stride = group->stride;
    int got = sys_perf_read(fd_of(set, slot, member[0]), w, group->bytes / WORD);

    if (__builtin_expect(got == -ECHILD, 0))
        got = read_again(set, slot, group);
    if (__builtin_expect(got != (int)group->bytes || w[0] != n, 0)) {
        read_broken(set, slot, group, got, ret);
        return;
    }
    const uint64_t *value = w + 3;
    for (uint32_t m = 0; m < n; m++, value += stride)
        ret[member[m]] = (struct rk_value){*value, w[1], w[2]};
    if (__builtin_expect(set->faulty, 0))
        for (uint32_t m = 0; m < n; m++)
            remember(set, slot, member[m], 0);
}

/* As read(2) does it: a group has the times of its leader. */
static inline bool read_in_user_space(struct rk_set *set, const struct set_group *group, struct rk_value *ret)
{
    const uint32_t *member = &set->members[group->first];
    struct rk_value *leader = &ret[member[0]];

    if (!user_read(set->pages[member[0]], leader))
        return false;
    for (uint32_t m = 1; m < group->n; m++) {
        struct rk_value *v = &ret[member[m]];
        v->enabled = leader->enabled;
        v->running = leader->running;
        if (!user_read_count(set->pages[member[m]], &v->value))
            return false;
    }
    return true;
}

/* Every case. */
static void read_any(struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    bool user = set->user_read && set->enabled && pmc_thread() == set->thread;

    if (set->notes.n || set->partial) /* what is absent, maybe */
        for (uint32_t i = 0; i < set->n_events; i++)
            ret[i] = (struct rk_value){0};
    for (uint32_t g = 0; g < set->n_groups; g++) {
        const struct set_group *group = &set->groups[g];
        if (user && group->user && read_in_user_space(set, group, ret))
            continue;
        if (set->partial && fd_of(set, slot, set->members[group->first]) < 0)
            continue;
        if (group->together)
            read_together(set, slot, group, ret);
        else
            for (uint32_t m = 0; m < group->n; m++)
                read_single(set, slot, set->members[group->first + m], ret);
    }
}

/* All is there and nothing has ever failed. False: look closer. */
static inline bool read_plain(const struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    const int *fd = &set->fds[(size_t)slot * set->n_events];
    const struct set_group *group = set->groups, *end = group + set->n_groups;
    uint64_t *w = set->words;

    do {
        if (__builtin_expect(sys_perf_read_once(*fd, w, group->bytes) != group->bytes, 0))
            return false;
        uint64_t enabled = w[1], running = w[2];
        if (!group->together) {
            *ret++ = (struct rk_value){w[0], enabled, running};
            fd++;
            continue;
        }
        if (__builtin_expect(w[0] != group->n, 0))
            return false;
        const uint64_t *value = w + 3;
        fd += group->n;
        for (struct rk_value *stop = ret + group->n; ret < stop; value += group->stride)
            *ret++ = (struct rk_value){*value, enabled, running};
    } while (++group < end);
    return true;
}

/* Every group in user space: true, or false where one has to be asked of the kernel. */
static bool read_pages(struct rk_set *set, struct rk_value *ret)
{
    if (!set->user_read || !set->enabled || pmc_thread() != set->thread)
        return false;
    for (uint32_t g = 0; g < set->n_groups; g++)
        if (!set->groups[g].user || !read_in_user_space(set, &set->groups[g], ret))
            return false;
    return true;
}

static inline void read_slot(struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    if (set->plain ? !read_plain(set, slot, ret) : !read_pages(set, ret)) {
        if (!set->parts || !follow_absent(set, slot)) {
            read_any(set, slot, ret);
            if (set->clocks)
                here_read(set, slot, ret);
        }
        if (set->parts)
            follow_add(set, slot, ret);
    }
}

static __attribute__((noinline)) int read_closer(struct rk_set *set, size_t slot, struct rk_value *ret)
{
    read_slot(set, (uint32_t)slot, ret);
    return 0;
}

/* Something is wrong with the call, or this kernel has no word that a fork wipes (is_forked()). */
static __attribute__((noinline)) int read_doubtful(struct rk_set *set, size_t slot, struct rk_value *ret,
                                                   size_t n)
{
    if (is_forked(set))
        return -ESTALE;
    if (n < set->n_events || !ret)
        return -EINVAL;
    return slot < set->n_slots ? read_closer(set, slot, ret) : -ERANGE;
}

/* A lone event or a single group, which is what is counted around short regions: these few instructions are what
 * reading adds to the system call (tests/cost counts them, with either compiler). So little is kept across it. */
static __attribute__((noinline)) int read_called(struct rk_set *set, size_t slot, struct rk_value *ret,
                                                 size_t n)
{
    uint32_t bytes = set->only_read;

    if (__builtin_expect(*set->fork_word == 0, 0) || __builtin_expect(n < set->n_events, 0) ||
        __builtin_expect(!ret, 0) || __builtin_expect(slot >= set->n_slots, 0))
        return read_doubtful(set, slot, ret, n);
    if (bytes == 0)
        return read_closer(set, slot, ret);
    ssize_t got = sys_perf_read_once(set->fds[slot * set->n_events], set->words, bytes);
    const uint64_t *w = set->words;
    if (__builtin_expect(got != set->only_read, 0))
        return read_closer(set, slot, ret);
    uint64_t enabled = w[1], running = w[2];
    if (got == 3 * WORD) {
        *ret = (struct rk_value){w[0], enabled, running};
        return 0;
    }
    if (__builtin_expect(w[0] != set->n_events, 0))
        return read_closer(set, slot, ret);
    const uint64_t *end = (const uint64_t *)(const void *)((const char *)w + got);
    w += 3;
    do
        *ret++ = (struct rk_value){*w++, enabled, running};
    while (w < end);
    return 0;
}

/* A lone event in user space: one look, which nearly always is enough. Whatever is in the way, the other finds out.
 * The page comes where rk_set_read() has its states, so that no other argument has to move. */
static __attribute__((noinline)) int read_page(struct rk_set *set, size_t slot, struct rk_value *ret,
                                               const struct perf_page *page, size_t n)
{
    if (__builtin_expect(n == 0, 0) || __builtin_expect(slot != 0, 0) ||
        __builtin_expect(*set->fork_word == 0, 0) || __builtin_expect(pmc_thread() != set->thread, 0) ||
        __builtin_expect(user_look(page, true, ret) != USER_DONE, 0))
        return read_called(set, slot, ret, n);
    return 0;
}

static inline int read_either(struct rk_set *set, size_t slot, struct rk_value *ret, size_t n)
{
    const struct perf_page *page = set->only_page;

    return page ? read_page(set, slot, ret, page, n) : read_called(set, slot, ret, n);
}

static __attribute__((noinline)) int read_with_states(struct rk_set *set, size_t slot, struct rk_value *ret,
                                                      uint32_t *states, size_t n)
{
    int rc = read_either(set, slot, ret, n);

    if (rc == 0)
        state_slot(set, (uint32_t)slot, ret, states);
    return rc;
}

int rk_set_read(struct rk_set *set, size_t slot, struct rk_value *ret, uint32_t *ret_states, size_t n)
{
    if (__builtin_expect(!set, 0))
        return -EINVAL;
    return __builtin_expect(ret_states != NULL, 0) ? read_with_states(set, slot, ret, ret_states, n)
                                                   : read_either(set, slot, ret, n);
}

/* A thread that is opened on each CPU apart is enabled on all of them while it runs on one: its enabled time is
 * any of theirs, not their sum. Its slots follow one another. */
static bool is_same_thread(const struct rk_set *set, uint32_t slot)
{
    return slot > 0 && !set->on_cpus && set->slots[slot].pid >= 0 &&
           set->slots[slot].pid == set->slots[slot - 1].pid;
}

/* Whether an earlier slot of the thread has the event: of a PMU with CPUs of its own not each has. */
static bool was_in_earlier(const struct rk_set *set, uint32_t slot, uint32_t event)
{
    if (!set->partial)
        return is_same_thread(set, slot);
    for (; is_same_thread(set, slot); slot--)
        if (fd_of(set, slot - 1, event) >= 0)
            return true;
    return false;
}

static void add_slot(const struct rk_set *set, uint32_t slot, struct rk_value *ret)
{
    bool same = is_same_thread(set, slot);

    for (uint32_t i = 0; i < set->n_events; i++)
        if (!set->events[i].absent) {
            ret[i].value += set->row[i].value;
            ret[i].enabled += same && was_in_earlier(set, slot, i) ? 0 : set->row[i].enabled;
            ret[i].running += set->row[i].running;
        }
}

int rk_set_total(struct rk_set *set, struct rk_value *ret, uint32_t *ret_states, size_t n)
{
    if (!set)
        return -EINVAL;
    if (set->n_slots == 1)
        return rk_set_read(set, 0, ret, ret_states, n);
    if (is_forked(set))
        return -ESTALE;
    if (n < set->n_events || !ret)
        return -EINVAL;
    memset(ret, 0, set->n_events * sizeof *ret);
    for (uint32_t i = 0; ret_states && i < set->n_events; i++)
        ret_states[i] = RK_STATE_ABSENT;
    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        read_slot(set, slot, set->row);
        add_slot(set, slot, ret);
        if (ret_states) {
            state_slot(set, slot, set->row, set->states);
            state_add(set, set->states, ret_states);
        }
    }
    if (ret_states)
        state_sums(set, ret, ret_states);
    /* A slot that could not be read makes the sum of its event unknown, not smaller. */
    for (uint32_t slot = 0; set->faulty && slot < set->n_slots; slot++)
        for (uint32_t i = 0; i < set->n_events; i++) {
            int32_t fault = set->faults[(size_t)slot * set->n_events + i];
            if (fault)
                ret[i] = (struct rk_value){0};
            if (fault && ret_states)
                ret_states[i] = state_fault(ret_states[i], fault);
        }
    return 0;
}

int set_lost(struct rk_set *set, uint32_t event, uint64_t *ret)
{
    uint64_t sum = 0, w[5];

    if (is_forked(set))
        return -ESTALE;
    if (event >= set->n_events || set->events[event].absent)
        return -ERANGE;
    const struct perf_attr *attr = &set->events[event].attr;
    if (!(attr->read_format & FORMAT_LOST))
        return -EOPNOTSUPP;
    bool group = attr->read_format & FORMAT_GROUP;
    size_t lost = (group ? 3u : 2u) + (attr->read_format & FORMAT_ID ? 2u : 1u);
    for (uint32_t slot = 0; slot < set->n_slots; slot++) {
        uint64_t *words = group ? set->words : w;
        if (fd_of(set, slot, event) < 0)
            continue;
        int n = sys_perf_read(fd_of(set, slot, event), words, group ? 3 + 3 * (size_t)set->n_events : 5);
        if (n < 0)
            return n;
        if (n < (int)(lost + 1) * WORD)
            return -EBADMSG;
        sum += words[lost];
    }
    *ret = sum;
    return 0;
}

int rk_set_lost(struct rk_set *set, size_t event, uint64_t *ret)
{
    if (!set || !ret)
        return -EINVAL;
    return event < set->n_events ? set_lost(set, (uint32_t)event, ret) : -ERANGE;
}

/*
 * A kernel that does what the test says: the functions of sys/perf.h, defined here, so that those of the library
 * are not linked. One test program has one of it.
 *
 *     kernel.open    asked at each perf_event_open: 0 lets it be opened, -errno refuses it
 *     kernel.read    fills the words of a read(2); NULL: zeros
 *     kernel.opened  every event that is open now, by descriptor - FIRST_FD
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include "set/private.h"
#include "sys/perf.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIRST_FD 500000 /* no real descriptor: closing it does nothing */
#define MOST 512

struct fake_event {
    struct perf_attr attr;
    int32_t pid, cpu;
    int group_fd, output_fd;
    int enables, disables;
    char filter[128]; /* what it was given, before or after `enables` … */
    int enabled_before_filter;
};

static struct {
    int (*open)(const struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd);
    int (*read)(int index, uint64_t *words, size_t n);
    int (*filter)(const char *text); /* 0 takes it */
    int refused;                     /* opens that were refused */
    int n;                           /* events opened so far */
    int reads;
    uint32_t fork_word;
    struct perf_page *page;
    struct fake_event opened[MOST];
} kernel;

__attribute__((unused)) static void kernel_reset(void)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.fork_word = 1;
}

int sys_perf_open(struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd, unsigned flags)
{
    (void)flags;
    int rc = kernel.open ? kernel.open(attr, pid, cpu, group_fd) : 0;
    if (rc < 0) {
        kernel.refused++;
        return rc;
    }
    assert_true(kernel.n < MOST);
    kernel.opened[kernel.n] =
        (struct fake_event){.attr = *attr, .pid = pid, .cpu = cpu, .group_fd = group_fd, .output_fd = -1};
    return FIRST_FD + kernel.n++;
}

static struct fake_event *kernel_event(int fd)
{
    assert_in_range(fd, FIRST_FD, FIRST_FD + kernel.n - 1);
    return &kernel.opened[fd - FIRST_FD];
}

int sys_perf_control(int fd, unsigned request, uintptr_t argument)
{
    struct fake_event *event = kernel_event(fd);

    if (request == IOC_SET_OUTPUT) {
        event->output_fd = (int)argument;
        return 0;
    }
    assert_int_equal(argument, 0); /* never the whole group */
    event->enables += request == IOC_ENABLE;
    event->disables += request == IOC_DISABLE;
    return 0;
}

int sys_perf_control_at(int fd, unsigned request, void *argument)
{
    struct fake_event *event = kernel_event(fd);
    uint64_t id = 1000 + (uint64_t)(event - kernel.opened);

    if (request == IOC_SET_FILTER) {
        snprintf(event->filter, sizeof event->filter, "%s", (const char *)argument);
        event->enabled_before_filter = event->enables > 0 || !(event->attr.flags & ATTR_DISABLED);
        return kernel.filter ? kernel.filter(argument) : 0;
    }
    assert_int_equal(request, IOC_ID);
    memcpy(argument, &id, sizeof id);
    return 0;
}

int sys_perf_read(int fd, uint64_t *words, size_t n)
{
    kernel_event(fd);
    kernel.reads++;
    memset(words, 0, n * sizeof *words);
    return kernel.read ? kernel.read(fd - FIRST_FD, words, n) : (int)(n * sizeof *words);
}

int sys_perf_map(int fd, size_t ring_bytes, int writable, struct perf_page **ret)
{
    (void)ring_bytes, (void)writable;
    kernel_event(fd);
    if (!kernel.page)
        return -EPERM;
    *ret = kernel.page;
    return 0;
}

void sys_perf_unmap(struct perf_page *page, size_t ring_bytes)
{
    (void)page, (void)ring_bytes;
}

size_t sys_page_size(void)
{
    return 4096;
}

uint32_t *sys_fork_word(void)
{
    return &kernel.fork_word;
}

void sys_fork_word_free(uint32_t *word)
{
    (void)word;
}

/* What the tests open: events on a target of a fake machine. */
struct scene {
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;
    struct rk_error e;
};

__attribute__((unused)) static int scene_open(struct scene *s, const char *machine, const char *events,
                                              struct rk_target *target, const struct rk_set_options *options)
{
    char path[4096];

    *s = (struct scene){.target = target, .e = {.size = sizeof s->e}};
    snprintf(path, sizeof path, "%s/host/%s", getenv("DATA"), machine);
    assert_int_equal(rk_host_open(path, &s->host, &s->e), 0);
    if (rk_events_parse(s->host, events, &s->events, &s->e) < 0)
        fail_msg("%s", s->e.what);
    return rk_set_open(s->host, s->events, target, options, &s->set, &s->e);
}

__attribute__((unused)) static void scene_close(struct scene *s)
{
    rk_set_free(s->set);
    rk_target_free(s->target);
    rk_events_free(s->events);
    rk_host_free(s->host);
}

#define OPTIONS(...) (&(struct rk_set_options){.size = sizeof(struct rk_set_options), __VA_ARGS__})

#endif

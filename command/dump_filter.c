/*
 * Which records reckon dump shows. Lists are short and stay text: they are looked through for each record.
 */
#include "dump.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The next word of a list of commas: its length, or 0 at the end. *at is behind it then. */
static size_t word(const char **at, const char **ret)
{
    *at += strspn(*at, ",");
    *ret = *at;
    size_t n = strcspn(*at, ",");
    *at += n;
    return n;
}

static bool has_word(const char *list, const char *name)
{
    const char *at = list, *w;

    for (size_t n; (n = word(&at, &w)) > 0;)
        if (strlen(name) == n && strncasecmp(w, name, n) == 0)
            return true;
    return false;
}

static bool has_comm(const char *list, const char *comm)
{
    const char *at = list, *w;

    for (size_t n; (n = word(&at, &w)) > 0;)
        if (strlen(comm) == n && memcmp(w, comm, n) == 0)
            return true;
    return false;
}

/* "3" or "0-3". */
static bool range(const char *w, size_t n, long *low, long *high)
{
    char *end;

    errno = 0;
    *low = *high = strtol(w, &end, 10);
    if (end == w || errno || *low < 0)
        return false;
    if (*end == '-' && end < w + n) {
        const char *second = end + 1;
        *high = strtol(second, &end, 10);
        if (end == second || errno || *high < *low)
            return false;
    }
    return end == w + n;
}

static bool has_number(const char *list, long number)
{
    const char *at = list, *w;
    long low, high;

    for (size_t n; (n = word(&at, &w)) > 0;)
        if (range(w, n, &low, &high) && number >= low && number <= high)
            return true;
    return false;
}

static int check_numbers(const char *list, const char *what, char *wrong, size_t room)
{
    const char *at = list, *w;
    long low, high;

    if (!list)
        return 0;
    if (word(&at, &w) == 0) {
        snprintf(wrong, room, "no %s is given", what);
        return -1;
    }
    at = list;
    for (size_t n; (n = word(&at, &w)) > 0;)
        if (!range(w, n, &low, &high)) {
            snprintf(wrong, room, "not a %s: '%.*s'", what, (int)n, w);
            return -1;
        }
    return 0;
}

/* "sample,mmap2": each must be one that there is. */
static int check_types(const char *list, char *wrong, size_t room)
{
    const char *at = list, *w;

    if (!list)
        return 0;
    for (size_t n; (n = word(&at, &w)) > 0;) {
        bool found = false;
        for (uint32_t type = 0; type < 96 && !found; type++) {
            const char *name = rk_record_type_name(type);
            found = strlen(name) == n && strncasecmp(name, w, n) == 0;
        }
        if (!found) {
            snprintf(wrong, room, "no such type of record: '%.*s'; reckon-dump(1) lists them", (int)n, w);
            return -1;
        }
    }
    return 0;
}

int dump_filter_check(const struct dump_filter *f, char *wrong, size_t n)
{
    int r = check_types(f->types, wrong, n);

    if (r == 0)
        r = check_numbers(f->pids, "process", wrong, n);
    if (r == 0)
        r = check_numbers(f->tids, "thread", wrong, n);
    if (r == 0)
        r = check_numbers(f->cpus, "CPU", wrong, n);
    return r;
}

/* Seconds with up to nine decimals, exact; -1: not that. */
static int nanoseconds(const char *text, size_t n, uint64_t *ret)
{
    uint64_t value = 0;
    int decimals = -1;

    if (n == 0 || (n == 1 && *text == '.'))
        return -1;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '.' && decimals < 0)
            decimals = 0;
        else if (text[i] < '0' || text[i] > '9' || decimals == 9 || value > UINT64_MAX / 10 - 1)
            return -1;
        else {
            value = value * 10 + (uint64_t)(text[i] - '0');
            decimals += decimals >= 0;
        }
    }
    for (decimals = decimals < 0 ? 0 : decimals; decimals < 9; decimals++)
        if (__builtin_mul_overflow(value, 10, &value))
            return -1;
    *ret = value;
    return 0;
}

int dump_filter_time(struct dump_filter *f, const char *text)
{
    size_t n = strcspn(text, ",");
    const char *second = text[n] ? text + n + 1 : "";

    f->from = 0;
    f->to = UINT64_MAX;
    f->timed = true;
    if (n == 0 && !*second)
        return -1;
    if (n && nanoseconds(text, n, &f->from) < 0)
        return -1;
    if (*second && nanoseconds(second, strlen(second), &f->to) < 0)
        return -1;
    return f->from > f->to ? -1 : 0;
}

bool dump_owner(const struct rk_record *record, int32_t *pid, int32_t *tid)
{
    struct rk_mapping mapping = {.size = sizeof mapping};
    struct rk_task task = {.size = sizeof task};
    struct rk_comm comm = {.size = sizeof comm};

    if (rk_record_mapping(record, &mapping) == 0) {
        *pid = mapping.pid;
        *tid = mapping.tid;
    } else if (rk_record_task(record, &task) == 0) {
        *pid = task.pid;
        *tid = task.tid;
    } else if (rk_record_comm(record, &comm) == 0) {
        *pid = comm.pid;
        *tid = comm.tid;
    } else if (record->present & RK_SAMPLE_TID) {
        *pid = record->pid;
        *tid = record->tid;
    } else {
        return false;
    }
    return true;
}

static bool has_event(const struct dump_filter *f, const struct rk_stream *stream, uint32_t event)
{
    struct rk_stream_event known = {.size = sizeof known};

    if (event == RK_NO_EVENT || rk_stream_event_get(stream, event, &known) < 0)
        return false;
    for (size_t i = 0; i < f->event_n; i++)
        if (strcmp(f->events[i], known.name) == 0 || fnmatch(f->events[i], known.name, 0) == 0)
            return true;
    return false;
}

const char *dump_filter_no_event(const struct dump_filter *f, const struct rk_stream *stream)
{
    for (size_t i = 0; i < f->event_n; i++) {
        const struct dump_filter one = {.events = &f->events[i], .event_n = 1};
        size_t k = 0;
        while (k < rk_stream_event_count(stream) && !has_event(&one, stream, (uint32_t)k))
            k++;
        if (k == rk_stream_event_count(stream))
            return f->events[i];
    }
    return NULL;
}

bool dump_filter_passes(const struct dump_filter *f, const struct rk_stream *stream,
                        const struct rk_record *record, const char *comm)
{
    int32_t pid, tid;

    if (f->types ? !has_word(f->types, rk_record_type_name(record->type))
                 : f->samples && record->type != RK_RECORD_SAMPLE)
        return false;
    if (f->timed && (!(record->present & RK_SAMPLE_TIME) || record->time < f->from || record->time > f->to))
        return false;
    if (f->cpus && (!(record->present & RK_SAMPLE_CPU) || !has_number(f->cpus, (long)record->cpu)))
        return false;
    if (f->event_n && !has_event(f, stream, record->event))
        return false;
    if (!f->pids && !f->tids && !f->comms)
        return true;
    if (!dump_owner(record, &pid, &tid))
        return false;
    return (!f->pids || has_number(f->pids, pid)) && (!f->tids || has_number(f->tids, tid)) &&
           (!f->comms || has_comm(f->comms, comm));
}

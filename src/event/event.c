#include "event/event.h"

#include "base/error.h"

#include <errno.h>

struct rk_events *events_keep(const struct rk_events *events)
{
    struct rk_events *kept = (struct rk_events *)(uintptr_t)events; /* its count alone changes */

    __atomic_fetch_add(&kept->others, 1, __ATOMIC_RELAXED);
    return kept;
}

struct rk_events *rk_events_free(struct rk_events *events)
{
    if (!events || __atomic_fetch_sub(&events->others, 1, __ATOMIC_ACQ_REL) > 0)
        return NULL;
    vector_free(&events->list);
    arena_free(&events->arena);
    free(events);
    return NULL;
}

size_t rk_events_count(const struct rk_events *events)
{
    return events ? events->list.n : 0;
}

int rk_events_get(const struct rk_events *events, size_t index, struct rk_event *ret)
{
    if (!events || !ret)
        return -EINVAL;
    if (index >= events->list.n)
        return -ERANGE;
    return result_give(ret, &events->list.items[index].event, sizeof(struct rk_event));
}

int rk_events_explain(const struct rk_events *events, size_t index, struct rk_error *ret)
{
    if (!events || !ret)
        return -EINVAL;
    if (index >= events->list.n)
        return -ERANGE;
    const struct rk_error *why = events->list.items[index].why;
    return why ? result_give(ret, why, sizeof *why) : -ENOENT;
}

const char *rk_events_print(const struct rk_events *events)
{
    return events ? events->canonical : "";
}

/*
 * Descriptors and ids that the caller borrows: rk_set_fd(), rk_set_id().
 */
#include "set/private.h"
#include "sys/perf.h"

#include <errno.h>

/* Returns 0, or why there is no such descriptor. */
static int check(const struct rk_set *set, size_t slot, size_t event)
{
    if (!set)
        return -EINVAL;
    if (is_forked(set))
        return -ESTALE;
    if (slot >= set->n_slots || event >= set->n_events)
        return -ERANGE;
    return fd_of(set, (uint32_t)slot, (uint32_t)event) < 0 ? -ENODEV : 0;
}

int rk_set_fd(const struct rk_set *set, size_t slot, size_t event)
{
    int rc = check(set, slot, event);

    return rc < 0 ? rc : fd_of(set, (uint32_t)slot, (uint32_t)event);
}

int rk_set_id(const struct rk_set *set, size_t slot, size_t event, uint64_t *ret)
{
    uint64_t id = 0;
    int rc = check(set, slot, event);

    if (rc == 0 && !ret)
        rc = -EINVAL;
    if (rc == 0)
        rc = sys_perf_control_at(fd_of(set, (uint32_t)slot, (uint32_t)event), IOC_ID, &id);
    if (rc == 0)
        *ret = id;
    return rc < 0 ? rc : 0;
}

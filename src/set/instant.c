/*
 * Several sets read in one go: rk_sets_read(). All is checked before the first is read, so that nothing comes in between, and
 * results are untouched on failure.
 */
#include "base/error.h"
#include "set/private.h"
#include "sys/process.h"

#include <errno.h>

#define SETS_MAX 65535u

int rk_sets_read(struct rk_set *const *sets, size_t sets_n, struct rk_value *ret, uint32_t *ret_states,
                 size_t n, struct rk_instant *ret_when)
{
    struct rk_instant when = {.size = sizeof when};
    size_t needed = 0;
    int rc = 0;

    if (!sets || !ret || !ret_when || ret_when->size < sizeof ret_when->size || sets_n == 0 ||
        sets_n > SETS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < sets_n; i++) {
        if (!sets[i])
            return -EINVAL;
        if (is_forked(sets[i]))
            return -ESTALE;
        needed += sets[i]->n_events;
    }
    if (n < needed)
        return -EINVAL;
    when.from_ns = sys_clock_ns();
    for (size_t i = 0; rc == 0 && i < sets_n; i++) {
        rc = rk_set_total(sets[i], ret, ret_states, sets[i]->n_events);
        ret += sets[i]->n_events;
        if (ret_states)
            ret_states += sets[i]->n_events;
    }
    when.to_ns = sys_clock_ns();
    return rc < 0 ? rc : result_give(ret_when, &when, sizeof when);
}

#include "set/user_read.h"

#define TRIES 16 /* at an interrupt per try something is wrong: ask the kernel */

static inline bool look(const struct perf_page *page, bool timed, struct rk_value *ret)
{
    for (int i = 0; i < TRIES; i++) {
        enum user_look seen = user_look(page, timed, ret);
        if (seen != USER_MOVED)
            return seen == USER_DONE;
    }
    return false;
}

bool user_read(const struct perf_page *page, struct rk_value *ret)
{
    return look(page, true, ret);
}

bool user_read_count(const struct perf_page *page, uint64_t *ret)
{
    struct rk_value v;

    if (!look(page, false, &v))
        return false;
    *ret = v.value;
    return true;
}

#include "sys/limit.h"

#include <errno.h>
#include <sys/resource.h>

#ifdef __GLIBC__
typedef __rlimit_resource_t resource_type;
#else
typedef int resource_type; /* as POSIX has it */
#endif

static const resource_type resources[] = {
    [SYS_LIMIT_NOFILE] = RLIMIT_NOFILE, [SYS_LIMIT_MEMLOCK] = RLIMIT_MEMLOCK};

static int64_t number_of(rlim_t limit)
{
    return limit == RLIM_INFINITY || limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

int sys_limit_get(enum sys_limit limit, int64_t *ret_soft, int64_t *ret_hard)
{
    struct rlimit now;

    if (getrlimit(resources[limit], &now) < 0)
        return -errno;
    if (ret_soft)
        *ret_soft = number_of(now.rlim_cur);
    if (ret_hard)
        *ret_hard = number_of(now.rlim_max);
    return 0;
}

int sys_limit_set(enum sys_limit limit, int64_t soft)
{
    struct rlimit now;

    if (getrlimit(resources[limit], &now) < 0)
        return -errno;
    now.rlim_cur = soft == INT64_MAX ? RLIM_INFINITY : (rlim_t)soft;
    return setrlimit(resources[limit], &now) < 0 ? -errno : 0;
}

const char *sys_limit_more_descriptors(void)
{
    int64_t soft = 0, hard = 0;

    if (sys_limit_get(SYS_LIMIT_NOFILE, &soft, &hard) < 0 || soft < hard)
        return "ulimit -n \"$(ulimit -Hn)\"";
    return "sudo prlimit --pid $$ --nofile=65536";
}

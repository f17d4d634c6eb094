/*
 * What probing finds, against the running kernel's version: a plain kernel has what its release brought. Distributions may
 * carry features back, so that only the one direction is certain; and what is not known must not open.
 */
#include "live.h"

#include <sys/utsname.h>

/* Built without cgroups or unwinding, a kernel has not. */
static bool optional(const char *name)
{
    return strstr(name, "cgroup") || strstr(name, "defer");
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_feature_text text = {.size = sizeof text};
    struct rk_host *host;
    struct utsname system;
    int major, minor, known = 0, n = 0;
    int64_t size = 0;

    OK(rk_host_open(NULL, &host, &e));
    CHECK(uname(&system) == 0 && sscanf(system.release, "%d.%d", &major, &minor) == 2);
    int rc = rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size);
    if (rc == -EPERM || rc == -ENOSYS || rc == -EACCES)
        SKIP("perf_event_open is not to be had here: %s", strerror(-rc));
    EQUAL(rc, 0);
    CHECK(size >= 64 && size % 8 == 0);
    for (uint32_t f = 0; rk_feature_describe(f, &text) == 0; f++, n++) {
        int since_major, since_minor, got = rk_host_feature(host, f);
        if (f == RK_FEATURE_PMU_TYPE &&
            (got == -ENODEV || got == 0)) { /* and drivers came to it one by one */
            printf("%-22s %2d\n", text.name, got);
            continue;
        }
        if (got == -EACCES)
            SKIP("perf_event_paranoid lets this user open nothing");
        printf("%-22s %2d  since %s\n", text.name, got, text.since);
        CHECK(got == 0 || got == 1);
        known += got;
        CHECK(sscanf(text.since, "%d.%d", &since_major, &since_minor) == 2);
        bool due = since_major < major || (since_major == major && since_minor <= minor);
        if (due && !got && !optional(text.name))
            FAIL("%s came with Linux %s, this is %s, and it is not found", text.name, text.since,
                 system.release);
    }
    EQUAL(rk_host_feature(host, RK_FEATURE_CONFIG3), size >= 136);
    EQUAL(rk_host_feature(host, RK_FEATURE_CONFIG4), size >= 144);
    CHECK(n > 20 && known > 5);
    rk_host_free(host);
    return 0;
}

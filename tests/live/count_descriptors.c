/* Too many descriptors: known before the first is opened, said with numbers, and nothing is left open. */
#include "live.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static struct rk_error e = {.size = sizeof e};

static int descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    CHECK(dir != NULL);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

/* A program that is executed gets none of them. */
static void check_closed_by_exec(int first)
{
    for (int fd = first; fd < 1000; fd++) {
        int flags = fcntl(fd, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            FAIL("descriptor %d would be inherited", fd);
    }
}

static void limit(rlim_t soft, rlim_t hard)
{
    CHECK(setrlimit(RLIMIT_NOFILE, &(struct rlimit){soft, hard}) == 0);
}

int main(void)
{
    char text[2048];
    size_t at = 0;
    struct rk_host *host;
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;
    struct rk_plan plan = {.size = sizeof plan};
    struct rlimit now;

    for (int i = 0; i < 64; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%spage-faults", i ? "," : "");
    int first = dup(0); /* the next descriptor */
    CHECK(first >= 0 && close(first) == 0);
    OK(rk_host_open(NULL, &host, &e));
    OK(rk_events_parse(host, text, &events, &e));
    OK(rk_target_self(&target, &e));
    int before = descriptors();

    limit(32, 200); /* the soft limit is ours to raise */
    OK(rk_set_open(host, events, target, NULL, &set, &e));
    CHECK(getrlimit(RLIMIT_NOFILE, &now) == 0);
    check_closed_by_exec(first);
    CHECK(now.rlim_cur >= 64 && now.rlim_cur < 100 && now.rlim_max == 200);
    rk_set_free(set);
    EQUAL(descriptors(), before);

    limit(40, 40);
    OK(rk_set_plan(host, events, target, NULL, &plan, &e));
    EQUAL(plan.descriptors, 64);
    CHECK(plan.allowed < 40);
    set = NULL;
    EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -EMFILE);
    CHECK(set == NULL);
    EQUAL(e.cause, RK_CAUSE_DESCRIPTORS);
    EQUAL(e.stage, RK_STAGE_OPEN);
    CHECK(strstr(e.what, " needed and 40 are allowed"));
    CHECK(strstr(e.remedy, "--nofile="));
    EQUAL(descriptors(), before);

    /* few are wanted, and there are not even those: found on the way, and undone */
    int fds[64], n = 0;
    while (n < 64 && (fds[n] = dup(0)) >= 0)
        n++;
    CHECK(n < 64);
    close(fds[--n]);
    rk_events_free(events);
    OK(rk_events_parse(host, "page-faults,page-faults,page-faults", &events, &e));
    EQUAL(rk_set_open(host, events, target, NULL, &set, &e), -EMFILE);
    EQUAL(e.cause, RK_CAUSE_DESCRIPTORS);
    CHECK(e.remedy[0]);
    while (n > 0)
        close(fds[--n]);
    EQUAL(descriptors(), before);
    OK(rk_set_open(host, events, target, NULL, &set, &e));
    rk_set_free(set);

    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
    EQUAL(descriptors(), before - 1);
    return 0;
}

/* A command is counted from its first instruction, with its children, and no instruction of ours. */
#include "live.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGES 2000
#define FEW (PAGES / 4) /* a sanitizer's shadow is an eighth */

static struct rk_error e = {.size = sizeof e};

static void touch(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    volatile char *at = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED);
    madvise((void *)at, PAGES * page, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        at[i * page] = 1;
}

/* What the command does: nothing; pages; pages in a child. */
static int work(const char *what)
{
    if (strcmp(what, "touch") == 0)
        touch();
    if (strcmp(what, "fork") == 0) {
        pid_t child = fork();
        if (child == 0) {
            touch();
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    return 3;
}

static void count(struct rk_host *host, const char *what, uint32_t no_inherit, struct rk_value *ret, size_t n)
{
    const struct rk_set_options options = {.size = sizeof options,
                                           .flags = no_inherit ? RK_SET_NO_INHERIT : 0};
    char *argv[] = {"/proc/self/exe", (char *)(uintptr_t)what, NULL};
    struct rk_exit x = {.size = sizeof x};
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set;

    OK(rk_events_parse(host, "{page-faults,task-clock}", &events, &e));
    OK(rk_target_command(argv, NULL, &target, &e));
    OK(rk_set_open(host, events, target, &options, &set, &e));
    CHECK(rk_set_total(set, ret, NULL, n) == 0);
    for (size_t i = 0; i < n; i++)
        EQUAL(ret[i].value + ret[i].enabled, 0); /* not before exec */
    OK(rk_target_start(target, &e));
    EQUAL(rk_target_wait(target, -1, &x), 1);
    EQUAL(x.status, 3);
    CHECK(rk_set_total(set, ret, NULL, n) == 0);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
}

int main(int argc, char **argv)
{
    struct rk_host *host;
    struct rk_value nothing[2], touched[2], forked[2], alone[2];

    if (argc > 1)
        return work(argv[1]);
    OK(rk_host_open(NULL, &host, &e));
    count(host, "nothing", 0, nothing, 2);
    uint64_t base = nothing[0].value; /* exec itself, the loader, a sanitizer's start */
    CHECK(base > 0);
    CHECK(nothing[1].value > 0 && nothing[1].running > 0);
    count(host, "touch", 0, touched, 2);
    if (touched[0].value < base + PAGES - FEW || touched[0].value > base + PAGES + FEW)
        FAIL("%d pages touched, and %" PRIu64 " faults counted beside %" PRIu64, PAGES,
             touched[0].value - base, base);
    count(host, "fork", 0, forked, 2);
    CHECK(forked[0].value >= base + PAGES - FEW);
    count(host, "fork", 1, alone, 2);
    CHECK(alone[0].value < base + PAGES / 2);
    rk_host_free(host);
    return 0;
}

/* The machine itself, without the library: instructions of a loop are exact. */
#include "live.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint64_t count(int fd, uint64_t n)
{
    uint64_t before = 0, after = 0;
    CHECK(read(fd, &before, 8) == 8);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    spin(n);
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    CHECK(read(fd, &after, 8) == 8);
    return after - before;
}

int main(void)
{
    struct perf_event_attr a = {.size = sizeof a,
                                .type = PERF_TYPE_HARDWARE,
                                .disabled = 1,
                                .config = PERF_COUNT_HW_INSTRUCTIONS,
                                .exclude_kernel = 1};
    int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        SKIP("instructions can't be counted: %s", strerror(errno));
    uint64_t one = count(fd, 1), many = count(fd, 1000001);
    EQUAL(many - one, 2000000);
    return 0;
}

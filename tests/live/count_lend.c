/* rk_set_fd() and rk_set_id(): the descriptor is the event's, a signal comes by it, the id is the one in its records. */
#include "session.h"

#include <poll.h>
#include <sys/ioctl.h>

#define ID _IOR('$', 7, uint64_t *) /* PERF_EVENT_IOC_ID */

static struct rk_error e = {.size = sizeof e};
static volatile sig_atomic_t signals, signal_fd;

static void count_signal(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    signals = signals + 1;
    signal_fd = info->si_fd;
}

/* A descriptor for each event, each its own. */
static void plain(void)
{
    struct session s = session_open("page-faults,task-clock", NULL, NULL);
    uint64_t a = 0, b = 0, words[3], kernels = 0;

    int fd = rk_set_fd(s.set, 0, 0), other = rk_set_fd(s.set, 0, 1);
    CHECK(fd >= 0 && other >= 0 && fd != other);
    CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    CHECK(rk_set_id(s.set, 0, 0, &a) == 0 && rk_set_id(s.set, 0, 1, &b) == 0 && a && b && a != b);
    CHECK(ioctl(fd, ID, &kernels) == 0);
    EQUAL(kernels, a);
    CHECK(rk_set_enable(s.set) == 0);
    touch(100);
    CHECK(rk_set_disable(s.set) == 0);
    struct rk_value v[2];
    CHECK(rk_set_read(s.set, 0, v, NULL, 2) == 0 && read(fd, words, sizeof words) == (ssize_t)sizeof words);
    EQUAL(words[0], v[0].value);
    EQUAL(rk_set_fd(s.set, 1, 0), -ERANGE);
    EQUAL(rk_set_fd(s.set, 0, 2), -ERANGE);
    EQUAL(rk_set_fd(NULL, 0, 0), -EINVAL);
    EQUAL(rk_set_id(s.set, 0, 0, NULL), -EINVAL);
    EQUAL(rk_set_id(s.set, 0, 2, &a), -ERANGE);
    pid_t pid = fork();
    if (pid == 0)
        _exit(rk_set_fd(s.set, 0, 0) == -ESTALE && rk_set_id(s.set, 0, 0, &a) == -ESTALE ? 0 : 1);
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    session_close(&s);
}

/* A signal for each overflow, as fcntl(2) has it; and samples that say whose they are by this id. */
static void signalled(void)
{
    const struct rk_set_options options = {.size = sizeof options, .period = 100, .wakeup_samples = 1};
    struct session s = session_open("page-faults:u", NULL, &options);
    struct sigaction action = {.sa_sigaction = count_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct rk_stream *stream;
    const struct rk_record *record;
    struct rk_sample sample = {.size = sizeof sample};
    uint64_t id = 0;
    int samples = 0;

    int fd = -1;
    for (size_t slot = 0; fd < 0 && slot < rk_set_slot_count(s.set); slot++)
        fd = rk_set_fd(s.set, slot, 0);
    CHECK(fd >= 0);
    OK(rk_stream_live(s.set, &stream, &e));
    CHECK(sigemptyset(&action.sa_mask) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    for (size_t slot = 0; slot < rk_set_slot_count(s.set); slot++) {
        int one = rk_set_fd(s.set, slot, 0);
        CHECK(fcntl(one, F_SETOWN, getpid()) == 0 && fcntl(one, F_SETSIG, SIGUSR1) == 0 &&
              fcntl(one, F_SETFL, O_RDWR | O_NONBLOCK | O_ASYNC) == 0);
    }
    CHECK(rk_set_enable(s.set) == 0);
    touch(1000);
    CHECK(rk_set_disable(s.set) == 0);
    bool mine = false;
    for (size_t slot = 0; slot < rk_set_slot_count(s.set); slot++)
        mine |= rk_set_fd(s.set, slot, 0) == signal_fd;
    CHECK(signals > 0 && mine);
    rk_stream_drain(stream);
    while (rk_stream_next(stream, &record) == 1)
        if (rk_stream_sample(stream, record, &sample) == 0) {
            bool found = false;
            for (size_t slot = 0; slot < rk_set_slot_count(s.set); slot++)
                found |= rk_set_id(s.set, slot, 0, &id) == 0 && id == sample.id;
            CHECK(found);
            samples++;
        }
    CHECK(samples >= 10);
    rk_stream_free(stream);
    session_close(&s);
}

int main(void)
{
    live_needs_counters();
    plain();
    signalled();
    as_plain_user(plain);
    return 0;
}

/*
 * What a program does is told by records, each once: mappings of code and data, a name, a thread's birth and end, leaving
 * the CPU and coming back, a new cgroup; and with a wake-up for each sample, the stream's descriptor is readable after one.
 */
#include "session.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

static void *nothing(void *p)
{
    return p;
}

static void told(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {.size = sizeof o,
                               .period = 1000000000,
                               .flags = RK_SET_NO_INHERIT,
                               .records = RK_RECORDS_PROFILE | RK_RECORDS_SWITCHES};
    struct session s = session_open("page-faults:u", NULL, &o);
    struct timespec nap = {.tv_nsec = 20000000};
    const struct rk_record *r;
    struct rk_stream *st;
    pthread_t thread;
    unsigned maps = 0, names = 0, born = 0, out = 0, in = 0, order_wrong = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    void *at = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, own_file(), 0);
    CHECK(at != MAP_FAILED);
    munmap(at, page);
    prctl(PR_SET_NAME, "sideband-1");
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0);
    pthread_join(thread, NULL);
    nanosleep(&nap, NULL);
    EQUAL(rk_set_disable(s.set), 0);
    rk_stream_drain(st);
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
        struct rk_mapping m = {.size = sizeof m};
        struct rk_comm c = {.size = sizeof c};
        struct rk_task t = {.size = sizeof t};
        struct rk_switch change = {.size = sizeof change};
        maps += rk_record_mapping(r, &m) == 0 && m.start == (uint64_t)(uintptr_t)at && m.length == page;
        names += rk_record_comm(r, &c) == 0 && strcmp(c.name, "sideband-1") == 0 &&
                 !(r->present & RK_PRESENT_SYNTHESISED); /* which has the name from before */
        born +=
            r->type == RK_RECORD_FORK && rk_record_task(r, &t) == 0 && t.pid == getpid() && t.tid != getpid();
        if (rk_record_switch(r, &change) == 0) {
            order_wrong += change.out ? out != in : out != in + 1;
            out += change.out;
            in += !change.out;
        }
    }
    printf("mappings %u, names %u, threads %u, left the CPU %u times, came back %u times\n", maps, names,
           born, out, in);
    EQUAL(maps, 1);
    EQUAL(names, 1);
    EQUAL(born, 1);
    CHECK(out >= 1);
    EQUAL(out, in);
    EQUAL(order_wrong, 0);
    rk_stream_free(st);
    session_close(&s);
}

/* A mapping of code and one of data: a record for each that was asked for, no more; the data's says so. A thread's end. */
static void mapped(uint32_t records)
{
    const bool both = records & RK_RECORDS_MAPS;
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {.size = sizeof o, .period = 1000000000, .records = records};
    struct session s = session_open("page-faults:u", NULL, &o);
    const struct rk_record *r;
    struct rk_stream *st;
    pthread_t thread;
    unsigned code = 0, data = 0, others = 0, born = 0, ended = 0;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int fd = own_file();

    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    void *execute = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    void *load = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0);
    pthread_join(thread, NULL);
    EQUAL(rk_set_disable(s.set), 0);
    CHECK(execute != MAP_FAILED && load != MAP_FAILED);
    rk_stream_drain(st);
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
        struct rk_mapping m = {.size = sizeof m};
        struct rk_task t = {.size = sizeof t};
        /* Not a thread's stack, and not the heap, which malloc may extend. */
        if (rk_record_mapping(r, &m) == 0 && strcmp(m.path, "//anon") != 0 && strcmp(m.path, "[heap]") != 0) {
            code += m.start == (uint64_t)(uintptr_t)execute && !(r->misc & RK_MISC_MMAP_DATA);
            data += m.start == (uint64_t)(uintptr_t)load && (r->misc & RK_MISC_MMAP_DATA);
            others += !(r->present & RK_PRESENT_SYNTHESISED); /* what was mapped before */
        }
        if (rk_record_task(r, &t) == 0 && t.pid == getpid() && t.tid != getpid()) {
            born += r->type == RK_RECORD_FORK;
            ended += r->type == RK_RECORD_EXIT;
        }
    }
    printf("mappings: %u of code, %u of data, %u together; threads: %u born, %u ended\n", code, data, others,
           born, ended);
    EQUAL(code, both);
    EQUAL(data, 1);
    EQUAL(others, both + 1);
    EQUAL(born, 1);
    EQUAL(ended, 1);
    munmap(execute, page);
    munmap(load, page);
    rk_stream_free(st);
    session_close(&s);
}

/* mkdir in a cgroup file system is told, with the id that samples would carry: the directory's inode. */
/* cgroup2's root gives its cgroups no perf_event controller, and so the kernel tells of none, until some other was
 * switched on there; what the kernel says of counting one is the answer. */
static bool has_controller(struct rk_host *host, const char *path)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events;
    struct rk_target *target;
    struct rk_set *set = NULL;

    OK(rk_events_parse(host, "page-faults", &events, &e));
    OK(rk_target_cgroups(host, &path, 1, NULL, &target, &e));
    int rc = rk_set_open(host, events, target, NULL, &set, &e);
    if (rc == -ENOENT)
        printf("CGROUP: %s\n", e.what);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    return rc != -ENOENT;
}

static void grouped(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {
        .size = sizeof o, .period = 1000000000, .flags = RK_SET_NO_INHERIT, .records = RK_RECORDS_CGROUPS};
    const struct rk_record *r;
    struct rk_stream *st;
    struct rk_host *host;
    struct stat inode;
    const char *mount;
    char path[4096];
    unsigned told_of = 0;
    FILE *controllers = fopen("/proc/cgroups", "re");
    bool counters = false;

    while (controllers && fgets(path, sizeof path, controllers))
        counters |= strncmp(path, "perf_event\t", 11) == 0;
    if (controllers)
        fclose(controllers);
    OK(rk_host_open(NULL, &host, &e));
    if (!counters || rk_host_feature(host, RK_FEATURE_CGROUP) != 1 ||
        (rk_host_mount(host, RK_MOUNT_CGROUP1, &mount) < 0 &&
         rk_host_mount(host, RK_MOUNT_CGROUP2, &mount) < 0)) {
        printf("CGROUP: no cgroups' counters here\n");
        rk_host_free(host);
        return;
    }
    snprintf(path, sizeof path, "%s/reckon-%s-told-%d", mount, test_mark(), (int)getpid());
    struct session s = session_open("page-faults:u", NULL, &o);
    OK(rk_stream_live(s.set, &st, &e));
    EQUAL(rk_set_enable(s.set), 0);
    bool made = mkdir(path, 0755) == 0 && stat(path, &inode) == 0;
    EQUAL(rk_set_disable(s.set), 0);
    bool counted = made && has_controller(host, path);
    rmdir(path);
    rk_stream_drain(st);
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
        struct rk_cgroup group = {.size = sizeof group};
        const char *name = strrchr(path, '/');
        if (rk_record_cgroup(r, &group) < 0)
            continue;
        size_t n = strlen(group.path), tail = strlen(name);
        CHECK(made && n >= tail && strcmp(group.path + n - tail, name) == 0);
        EQUAL(group.id, inode.st_ino);
        told_of++;
    }
    printf("CGROUP: %s, %u records\n", made ? path : "may not be made here", told_of);
    EQUAL(told_of, counted);
    rk_stream_free(st);
    session_close(&s);
    rk_host_free(host);
}

static void woken(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options o = {
        .size = sizeof o, .period = 1, .flags = RK_SET_NO_INHERIT, .wakeup_samples = 1};
    struct session s = session_open("page-faults:u", NULL, &o);
    const struct rk_record *r;
    struct rk_stream *st;

    OK(rk_stream_live(s.set, &st, &e));
    struct pollfd p = {.fd = rk_stream_fd(st), .events = POLLIN};
    EQUAL(poll(&p, 1, 0), 0);
    for (int i = 0; i < 20; i++) {
        EQUAL(rk_set_enable(s.set), 0);
        touch(1);
        EQUAL(rk_set_disable(s.set), 0);
        EQUAL(poll(&p, 1, 10000), 1);
        CHECK(p.revents & POLLIN);
        unsigned n = 0;
        for (; rk_stream_next(st, &r) == 1; rk_stream_release(st))
            n += r->type == RK_RECORD_SAMPLE;
        CHECK(n >= 1);
    }
    rk_stream_free(st);
    session_close(&s);
}

static void all(void)
{
    told();
    mapped(RK_RECORDS_PROFILE | RK_RECORDS_DATA_MAPS);
    mapped(RK_RECORDS_TASKS | RK_RECORDS_DATA_MAPS);
    grouped();
    woken();
}

int main(void)
{
    all();
    as_plain_user(all);
    return 0;
}

/*
 * Slots added up to rows, on a made-up machine of 1,024 CPUs: 4 sockets of 2 dies of 64 cores of 2 threads, a memory
 * node for each die. The source is built in here, so that it reads a made-up set.
 */
#include "../fake_root.h"
#include "host/host.h"

#include <reckon/set.h>
#undef fail /* cmocka's; the library has one of its own */

static int fake_read(struct rk_set *set, size_t slot, struct rk_value *ret, uint32_t *states, size_t n);
#define rk_set_read fake_read
#include "../../../src/set/rows.c" // NOLINT(bugprone-suspicious-include)

#define CPUS 1024

static struct rk_host *host;
static struct rk_set set;
static uint32_t here; /* no word that fork wipes: the process's id tells */
static struct set_slot slots[20000];
static struct set_event events[2];
static int32_t faults[2 * 20000];
static size_t reads;

/* Event 0 counts 1 in each slot, event 1 the slot's CPU or thread. */
static int fake_read(struct rk_set *s, size_t slot, struct rk_value *ret, uint32_t *states, size_t n)
{
    if (states)
        states[0] = states[1] = RK_STATE_COUNTED;
    assert_int_equal(n, s->n_events);
    reads++;
    ret[0] = (struct rk_value){1, 10, 10};
    ret[1] = (struct rk_value){(uint64_t)(s->slots[slot].cpu >= 0 ? s->slots[slot].cpu : s->slots[slot].pid),
                               10, 5};
    return 0;
}

static void put(int cpu, const char *file, int number)
{
    char path[128], text[16];

    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/topology/%s", cpu, file);
    snprintf(text, sizeof text, "%d\n", number);
    fake_file(path, text);
}

/* CPU n and n + 512 are threads of one core, as kernels number them. */
static int machine(void **state)
{
    (void)state;
    fake_root();
    fake_file("sys/devices/system/cpu/online", "0-1023\n");
    fake_file("sys/devices/system/cpu/possible", "0-1023\n");
    for (int i = 0; i < CPUS; i++) {
        int core = i % 512;
        put(i, "core_id", core % 64);
        put(i, "die_id", core / 64 % 2);
        put(i, "physical_package_id", core / 128);
    }
    for (int i = 0; i < 8; i++) {
        char path[64], text[64];
        snprintf(path, sizeof path, "sys/devices/system/node/node%d/cpulist", i);
        snprintf(text, sizeof text, "%d-%d,%d-%d\n", i * 64, i * 64 + 63, 512 + i * 64, 512 + i * 64 + 63);
        fake_file(path, text);
    }
    assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
    return 0;
}

static int no_machine(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

static void on_cpus(uint32_t n)
{
    memset(faults, 0, sizeof faults);
    set = (struct rk_set){.n_events = 2,
                          .n_slots = n,
                          .slots = slots,
                          .events = events,
                          .faults = faults,
                          .pid = getpid(),
                          .fork_word = &here};
    for (uint32_t i = 0; i < n; i++)
        slots[i] = (struct set_slot){.pid = -1, .cpu = (int32_t)i, .cgroup = SET_NO_CGROUP};
}

static struct rk_row row(const struct rk_rows *rows, size_t at)
{
    struct rk_row r = {.size = sizeof r};
    assert_int_equal(rk_rows_get(rows, at, &r), 0);
    return r;
}

/* As many rows, each of as many slots, the first and the last of these names; nothing is lost or doubled. */
static void expect(uint32_t by, size_t n, uint64_t each, const char *first, const char *last)
{
    static struct rk_value v[2 * CPUS];
    struct rk_rows *rows = NULL;
    uint64_t sum = 0;

    assert_int_equal(rk_rows_open(host, &set, by, &rows, NULL), 0);
    assert_int_equal(rk_rows_count(rows), n);
    assert_string_equal(row(rows, 0).name, first);
    assert_string_equal(row(rows, n - 1).name, last);
    reads = 0;
    assert_int_equal(rk_rows_read(rows, v, NULL, 2 * n), 0);
    assert_int_equal(reads, set.n_slots); /* each slot once: not quadratic */
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(row(rows, i).slots, each);
        assert_int_equal(v[2 * i].value, each);
        assert_int_equal(v[2 * i].enabled, 10 * each);
        assert_int_equal(v[2 * i + 1].running, 5 * each);
        sum += v[2 * i + 1].value;
    }
    assert_int_equal(sum, (uint64_t)CPUS * (CPUS - 1) / 2);
    assert_int_equal(rk_rows_read(rows, v, NULL, 2 * n - 1), -EINVAL);
    struct rk_row beyond = {.size = sizeof beyond};
    assert_int_equal(rk_rows_get(rows, n, &beyond), -ERANGE);
    rk_rows_free(rows);
}

static void by_topology(void **state)
{
    (void)state;
    on_cpus(CPUS);
    expect(RK_BY_ALL, 1, 1024, "", "");
    expect(RK_BY_CPU, 1024, 1, "CPU0", "CPU1023");
    expect(RK_BY_CORE, 512, 2, "S0-D0-C0", "S3-D1-C63");
    expect(RK_BY_DIE, 8, 128, "S0-D0", "S3-D1");
    expect(RK_BY_SOCKET, 4, 256, "S0", "S3");
    expect(RK_BY_NODE, 8, 128, "N0", "N7");
}

/* A slot that fails makes its own row unknown, and says which slot to ask. */
static void faulty(void **state)
{
    struct rk_value v[8];
    struct rk_rows *rows = NULL;
    (void)state;
    on_cpus(CPUS);
    set.faulty = true;
    faults[300 * 2 + 1] = -EIO; /* CPU 300 is in socket 2 */
    assert_int_equal(rk_rows_open(host, &set, RK_BY_SOCKET, &rows, NULL), 0);
    assert_int_equal(rk_rows_read(rows, v, NULL, 8), 0);
    assert_int_equal(v[2 * 2 + 1].running, 0);
    assert_int_equal(v[2 * 2].value, 256);
    assert_int_equal(v[1 * 2 + 1].running, 5 * 256);
    assert_int_equal(row(rows, 2).slot, 300);
    rk_rows_free(rows);
}

/* 10,000 threads in an arbitrary order, each opened on two CPUs: enabled once. */
static void by_thread(void **state)
{
    static struct rk_value v[2 * 10000];
    struct rk_rows *rows = NULL;
    (void)state;
    on_cpus(20000);
    for (uint32_t i = 0; i < 20000; i++)
        slots[i] =
            (struct set_slot){.pid = (int32_t)(2000000000 + (i / 2) * 7 % 10000), .cpu = (int32_t)(i % 2)};
    reads = 0;
    assert_int_equal(rk_rows_open(host, &set, RK_BY_THREAD, &rows, NULL), 0);
    assert_int_equal(rk_rows_count(rows), 10000);
    assert_int_equal(rk_rows_read(rows, v, NULL, 20000), 0);
    assert_int_equal(reads, 20000);
    assert_string_equal(row(rows, 9999).name, "thread-2000009999"); /* gone: without a name of its own */
    assert_int_equal(row(rows, 9999).tid, 2000009999);
    assert_int_equal(v[0].value, 2);
    assert_int_equal(v[0].enabled, 10);
    assert_int_equal(v[0].running, 20);
    rk_rows_free(rows);
}

/* Cgroups in the order that they were named; a slot that came later is in no row. */
static void by_cgroup(void **state)
{
    static struct set_cgroup cgroups[] = {{.name = "web"}, {.name = "db"}};
    struct rk_value v[4];
    struct rk_rows *rows = NULL;
    (void)state;
    on_cpus(8);
    set.cgroups = cgroups, set.n_cgroups = 2;
    for (uint32_t i = 0; i < 8; i++)
        slots[i].cgroup = i % 2;
    assert_int_equal(rk_rows_open(host, &set, RK_BY_CGROUP, &rows, NULL), 0);
    assert_int_equal(rk_rows_count(rows), 2);
    assert_string_equal(row(rows, 0).name, "web");
    assert_string_equal(row(rows, 1).name, "db");
    set.n_slots = 10;
    assert_int_equal(rk_rows_read(rows, v, NULL, 4), 0);
    assert_int_equal(v[0].value, 4);
    assert_int_equal(v[1].value, 0 + 2 + 4 + 6);
    assert_int_equal(v[3].value, 1 + 3 + 5 + 7);
    rk_rows_free(rows);
}

/* CPUs of which the machine says nothing, as in a container without /sys. */
static void no_topology(void **state)
{
    struct rk_rows *rows = NULL;
    (void)state;
    on_cpus(2);
    slots[0].cpu = 5000, slots[1].cpu = 5001;
    assert_int_equal(rk_rows_open(host, &set, RK_BY_CORE, &rows, NULL), 0);
    assert_int_equal(rk_rows_count(rows), 1);
    assert_string_equal(row(rows, 0).name, "S?-D?-C?");
    rk_rows_free(rows);
}

static void wrong(void **state)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_rows *rows = NULL;
    struct rk_row r = {.size = sizeof r};
    (void)state;
    on_cpus(4);
    assert_int_equal(rk_rows_open(host, &set, RK_BY_THREAD, &rows, &e), -EINVAL);
    assert_non_null(strstr(e.what, "by thread"));
    assert_int_equal(rk_rows_open(host, &set, RK_BY_CGROUP + 1, &rows, &e), -EINVAL);
    slots[2] = (struct set_slot){.pid = 5, .cpu = -1, .cgroup = SET_NO_CGROUP};
    assert_int_equal(rk_rows_open(host, &set, RK_BY_CGROUP, &rows, &e), -EINVAL);
    assert_non_null(strstr(e.what, "by cgroup"));
    assert_int_equal(rk_rows_open(host, &set, RK_BY_SOCKET, &rows, &e), -EINVAL);
    assert_non_null(strstr(e.what, "by CPU"));
    assert_int_equal(rk_rows_open(NULL, &set, RK_BY_ALL, &rows, &e), -EINVAL);
    set.pid = getppid();
    assert_int_equal(rk_rows_open(host, &set, RK_BY_ALL, &rows, &e), -ESTALE);
    assert_null(rows);
    assert_int_equal(rk_rows_count(NULL), 0);
    assert_int_equal(rk_rows_get(NULL, 0, &r), -EINVAL);
    assert_null(rk_rows_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_topology), cmocka_unit_test(faulty),      cmocka_unit_test(by_thread),
        cmocka_unit_test(by_cgroup),   cmocka_unit_test(no_topology), cmocka_unit_test(wrong),
    };
    return cmocka_run_group_tests(tests, machine, no_machine);
}

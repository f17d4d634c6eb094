/* Where CPUs are, on made-up machines. */
#include "../fake_root.h"
#include "host/host.h"

static struct rk_host *host;

static void again(void)
{
    struct rk_error e = {.size = sizeof e};
    rk_host_free(host);
    assert_int_equal(rk_host_open(fake_path, &host, &e), 0);
}

static int set_up(void **state)
{
    (void)state;
    fake_root();
    again();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

static void put(int cpu, const char *file, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/%s", cpu, file);
    fake_file(path, text);
}

static struct rk_cpu at(int32_t cpu)
{
    struct rk_cpu place = {.size = sizeof place};
    assert_int_equal(rk_host_cpu(host, cpu, &place), 0);
    assert_int_equal(place.cpu, cpu);
    return place;
}

/* Two sockets of two cores of two threads; Linux numbers the second threads last. CPU 7 is offline, 8 could come. */
static void a_server(void **state)
{
    (void)state;
    fake_file("sys/devices/system/cpu/online", "0-6\n");
    fake_file("sys/devices/system/cpu/possible", "0-8\n");
    fake_file("sys/devices/system/node/online", "0-2\n");
    fake_file("sys/devices/system/node/node0/cpulist", "0-1,4-5\n");
    fake_file("sys/devices/system/node/node1/cpulist", "2-3,6-7,99\n");
    fake_file("sys/devices/system/node/node2/cpulist", "\n"); /* memory alone */
    fake_file("sys/devices/system/node/nodexyz/cpulist", "8\n");
    for (int cpu = 0; cpu < 7; cpu++) {
        char text[32];
        snprintf(text, sizeof text, "%d\n", cpu % 2);
        put(cpu, "topology/core_id", text);
        snprintf(text, sizeof text, "%d\n", cpu / 2 % 2);
        put(cpu, "topology/physical_package_id", text);
        put(cpu, "topology/die_id", "0\n");
        snprintf(text, sizeof text, "%d,%d\n", cpu % 4, cpu % 4 + 4);
        put(cpu, "topology/thread_siblings_list", text);
    }
    again();
    const int32_t *cpus;
    size_t n;
    assert_int_equal(rk_host_cpus_possible(host, &cpus, &n), 0);
    assert_int_equal(n, 9);
    struct rk_cpu place = at(6);
    assert_int_equal(place.thread, 1);
    assert_int_equal(place.core, 0);
    assert_int_equal(place.die, 0);
    assert_int_equal(place.socket, 1);
    assert_int_equal(place.node, 1);
    assert_int_equal(place.capacity, -1);
    assert_int_equal(place.online, 1);
    assert_string_equal(place.type, "");
    assert_int_equal(at(1).thread, 0);
    assert_int_equal(at(1).node, 0);
    place = at(7); /* offline: nothing but its node */
    assert_int_equal(place.online, 0);
    assert_true(place.thread == -1 && place.core == -1 && place.socket == -1);
    assert_int_equal(place.node, 1);
    assert_int_equal(at(8).node, -1);
    struct rk_cpu none = {.size = sizeof none};
    assert_int_equal(rk_host_cpu(host, 9, &none), -ENOENT);
    assert_int_equal(rk_host_cpu(host, -1, &none), -ENOENT);
    assert_int_equal(rk_host_cpu(NULL, 0, &none), -EINVAL);
    put(6, "topology/core_id", "77\n"); /* read once */
    assert_int_equal(at(6).core, 0);
}

static void kinds_of_cores(void **state)
{
    (void)state;
    fake_file("sys/devices/system/cpu/online", "0-5\n");
    fake_file("sys/bus/event_source/devices/armv8_cortex_a53/type", "7\n");
    fake_file("sys/bus/event_source/devices/armv8_cortex_a53/cpus", "0,3-5\n");
    fake_file("sys/bus/event_source/devices/armv8_cortex_a72/type", "8\n");
    fake_file("sys/bus/event_source/devices/armv8_cortex_a72/cpus", "1-2\n");
    put(0, "cpu_capacity", "446\n");
    put(1, "cpu_capacity", "1024\n");
    again();
    assert_string_equal(at(0).type, "armv8_cortex_a53");
    assert_string_equal(at(2).type, "armv8_cortex_a72");
    assert_int_equal(at(0).capacity, 446);
    assert_int_equal(at(1).capacity, 1024);
    assert_int_equal(at(5).capacity, -1);
}

static void nothing_is_said(void **state)
{
    (void)state;
    struct rk_cpu place = {.size = sizeof place};
    const int32_t *cpus;
    size_t n;
    assert_int_equal(rk_host_cpu(host, 0, &place), -ENOENT);
    assert_int_equal(rk_host_cpus_possible(host, &cpus, &n), -ENOENT);
    fake_file("proc/stat", "cpu  1\ncpu0 1\ncpu3 1\n"); /* a container without /sys */
    fake_file("sys/devices/system/cpu/possible", "nonsense\n");
    again();
    assert_int_equal(rk_host_cpus_possible(host, &cpus, &n), 0);
    assert_int_equal(n, 2);
    place = at(3);
    assert_true(place.online && place.core == -1 && place.node == -1);
    assert_int_equal(rk_host_cpu(host, 1, &place), -ENOENT);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(a_server), TEST(kinds_of_cores), TEST(nothing_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

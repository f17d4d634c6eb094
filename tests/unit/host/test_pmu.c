/* A PMU's fields, aliases, CPUs and capabilities, as sysfs has them and as it should not. */
#include "../fake_root.h"
#include "host/host.h"

#include <locale.h>

#define DEVICES "sys/bus/event_source/devices/"

static struct rk_host *host;

static int set_up(void **state)
{
    (void)state;
    fake_root();
    return rk_host_open(fake_path, &host, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    fake_end();
    return 0;
}

static struct host_pmu *pmu_of(const char *name)
{
    int rc = 0;
    struct host_pmu *pmu = host_pmu_find(host, name, &rc);
    assert_non_null(pmu);
    return pmu;
}

static void texts_of_fields(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        uint32_t word;
        uint64_t mask;
    } rows[] = {
        {"config:0-7", 0, 0, 0xff},
        {"config:0-7,32-35", 0, 0, UINT64_C(0xf000000ff)},
        {"config:0-7,21", 0, 0, 0x2000ff},
        {"config1:0-63", 0, 1, UINT64_MAX},
        {"config2:63", 0, 2, UINT64_C(1) << 63},
        {"config3:1", 0, 3, 2},
        {"config4:8-15", 0, 4, 0xff00},
        {"config", 0, 0, UINT64_MAX},
        {"config1", 0, 1, UINT64_MAX},
        {"config5:0", -EBADMSG, 0, 0},
        {"config0:0", -EBADMSG, 0, 0},
        {"config:", -EBADMSG, 0, 0},
        {"config:64", -EBADMSG, 0, 0},
        {"config:0-64", -EBADMSG, 0, 0},
        {"config:7-0", -EBADMSG, 0, 0},
        {"config:0-", -EBADMSG, 0, 0},
        {"config:0,", -EBADMSG, 0, 0},
        {"config:0-7x", -EBADMSG, 0, 0},
        {"config:0000", -EBADMSG, 0, 0},
        {"config:-1", -EBADMSG, 0, 0},
        {"attr:0-7", -EBADMSG, 0, 0},
        {"", -EBADMSG, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t word = 77;
        uint64_t mask = 77;
        int rc = pmu_format_parse(rows[i].text, &word, &mask);
        if (rc != rows[i].rc || (rc == 0 && (word != rows[i].word || mask != rows[i].mask)) ||
            (rc < 0 && (word != 77 || mask != 77)))
            fail_msg("%s: %d, %u, %#llx", rows[i].text, rc, word, (unsigned long long)mask);
    }
}

static void fields_are_read_when_asked_for(void **state)
{
    (void)state;
    const struct pmu_format *format = NULL;
    fake_file(DEVICES "cpu/format/event", "config:0-7\n");
    fake_file(DEVICES "cpu/format/bad", "what\n");
    fake_file(DEVICES "cpu/format/empty", "");
    fake_file(DEVICES "bare/type", "9\n");
    struct host_pmu *cpu = pmu_of("cpu");
    assert_int_equal(host_pmu_formats(host, cpu), 3);
    fake_file(DEVICES "cpu/format/event", "config:0-7,32-35\n"); /* not read yet */
    assert_int_equal(host_pmu_format(host, cpu, "eventful", 5, &format), 0);
    assert_true(format->mask == UINT64_C(0xf000000ff));
    fake_file(DEVICES "cpu/format/event", "config:0\n");
    assert_int_equal(host_pmu_format(host, cpu, "event", 5, &format), 0);
    assert_true(format->mask == UINT64_C(0xf000000ff));
    assert_int_equal(host_pmu_format(host, cpu, "bad", 3, &format), -EBADMSG);
    assert_int_equal(host_pmu_format(host, cpu, "empty", 5, &format), -EBADMSG);
    assert_int_equal(host_pmu_format(host, cpu, "even", 4, &format), -ENOENT);
    assert_int_equal(host_pmu_format(host, cpu, "../type", 7, &format), -ENOENT);
    assert_string_equal(host_pmu_format_at(host, cpu, 0)->name, "bad");
    assert_int_equal(host_pmu_formats(host, pmu_of("bare")), 0);
}

static void a_field_that_vanishes_or_is_huge(void **state)
{
    (void)state;
    const struct pmu_format *format = NULL;
    char path[256], *huge = malloc(1 << 20);
    fake_file(DEVICES "cpu/format/gone", "config:0\n");
    memset(huge, '1', 1 << 20);
    fake_bytes(DEVICES "cpu/format/huge", huge, 1 << 20);
    free(huge);
    assert_int_equal(host_pmu_formats(host, pmu_of("cpu")), 2);
    snprintf(path, sizeof path, "%s/" DEVICES "cpu/format/gone", fake_path);
    unlink(path);
    assert_int_equal(host_pmu_format(host, pmu_of("cpu"), "gone", 4, &format), -ENOENT);
    assert_int_equal(host_pmu_format(host, pmu_of("cpu"), "huge", 4, &format), -EFBIG);
}

static void aliases_have_scale_and_unit(void **state)
{
    (void)state;
    const struct pmu_alias *alias = NULL;
    fake_file(DEVICES "power/events/energy-pkg", "event=0x02\n");
    fake_file(DEVICES "power/events/energy-pkg.scale", "2.3283064365386962890625e-10\n");
    fake_file(DEVICES "power/events/energy-pkg.unit", "Joules\n");
    fake_file(DEVICES "power/events/energy-pkg.per-pkg", "1\n");
    fake_file(DEVICES "power/events/level", "event=0x03\n");
    fake_file(DEVICES "power/events/level.snapshot", "1\n");
    fake_file(DEVICES "power/events/bad", "event=1\n");
    fake_file(DEVICES "power/events/bad.scale", "many\n");
    fake_file(DEVICES "power/events/negative", "event=1\n");
    fake_file(DEVICES "power/events/negative.scale", "-1\n");
    fake_file(DEVICES "power/events/nan", "event=1\n");
    fake_file(DEVICES "power/events/nan.scale", "nan\n");
    struct host_pmu *power = pmu_of("power");
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where there is one: 0,5 */
    assert_int_equal(host_pmu_aliases(host, power), 5);
    assert_int_equal(host_pmu_alias(host, power, "energy-pkg", 10, &alias), 0);
    setlocale(LC_ALL, "C");
    assert_string_equal(alias->terms, "event=0x02");
    assert_string_equal(alias->unit, "Joules");
    assert_true(alias->scale == 0x1p-32);
    assert_true(alias->per_package && !alias->snapshot);
    assert_int_equal(host_pmu_alias(host, power, "level", 5, &alias), 0);
    assert_true(alias->scale == 1.0 && alias->snapshot && !alias->per_package);
    assert_string_equal(alias->unit, "");
    assert_int_equal(host_pmu_alias(host, power, "bad", 3, &alias), -EBADMSG);
    assert_int_equal(host_pmu_alias(host, power, "negative", 8, &alias), -EBADMSG);
    assert_int_equal(host_pmu_alias(host, power, "nan", 3, &alias), -EBADMSG);
    assert_int_equal(host_pmu_alias(host, power, "energy", 6, &alias), -ENOENT);
    assert_string_equal(host_pmu_alias_at(host, power, 1)->name, "energy-pkg");
}

static void cpus_and_capabilities(void **state)
{
    (void)state;
    const int32_t *cpus = NULL;
    size_t n = 77;
    char text[32];
    fake_file(DEVICES "cpu_core/cpus", "0-3\n");
    fake_file(DEVICES "cpu_core/caps/branches", "32\n");
    fake_file(DEVICES "uncore_imc_0/cpumask", "0,18\n");
    fake_file(DEVICES "uncore_imc_1/cpumask", "\n");
    fake_file(DEVICES "uncore_imc_2/cpumask", "all\n");
    fake_file(DEVICES "msr/type", "9\n");
    assert_int_equal(host_pmu_cpus(host, pmu_of("msr"), &cpus, &n), -ENOENT);
    assert_int_equal(n, 77);
    assert_int_equal(host_pmu_cpus(host, pmu_of("cpu_core"), &cpus, &n), 0);
    assert_int_equal(n, 4);
    assert_int_equal(host_pmu_cpus(host, pmu_of("uncore_imc_0"), &cpus, &n), 0);
    assert_int_equal(n, 2);
    assert_int_equal(cpus[1], 18);
    assert_int_equal(host_pmu_cpus(host, pmu_of("uncore_imc_1"), &cpus, &n), 0);
    assert_int_equal(n, 0);
    assert_int_equal(host_pmu_cpus(host, pmu_of("uncore_imc_2"), &cpus, &n), -EBADMSG);
    assert_int_equal(host_pmu_cap(host, pmu_of("cpu_core"), "branches", text, sizeof text), 2);
    assert_string_equal(text, "32");
    assert_int_equal(host_pmu_cap(host, pmu_of("cpu_core"), "max_precise", text, sizeof text), -ENOENT);
}

static void which_are_core_pmus(void **state)
{
    (void)state;
    struct host_pmu *const *cores = NULL;
    assert_int_equal(host_cores(host, &cores), 0); /* no sysfs */
    rk_host_free(host);
    fake_file(DEVICES "hisi_sccl1_l3c0/type", "20\n");
    fake_file(DEVICES "armv8_cortex_a53/cpus", "0-3\n");
    fake_file(DEVICES "armv8_cortex_a72/cpus", "4-5\n");
    fake_file(DEVICES "odd/cpus", "0\n");
    assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
    assert_int_equal(host_cores(host, &cores), 2);
    assert_string_equal(cores[0]->name, "armv8_cortex_a53");
    assert_string_equal(cores[1]->name, "armv8_cortex_a72");
    rk_host_free(host);
    fake_file(DEVICES "cpu/type", "4\n"); /* then it is the only one */
    assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
    assert_int_equal(host_cores(host, &cores), 1);
    assert_string_equal(cores[0]->name, "cpu");
    fake_end();
    rk_host_free(host);
    fake_root();
    fake_file(DEVICES "odd/cpus", "0\n"); /* no name that is known: `cpus` tells */
    fake_file(DEVICES "other/type", "8\n");
    assert_int_equal(rk_host_open(fake_path, &host, NULL), 0);
    assert_int_equal(host_cores(host, &cores), 1);
    assert_string_equal(cores[0]->name, "odd");
    fake_file(DEVICES "odd/type", "12\n");
    assert_ptr_equal(host_pmu_of_type(host, 12), cores[0]);
    assert_ptr_equal(host_pmu_of_type(host, 8), host_pmu_at(host, 1));
    assert_null(host_pmu_of_type(host, 13));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(texts_of_fields, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fields_are_read_when_asked_for, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_field_that_vanishes_or_is_huge, set_up, tear_down),
        cmocka_unit_test_setup_teardown(aliases_have_scale_and_unit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cpus_and_capabilities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(which_are_core_pmus, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

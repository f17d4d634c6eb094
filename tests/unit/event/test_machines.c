/*
 * Events on the machines of tests/data/host. Goldens are NAME.events: what every generic name, and what is written
 * in `more`, becomes there. GOLDEN=write makes them anew, to be read before they are kept.
 */
#include "../fake_tree.h"
#include "event/event.h"
#include "event/names.h"

#include <inttypes.h>
#include <sys/inotify.h>

static struct rk_event event_at(const struct rk_events *events, size_t i)
{
    struct rk_event event = {.size = sizeof event};
    assert_int_equal(rk_events_get(events, i, &event), 0);
    return event;
}

static void describe(FILE *to, struct rk_host *host, const char *text)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_events *events = NULL, *again = NULL;
    if (rk_events_parse(host, text, &events, &e) < 0) {
        fprintf(to, "%s\n  ! %s: %s\n  ! %s\n  ! %*s^\n", text, rk_cause_name(e.cause), e.what, e.remedy,
                (int)e.position, "");
        return;
    }
    fprintf(to, "%s\n", text);
    for (size_t i = 0; i < rk_events_count(events); i++) {
        struct rk_event event = event_at(events, i);
        const uint64_t words[] = {event.config1, event.config2, event.config3, event.config4};
        fprintf(to, "  %u: %s type %u config %#" PRIx64, event.group, event.name, event.type, event.config);
        for (int w = 0; w < 4; w++)
            if (words[w])
                fprintf(to, " config%d %#" PRIx64, w + 1, words[w]);
        if (event.pmu[0])
            fprintf(to, " on %s", event.pmu);
        if (event.probe[0])
            fprintf(to, " at %s", event.probe);
        if (event.flags || event.precise)
            fprintf(to, " flags %#x precise %u", event.flags, event.precise);
        if (event.period || event.frequency)
            fprintf(to, " period %" PRIu64 " freq %" PRIu64, event.period, event.frequency);
        if (event.unit[0] || event.scale < 1 || event.scale > 1)
            fprintf(to, " × %.17g %s", event.scale, event.unit);
        fputc('\n', to);
    }
    fprintf(to, "  = %s\n", rk_events_print(events));
    /* What was printed means the same. */
    if (rk_events_parse(host, rk_events_print(events), &again, &e) < 0)
        fail_msg("%s was printed as %s: %s", text, rk_events_print(events), e.what);
    assert_string_equal(rk_events_print(events), rk_events_print(again));
    assert_int_equal(rk_events_count(events), rk_events_count(again));
    for (size_t i = 0; i < rk_events_count(events); i++) {
        struct rk_event x = event_at(events, i), y = event_at(again, i);
        assert_string_equal(x.unit, y.unit);
        assert_string_equal(x.probe, y.probe);
        assert_true(x.group == y.group && x.type == y.type && x.config == y.config &&
                    x.config1 == y.config1 && x.config2 == y.config2 && x.config3 == y.config3 &&
                    x.config4 == y.config4 && x.flags == y.flags && x.precise == y.precise &&
                    x.bp_type == y.bp_type && x.period == y.period && x.frequency == y.frequency &&
                    memcmp(&x.scale, &y.scale, 8) == 0);
    }
    rk_events_free(events);
    rk_events_free(again);
}

static void golden(const char *name, const char *const more[], size_t n)
{
    struct rk_host *host = fake_machine(name);
    char *text = NULL, path[FIXTURE_PATH], file[64];
    size_t size = 0, n_expected;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    for (size_t i = 0; name_at(i); i++)
        describe(to, host, name_at(i));
    for (size_t i = 0; i < n; i++)
        describe(to, host, more[i]);
    fclose(to);
    snprintf(file, sizeof file, "host/%s.events", name);
    if (getenv("GOLDEN")) {
        FILE *out = fopen(fixture_path(file, path), "we");
        assert_non_null(out);
        assert_int_equal(fwrite(text, 1, size, out), size);
        fclose(out);
    }
    char *expected = (char *)fixture(file, &n_expected);
    for (size_t at = 0, line = 1, start = 0; at < size || at < n_expected; at++) {
        if (at >= size || at >= n_expected || text[at] != expected[at])
            fail_msg("%s:%zu: not the same: %.*s", file, line, (int)strcspn(text + start, "\n"),
                     text + start);
        if (text[at] == '\n') {
            line++;
            start = at + 1;
        }
    }
    free(expected);
    free(text);
    rk_host_free(host);
    fake_end();
}

static void intel_hybrid(void **state)
{
    (void)state;
    static const char *const more[] = {
        "r1a8",
        "{cycles,instructions}:u",
        "{cycles:u,task-clock,instructions}",
        "{task-clock,cycles}",
        "{cpu_atom/cycles/,instructions}",
        "cpu_core/cycles/",
        "cpu_core/instructions/",
        "cpu_core/L1-dcache-load-misses/k",
        "cpu_core/event=0x3c,umask=0/",
        "cpu_core/r13c/",
        "cpu_core/config=0x13c/",
        "cpu_*/cpu-cycles/",
        "cpu_atom/topdown-be-bound/",
        "mem-loads:P",
        "slots",
        "cpu_core/mem-loads,ldlat=50/ppp",
        "cpu_core/event=0xcd,umask=1,ldlat=0xffff/",
        "cycles/period=100000,name=mine/u",
        "imc_free_running/data_read/",
        "uncore_imc_free_running_1/data_read/",
        "uncore_imc/event=1,umask=2/",
        "cbox/event=0x34/",
        "i915/actual-frequency/",
        "power/energy-pkg/",
        "intel_pt//u",
        "cpu_core/cycles,umask=1/",
        "cpu_core/mem-load/",
        "cpu/cycles/",
        "cpu_core/ldlat=0x10000,event=1/",
        "cpu_core/edge=2/",
        "tcs",
    };
    golden("intel-hybrid", more, sizeof more / sizeof *more);
}

static void intel_server(void **state)
{
    (void)state;
    static const char *const more[] = {
        "uncore_imc_0/cas_count_read/",
        "uncore_imc_*/cas_count_read/",
        "imc_[0-1]/cas_count_read/",
        "imc/cas_count_write/",
        "{imc/cas_count_read/,imc/cas_count_write/}",
        "{imc_[01]/cas_count_read/,imc_0/clockticks/,imc_1/clockticks/},cycles",
        "uncore_*/clockticks/",
        "imc_0/cas_count_read,thresh=1/",
        "uncore_upi_0/umask_ext=0xfff/",
        "cha_2[67]/event=0x35,filter_opc0=0x201,filter_rem/",
        "uncore_cha_0/event=0x35,config1=0x7/",
        "topdown-total-slots",
        "cycles-ct",
        "cpu/event=cpu-cycles/",
        "cpu/any,event=0x3c/",
        "power/energy-ram/",
        "power/event=2/",
        "imc_9/cas_count_read/",
        "imc/cas_count_reed/",
        "pcu/occ_sel=4/",
        "msr/tsc/",
        "msr/tsx/",
        "cpu/period=10,freq=10/",
        "cpu/event=/",
        "cpu/event=0x3c",
        "cpu/event=0x3c,,umask=1/",
        "cpu/event=0x3c/x",
        "cpu/name='a b, c/d',event=1/u",
        "cpu/name=/",
        "cpu/event=99999999999999999999/",
        "cpu/evnt=1/",
        "cpu//",
        "cpu/event=1//u",
        "cas_count_read",
    };
    golden("intel-server", more, sizeof more / sizeof *more);
}

static void amd_zen(void **state)
{
    (void)state;
    static const char *const more[] = {
        "cpu/event=0x1c1,umask=0xff/",
        "cpu/event=0x1000/",
        "ref-cycles",
        "cpu/ref-cycles/",
        "ibs_op//",
        "ibs_op/cnt_ctl=1/p",
        "ibs_fetch/rand_en,swfilt/",
        "amd_l3/event=0x04,umask=0xff,enallcores,enallslices,threadmask=3/",
        "amd_df/event=0x1f,umask=0xf00/",
        "amd_umc/event=0x0a,rdwrmask=1/",
        "amd_iommu_0/mem_pass_untrans,devid=0x10/",
        "power/energy-pkg/",
        "power_*/energy-core/",
        "power/energy-core/",
        "{power/energy-pkg/,power_core/energy-core/}",
    };
    golden("amd-zen", more, sizeof more / sizeof *more);
}

static void arm64_two(void **state)
{
    (void)state;
    static const char *const more[] = {
        "r11",
        "inst_retired",
        "inst_spec",
        "cpu_cycles",
        "armv8_cortex_a53/cpu_cycles/",
        "armv8_cortex_a72/cpu_cycles,long,rdpmc/u",
        "armv8_*/event=0x1b/",
        "{cycles,instructions}",
        "arm_spe_0/ts_enable=1,load_filter,min_latency=10,event_filter=2/u",
        "arm_spe_0/inv_event_filter=0x10/",
        "arm_cmn_0/hnf_cache_miss/",
        "arm_cmn/hnf_cache_miss,bynodeid,nodeid=8/",
        "arm_cmn_0/type=0x5,eventid=1/",
        "arm_cmn_0/hnf_cache_mis/",
    };
    golden("arm64-two", more, sizeof more / sizeof *more);
}

static void no_pmu(void **state)
{
    (void)state;
    static const char *const more[] = {"r1a8", "cpu/cycles/", "{cycles,instructions}", "mem-loads"};
    golden("vm-no-pmu", more, sizeof more / sizeof *more);
}

static void no_sysfs(void **state)
{
    (void)state;
    static const char *const more[] = {"r1a8", "cpu/cycles/", "msr/tsc/", "{cycles,instructions}",
                                       "mem-loads"};
    golden("no-sysfs", more, sizeof more / sizeof *more);
}

static int watcher;

static int watch(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)ftw;
    return kind == FTW_D && inotify_add_watch(watcher, path, IN_OPEN) < 0;
}

/* Files and directories below the root that the text opens. */
static int opened(const char *machine, const char *text)
{
    struct rk_host *host = fake_machine(machine);
    struct rk_events *events = NULL;
    char buffer[65536] __attribute__((aligned(8)));
    int n = 0;
    watcher = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    assert_true(watcher >= 0);
    assert_int_equal(nftw(fake_path, watch, 16, FTW_PHYS), 0);
    while (read(watcher, buffer, sizeof buffer) > 0) /* by nftw itself */
        ;
    assert_int_equal(rk_events_parse(host, text, &events, NULL), 0);
    for (ssize_t got; (got = read(watcher, buffer, sizeof buffer)) > 0;)
        for (char *at = buffer; at < buffer + got; n++) {
            struct inotify_event *event = (struct inotify_event *)(void *)at;
            /* A watched directory is seen from within and from above: once. */
            n -= (event->mask & IN_ISDIR) && event->len > 0;
            at += sizeof *event + event->len;
        }
    close(watcher);
    rk_events_free(events);
    rk_host_free(host);
    fake_end();
    return n;
}

static void few_files_are_opened(void **state)
{
    (void)state;
    assert_in_range(opened("intel-server", "cycles,instructions:u"), 1, 10);
    assert_in_range(opened("intel-hybrid", "cycles,instructions:u"), 3, 10);
    assert_in_range(opened("amd-zen", "cycles,instructions:u"), 1, 10);
    assert_in_range(opened("arm64-two", "cycles,instructions:u"), 3, 10);
    assert_int_equal(opened("intel-server", "task-clock,page-faults:u"), 0);
    assert_in_range(opened("intel-server", "imc_0/cas_count_read/"), 5, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intel_hybrid),
        cmocka_unit_test(intel_server),
        cmocka_unit_test(amd_zen),
        cmocka_unit_test(arm64_two),
        cmocka_unit_test(no_pmu),
        cmocka_unit_test(no_sysfs),
        cmocka_unit_test(few_files_are_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

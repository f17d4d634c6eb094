/* parse(print(e)) = e over many made-up lists of every form, on machines of every kind. */
#include "../fake_tree.h"
#include "event/event.h"

#include <reckon/event.h>

static unsigned seed = 1;

static unsigned pick(unsigned n)
{
    seed = seed * 1103515245 + 12345;
    return (seed >> 16) % n;
}

static struct rk_host *machine(const char *name)
{
    struct rk_host *host = fake_machine(name);
    size_t n;
    fake_file("sys/kernel/tracing/events/sched/sched_switch/id", "372\n");
    fake_file("sys/kernel/tracing/events/sched/sched_wakeup/id", "375\n");
    fake_file("sys/kernel/tracing/events/sched/sched_switch/format",
              "name: sched_switch\nID: 372\nformat:\n"
              "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
              "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n");
    fake_file("proc/kallsyms", "ffffffff82000010 D jiffies\n");
    unsigned char *elf = fixture("elf/labels", &n);
    fake_bytes("opt/my \"prog\", it:s", elf, n);
    free(elf);
    return host;
}

static const char *const everywhere[] = {
    "cycles",
    "CPU_CYCLES",
    "cs",
    "PERF_COUNT_SW_PAGE_FAULTS_MAJ",
    "LL_READ_MISS",
    "L1-dcache-load-misses",
    "bpu-write-access",
    "r1",
    "rdeadbeef",
    "task-clock",
    "sched:sched_switch",
    "sched:*",
    "kprobe:vfs_read",
    "kprobe:vfs_read+0x10",
    "kretprobe:0xffffffff81000000",
    "kprobe:'odd, /name'",
    "kprobe:\"it's\"",
    "kprobe:it's",
    "uprobe:/bin/x:0x10",
    "uretprobe:'/opt/my \"prog\", it:s':16",
    "mem:0x1000",
    "mem:4096/2:rw",
    "mem:jiffies:w",
    "mem:0x1000:x",
};

/* What only one of them has, ended by NULL. */
static const struct {
    const char *machine, *events[12];
} machines[] = {
    {"intel-server",
     {"cpu/event=0x3c,umask=1,inv/", "msr/tsc/", "imc/cas_count_read/", "uncore_imc_?/clockticks/",
      "cha_0/config1=7,event=1/", "power/energy-pkg/", "cpu/cycles-ct/", "cpu//", "cpu/branch-misses/"}},
    {"intel-hybrid",
     {"cpu_core/cycles/", "cpu_*/r13c/", "cpu_core/mem-loads,ldlat=50/", "cpu_atom/L1-dcache-loads/", "slots",
      "cpu_core/event=0xcd/"}},
    {"amd-zen",
     {"ibs_op/cnt_ctl=1/", "amd_l3/event=4,umask=0xff/", "power/energy-pkg/", "amd_df/event=0x1f/",
      "amd_iommu_0/mem_pass_untrans,devid=0x10/"}},
    {"arm64-two",
     {"armv8_*/event=0x1b/", "inst_retired", "arm_spe_0/ts_enable=1/", "arm_cmn_0/hnf_cache_miss/"}},
};

static const char *const letters[] = {"", "u", "k", "ukh", "p", "GHI", "P", "SDWe", "hp"};
static const char *const terms[] = {
    "period=7", "freq=99",    "name=mine", "name='a b, c/d:{}'", "name=\"it's\"",
    "name=''",  "period=0x1", "name=\"",   "name=a.b_c-d",       "name='\xc3\xa4\xff'",
};

/* An event with, now and then, terms and modifiers. Some are not of the grammar: they must be refused, no more. */
static void add_event(char *text, const char *const *own, unsigned n_own)
{
    const char *what =
        pick(2) && n_own ? own[pick(n_own)] : everywhere[pick(sizeof everywhere / sizeof *everywhere)];
    const char *more = letters[pick(9)];
    bool of_pmu = what[strlen(what) - 1] == '/';

    strcat(text, what);
    if (pick(3) == 0) {
        if (of_pmu)
            text[strlen(text) - 1] = '\0';
        if (!of_pmu || text[strlen(text) - 1] != '/')
            strcat(text, of_pmu ? "," : "/");
        strcat(text, terms[pick(10)]);
        if (strncmp(what, "sched:sched", 11) == 0 && pick(2))
            strcat(text, pick(2) ? ",filter='prev_comm~\"a/b,{*\" && prev_pid!=0x7'" : ",filter=prev_pid>1");
        if (strncmp(what, "kp", 2) == 0 && pick(2))
            strcat(text, ",filter=\"common_pid==1\"");
        if (strncmp(what, "upr", 3) == 0 && pick(2))
            strcat(text, ",ref_ctr_offset=0x20");
        strcat(text, "/");
        of_pmu = true;
    }
    if (*more && !of_pmu)
        strcat(text, ":");
    strcat(text, more);
}

static void same(const struct rk_events *a, const struct rk_events *b, const char *text)
{
    assert_int_equal(rk_events_count(a), rk_events_count(b));
    for (size_t i = 0; i < rk_events_count(a); i++) {
        struct rk_event x = {.size = sizeof x}, y = {.size = sizeof y};
        assert_int_equal(rk_events_get(a, i, &x), 0);
        assert_int_equal(rk_events_get(b, i, &y), 0);
        assert_string_equal(x.unit, y.unit);
        assert_string_equal(x.pmu, y.pmu);
        assert_string_equal(x.probe, y.probe);
        assert_string_equal(x.filter, y.filter);
        if (a->list.items[i].named) /* else it is as it was written */
            assert_string_equal(x.name, y.name);
        x.unit = x.pmu = x.probe = x.filter = x.name = y.unit = y.pmu = y.probe = y.filter = y.name = NULL;
        if (memcmp(&x, &y, sizeof x) != 0)
            fail_msg("%s: event %zu of %s is another", text, i, rk_events_print(a));
    }
}

static void printing_is_canonical(void **state)
{
    (void)state;
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        struct rk_host *host = machine(machines[m].machine);
        unsigned n_own = 0, taken = 0;
        while (machines[m].events[n_own])
            n_own++;
        for (int round = 0; round < 5000; round++) {
            char text[4096] = "";
            bool in_group = false;
            for (unsigned i = 0, n = 1 + pick(pick(2) ? 1 : 6); i < n; i++) {
                strcat(text, i ? "," : "");
                if (!in_group && pick(3) == 0) {
                    in_group = true;
                    strcat(text, "{");
                }
                add_event(text, machines[m].events, n_own);
                if (in_group && (i + 1 == n || pick(3) == 0)) {
                    in_group = false;
                    const char *more = letters[pick(9)];
                    strcat(strcat(strcat(text, "}"), *more ? ":" : ""), more);
                }
            }
            struct rk_events *first = NULL, *second = NULL;
            struct rk_error e = {.size = sizeof e};
            if (rk_events_parse(host, text, &first, &e) < 0) {
                assert_true(e.what[0] && e.position <= strlen(text));
                continue;
            }
            if (rk_events_parse(host, rk_events_print(first), &second, &e) < 0)
                fail_msg("%s was printed as %s: %s", text, rk_events_print(first), e.what);
            same(first, second, text);
            assert_string_equal(rk_events_print(first), rk_events_print(second));
            rk_events_free(first);
            rk_events_free(second);
            taken++;
        }
        assert_true(taken > 2500); /* most of what was made up is of the grammar */
        rk_host_free(host);
        fake_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(printing_is_canonical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

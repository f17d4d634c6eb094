/*
 * Names that stand in files, on a machine made of files: terms and aliases of sysfs, tracepoints by name and pattern with
 * a filter on their format, functions of a program, symbols of the kernel, vendors' names by libpfm4.
 */
#include "fault.h"
#include "tree.h"

#include <dlfcn.h>

#define PMU "sys/bus/event_source/devices/"
#define TRACING "sys/kernel/tracing/events/"

static bool vendors;

static int prepare(void)
{
    static const char *const files[][2] = {
        {PMU "cpu/type", "4\n"},
        {PMU "cpu/format/event", "config:0-7\n"},
        {PMU "cpu/format/umask", "config:8-15\n"},
        {PMU "cpu/events/mem-loads", "event=0xcd,umask=1\n"},
        {PMU "uncore_imc_0/type", "24\n"},
        {PMU "uncore_imc_0/cpumask", "0\n"},
        {PMU "uncore_imc_0/format/event", "config:0-7\n"},
        {PMU "uncore_imc_0/events/reads", "event=0x04\n"},
        {PMU "uncore_imc_0/events/reads.scale", "6.1e-5\n"},
        {PMU "uncore_imc_0/events/reads.unit", "MiB\n"},
        {PMU "uncore_imc_1/type", "25\n"},
        {PMU "uncore_imc_1/cpumask", "0\n"},
        {PMU "uncore_imc_1/format/event", "config:0-7\n"},
        {PMU "uncore_imc_1/events/reads", "event=0x04\n"},
        {PMU "uprobe/type", "9\n"},
        {PMU "uprobe/format/retprobe", "config:0\n"},
        {PMU "uprobe/format/ref_ctr_offset", "config:32-63\n"},
        {PMU "kprobe/type", "8\n"},
        {PMU "kprobe/format/retprobe", "config:0\n"},
        {TRACING "sched/sched_switch/id", "316\n"},
        {TRACING "sched/sched_switch/format",
         "name: sched_switch\nID: 316\nformat:\n"
         "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
         "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"},
        {TRACING "sched/sched_wakeup/id", "319\n"},
        {"proc/kallsyms", "ffffffff81000000 T _text\nffffffff82000010 D jiffies\n"},
        {"proc/self/maps", "00400000-00402000 r-xp 00000000 08:02 17  /lib/labels\n"},
        {"proc/self/status", "CapEff:\t0\n"},
        {"sys/devices/system/cpu/online", "0\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (put_text(files[i][0], files[i][1]) < 0)
            return -1;
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* the same name on every processor */
    void *library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);
    vendors = library && dlsym(library, "pfm_get_os_event_encoding");
#if !defined(__x86_64__)
    vendors = false; /* its tables are of x86 */
#endif
    return copy("labels", "lib/labels");
}

static int scenario(uint64_t *digest)
{
    static const char *const texts[] = {
        "cpu/event=0x3c,umask=1/u,cpu/mem-loads,name='my loads'/,mem-loads",
        "uncore_imc/reads/,imc_?/event=5/",
        "sched:sched_switch/filter='prev_pid==1 && prev_comm~\"k*\"'/,sched:sched_*",
        "uprobe:/lib/labels:outer,uretprobe:/lib/labels:outer+4",
        "uprobe:/lib/labels:outer,uprobe:/lib/labels:0x600/ref_ctr_offset=0x10/",
        "kprobe:vfs_read+0x10,kretprobe:vfs_read,mem:jiffies:w",
        "mem:/lib/labels:datum@self:w",
        "uprobe:/lib/labels:outer,sched:sched_switch", /* as remembered */
        "skx::INST_RETIRED:ANY_P:u,skx::INST_RETIRED:ANY_P:u",
    };
    struct rk_host *host = NULL;
    struct rk_events *events = NULL;
    int rc = 0;

    NEW(host, rk_host_open(".", &host, e));
    for (size_t i = 0; i < sizeof texts / sizeof *texts - !vendors; i++) {
        NEW(events, rk_events_parse(host, texts[i], &events, e));
        const char *text = rk_events_print(events);
        *digest = fault_fold(*digest, text, strlen(text));
        for (size_t k = 0; k < rk_events_count(events); k++) {
            struct rk_event event = {.size = sizeof event};
            HOT(rk_events_get(events, k, &event));
            *digest = fault_fold(*digest, &event.type, sizeof event.type);
            *digest = fault_fold(*digest, &event.config, 5 * sizeof event.config);
        }
        if (i == 2)
            TRY(rk_events_filter(host, events, 0, "prev_pid!=7", e));
        events = rk_events_free(events);
    }
end:
    EXPECT(rk_events_free(events) == NULL);
    EXPECT(rk_host_free(host) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "event", .prepare = prepare, .run = scenario}, argc,
                      argv);
}

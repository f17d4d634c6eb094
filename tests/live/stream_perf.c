/* What perf records, reckon reads: the same samples as perf itself sees, whatever perf was told to do. */
#include "perf_script.h"

static char self[4096];
static size_t step = 1; /* as a plain user every third kind only: perf takes its time */

static bool perf_record(const char *options)
{
    char command[8192];
    snprintf(command, sizeof command, "perf record %s '%s' busy >perf.out 2>&1", options, self);
    return perf_recorded(command, "-i data");
}

static void kinds(void)
{
    static const char *const options[] = {
        "-e cpu-clock -F 2999 -o data",
        "-e cpu-clock -F 2999 -g -o data",
        "-e cpu-clock:u,page-faults:u -F 2999 -o data",
        "-e cpu-clock:u -F 999 --call-graph dwarf,4096 -o data",
        "-e page-faults:u -c 1 -d --phys-data --no-samples -o data",
        "-e page-faults:u -c 1 -d -W -o data",
        "-e cpu-clock:u -F 2999 --per-thread -T -o data",
        "-e cpu-clock:u -F 2999 -m 1 -o data",
    };
    size_t read = 0;
    for (size_t i = 0; i < sizeof options / sizeof *options; i += step) {
        unlink("data");
        if (!perf_record(options[i])) {
            printf("perf record %s: not here\n", options[i]);
            continue;
        }
        size_t n = same_sights("data", NULL);
        printf("perf record %s: %zu samples\n", options[i], n);
        read += n > 0;
    }
    CHECK(read >= 4 / step);
}

static void a_pipe(void)
{
    char command[8192];
    snprintf(command, sizeof command,
             "perf record -e cpu-clock:u -F 2999 -o - '%s' busy 2>perf.out | cat >data", self);
    if (perf_recorded(command, "-i - <data"))
        CHECK(same_sights("data", NULL) > 0);
}

/* Group reads: members of a group are samples too, where they have counted since the last one. Without children: perf 6.1
 * takes their counts for those of the parent. */
static void groups(void)
{
    if (perf_record("-i -e '{cpu-clock:u,page-faults:u}:S' -F 999 -o data"))
        CHECK(same_sights("data", NULL) > 0);
}

static void system_wide(void)
{
    if (!can_measure_all() || !perf_record("-e cpu-clock -F 2999 -a -o data"))
        return;
    CHECK(same_sights("data", NULL) > 100);
}

static void all(void)
{
    kinds();
    a_pipe();
    groups();
    system_wide();
    unlink("data");
    unlink("data.old");
    unlink("perf.out");
    unlink("perf.err");
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        fork();
        busy_ms(100);
        touch(200);
        return 0;
    }
    (void)argv;
    if (!have("perf"))
        SKIP("perf is not installed, or not for this kernel");
    live_needs_counters();
    use_directory_and_self(self, sizeof self);
    all();
    step = 3;
    as_plain_user(all);
    return 0;
}

/* Counts of a made-up set: counted, estimated, stepped down, not counted. */
#include "sink.h"

#include <reckon/rows.h>

static struct rk_event events[] = {
    {.name = "cycles:u", .unit = "", .scale = 1.0},
    {.name = "instructions", .unit = "", .scale = 1.0},
    {.name = "power/energy-pkg/", .unit = "Joules", .scale = 0.5},
    {.name = "branches", .unit = "", .scale = 1.0},
    {.name = "cache-misses", .unit = "", .scale = 1.0},
};
static const size_t event_n = sizeof events / sizeof *events;

static const struct rk_note notes[] = {
    {.event = 0, .what = "only in user space", .remedy = "sysctl", .cause = RK_CAUSE_PARANOID},
    {.event = 4,
     .what = "cache-misses: no PMU",
     .remedy = "use another machine",
     .cause = RK_CAUSE_NO_PMU,
     .absent = 1},
    {.event = UINT32_MAX, .what = "less memory for rings", .remedy = "", .cause = RK_CAUSE_MLOCK},
};

size_t rk_set_event_count(const struct rk_set *set)
{
    (void)set;
    return event_n;
}

int rk_set_event_get(const struct rk_set *set, size_t event, struct rk_event *ret)
{
    (void)set;
    *ret = events[event];
    return 0;
}

size_t rk_set_note_count(const struct rk_set *set)
{
    (void)set;
    return sizeof notes / sizeof *notes;
}

int rk_set_note_get(const struct rk_set *set, size_t index, struct rk_note *ret)
{
    (void)set;
    *ret = notes[index];
    return 0;
}

int rk_set_explain(const struct rk_set *set, size_t slot, size_t event, struct rk_error *ret)
{
    (void)set;
    assert_true(slot == SIZE_MAX);
    if (event != 3)
        return -ENOENT;
    *ret = (struct rk_error){.size = ret->size,
                             .cause = RK_CAUSE_STARVED,
                             .what = "branches: no counter free",
                             .remedy = "ask for fewer events"};
    return 0;
}

double rk_value_scale(const struct rk_value *now, const struct rk_value *before, double *ret_bound)
{
    assert_null(before);
    if (ret_bound)
        *ret_bound = now->running < now->enabled ? 3.0 : 0.0;
    return (double)now->value * (double)now->enabled / (double)now->running;
}

int rk_metric_derive(const struct rk_set *set, const struct rk_value *values, size_t n, uint64_t wall_ns,
                     size_t event, struct rk_metric *ret)
{
    (void)set, (void)values;
    assert_int_equal(n, event_n);
    if (event != 1 || wall_ns != 1000)
        return 0;
    *ret =
        (struct rk_metric){.size = ret->size, .value = 1.5, .name = "ipc", .unit = "instructions per cycle"};
    return 1;
}

static const char nothing; /* a set that is never looked at */
static const struct rk_set *const set = (const void *)&nothing;

static const struct rk_value values[] = {{100, 10, 10}, {150, 10, 5}, {8, 10, 10}, {0, 10, 0}, {0, 0, 0}};
static const struct rk_exit ended = {.size = sizeof ended,
                                     .status = 139,
                                     .signal = 11,
                                     .core_dumped = 1,
                                     .wall_ns = 1000,
                                     .user_ns = 700,
                                     .system_ns = 200,
                                     .peak_rss = 4096};

static void json(void **state)
{
    (void)state;
    forget();
    assert_int_equal(rk_set_export(set, values, event_n, &ended, "json", &text_sink, NULL), 0);
    validate("counts");
    contains("{\"event\":\"cycles:u\",\"value\":100,\"scaled\":100,\"bound\":0,\"enabled_ns\":10,\"running_"
             "ns\":10,"
             "\"percent_running\":100,\"unit\":\"\",\"note\":\"only in user space\"}");
    contains("\"value\":150,\"scaled\":300,\"bound\":3,");
    contains("\"percent_running\":50,\"unit\":\"\",\"metric\":{\"name\":\"ipc\",\"value\":1.5,\"unit\":"
             "\"instructions per "
             "cycle\"}}");
    contains("\"value\":8,\"scaled\":4,"); /* in Joules */
    contains("\"unit\":\"Joules\"");
    contains("{\"event\":\"branches\",\"value\":null,\"reason\":\"branches: no counter "
             "free\",\"cause\":\"starved\",\"remedy\":\"ask for fewer events\",\"state\":\"starved\"}");
    contains("{\"event\":\"cache-misses\",\"value\":null,\"reason\":\"cache-misses: no "
             "PMU\",\"cause\":\"no-pmu\",\"remedy\":\"use another machine\",\"state\":\"absent\"}");
    contains("\"notes\":[{\"what\":\"less memory for rings\",\"cause\":\"mlock\",\"remedy\":\"\"}]");
    SAME_BY_TWINS(rk_set_export, set, values, event_n, &ended, "json");
    contains("\"wall_ns\":1000,\"user_ns\":700,\"system_ns\":200,\"peak_rss_bytes\":4096,\"exit_status\":139,"
             "\"signal\":11,\"core_dumped\":true}");
}

static void without_a_command(void **state)
{
    (void)state;
    forget();
    assert_int_equal(rk_set_export(set, values, event_n, NULL, "json", &text_sink, NULL), 0);
    validate("counts");
    lacks("wall_ns");
    lacks("metric");
}

static const double mean[] = {50, 75, 4, 0, 0}, stdev[] = {1, 2, 3, 0, 0};

/* Two CPUs in an interval of three runs: every column there is. */
static struct rk_counts table(const struct rk_counts_row *rows, size_t n)
{
    return (struct rk_counts){.size = sizeof(struct rk_counts),
                              .runs = 3,
                              .rows = rows,
                              .n = n,
                              .wall_ns = 500,
                              .time_ns = 1500000000,
                              .wall_stdev_ns = 7,
                              .exit = &ended};
}

static const struct rk_counts_row two[] = {
    {(const void *)&nothing, values, NULL, mean, stdev, "CPU0", 1, UINT64_MAX},
    {(const void *)&nothing, values, NULL, mean, stdev, "a,b\"c", 2, UINT64_MAX},
};

static void json_of_rows(void **state)
{
    struct rk_counts counts = table(two, 2);
    (void)state;
    forget();
    assert_int_equal(rk_counts_export(&counts, "json", &text_sink, NULL), 0);
    validate("counts");
    contains("{\"version\":\"" RK_VERSION
             "\",\"time_ns\":1500000000,\"events\":[{\"where\":\"CPU0\",\"slots\":1,");
    contains("\"where\":\"a,b\\\"c\",\"slots\":2,\"event\":\"branches\",\"value\":null");
    contains("\"runs\":3,\"mean\":50,\"stdev\":1,\"note\"");
    contains("\"mean\":2,\"stdev\":1.5"); /* in Joules */
    contains("\"wall_ns\":500,\"runs\":3,\"wall_stdev_ns\":7,\"user_ns\":700");
    assert_non_null(strstr(written, "less memory"));
    assert_null(strstr(strstr(written, "less memory") + 1, "less memory")); /* one set, one note */
    counts.flags = RK_COUNTS_TOTALS, counts.time_ns = 0, counts.runs = 1;
    forget();
    assert_int_equal(rk_counts_export(&counts, "json", &text_sink, NULL), 0);
    validate("counts");
    contains("\"totals\":true");
    lacks("time_ns\":1");
    lacks("mean");
}

static void csv(void **state)
{
    (void)state;
    forget();
    assert_int_equal(rk_set_export(set, values, event_n, &ended, "csv", &text_sink, NULL), 0);
    assert_string_equal(written,
                        "scaled,unit,event,running_ns,percent_running,metric,metric_unit,value,"
                        "bound,enabled_ns,state,reason,note\n"
                        "100,,cycles:u,10,100,,,100,0,10,,,only in user space; less memory for rings\n"
                        "300,,instructions,5,50,1.5,instructions per cycle,150,3,10,,,less memory for rings\n"
                        "4,Joules,power/energy-pkg/,10,100,,,8,0,10,,,less memory for rings\n"
                        ",,branches,,,,,,,,starved,branches: no counter free,\n"
                        ",,cache-misses,,,,,,,,absent,cache-misses: no PMU,\n"
                        "0.000001000,s,wall-time,,,,,,,,,,\n"
                        "0.000000700,s,user-time,,,,,,,,,,\n"
                        "0.000000200,s,system-time,,,,,,,,,,\n"
                        "4096,bytes,peak-rss,,,,,,,,,,\n");
}

static void csv_of_rows(void **state)
{
    struct rk_counts counts = table(two, 2);
    (void)state;
    forget();
    counts.separator = ";";
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, NULL), 0);
    contains(
        "time_s;where;slots;scaled;unit;event;running_ns;percent_running;metric;metric_unit;value;bound;"
        "enabled_ns;runs;mean;stdev;state;reason;note\n1.500000000;CPU0;1;50;;cycles:u;10;100;;;100;0;10;3;"
        "50;1;;;\"only in user space; less memory for rings\"\n");
    contains("1.500000000;\"a,b\"\"c\";2;;;branches;;;;;;;;;;;starved;branches: no counter free;\n");
    contains("1.500000000;;;0.000000500;s;wall-time;");
    size_t columns = 0;
    for (const char *line = written; *line;
         line = strchr(line, '\n') + 1) { /* every line has as many fields */
        size_t n = 0;
        for (const char *c = line; *c != '\n'; c++)
            n += *c == ';' && strncmp(c, "; less", 6) != 0; /* in quotes */
        assert_true(columns == 0 || n == columns);
        columns = n;
    }
    SAME_BY_TWINS(rk_counts_export, &counts, "csv");
    counts.flags = RK_COUNTS_NO_HEADER;
    forget();
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, NULL), 0);
    lacks("time_s");
}

/* The lines of perf stat -x: places as the rows are, the mean's standard error, units and words of perf's. */
static void perf(void **state)
{
    struct rk_counts counts = table(two, 2);
    (void)state;
    forget();
    assert_int_equal(rk_set_export(set, values, event_n, &ended, "perf", &text_sink, NULL), 0);
    assert_string_equal(written, "100,,cycles:u,10,100.00,,\n"
                                 "300,,instructions,5,50.00,1.50,insn per cycle\n"
                                 "4.00,Joules,power/energy-pkg/,10,100.00,,\n"
                                 "<not counted>,,branches,0,0.00,,\n"
                                 "<not supported>,,cache-misses,0,100.00,,\n");
    counts.by = RK_BY_CPU; /* lines of one event together */
    counts.runs = 4;
    counts.separator = ";";
    forget();
    assert_int_equal(rk_counts_export(&counts, "perf", &text_sink, NULL), 0);
    contains("1.500000000;CPU0;50;;cycles:u;1.00%;2;100.00;;\n1.500000000;\"a,b\"\"c\";50;;cycles:u;");
    contains("1.500000000;CPU0;2.00;Joules;power/energy-pkg/;37.50%;2;100.00;;\n");
    contains("1.500000000;CPU0;<not counted>;;branches;0.00%;0;0.00;;\n");
    counts.by = RK_BY_CORE; /* those of one place */
    counts.cgroup = "a/b";
    forget();
    assert_int_equal(rk_counts_export(&counts, "perf", &text_sink, NULL), 0);
    contains(
        "1.500000000;CPU0;1;50;;cycles:u;a/b;1.00%;2;100.00;;\n1.500000000;CPU0;1;75;;instructions;a/b;");
    contains("1.500000000;\"a,b\"\"c\";2;50;;cycles:u;a/b;");
    counts.by = RK_BY_CGROUP; /* a column behind the event's */
    counts.cgroup = NULL;
    forget();
    assert_int_equal(rk_counts_export(&counts, "perf", &text_sink, NULL), 0);
    contains("1.500000000;50;;cycles:u;CPU0;1.00%;");
    SAME_BY_TWINS(rk_counts_export, &counts, "perf");
}

/* Where the kernel was left out, because more was not allowed, the name says so. */
static void perf_in_user_space(void **state)
{
    static const char *const names[][2] = {{"cycles", "cycles:u"},
                                           {"cycles:u", "cycles:u"},
                                           {"cpu/event=0x3c/", "cpu/event=0x3c/u"},
                                           {"cpu/event=0x3c/u", "cpu/event=0x3c/u"},
                                           {"mem:0x10:w", "mem:0x10:wu"},
                                           {"faults:pu", "faults:pu"}};
    const struct rk_event before = events[0];

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[80];
        events[0].name = names[i][0];
        events[0].flags = RK_EVENT_USER;
        forget();
        assert_int_equal(rk_set_export(set, values, event_n, NULL, "perf", &text_sink, NULL), 0);
        snprintf(line, sizeof line, "100,,%s,10,", names[i][1]);
        contains(line);
    }
    events[0] = before;
}

/* What did not run is a true 0, and says so: with states, also where it was enabled. */
static void idle(void **state)
{
    static const struct rk_value none[] = {{0, 0, 0}, {0, 10, 0}, {0, 10, 0}, {0, 10, 0}, {0, 0, 0}};
    static const uint32_t states[] = {RK_STATE_IDLE, RK_STATE_IDLE, RK_STATE_STARVED, RK_STATE_DISABLED,
                                      RK_STATE_ABSENT};
    struct rk_counts_row row = {.set = set, .values = none, .states = states, .slot = UINT64_MAX};
    struct rk_counts counts = {.size = sizeof counts, .rows = &row, .n = 1};

    (void)state;
    forget();
    assert_int_equal(rk_counts_export(&counts, "json", &text_sink, NULL), 0);
    validate("counts");
    contains("{\"event\":\"cycles:u\",\"value\":0,\"scaled\":0,\"bound\":0,");
    contains("\"note\":\"only in user space\",\"state\":\"idle\"}");
    contains("{\"event\":\"instructions\",\"value\":0,\"scaled\":0,\"bound\":0,");
    contains("\"remedy\":\"\",\"state\":\"starved\"}");
    contains("\"remedy\":\"ask for fewer events\",\"state\":\"disabled\"}");
    contains("\"remedy\":\"use another machine\",\"state\":\"absent\"}");
    forget();
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, NULL), 0);
    contains("\n0,,cycles:u,0,100,,,0,0,0,idle,,only in user space; less memory for "
             "rings\n0,,instructions,0,100,,,0,0,0,idle,,");
    contains(",,branches,,,,,,,,disabled,branches: no counter free,\n");
    row.states = NULL; /* the set is asked: it has no reason why the first did not run */
    forget();
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, NULL), 0);
    contains("\n,,instructions,,,,,,,,starved,");
    contains(",,cache-misses,,,,,,,,absent,cache-misses: no PMU,\n");
}

static void wrong_arguments(void **state)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_exit bad = {.size = 0};
    (void)state;
    forget();
    assert_int_equal(rk_set_export(set, values, 2, NULL, "json", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_set_export(set, values, event_n, NULL, "xml", &text_sink, &e), -EINVAL);
    assert_non_null(strstr(e.what, "there are: json, csv, perf"));
    struct rk_counts_row empty = {.set = set};
    struct rk_counts counts = {.size = sizeof counts, .rows = &empty, .n = 1};
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, &e), -EINVAL);
    assert_non_null(strstr(e.what, "values"));
    counts.rows = &(struct rk_counts_row){.set = set, .values = values};
    counts.flags = 4;
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, &e), -EINVAL);
    assert_non_null(strstr(e.what, "0x4"));
    counts.flags = 0;
    counts.size = 0;
    assert_int_equal(rk_counts_export(&counts, "csv", &text_sink, &e), -EINVAL);
    assert_int_equal(rk_set_export(set, values, event_n, &bad, "json", &text_sink, &e), -EINVAL);
    assert_string_equal(written, "");
    int code = -EIO;
    struct rk_sink broken = {sizeof broken, 0, write_nothing, &code};
    assert_int_equal(rk_set_export(set, values, event_n, NULL, "json", &broken, &e), -EIO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json),
        cmocka_unit_test(without_a_command),
        cmocka_unit_test(json_of_rows),
        cmocka_unit_test(csv),
        cmocka_unit_test(csv_of_rows),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(idle),
        cmocka_unit_test(perf),
        cmocka_unit_test(perf_in_user_space),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

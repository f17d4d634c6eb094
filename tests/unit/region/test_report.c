/* Reports of regions: each count has a state, and what was not counted is never a 0. */
#include "region/picture.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { COUNTED, STARVED, IN_ERROR, EVENTS };

static struct region_event about[EVENTS] = {{.event = {.name = "counted", .unit = ""}, .counted = true},
                                            {.event = {.name = "starved", .unit = ""}, .counted = true},
                                            {.event = {.name = "in-error", .unit = ""}, .counted = true}};
static struct regions regions = {.n_events = EVENTS, .about = about};

static int append(void *context, const void *data, size_t n)
{
    return fwrite(data, 1, n, context) == n ? 0 : -EIO;
}

/* A region of 10 ns: one event counts, one waits for the PMU, one is pinned and in error (set/read.c gives zeros). */
static void one_region(struct tree *tree, uint32_t name, bool in_error)
{
    const struct rk_value begin[] = {{5, 100, 100}, {0, 100, 0}, {0, 0, 0}},
                          end[] = {{7, 110, 110}, {0, 110, 0}, {0, 0, 0}},
                          fine[] = {{1, 100, 100}, {4, 110, 110}};
    struct rk_value *values, now[EVENTS];

    assert_int_equal(tree_begin(tree, name, &values), 0);
    memcpy(values, begin, sizeof begin);
    memcpy(now, end, sizeof end);
    if (!in_error)
        values[IN_ERROR] = fine[0], now[IN_ERROR] = fine[1];
    assert_int_equal(tree_end(tree, name, now), 0);
}

static char *report(struct picture *p, void (*write)(const struct picture *, struct output *))
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    struct rk_sink sink = {.size = sizeof sink, .write = append, .context = file};
    struct output out = output_to(&sink);

    write(p, &out);
    assert_int_equal(output_end(&out), 0);
    fclose(file);
    return text;
}

static void test_states(void **state)
{
    struct picture p = {.regions = &regions};
    const uint32_t name = 0;

    (void)state;
    assert_int_equal(intern_add(&regions.names, "parse", 5), name);
    assert_int_equal(tree_init(&p.sum, EVENTS), 0);
    one_region(&p.sum, name, true);
    char *json = report(&p, report_json), *text = report(&p, report_text);
    assert_non_null(strstr(json, "\"states\":[\"counted\",\"starved\",\"absent\"]"));
    assert_non_null(strstr(json, "\"inclusive\":[{\"value\":2,"));
    assert_non_null(strstr(json, "},null,null],\"self\":["));
    /* Of the three pairs of columns the last two are not counted. */
    const char *row = strstr(text, "parse");
    assert_non_null(row);
    int dashes = 0;
    for (; *row && *row != '\n'; row++)
        dashes += *row == '-';
    assert_int_equal(dashes, 4);
    free(json);
    free(text);

    /* Another thread has it: its count stands, with a note of what is not in it. */
    one_region(&p.sum, name, false);
    json = report(&p, report_json);
    assert_non_null(strstr(json, "\"states\":[\"counted\",\"starved\",\"counted\"]"));
    assert_non_null(strstr(json, "in-error: 1 call is not in its counts"));
    free(json);
    tree_free(&p.sum);
    intern_free(&regions.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_states)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

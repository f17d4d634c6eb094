/* Which perf-PID.map files a recording's ledger names: those of processes whose code without a file was hit. */
#include "capture/hits.h"
#include "sys/file.h"

#include "../fake_root.h"

static struct rk_image *image;
static struct perfdata_writer *writer;
static struct hits hits;
static int root, fd; /* the fake machine's, the recording's */

/* Process 42 runs code without a file at 0x1000. */
static int begin(void **state)
{
    struct perf_attr attr = {.type = 1, .sample_type = RK_SAMPLE_IDENTIFIER};
    struct perfdata_writer_event event = {.attr = &attr, .ids = (uint64_t[]){1}, .ids_n = 1, .name = "one"};
    char path[TEMPORARY + 16];

    (void)state;
    fake_root();
    fake_file("proc/42/maps", "00001000-00002000 r-xp 00000000 00:00 0 \n");
    fake_file("proc/42/task/42/comm", "made\n");
    snprintf(path, sizeof path, "%s/data", fake_path);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    root = sys_root_open(fake_path);
    hits = (struct hits){.named = false};
    assert_true(fd >= 0 && root >= 0);
    assert_int_equal(perfdata_writer_open(fd, &event, 1, &writer, NULL), 0);
    assert_int_equal(rk_image_open(&image, NULL), 0);
    assert_int_equal(rk_image_feed_process(image, fake_path, 42), 0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hits_close(&hits);
    image = rk_image_free(image);
    writer = perfdata_writer_close(writer);
    sys_close(fd);
    sys_close(root);
    fake_end();
    return 0;
}

static void sample(uint64_t address)
{
    const struct rk_sample s = {.size = sizeof s, .present = RK_SAMPLE_IP, .pid = 42, .ip = address};
    assert_int_equal(hits_sample(&hits, image, root, &s, false), 0);
}

static uint64_t code_maps(void)
{
    uint64_t n = 99;
    assert_int_equal(hits_code_maps(&hits, image, root, writer, &n), 0);
    return n;
}

static void only_where_code_was_hit(void **state)
{
    (void)state;
    fake_file("tmp/perf-42.map", "1000 10 name\n");
    sample(0x3000);
    assert_int_equal(code_maps(), 0);
    sample(0x1004);
    assert_int_equal(code_maps(), 1);
    hits_forget(&hits);
    assert_int_equal(code_maps(), 0);
}

static void no_map_no_line(void **state)
{
    (void)state;
    sample(0x1004);
    assert_int_equal(code_maps(), 0);
}

/* Anybody may make a link in /tmp: what it leads to is not opened. */
static void links_are_not_followed(void **state)
{
    char link[TEMPORARY + 32];

    (void)state;
    fake_file("tmp/real.map", "1000 10 name\n");
    snprintf(link, sizeof link, "%s/tmp/perf-42.map", fake_path);
    assert_int_equal(symlink("real.map", link), 0);
    sample(0x1004);
    assert_int_equal(code_maps(), 0);
    assert_int_equal(unlink(link), 0);
    fake_file("tmp/perf-42.map", "1000 10 name\n");
    assert_int_equal(code_maps(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_where_code_was_hit, begin, end),
        cmocka_unit_test_setup_teardown(no_map_no_line, begin, end),
        cmocka_unit_test_setup_teardown(links_are_not_followed, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

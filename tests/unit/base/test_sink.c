/*
 * A file as a sink: removed where writing it failed, untouched where nothing was written.
 */
#include "base/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../temporary.h"

static char directory[TEMPORARY], path[TEMPORARY + 16];

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(temporary(directory, "reckon-sink-XXXXXX")));
    snprintf(path, sizeof path, "%s/out", directory);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(directory);
}

static void put(const char *text)
{
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void has(const char *text)
{
    char found[64] = "";
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = 0;
    fclose(file);
    assert_string_equal(found, text);
}

static int say(struct sink_file *file, const char *text)
{
    return file->sink.write(file->sink.context, text, strlen(text));
}

static void a_file_is_replaced(void **state)
{
    struct sink_file file;
    (void)state;
    put("something longer");
    assert_int_equal(sink_file_open(&file, path, NULL), 0);
    has("something longer");
    assert_int_equal(say(&file, "a"), 0);
    assert_int_equal(say(&file, "b"), 0);
    assert_int_equal(sink_file_close(&file, 0, NULL), 0);
    has("ab");
}

static void what_failed_before_the_first_byte_changes_nothing(void **state)
{
    struct sink_file file;
    (void)state;
    put("kept");
    assert_int_equal(sink_file_open(&file, path, NULL), 0);
    assert_int_equal(sink_file_close(&file, -EINVAL, NULL), -EINVAL);
    has("kept");
    unlink(path);
    assert_int_equal(sink_file_open(&file, path, NULL), 0);
    assert_int_equal(sink_file_close(&file, -EINVAL, NULL), -EINVAL);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_partial_file_is_removed(void **state)
{
    struct sink_file file;
    (void)state;
    put("replaced");
    assert_int_equal(sink_file_open(&file, path, NULL), 0);
    assert_int_equal(say(&file, "half"), 0);
    assert_int_equal(sink_file_close(&file, -ENOSPC, NULL), -ENOSPC);
    assert_int_equal(access(path, F_OK), -1);
}

static void a_device_stays(void **state)
{
    struct sink_file file;
    struct stat about;
    (void)state;
    if (mkfifo(path, 0600) < 0)
        fail_msg("mkfifo: %s", strerror(errno));
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    assert_int_equal(sink_file_open(&file, path, NULL), 0);
    assert_int_equal(say(&file, "half"), 0);
    assert_int_equal(sink_file_close(&file, -EIO, NULL), -EIO);
    close(reader);
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(sink_file_open(&file, "/dev/full", NULL), 0);
    assert_int_equal(say(&file, "x"), -ENOSPC);
    assert_int_equal(sink_file_close(&file, -ENOSPC, NULL), -ENOSPC);
    assert_int_equal(stat("/dev/full", &about), 0);
}

static void a_path_that_cannot_be_opened(void **state)
{
    struct sink_file file;
    struct rk_error e = RK_INIT(e);
    char below[TEMPORARY + 32];
    (void)state;
    snprintf(below, sizeof below, "%s/none/out", directory);
    assert_int_equal(sink_file_open(&file, below, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_FILE);
    assert_non_null(strstr(e.what, "none/out: No such file"));
    assert_int_equal(sink_file_open(&file, directory, &e), -EISDIR);
    assert_int_equal(sink_file_open(&file, NULL, &e), -EINVAL);
    assert_int_equal(symlink("out2", path), 0);
    assert_int_equal(sink_file_open(&file, path, &e), 0); /* a link that leads nowhere yet */
    snprintf(below, sizeof below, "%s/out2", directory);
    assert_int_equal(sink_file_close(&file, 0, &e), 0);
    assert_int_equal(unlink(below), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_is_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_failed_before_the_first_byte_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_partial_file_is_removed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_device_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_path_that_cannot_be_opened, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A recording's file: 0600, the previous kept, nothing of others touched. */
#include "../../temporary.h"
#include "perfdata/place.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void make(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void holds(const char *path, const char *text)
{
    char got[64] = "";
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(read(fd, got, sizeof got - 1) >= 0);
    close(fd);
    assert_string_equal(got, text);
}

static size_t entries(void)
{
    FILE *p = popen("ls -A | wc -l", "r");
    size_t n = 99;
    assert_int_equal(fscanf(p, "%zu", &n), 1);
    pclose(p);
    return n;
}

static int into_empty_directory(void **state)
{
    static char path[TEMPORARY];
    *state = path;
    return mkdtemp(temporary(path, "reckon-test-XXXXXX")) && chdir(path) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[TEMPORARY + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static void the_previous_is_kept(void **state)
{
    (void)state;
    struct place place;
    struct stat st;
    make("f", "first");
    make("f.old", "older");
    assert_int_equal(place_make(&place, "f", NULL), 0);
    holds("f", "first"); /* until the new one has something to show */
    holds("f.old", "older");
    assert_int_equal(write(place.fd, "second", 6), 6);
    assert_int_equal(place_take(&place, NULL), 0);
    holds("f", "second");
    holds("f.old", "first");
    assert_int_equal(stat("f", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    place_close(&place);
    holds("f", "second");
    assert_int_equal(entries(), 2);
}

static void given_up_it_leaves_nothing(void **state)
{
    (void)state;
    struct place place;
    make("f", "first");
    assert_int_equal(place_make(&place, "f", NULL), 0);
    place_close(&place);
    holds("f", "first");
    assert_int_equal(entries(), 1);
}

static void a_passing_name_left_by_a_kill(void **state)
{
    (void)state;
    struct place place;
    char name[32];
    snprintf(name, sizeof name, "f.new-%d", (int)getpid());
    make(name, "left");
    assert_int_equal(place_make(&place, "f", NULL), 0);
    assert_int_equal(place_take(&place, NULL), 0);
    place_close(&place);
    holds("f", "");
    assert_int_equal(entries(), 1);
}

static void refused(const char *path, int code)
{
    struct place place;
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(place_make(&place, path, &e), code);
    assert_int_equal(e.code, code);
    assert_non_null(strstr(e.what, path));
    assert_int_equal(e.stage, RK_STAGE_CAPTURE);
}

static void what_is_refused(void **state)
{
    (void)state;
    make("precious", "mine");
    assert_int_equal(symlink("precious", "link"), 0);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_int_equal(mkdir("directory", 0700), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    refused("link", -ELOOP);
    refused("dangling", -ELOOP);
    refused("directory", -EINVAL);
    refused("pipe", -EINVAL);
    refused("/dev/null", -EINVAL);
    refused("no/such/directory", -ENOENT);
    holds("precious", "mine");
    make("theirs", "theirs");
    if (chown("theirs", 65534, 65534) == 0) { /* as root may, unless of a user namespace */
        refused("theirs", -EPERM);
        holds("theirs", "theirs");
    }
}

/* Put there between make and take: still not followed, not replaced. */
static void a_link_that_comes_late(void **state)
{
    (void)state;
    struct place place;
    make("precious", "mine");
    assert_int_equal(place_make(&place, "f", NULL), 0);
    assert_int_equal(symlink("precious", "f"), 0);
    assert_int_equal(place_take(&place, NULL), -ELOOP);
    place_close(&place);
    holds("precious", "mine");
    assert_int_equal(entries(), 2);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, into_empty_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(the_previous_is_kept), TEST(given_up_it_leaves_nothing), TEST(a_passing_name_left_by_a_kill),
        TEST(what_is_refused),      TEST(a_link_that_comes_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

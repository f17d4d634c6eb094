/* Small files under a root: bounds, ends, numbers, directories. */
#include "../../temporary.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[TEMPORARY];
static int root = -1;

static void put(const char *name, const char *text, size_t n)
{
    int fd = sys_open_at(root, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(sys_write(fd, text, n), 0);
    sys_close(fd);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(temporary(directory, "reckon-test-file-XXXXXX")))
        return -1;
    root = sys_root_open(directory);
    return root < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    static const char *const names[] = {"text", "number", "empty", "big"};
    for (size_t i = 0; i < 4; i++)
        unlinkat(root, names[i], 0);
    sys_close(root);
    return rmdir(directory);
}

static void texts_are_bounded(void **state)
{
    (void)state;
    char buffer[8];
    put("text", "abc \n\n", 6);
    assert_int_equal(sys_file_text(root, "/text", buffer, sizeof buffer), 3);
    assert_string_equal(buffer, "abc");
    put("text", "1234567", 7);
    assert_int_equal(sys_file_text(root, "text", buffer, sizeof buffer), 7);
    put("text", "12345678", 8);
    assert_int_equal(sys_file_text(root, "text", buffer, sizeof buffer), -EFBIG);
    put("empty", "", 0);
    assert_int_equal(sys_file_text(root, "empty", buffer, sizeof buffer), 0);
    assert_string_equal(buffer, "");
    assert_int_equal(sys_file_text(root, "absent", buffer, sizeof buffer), -ENOENT);
}

static void numbers_are_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        int64_t value;
    } cases[] = {{"-1\n", 0, -1},
                 {"0x1f", 0, 31},
                 {"2", 0, 2},
                 {"", -EBADMSG, 0},
                 {"two", -EBADMSG, 0},
                 {"3x", -EBADMSG, 0},
                 {"99999999999999999999", -EBADMSG, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 42;
        put("number", cases[i].text, strlen(cases[i].text));
        assert_int_equal(sys_file_number(root, "number", &value), cases[i].rc);
        assert_int_equal(value, cases[i].rc ? 42 : cases[i].value); /* untouched on failure */
    }
}

static void whole_files_up_to_a_limit(void **state)
{
    (void)state;
    static char bytes[100001];
    char *text = NULL;
    size_t n = 0;
    memset(bytes, 'b', sizeof bytes);
    put("big", bytes, sizeof bytes);
    assert_int_equal(sys_file_load(root, "big", 100000, &text, &n), -EFBIG);
    assert_null(text);
    assert_int_equal(sys_file_load(root, "big", 100001, &text, &n), 0);
    assert_int_equal(n, 100001);
    assert_int_equal(text[n], '\0');
    assert_memory_equal(text, bytes, n);
    free(text);
    put("big", bytes, 4096); /* exactly the first buffer */
    assert_int_equal(sys_file_load(root, "big", 5000, &text, &n), 0);
    assert_int_equal(n, 4096);
    free(text);
}

static int count_names(void *context, const char *name)
{
    assert_string_not_equal(name, ".");
    return ++*(int *)context == 100 ? 7 : 0;
}

static void directories_are_walked(void **state)
{
    (void)state;
    int n = 0;
    assert_int_equal(sys_dir_each(root, ".", count_names, &n), 0);
    assert_int_equal(n, 4);
    n = 99;
    assert_int_equal(sys_dir_each(root, "", count_names, &n), 7); /* ends when told */
    assert_int_equal(sys_dir_each(root, "absent", count_names, &n), -ENOENT);
    assert_int_equal(sys_dir_each(root, "text", count_names, &n), -ENOTDIR);
}

/* Exchanges the link for as long as it is asked: a file, a device, a file … */
static atomic_bool exchanging;
static void *exchange(void *unused)
{
    (void)unused;
    static const char *const to[] = {"text", "/dev/null"};
    for (unsigned i = 0; atomic_load(&exchanging); i++)
        if (symlinkat(to[i % 2], root, "new") == 0)
            renameat(root, "new", root, "link");
    unlinkat(root, "new", 0);
    return NULL;
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    pthread_t thread;
    struct stat st;
    unsigned opened = 0, refused = 0;
    char byte;
    put("text", "12345678", 8);
    assert_int_equal(symlinkat("text", root, "link"), 0);
    int fd = sys_open_regular(root, "/link");
    assert_true(fd >= 0);
    assert_int_equal(sys_read(fd, &byte, 1), 1);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    sys_close(fd);
    fd = sys_open_regular(AT_FDCWD, "/proc/self/exe");
    assert_true(fd >= 0);
    sys_close(fd);
    assert_int_equal(sys_open_regular(root, "."), -ENODEV);
    assert_int_equal(sys_open_regular(root, "absent"), -ENOENT);
    assert_int_equal(sys_open_regular(AT_FDCWD, "/dev/null"), -ENODEV);
    assert_int_equal(mkfifoat(root, "pipe", 0600), 0);
    assert_int_equal(sys_open_regular(root, "pipe"), -ENODEV);
    unlinkat(root, "pipe", 0);

    atomic_store(&exchanging, true);
    assert_int_equal(pthread_create(&thread, NULL, exchange, NULL), 0);
    while (opened < 2000 || refused < 2000) {
        fd = sys_open_regular(root, "link");
        if (fd < 0) {
            assert_int_equal(fd, -ENODEV);
            refused++;
            continue;
        }
        assert_int_equal(fstat(fd, &st), 0);
        assert_true(S_ISREG(st.st_mode));
        sys_close(fd);
        opened++;
    }
    atomic_store(&exchanging, false);
    pthread_join(thread, NULL);
    unlinkat(root, "link", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_bounded),
        cmocka_unit_test(numbers_are_numbers),
        cmocka_unit_test(whole_files_up_to_a_limit),
        cmocka_unit_test(directories_are_walked),
        cmocka_unit_test(only_regular_files_are_opened),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * A machine made of files: fake_root() makes an empty directory under $TMPDIR, fake_file() puts a file in it with
 * the directories it needs, fake_run() runs a command there, fake_end() removes all. One at a time.
 */
#ifndef FAKE_ROOT_H
#define FAKE_ROOT_H

#include "../temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char fake_path[TEMPORARY];

__attribute__((unused)) static const char *fake_root(void)
{
    assert_non_null(mkdtemp(temporary(fake_path, "reckon-fake-XXXXXX")));
    return fake_path;
}

__attribute__((unused)) static void fake_bytes(const char *path, const void *bytes, size_t n)
{
    char full[512];
    int length = snprintf(full, sizeof full, "%s/%s", fake_path, path);
    assert_true((size_t)length < sizeof full);
    for (char *at = full + strlen(fake_path) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(mkdir(full, 0755) == 0 || errno == EEXIST);
        *at = '/';
    }
    if (full[length - 1] == '/') /* a directory alone */
        return;
    int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

__attribute__((unused)) static void fake_file(const char *path, const char *text)
{
    fake_bytes(path, text, strlen(text));
}

static int fake_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

__attribute__((unused)) static void fake_end(void)
{
    assert_int_equal(nftw(fake_path, fake_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* Runs a compiler's or an assembler's words below it, in `directory`. As system(3). */
__attribute__((unused, format(printf, 2, 3))) static int fake_run(const char *directory, const char *format,
                                                                  ...)
{
    char command[4096];
    va_list arguments;
    int n = snprintf(command, sizeof command, "cd '%s'/%s && ", fake_path, directory);
    va_start(arguments, format);
    vsnprintf(command + n, sizeof command - (size_t)n, format, arguments);
    va_end(arguments);
    return system(command); // NOLINT: a compiler's words
}

#endif

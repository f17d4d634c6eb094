/*
 * Files of tests/data, whole in memory: fixture("elf/labels", &n). The caller frees.
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "fake_root.h"

#define FIXTURE_PATH 512

__attribute__((unused)) static const char *fixture_path(const char *name, char path[FIXTURE_PATH])
{
    const char *data = getenv("DATA");
    snprintf(path, FIXTURE_PATH, "%s/%s", data ? data : "tests/data", name);
    return path;
}

__attribute__((unused)) static unsigned char *fixture(const char *name, size_t *ret_n)
{
    char path[FIXTURE_PATH];
    FILE *file = fopen(fixture_path(name, path), "re");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    size_t n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(n);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, n, file), n);
    fclose(file);
    *ret_n = n;
    return bytes;
}

#endif

/*
 * tests/fault/tree.h: a machine made of files, in the working directory.
 */
#ifndef FAULT_TREE_H
#define FAULT_TREE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file with these bytes, and the directories above it. 0 or -1. */
static inline int put(const char *path, const void *bytes, size_t n)
{
    char part[256];
    for (const char *at = path; (at = strchr(at, '/')); at++) {
        snprintf(part, sizeof part, "%.*s", (int)(at - path), path);
        mkdir(part, 0755);
    }
    FILE *file = fopen(path, "we");
    if (!file)
        return -1;
    size_t written = fwrite(bytes, 1, n, file);
    return fclose(file) == 0 && written == n ? 0 : -1;
}

static inline int put_text(const char *path, const char *text)
{
    return put(path, text, strlen(text));
}

/* A fixture of tests/data/elf. 0 or -1. */
static inline int copy(const char *name, const char *path)
{
    char from[512], bytes[65536];
    snprintf(from, sizeof from, "%s/elf/%s", getenv("DATA") ? getenv("DATA") : "tests/data", name);
    FILE *file = fopen(from, "re");
    if (!file)
        return -1;
    size_t n = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return put(path, bytes, n);
}

#endif

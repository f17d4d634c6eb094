/*
 * perf's cache:
 *
 *     .build-id/ab/cdef…  ──link──▶  ../../usr/bin/prog/abcdef…/   elf, debug, vdso, kallsyms, probes
 *     .build-id/ab/cdef…  ──link──▶  the file itself               before Linux 4.5
 */
#include "elf/depot.h"

#include "elf/debuginfod.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_own_trouble(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

static int open_cache(void)
{
    const char *directory = secure_getenv("PERF_BUILDID_DIR"), *home = secure_getenv("HOME");
    char path[4096];

    if (directory && *directory)
        return sys_root_open(directory);
    if (!home || !*home || snprintf(path, sizeof path, "%s/.debug", home) >= (int)sizeof path)
        return -ENOENT;
    return sys_root_open(path);
}

struct depot depot_open(bool fetches)
{
    struct depot depot = {.cache = open_cache(), .fetches = fetches};

    if (depot.cache < 0)
        depot.cache = -1;
    return depot;
}

void depot_close(struct depot *depot)
{
    if (depot->cache >= 0)
        sys_close(depot->cache);
    debuginfod_close(depot->servers);
    *depot = (struct depot){.cache = -1};
}

static void cache_name(const struct build_id *id, const char *file, char ret[DEPOT_NAME_BYTES])
{
    int n = snprintf(ret, DEPOT_NAME_BYTES, ".build-id/%02x/", id->id[0]);

    for (uint32_t i = 1; i < id->bytes; i++)
        n += snprintf(ret + n, DEPOT_NAME_BYTES - (size_t)n, "%02x", id->id[i]);
    snprintf(ret + n, DEPOT_NAME_BYTES - (size_t)n, "%s%s", *file ? "/" : "", file);
}

void depot_kallsyms(const struct build_id *id, char ret[DEPOT_NAME_BYTES])
{
    cache_name(id, "kallsyms", ret);
}

/* Takes the elf if the id is its own. */
static int prove(struct elf *elf, const struct build_id *id, struct elf **ret)
{
    struct build_id own = {0};
    int rc = elf_build_id(elf, &own);

    if (rc >= 0 && build_id_same(id, &own)) {
        *ret = elf;
        return 0;
    }
    elf_close(elf);
    return is_own_trouble(rc) ? rc : -ENOENT;
}

static int find_cached(const struct depot *depot, const struct build_id *id, const char *file,
                       struct elf **ret)
{
    char name[DEPOT_NAME_BYTES];
    struct elf *elf = NULL;

    cache_name(id, file, name);
    int rc = elf_open_at(depot->cache, name, &elf, NULL);
    if (rc < 0)
        return is_own_trouble(rc) ? rc : -ENOENT;
    return prove(elf, id, ret);
}

static int find_served(struct depot *depot, const struct build_id *id, bool debug, struct elf **ret)
{
    struct elf *elf = NULL;

    if (!depot->begun) {
        int rc = debuginfod_open(&depot->servers);
        if (rc == -ENOMEM)
            return rc;
        depot->begun = true;
    }
    if (!depot->servers)
        return -ENOENT;
    int fd = debuginfod_find(depot->servers, id, debug);
    int rc = fd < 0 ? fd : elf_open_fd(fd, "debuginfod", &elf, NULL);
    if (rc < 0)
        return is_own_trouble(rc) ? rc : -ENOENT;
    return prove(elf, id, ret);
}

int depot_find(struct depot *depot, const struct build_id *id, enum depot_part part, struct elf **ret)
{
    static const char *const files[] = {
        [DEPOT_PROGRAM] = "elf", [DEPOT_DEBUG] = "debug", [DEPOT_VDSO] = "vdso"};
    int rc = -ENOENT;

    if (id->bytes < 2)
        return -ENOENT;
    if (depot->cache >= 0)
        rc = find_cached(depot, id, files[part], ret);
    if (rc == -ENOENT && depot->cache >= 0 && part == DEPOT_PROGRAM)
        rc = find_cached(depot, id, "", ret);
    if (rc == -ENOENT && depot->fetches && part != DEPOT_VDSO)
        rc = find_served(depot, id, part == DEPOT_DEBUG, ret);
    return rc;
}

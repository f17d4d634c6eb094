#include "dwarf/split.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 8192, UNITS_MAX = 1 << 22 };

/* Beside the place where it was compiled, or as it stands there. False: it is too long. */
static bool path_of(const struct unit *skeleton, char path[PATH_BYTES])
{
    int n = skeleton->split[0] == '/' || !skeleton->directory
                ? snprintf(path, PATH_BYTES, "%s", skeleton->split)
                : snprintf(path, PATH_BYTES, "%s/%s", skeleton->directory, skeleton->split);

    return n < PATH_BYTES;
}

uint64_t split_key(struct dwarf *dwarf, uint64_t offset)
{
    struct unit unit;
    char path[PATH_BYTES];
    uint64_t end;

    if (unit_read_header(dwarf, offset, &unit, &end) < 0 ||
        (unit.version >= 5 && unit.type != UNIT_SKELETON) || unit_read_root(&unit, NULL) < 0 || !unit.split ||
        !path_of(&unit, path))
        return 0;
    uint64_t key = hash_bytes(path, strlen(path));
    return key ? key : 1;
}

bool splits_changes(const struct splits *splits, const struct unit *skeleton)
{
    char path[PATH_BYTES];

    return splits->file && path_of(skeleton, path) && strcmp(splits->path, path) != 0;
}

/* A unit of that file; `whole`: its root too, which up to version 4 is what has the id. */
static int read_unit(struct dwarf *file, uint64_t at, const struct unit *skeleton, bool whole,
                     struct unit *ret, uint64_t *ret_end)
{
    struct unit unit;
    int rc = unit_read_header(file, at, &unit, ret_end);

    if (rc == 0 && unit.type != UNIT_SPLIT_COMPILE && unit.type != UNIT_COMPILE)
        rc = -ENOENT;
    if (rc == 0 && (whole || unit.version < 5))
        rc = unit_read_root(&unit, skeleton);
    if (rc == 0)
        *ret = unit;
    return rc;
}

/* The ids of all its units; of several with the same one the first is it. */
static int list_ids(struct splits *splits, const struct unit *skeleton)
{
    uint64_t whole = splits->file->info.n;

    for (uint64_t at = 0, end; splits->offsets.n < UNITS_MAX && at < whole; at = end) {
        struct unit unit;
        int rc = read_unit(splits->file, at, skeleton, false, &unit, &end);
        if (rc == 0 && table_get(&splits->by_id, unit.split_id) == TABLE_NONE) {
            uint64_t *offset = vector_push(&splits->offsets);
            if (!offset || table_put(&splits->by_id, unit.split_id, (uint32_t)splits->offsets.n - 1) < 0)
                return -ENOMEM;
            *offset = at;
        }
        if (end <= at)
            break;
    }
    return 0;
}

void splits_free(struct splits *splits)
{
    free(splits->path);
    dwarf_close(splits->file);
    table_free(&splits->by_id);
    vector_free(&splits->offsets);
    *splits = (struct splits){0};
}

/* Where else it may be: below the program's directory, where it has been moved with the program or where the directory
 * of its compilation is told from, and beside the program. False: nowhere, or it is the same once more. */
static bool other_place(const struct dwarf *dwarf, const struct unit *skeleton, bool beside,
                        char path[PATH_BYTES])
{
    const char *end = dwarf->program ? strrchr(dwarf->program, '/') : NULL;
    const char *name = skeleton->split, *slash = strrchr(name, '/');

    if (!end || (beside ? !slash : name[0] == '/'))
        return false;
    return snprintf(path, PATH_BYTES, "%.*s/%s", (int)(end - dwarf->program), dwarf->program,
                    beside ? slash + 1 : name) < PATH_BYTES;
}

static bool has_unit(const struct splits *splits, const struct unit *skeleton)
{
    return splits->file && table_get(&splits->by_id, skeleton->split_id) != TABLE_NONE;
}

/* Opens that file in place of the one before, unless it is no better. 0, or what is about this process. */
static int try_file(struct splits *splits, const struct dwarf *dwarf, const char *path,
                    const struct unit *skeleton)
{
    struct splits tried = {0};
    int rc = dwarf_open_split(dwarf->root, path, dwarf->elf->budget, &tried.file);

    if (rc < 0)
        return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE ? rc : 0;
    rc = list_ids(&tried, skeleton);
    if (rc == 0 && (!splits->file || has_unit(&tried, skeleton))) {
        splits_free(splits);
        *splits = tried;
    } else {
        splits_free(&tried);
    }
    return rc;
}

/* The skeleton's .dwo, opened now if it is another one than before; one that is not there is remembered so. */
static int open_file(struct splits *splits, const struct dwarf *dwarf, const struct unit *skeleton)
{
    char path[PATH_BYTES], other[PATH_BYTES];

    if (!path_of(skeleton, path))
        path[0] = '\0';
    if (splits->path && strcmp(splits->path, path) == 0)
        return 0;
    splits_free(splits);
    int rc = path[0] ? try_file(splits, dwarf, path, skeleton) : 0;
    for (int beside = 0; rc == 0 && beside < 2 && !has_unit(splits, skeleton); beside++)
        if (other_place(dwarf, skeleton, beside, other))
            rc = try_file(splits, dwarf, other, skeleton);
    splits->path = rc == 0 ? strdup(path) : NULL;
    if (!splits->path) {
        splits_free(splits);
        return rc < 0 ? rc : -ENOMEM;
    }
    return 0;
}

int splits_find(struct splits *splits, struct dwarf *dwarf, const struct unit *skeleton, struct unit *ret)
{
    struct dwarf *package = NULL;
    uint64_t end;
    int rc = dwarf_package(dwarf, &package);

    if (rc < 0)
        return rc;
    const struct package_unit *part = package ? package_find(&package->package, skeleton->split_id) : NULL;
    struct unit unit;
    if (part && read_unit(package, part->info, skeleton, true, &unit, &end) == 0 &&
        unit.split_id == skeleton->split_id) {
        *ret = unit;
        return 0;
    }
    rc = open_file(splits, dwarf, skeleton);
    if (rc < 0 || !splits->file)
        return rc;
    uint32_t i = table_get(&splits->by_id, skeleton->split_id);
    if (i != TABLE_NONE &&
        read_unit(splits->file, splits->offsets.items[i], skeleton, true, &unit, &end) == 0)
        *ret = unit;
    return 0;
}

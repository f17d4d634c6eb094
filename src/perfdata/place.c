#include "perfdata/place.h"

#include "base/cleanup.h"
#include "base/error.h"
#include "sys/entry.h"
#include "sys/file.h"
#include "sys/process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int place_fail(struct rk_error *e, int code, const char *path, const char *doing)
{
    uint32_t cause = code == -ENOSPC || code == -EDQUOT   ? RK_CAUSE_NO_SPACE
                     : code == -ENOMEM                    ? RK_CAUSE_MEMORY
                     : code == -EMFILE || code == -ENFILE ? RK_CAUSE_DESCRIPTORS
                                                          : RK_CAUSE_NO_FILE;
    const char *remedy =
        code == -ENOENT   ? "make its directory, or choose another file with -o"
        : code == -ENOSPC ? "free some space, or choose another file with -o"
        : code == -EACCES || code == -EROFS || code == -EPERM ? "choose a file that you may write, with -o"
        : code == -ENAMETOOLONG ? "choose a shorter name with -o: .old and the like go after it"
                                : NULL;
    return fail(e, code, RK_STAGE_CAPTURE, cause, remedy, "%s: %s: %s", path, doing, strerror(-code));
}

/* Whether what stands at the path may be moved aside: 1, 0: nothing stands there, or -errno. */
static int may_replace(const char *path, struct rk_error *e)
{
    struct sys_entry entry;

    int r = sys_entry_look(path, &entry);
    if (r == -ENOENT)
        return 0;
    if (r < 0)
        return place_fail(e, r, path, "cannot be looked at");
    if (entry.link)
        return fail(e, -ELOOP, RK_STAGE_CAPTURE, RK_CAUSE_NO_FILE, "give the path that it leads to, with -o",
                    "%s: a symbolic link, which a recording does not follow", path);
    if (!entry.regular)
        return fail(e, -EINVAL, RK_STAGE_CAPTURE, RK_CAUSE_NO_FILE,
                    "choose another file with -o; a pipe or a device is written by: -o - >FILE",
                    "%s: stands there and is not a regular file", path);
    if (entry.owner != sys_user())
        return fail(e, -EPERM, RK_STAGE_CAPTURE, RK_CAUSE_NOT_YOURS,
                    "choose another file with -o, or remove that one",
                    "%s: belongs to user %u, not to you (%u)", path, entry.owner, sys_user());
    return 1;
}

static char *join(const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 1;
    char *text = malloc(n);

    if (text)
        snprintf(text, n, "%s%s", a, b);
    return text;
}

int place_make(struct place *place, const char *path, struct rk_error *e)
{
    char tail[32];

    if (!*path)
        return fail(e, -ENOENT, RK_STAGE_CAPTURE, RK_CAUSE_ARGUMENT, "give the file a name, with -o",
                    "the recording's name is empty");
    int r = may_replace(path, e);
    if (r < 0)
        return r;
    snprintf(tail, sizeof tail, ".new-%d", (int)sys_process_id());
    *place = (struct place){-1, join(path, ""), join(path, tail), join(path, ".old")};
    if (!place->path || !place->passing || !place->old) {
        free(place->passing);
        place->passing = NULL; /* there is no file to remove */
        place_close(place);
        return fail_memory(e, RK_STAGE_CAPTURE);
    }
    place->fd = sys_entry_make(place->passing);
    if (place->fd == -EEXIST &&
        sys_entry_remove(place->passing) == 0) /* left by a process of this id, killed */
        place->fd = sys_entry_make(place->passing);
    if (place->fd < 0) {
        r = place_fail(e, place->fd, path, "cannot be made");
        free(place->passing);
        place->passing = NULL;
        place_close(place);
        return r;
    }
    return 0;
}

int place_take(struct place *place, struct rk_error *e)
{
    int r = may_replace(place->path, e);
    if (r < 0)
        return r;
    if (r == 1 && (r = sys_entry_rename(place->path, place->old)) < 0)
        return place_fail(e, r, place->path, "cannot be kept as .old");
    r = sys_entry_rename(place->passing, place->path);
    if (r < 0)
        return place_fail(e, r, place->path, "cannot be made");
    free(place->passing);
    place->passing = NULL;
    return 0;
}

int place_move(struct place *place, const char *to, struct rk_error *e)
{
    int r = may_replace(to, e);

    if (r < 0)
        return r;
    r = sys_entry_rename(place->path, to);
    if (r < 0)
        return place_fail(e, r, to, "cannot be made");
    place_close(place);
    return 0;
}

void place_close(struct place *place)
{
    if (place->fd >= 0)
        sys_close(place->fd);
    if (place->passing)
        sys_entry_remove(place->passing);
    free(place->path);
    free(place->passing);
    free(place->old);
    *place = (struct place){.fd = -1};
}

/*
 * Which file a command's name means. What execvp(3) does in the child is done before the fork, so that a
 * mistake in the name is told before anything is opened or measured.
 */
#include "base/cleanup.h"
#include "base/error.h"
#include "base/text.h"
#include "sys/process.h"
#include "target/command.h"

#include <errno.h>
#include <stdio.h>

#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin" /* where PATH is not set */

/* directory/name, to be freed; NULL: out of memory. An empty directory is the working one, as in PATH. */
static char *join(const char *directory, size_t n, const char *name)
{
    size_t length = strlen(name);
    char *path = malloc(n + 3 + length);

    if (!path)
        return NULL;
    memcpy(path, directory, n);
    if (n == 0)
        path[n++] = '.';
    path[n++] = '/';
    memcpy(path + n, name, length + 1);
    return path;
}

/* The first executable in PATH. -ENOENT; -EACCES where there was one of that name that can't be executed: *ret.
 * A directory that can't be entered holds nothing, as for a shell. */
static int search_path(const char *name, char **ret)
{
    const char *path = getenv("PATH");
    int result = -ENOENT;

    for (path = path && *path ? path : DEFAULT_PATH; path;) {
        size_t n = strcspn(path, ":");
        char *candidate = join(path, n, name);
        if (!candidate)
            return -ENOMEM;
        int rc = sys_executable(candidate);
        if (rc == 0) {
            free(*ret);
            *ret = candidate;
            return 0;
        }
        if (rc == -EACCES && result != rc) {
            result = rc;
            *ret = TAKE_PTR(candidate);
        }
        free(candidate);
        path = path[n] == ':' ? path + n + 1 : NULL;
    }
    return result;
}

/* A file that is there and can't be executed: not all are programs that lack a bit. */
static int not_executable(const char *path, const char *shown, struct rk_error *e)
{
    enum sys_file_kind kind = path ? sys_file_kind(path) : SYS_FILE_UNKNOWN;
    char remedy[200] = "ask its owner for the permission";

    if (kind == SYS_FILE_OWN_PROGRAM) {
        char file[150];
        snprintf(remedy, sizeof remedy, "chmod +x %s", text_show(file, sizeof file, path, strlen(path)));
    }
    if (kind == SYS_FILE_OTHER)
        snprintf(remedy, sizeof remedy, "give a program; a shell script without #! is run by: sh %s", shown);
    return fail(e, -EACCES, RK_STAGE_TARGET, RK_CAUSE_NO_COMMAND, remedy, "%s: %s", shown,
                kind == SYS_FILE_OTHER ? "not a program: it begins neither as ELF nor with #!"
                                       : "permission to execute it is missing");
}

static int not_found(int rc, const char *name, const char *path, struct rk_error *e)
{
    char shown[100], remedy[160] = "check the spelling, or give its path";
    bool is_path = strchr(name, '/') != NULL;

    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_TARGET);
    text_show(shown, sizeof shown, name, strlen(name));
    if (rc == -ENOENT && !is_path && sys_executable(name) == 0)
        snprintf(remedy, sizeof remedy, "did you mean ./%s?", shown);
    if (rc == -EACCES)
        return not_executable(is_path ? name : path, shown, e);
    const char *why = rc == -ENOENT   ? (is_path ? "no such file" : "not found in PATH")
                      : rc == -EISDIR ? "is a directory"
                      : rc == -EPERM  ? "a directory on the way may not be entered"
                                      : strerror(-rc);
    if (rc == -EISDIR || rc == -EPERM)
        rc = -EACCES; /* as execve(2) would say */
    return fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_NO_COMMAND, remedy, "%s: %s", shown, why);
}

/* `path`, freed, as seen from anywhere. */
static int make_absolute(char **path, struct rk_error *e)
{
    int rc = 0;

    if ((*path)[0] == '/')
        return 0;
    _cleanup_free_ char *directory = sys_directory(&rc);
    if (!directory)
        return rc == -ENOMEM ? fail_memory(e, RK_STAGE_TARGET)
                             : fail(e, rc, RK_STAGE_TARGET, RK_CAUSE_NO_FILE, "cd to a directory that exists",
                                    "cannot name the working directory: %s", strerror(-rc));
    char *joined = join(directory, strlen(directory), *path);
    if (!joined)
        return fail_memory(e, RK_STAGE_TARGET);
    free(*path);
    *path = joined;
    return 0;
}

/* The file, to be freed. */
static int find(const char *name, char **ret)
{
    if (*name == '\0')
        return -ENOENT;
    if (!strchr(name, '/'))
        return search_path(name, ret);
    int rc = sys_executable(name);
    if (rc == 0 && !(*ret = strdup(name)))
        rc = -ENOMEM;
    return rc;
}

int command_search(const char *name, bool absolute, char **ret, struct rk_error *e)
{
    _cleanup_free_ char *path = NULL;
    int rc = find(name, &path);

    if (rc < 0 || !path)
        return not_found(rc, name, path, e);
    if (absolute && (rc = make_absolute(&path, e)) < 0)
        return rc;
    *ret = TAKE_PTR(path);
    return 0;
}

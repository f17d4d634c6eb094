#include "page.h"

#include "command.h"
#include "destination.h"
#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *page_mistake(const struct page_options *options)
{
    if (options->show && !options->path)
        return "--open shows the page that --html names";
    if (options->show && strcmp(options->path, "-") == 0)
        return "--open needs a file: --html can't be - then";
    if (options->path && strcmp(options->path, "-") == 0 && isatty(STDOUT_FILENO))
        return "--html - writes a page, and standard output is a terminal";
    if (options->path && destination_is_recording(options->path))
        return "--html names the page to write, and that is a recording: --html PAGE.html FILE";
    return NULL;
}

static int cannot(const char *verb, const char *path, int why)
{
    fprintf(stderr, "reckon %s: %s: %s\n", verb, path, strerror(why ? why : EIO));
    return STATUS_FAILED;
}

/* The browser outlives us and says nothing on this terminal. */
static int start_browser(const char *program, const char *path)
{
    char *words[] = {(char *)(uintptr_t)program, (char *)(uintptr_t)path, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    pid_t pid;

    if (posix_spawn_file_actions_init(&files) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        posix_spawn_file_actions_destroy(&files);
        return ENOMEM;
    }
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID);
    int rc = 0;
    for (int fd = 0; fd < 3 && rc == 0; fd++)
        rc = posix_spawn_file_actions_addopen(&files, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawnp(&pid, program, &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static void show(const char *verb, const char *path)
{
    char whole[PATH_MAX];
    const char *programs[] = {getenv("BROWSER"), "xdg-open", "x-www-browser"};

    if (!realpath(path, whole)) {
        cannot(verb, path, errno);
        return;
    }
    const char *screen = getenv("WAYLAND_DISPLAY") ? getenv("WAYLAND_DISPLAY") : getenv("DISPLAY");
    size_t tried =
        screen && screen[0] ? sizeof programs / sizeof *programs : 1; /* those need one, $BROWSER may not */
    for (size_t i = 0; i < tried; i++)
        if (programs[i] && programs[i][0] && start_browser(programs[i], whole) == 0)
            return;
    fprintf(stderr, "reckon %s: no browser could be started (%s); open it yourself: file://%s\n", verb,
            tried > 1 ? "xdg-open, $BROWSER" : "there is no display here, nor $BROWSER", whole);
}

static void tell(const char *verb, const char *path)
{
    struct stat st;
    char size[32];

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        fprintf(stderr, "reckon %s: wrote %s (%s); any browser shows it, it fetches nothing\n", verb, path,
                print_bytes((uint64_t)st.st_size, size, sizeof size));
}

/* `before` NULL: there is none. */
static int write_page(const char *verb, const struct rk_profile *before, const struct rk_profile *profile,
                      uint32_t normalise, const struct page_options *options)
{
    struct rk_error e = {.size = sizeof e};
    const char *path = options->path;
    bool to_stdout = strcmp(path, "-") == 0;
    struct rk_sink out = print_sink(stdout);
    int rc = !to_stdout ? (before ? rk_profile_pair_export_path(before, profile, normalise, "html", path, &e)
                                  : rk_profile_export_path(profile, "html", path, &e))
             : before   ? rk_profile_pair_export(before, profile, normalise, "html", &out, &e)
                        : rk_profile_export(profile, "html", &out, &e);

    if (rc < 0)
        return print_error(verb, &e);
    errno = 0;
    if (to_stdout && fflush(stdout) != 0)
        return cannot(verb, "stdout", errno);
    if (!to_stdout && !options->quiet)
        tell(verb, path);
    if (options->show)
        show(verb, path);
    return 0;
}

int page_of_file(const char *verb, const char *path, const struct view *view,
                 const struct page_options *options)
{
    handle_recording struct recording all = {0};
    int status = view_read(verb, path, view, false, &all);

    if (status == 0)
        status = write_page(verb, NULL, all.profiles[0], 0, options);
    return status == 0 && all.damaged ? STATUS_FAILED : status;
}

int page_of_pair(const char *verb, const struct rk_profile *before, const struct rk_profile *after,
                 uint32_t normalise, const struct page_options *options)
{
    return write_page(verb, before, after, normalise, options);
}

#include "destination.h"

#include "print.h"

#include <errno.h>
#include <fcntl.h>
#include <reckon/sink.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool destination_is_recording(const char *path)
{
    char magic[8] = "";
    struct stat about;

    if (stat(path, &about) < 0 || !S_ISREG(about.st_mode)) /* a pipe would wait for its writer */
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    size_t n = fread(magic, 1, sizeof magic, file);
    fclose(file);
    return n == sizeof magic && (memcmp(magic, "PERFILE2", n) == 0 || memcmp(magic, "2ELIFREP", n) == 0);
}

bool destination_is_terminal(const char *path)
{
    struct stat about;

    if (!path || strcmp(path, "-") == 0)
        return isatty(STDOUT_FILENO);
    if (stat(path, &about) < 0 || !S_ISCHR(about.st_mode)) /* opening a pipe would wait for its reader */
        return false;
    int fd = open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    bool is = fd >= 0 && isatty(fd);
    if (fd >= 0)
        close(fd);
    return is;
}

int destination_open(struct destination *to, const char *verb, const char *name, bool append)
{
    struct stat about;

    *to = (struct destination){.verb = verb, .name = name ? name : "stderr", .file = stderr};
    if (!name)
        return 0;
    if (strcmp(name, "-") == 0) {
        to->file = stdout;
        return 0;
    }
    struct rk_error e = RK_INIT(e);
    int fd;
    if (rk_sink_open_file(name, append ? RK_SINK_APPEND : 0, &fd, &e) < 0)
        return print_error(verb, &e), -1;
    to->behind = append && fstat(fd, &about) == 0 && about.st_size > 0;
    to->file = fdopen(fd, append ? "a" : "w");
    if (to->file)
        return 0;
    fprintf(stderr, "reckon %s: %s: %s\n", verb, name, strerror(errno));
    close(fd);
    return -1;
}

static int gone_wrong(struct destination *to)
{
    int why = errno;

    if (!to->failed && to->file != stderr)
        fprintf(stderr, "reckon %s: %s: %s\n", to->verb, to->name, strerror(why ? why : EIO));
    to->failed = true;
    to->gone |= why == EPIPE;
    return -1;
}

int destination_write(struct destination *to, const char *text, size_t n)
{
    errno = 0;
    if (!to->failed && fwrite(text, 1, n, to->file) == n && fflush(to->file) == 0)
        return 0;
    gone_wrong(to);
    if (to->file != stderr) {
        fwrite(text, 1, n, stderr);
        fflush(stderr);
    }
    return -1;
}

int destination_close(struct destination *to)
{
    FILE *file = to->file;

    to->file = NULL;
    if (file && file != stderr && file != stdout) {
        errno = 0;
        bool before = to->failed; /* then its buffer may hold what was written to stderr since */
        if (fclose(file) != 0 && !before)
            gone_wrong(to);
    }
    return to->failed ? -1 : 0;
}

#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Both ways, so that it opens without a partner, and no end of file comes when a script's `echo` has ended. */
static int open_fifo(const char *path, char *why, size_t size)
{
    struct stat about;
    int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0) {
        snprintf(why, size, "%s: %s%s%s", path, strerror(errno), errno == ENOENT ? "; make it: mkfifo " : "",
                 errno == ENOENT ? path : "");
    } else if (fstat(fd, &about) < 0 || !S_ISFIFO(about.st_mode)) {
        snprintf(why, size, "%s: not a FIFO; make one by mkfifo", path);
        close(fd);
        fd = -1;
    }
    return fd;
}

static int take_fd(const char *text, char *why, size_t size)
{
    char *end;
    long fd = strtol(text, &end, 10);

    if (end == text || *end || fd < 0 || fd > INT_MAX) {
        snprintf(why, size, "'%s' is not a descriptor's number", text);
        return CONTROL_MISTAKE;
    }
    if (fcntl((int)fd, F_GETFD) < 0) {
        snprintf(why, size, "descriptor %ld is not open", fd);
        return -1;
    }
    return (int)fd;
}

int control_open(struct control *control, const char *where, char *why, size_t size)
{
    bool fifo = strncmp(where, "fifo:", 5) == 0;
    char text[PATH_MAX * 2];

    *control = (struct control){.in = -1, .ack = -1, .own = fifo};
    if ((!fifo && strncmp(where, "fd:", 3) != 0) || strlen(where) >= sizeof text) {
        snprintf(why, size, "'%.80s' is neither fifo:CTL[,ACK] nor fd:CTL[,ACK]", where);
        return CONTROL_MISTAKE;
    }
    snprintf(text, sizeof text, "%s", where + (fifo ? 5 : 3));
    char *ack = strchr(text, ',');
    if (ack)
        *ack++ = '\0';
    control->in = fifo ? open_fifo(text, why, size) : take_fd(text, why, size);
    if (control->in < 0)
        return control->in;
    if (!ack)
        return 0;
    int answers = fifo ? open_fifo(ack, why, size) : take_fd(ack, why, size);
    if (answers < 0) {
        control_close(control);
        return answers;
    }
    control->ack = answers;
    return 0;
}

static enum control_word word_of(char *line)
{
    static const struct {
        const char *text;
        enum control_word word;
    } words[] = {
        {"enable", CONTROL_ENABLE},     {"disable", CONTROL_DISABLE}, {"ping", CONTROL_PING},
        {"snapshot", CONTROL_SNAPSHOT}, {"stop", CONTROL_STOP},
    };
    size_t n = strlen(line);

    while (n > 0 && strchr(" \t\r", line[n - 1]))
        line[--n] = '\0';
    if (n == 0)
        return CONTROL_NONE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(line, words[i].text) == 0)
            return words[i].word;
    return CONTROL_UNKNOWN;
}

/* More bytes, if there are some now: 1, 0, or -1 for the end. A descriptor that was given may block, so it is asked. */
static int fill(struct control *control)
{
    struct pollfd ask = {.fd = control->in, .events = POLLIN};

    if (poll(&ask, 1, 0) <= 0)
        return 0;
    ssize_t n = read(control->in, control->bytes, sizeof control->bytes);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (n <= 0)
        return -1;
    control->at = 0;
    control->n = (size_t)n;
    return 1;
}

/* A byte of a line; true where it ended one that is in control->line. */
static bool take(struct control *control, char c)
{
    if (c != '\n' && c != '\0') {
        if (control->line_n + 1 < sizeof control->line)
            control->line[control->line_n++] = c;
        else
            control->over = true;
        return false;
    }
    control->line[control->line_n] = '\0';
    control->line_n = 0;
    return true;
}

enum control_word control_next(struct control *control)
{
    for (;;) {
        if (control->at == control->n) {
            int more = fill(control);
            if (more <= 0)
                return more < 0 ? CONTROL_END : CONTROL_NONE;
        }
        while (control->at < control->n) {
            if (!take(control, control->bytes[control->at++]))
                continue;
            enum control_word word = control->over ? CONTROL_UNKNOWN : word_of(control->line);
            control->over = false;
            if (word != CONTROL_NONE)
                return word;
        }
    }
}

/* Five bytes, as perf does it: programs compare them as a C string. Nobody who reads them is no error. */
void control_answer(struct control *control)
{
    static const char text[] = "ack\n";

    if (control->ack >= 0)
        (void)!write(control->ack, text, sizeof text);
}

void control_close(struct control *control)
{
    if (control->own && control->in >= 0)
        close(control->in);
    if (control->own && control->ack >= 0)
        close(control->ack);
    control->in = control->ack = -1;
}

void control_unknown(const struct control *control, const char *verb)
{
    fprintf(stderr, "reckon %s: --control: no word '%s'; there are enable, disable, ping, snapshot, stop\n",
            verb, control->line);
}

/*
 * What the command's child that reads strangers' files may still do (command/privilege.c): read, and nothing that would
 * serve whoever took it over. Each call is tried before the fence too, where it must work or fail for its own reason.
 */
#include "live.h"

#include "../../command/privilege.c"

#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char file[TEMPORARY];

static int reading(void)
{
    return open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
}

static int opening_to_write(void)
{
    return open(file, O_WRONLY | O_CLOEXEC);
}

static int truncating(void)
{
    return open(file, O_RDONLY | O_TRUNC | O_CLOEXEC);
}

static int creating(void)
{
    return openat(AT_FDCWD, file, O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
}

static int connecting(void)
{
    return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int signalling(void)
{
    return kill(getppid(), 0);
}

static int signalling_a_thread(void)
{
    return (int)syscall(SYS_tgkill, getppid(), getppid(), 0);
}

static int changing_mode(void)
{
    return chmod(file, 0644);
}

/* After the fence: with no file of that name an execution would fail by -ENOENT. */
static int executing(void)
{
    char *none[] = {NULL};

    execve("/nonexistent/program", none, none);
    return errno == ENOENT ? 0 : -1;
}

#ifdef __x86_64__
/* The same calls by other numbers: those of the x32 ABI. A kernel without it answers ENOSYS. */
static int other_numbers(void)
{
    return (int)syscall(0x40000000 | SYS_socket, AF_UNIX, SOCK_STREAM, 0) < 0 && errno == ENOSYS ? 0 : -1;
}
#endif

static const struct {
    const char *name;
    int (*call)(void);
    bool allowed;
} calls[] = {
    {"reading", reading, true},
    {"opening to write", opening_to_write, false},
    {"truncating", truncating, false},
    {"creating", creating, false},
    {"a socket", connecting, false},
    {"a signal", signalling, false},
    {"a signal to a thread", signalling_a_thread, false},
    {"changing a mode", changing_mode, false},
    {"executing", executing, false},
#ifdef __x86_64__
    {"calls by other numbers", other_numbers, false},
#endif
};

enum { CALLS = sizeof calls / sizeof *calls };

/* The child's exit status: 0, or the number of the call that was not as it should be, from 1 on. */
static int tried(bool fenced)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        if (fenced)
            privilege_read();
        for (int i = 0; i < CALLS; i++) {
            errno = 0;
            int rc = calls[i].call();
            bool refused = rc < 0 && errno == EPERM;
            if (fenced ? refused == calls[i].allowed : rc < 0)
                _exit(i + 1);
        }
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

int main(void)
{
    int fd = mkostemp(temporary(file, "reckon-fence-XXXXXX"), O_CLOEXEC);

    CHECK(fd >= 0);
    int before = tried(false), behind = tried(true);
    CHECK(unlink(file) == 0);
    if (before)
        SKIP("%s fails here without the fence", calls[before - 1].name);
    if (behind)
        FAIL("%s is not as it should be", calls[behind - 1].name);
    return 0;
}

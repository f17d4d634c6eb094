/*
 * /init of the guest: mounts what a measuring program looks at, opens the limits, runs /prog with the
 * NUL-separated arguments of /args, tells its status on the console, powers off.
 *
 * The two lines with @@ are for run-guest: what stands between them is the program's output.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static void set(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    if (fd < 0)
        return; /* not every kernel has each */
    if (write(fd, text, strlen(text)) < 0)
        perror(path);
    close(fd);
}

static void mount_all(void)
{
    mount("dev", "/dev", "devtmpfs", 0, 0);
    mount("proc", "/proc", "proc", 0, 0);
    mount("sys", "/sys", "sysfs", 0, 0);
    mount("trace", "/sys/kernel/tracing", "tracefs", 0, 0);
    mount("cgroup", "/sys/fs/cgroup", "cgroup2", 0, 0);
    mount("tmp", "/tmp", "tmpfs", 0, 0);
    chmod("/tmp", 01777);
}

/* The console as standard streams, raw, so that \n does not become \r\n. */
static int console(void)
{
    struct termios t;
    int fd = open("/dev/console", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -1;
    for (int i = 0; i < 3; i++)
        dup2(fd, i);
    if (!tcgetattr(1, &t)) {
        cfmakeraw(&t);
        tcsetattr(1, TCSANOW, &t);
    }
    return 0;
}

static char **arguments(void)
{
    static char args[1 << 16], *argv[1024];
    int n = 0;
    int fd = open("/args", O_RDONLY);
    ssize_t len = fd < 0 ? 0 : read(fd, args, sizeof args - 1);
    if (fd >= 0)
        close(fd);
    for (char *p = args; p < args + len && n < 1023; p += strlen(p) + 1)
        argv[n++] = p;
    return argv;
}

int main(void)
{
    int status = 0;

    mount_all();
    if (console() < 0)
        return 1;
    set("/proc/sys/kernel/perf_event_paranoid", "2"); /* for plain users, as most machines have it */
    set("/proc/sys/kernel/kptr_restrict", "0");
    set("/proc/sys/kernel/perf_cpu_time_max_percent", "0"); /* emulation is slow: no throttling for that */
    set("/proc/sys/kernel/perf_user_access", "1");          /* user-space counter reads */
    setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
    setenv("HOME", "/tmp", 1);

    char **argv = arguments();
    dprintf(1, "@@guest-start@@\n");
    pid_t pid = fork();
    if (!pid) {
        setsid();
        execv("/prog", argv);
        perror("exec /prog");
        _exit(127);
    }
    for (pid_t w; (w = wait(&status)) != pid && w > 0;)
        ;
    dprintf(1, "@@guest-exit %d@@\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    tcdrain(1);
    reboot(RB_POWER_OFF);
    return 1;
}

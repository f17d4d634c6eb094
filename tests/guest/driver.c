/*
 * The guest's test driver: runs every program of /tests, in the order of their names, and prints one
 * line for each, then the totals, in the words that tools/check adds up:
 *
 *     ok hw_count
 *     SKIP software_only: no cgroup here
 *     FAIL hw_period: exit status 1
 *         … what it printed …
 *     12 passed, 1 failed, 1 skipped
 *
 * A program passes with status 0 and skips with 77; the last line that it printed is then the reason. Those
 * whose name begins with hw_ may not skip: the machine was made to have what they need; with the option -s
 * they may. Further arguments are names to run only those.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "/tests"
#define OUTPUT "/tmp/driver.out"
#define LIMIT_S 60 /* of the guest's time */

static char output[1 << 16]; /* what the last program printed, cut where it is longer */

static void read_output(void)
{
    int fd = open(OUTPUT, O_RDONLY);
    ssize_t n = fd < 0 ? 0 : read(fd, output, sizeof output - 1);
    if (fd >= 0)
        close(fd);
    output[n > 0 ? n : 0] = 0;
}

/* The last line with something on it. */
static const char *last_line(char *text)
{
    size_t n = strlen(text);
    while (n && text[n - 1] == '\n')
        text[--n] = 0;
    char *nl = strrchr(text, '\n');
    return nl ? nl + 1 : text;
}

static void print_indented(const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        printf("    %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* Runs one program in a session and a folder of its own and gives its wait status; -1: it took too long. */
static int run(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    pid_t pid = fork();
    if (pid == 0) {
        int fd = open(OUTPUT, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        int null = open("/dev/null", O_RDONLY);
        char folder[600];
        setsid();
        dup2(null, 0);
        dup2(fd, 1);
        dup2(fd, 2);
        close(fd);
        close(null);
        snprintf(folder, sizeof folder, "/tmp/%s", name);
        if (mkdir(folder, 0755) < 0 || chdir(folder) < 0)
            _exit(126);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    struct timespec pause = {0, 2000000};
    for (time_t end = time(NULL) + LIMIT_S; waitpid(pid, &status, WNOHANG) == 0; nanosleep(&pause, NULL))
        if (time(NULL) > end) {
            kill(-pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return -1;
        }
    kill(-pid, SIGKILL); /* what it left behind */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    return status;
}

static int programs_only(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static int wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(name, argv[i]))
            return 1;
    return argc < 2;
}

int main(int argc, char **argv)
{
    struct dirent **list;
    int may_skip = argc > 1 && !strcmp(argv[1], "-s");
    unsigned passed = 0, failed = 0, skipped = 0;
    int n = scandir(FOLDER, &list, programs_only, alphasort);

    setvbuf(stdout, NULL, _IOLBF, 0);
    setenv("RECKON", "/bin/reckon", 1);
    setenv("RECKON_HOTPLUG", "1", 1); /* CPUs may be taken off: this machine is ours */
    if (!may_skip)
        setenv("RECKON_GUEST", "1", 1); /* counts are exact here: live.h */
    for (int i = 0; i < n; i++) {
        const char *name = list[i]->d_name;
        if (!wanted(name, argc - may_skip, argv + may_skip))
            continue;
        int status = run(name);
        read_output();
        if (status == 0) {
            passed++;
            printf("ok %s\n", name);
        } else if (WIFEXITED(status) && WEXITSTATUS(status) == 77 &&
                   (may_skip || strncmp(name, "hw_", 3) != 0)) {
            skipped++;
            printf("SKIP %s: %s\n", name, last_line(output));
        } else {
            failed++;
            if (status == -1)
                printf("FAIL %s: still running after %d s\n", name, LIMIT_S);
            else if (WIFSIGNALED(status))
                printf("FAIL %s: signal %d\n", name, WTERMSIG(status));
            else if (WEXITSTATUS(status) == 77)
                printf("FAIL %s: skipped, which a test of hardware events may not do here\n", name);
            else
                printf("FAIL %s: exit status %d\n", name, WEXITSTATUS(status));
            print_indented(output);
        }
    }
    if (n <= 0 || passed + failed + skipped == 0) {
        printf("FAIL driver: no program in " FOLDER "\n");
        failed++;
    }
    printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
    return failed != 0;
}

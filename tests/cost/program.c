/*
 * What tests/cost/run counts the instructions of.
 *
 *     program read EVENTS TIMES      rk_set_read() of a set of these
 *     program call TIMES             read(2) of libc, and a function that does nothing, called the same way
 *     program region TIMES           scopes, which the environment arms or not
 *     program memory COMMAND...      runs it and prints its peak resident size, KiB
 */
#include <fcntl.h>
#include <reckon/reckon.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int reads(const char *events, int times)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set *set;
    struct rk_value v[64];

    if (rk_set_self(events, &set, &e) < 0) {
        printf("%s\n", e.what);
        return 77;
    }
    rk_set_enable(set);
    for (int i = 0; i < times; i++)
        if (rk_set_read(set, 0, v, NULL, rk_set_event_count(set)) < 0)
            return 1;
    rk_set_free(set);
    return 0;
}

/* What is measured is cost_call(): of libc's function, less of one that returns at once. */
typedef ssize_t (*call)(int, void *, size_t);

static ssize_t nothing(int fd, void *to, size_t n)
{
    (void)fd;
    (void)to;
    (void)n;
    return 0;
}

__attribute__((noinline)) static void call_each(call volatile *function, int fd, int times)
{
    char to[8];

    for (int i = 0; i < times; i++)
        (void)!(*function)(fd, to, sizeof to);
}

__attribute__((noinline)) void cost_call(int fd, int times);
__attribute__((noinline)) void cost_no_call(int fd, int times);

void cost_call(int fd, int times)
{
    call volatile function = read;

    call_each(&function, fd, times);
}

void cost_no_call(int fd, int times)
{
    call volatile function = nothing;

    call_each(&function, fd, times);
}

static int calls(int times)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return 1;
    cost_call(fd, times);
    cost_no_call(fd, times);
    close(fd);
    return 0;
}

/* What is measured is this function less what the same loop costs without the region. */
__attribute__((noinline)) void cost_region(int times);
__attribute__((noinline)) void cost_empty(int times);

void cost_region(int times)
{
    for (int i = 0; i < times; i++) {
        RK_REGION("scope");
        __asm__ volatile("" ::: "memory");
    }
}

void cost_empty(int times)
{
    for (int i = 0; i < times; i++)
        __asm__ volatile("" ::: "memory");
}

/* A child of this small program: it begins with what that has resident, which is less than any limit. */
static int memory(char **command)
{
    struct rusage used;
    int status;
    pid_t child = fork();

    if (child == 0) {
        execvp(command[0], command);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child || status != 0)
        return 1;
    printf("%ld\n", used.ru_maxrss);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "read"))
        return reads(argv[2], atoi(argv[3]));
    if (argc == 3 && !strcmp(argv[1], "call"))
        return calls(atoi(argv[2]));
    if (argc == 3 && !strcmp(argv[1], "region")) {
        cost_region(atoi(argv[2]));
        cost_empty(atoi(argv[2]));
        return 0;
    }
    if (argc > 2 && !strcmp(argv[1], "memory"))
        return memory(argv + 2);
    return 2;
}

/*
 * What tests/cost/run counts the instructions of.
 *
 *     program read EVENTS TIMES      rk_set_read() of a set of these
 *     program region TIMES           scopes, which the environment arms or not
 *     program memory COMMAND...      runs it and prints its peak resident size, KiB
 */
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
    if (argc == 3 && !strcmp(argv[1], "region")) {
        cost_region(atoi(argv[2]));
        cost_empty(atoi(argv[2]));
        return 0;
    }
    if (argc > 2 && !strcmp(argv[1], "memory"))
        return memory(argv + 2);
    return 2;
}

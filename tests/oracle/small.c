/*
 * A small program to be sampled: stacks of every kind, without frame pointers.
 *
 *     small KIND MS      for so many milliseconds of CPU time. 25, 100: so many calls deep; sort: through the C library
 *                        and back; room: alloca and arrays of variable length; large: frames of 40,000 bytes; signal:
 *                        within a handler; other: … on a stack of its own; thread: of a thread; clock: in the vDSO;
 *                        all: the first five in turn
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile long sink;

NOINLINE static void work(void)
{
    for (int i = 0; i < 3000; i++)
        sink += i;
}

NOINLINE static int down(int depth)
{
    char room[24];

    memset(room, depth, sizeof room);
    sink += room[depth % 24];
    if (depth <= 1)
        work();
    int n = depth > 1 ? down(depth - 1) : 0;
    sink += n;
    return n + 1;
}

NOINLINE static int compare(const void *a, const void *b)
{
    work();
    return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(int n)
{
    int numbers[16];

    for (int i = 0; i < 16; i++)
        numbers[i] = (i * 7 + n) % 16;
    qsort(numbers, 16, sizeof *numbers, compare);
    sink += numbers[n % 16];
}

NOINLINE static int roomy(int depth)
{
    long array[depth + 1], *some = alloca(8 * (size_t)(depth % 13 + 1));

    memset(array, depth, sizeof array);
    memset(some, 0, 8);
    work();
    int n = depth > 1 ? roomy(depth - 1) : 0;
    sink += array[depth] + some[0] + n;
    return n + 1;
}

NOINLINE static void large(void)
{
    char room[40000];

    memset(room, (int)sink,
           sizeof room); /* all of it: the kernel dumps up to the first page that is not there */
    down(5);
    sink += room[sink & 63];
}

NOINLINE static void caught(int number)
{
    down(3);
    sink += number;
}

NOINLINE static void interrupted(int number)
{
    raise(number);
    sink++;
}

NOINLINE static void signals(int flags)
{
    static char other[1 << 16];
    stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
    struct sigaction action = {.sa_handler = caught, .sa_flags = flags};

    if (sigaltstack(&stack, NULL) < 0 || sigaction(SIGUSR1, &action, NULL) < 0)
        exit(1);
    interrupted(SIGUSR1);
}

NOINLINE static long spent_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

NOINLINE static void ticks(void)
{
    struct timespec t;

    for (int i = 0; i < 1000; i++)
        sink += clock_gettime(CLOCK_MONOTONIC, &t);
}

NOINLINE static void *thread(void *context)
{
    for (int i = 0; i < 100; i++)
        sink += down(10);
    return context;
}

NOINLINE static void threads(void)
{
    pthread_t one;

    if (pthread_create(&one, NULL, thread, NULL) || pthread_join(one, NULL))
        exit(1);
}

static int one(const char *kind, int round)
{
    if (atoi(kind))
        sink += down(atoi(kind));
    else if (!strcmp(kind, "sort"))
        sort(round);
    else if (!strcmp(kind, "room"))
        sink += roomy(30);
    else if (!strcmp(kind, "large"))
        large();
    else if (!strcmp(kind, "signal"))
        signals(0);
    else if (!strcmp(kind, "other"))
        signals(SA_ONSTACK);
    else if (!strcmp(kind, "clock"))
        ticks();
    else if (!strcmp(kind, "thread"))
        threads();
    else
        return 1;
    return 0;
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"25", "100", "sort", "room", "large"};
    enum { KINDS = sizeof kinds / sizeof *kinds };

    if (argc != 3)
        return 2;
    for (int i = 0; i % 64 || spent_ms() < atol(argv[2]); i++) /* seldom: clock is a kind of its own */
        if (one(strcmp(argv[1], "all") ? argv[1] : kinds[i % KINDS], i))
            return 2;
    return 0;
}

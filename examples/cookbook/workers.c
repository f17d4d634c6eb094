/*
 * Three threads that share a lock: one thread writes while it holds the lock, and the disk is slow.
 * Two answers of reckon-cookbook(7) ask what its threads wait for, and which of them is busy.
 *
 *     cc -O2 -g -pthread -o workers workers.c
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total;

__attribute__((noinline)) static void write_log(void)
{
    struct timespec slow_disk = {0, 20000000};
    nanosleep(&slow_disk, NULL);
}

__attribute__((noinline)) static unsigned long compute(unsigned long n)
{
    volatile unsigned long sum = 0;
    for (unsigned long i = 0; i < n; i++)
        sum += i;
    return sum;
}

static void *logger(void *unused)
{
    pthread_setname_np(pthread_self(), "logger");
    for (int i = 0; i < 25; i++) {
        pthread_mutex_lock(&lock);
        write_log();
        pthread_mutex_unlock(&lock);
        compute(300000);
    }
    return unused;
}

static void *worker(void *unused)
{
    pthread_setname_np(pthread_self(), "worker");
    for (int i = 0; i < 25; i++) {
        unsigned long sum = compute(1000000);
        pthread_mutex_lock(&lock);
        total += sum;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    void *(*const what[])(void *) = {logger, worker, worker};
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, what[i], NULL) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%lu\n", total);
    return 0;
}

/*
 * tests/fault/victim.h: a process to be attached to, this program again as `fault_X --victim [--breeds]`.
 *
 * It has a few threads, says 'r' on its stdout when they are there, and does as it is told on its stdin: 'w' is work,
 * PAGES page faults, answered by 'd'. With --breeds threads are born and end all the time.
 */
#ifndef FAULT_VICTIM_H
#define FAULT_VICTIM_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define VICTIM_THREADS 3
#define VICTIM_PAGES 500

struct victim {
    pid_t pid; /* 0: none */
    int to, from;
};

static void *victim_waits(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void *victim_ends(void *unused)
{
    usleep(200);
    return unused;
}

static void *victim_breeds(void *unused)
{
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, victim_ends, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return unused;
}

static int victim_main(bool breeds)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_t thread;
    char word;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (int i = 0; i < VICTIM_THREADS; i++)
        pthread_create(&thread, NULL, breeds ? victim_breeds : victim_waits, NULL);
    if (write(1, "r", 1) != 1)
        return 1;
    while (read(0, &word, 1) == 1) {
        volatile char *at =
            mmap(NULL, VICTIM_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        madvise((void *)(uintptr_t)at, VICTIM_PAGES * page, MADV_NOHUGEPAGE);
        for (size_t i = 0; i < VICTIM_PAGES; i++)
            at[i * page] = 1;
        munmap((void *)(uintptr_t)at, VICTIM_PAGES * page);
        if (write(1, "d", 1) != 1)
            return 1;
    }
    return 0;
}

/* The calls below must not be counted as the library's: faults are off meanwhile. */
static void victim_start(struct victim *v, bool breeds)
{
    int to[2], from[2];
    char word;

    fault_pause(true);
    EXPECT(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    v->pid = fork();
    if (v->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        execl("/proc/self/exe", "victim", "--victim", breeds ? "--breeds" : NULL, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    v->to = to[1];
    v->from = from[0];
    EXPECT(v->pid > 0 && read(v->from, &word, 1) == 1);
    fault_pause(false);
}

/* It works: true; false where it has died. */
static bool victim_work(struct victim *v)
{
    char word = 0;

    fault_pause(true);
    bool worked = write(v->to, "w", 1) == 1 && read(v->from, &word, 1) == 1 && word == 'd';
    fault_pause(false);
    return worked;
}

__attribute__((unused)) static void victim_kill(const struct victim *v)
{
    char path[40], state = 0;

    if (v->pid <= 0)
        return;
    kill(v->pid, SIGKILL);
    snprintf(path, sizeof path, "/proc/%d/stat", v->pid);
    while (state != 'Z') { /* until it is dead, not until it is gone: that is to wait for */
        FILE *file = fopen(path, "re");
        if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = 'Z';
        if (file)
            fclose(file);
        if (state != 'Z')
            usleep(500);
    }
}

/* Its end is ours to take: nobody else has. */
static void victim_end(struct victim *v)
{
    if (v->pid <= 0)
        return;
    fault_pause(true);
    kill(v->pid, SIGKILL);
    EXPECT(waitpid(v->pid, NULL, 0) == v->pid);
    close(v->to);
    close(v->from);
    *v = (struct victim){0};
    fault_pause(false);
}

#endif

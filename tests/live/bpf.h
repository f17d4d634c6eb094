/*
 * tests/live/bpf.h: loads a BPF program that only counts, and runs it.
 */
#ifndef LIVE_BPF_H
#define LIVE_BPF_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { BPF_PROGRAM_LOAD = 5, BPF_PROGRAM_RUN = 10, BPF_ADDITIONS = 2000 };

/* Its descriptor, or -errno: not allowed here. It is unloaded when that is closed. */
static inline int load_bpf(const char *name)
{
    static uint64_t code[BPF_ADDITIONS + 2];
    struct {
        uint32_t type, n;
        uint64_t code, license;
        uint32_t log_level, log_bytes;
        uint64_t log;
        uint32_t version, flags;
        char name[16];
    } attr = {.type = 1, .n = sizeof code / 8, .code = (uintptr_t)code, .license = (uintptr_t) "GPL"};

    code[0] = 0xb7; /* r0 = 0 */
    for (int i = 1; i <= BPF_ADDITIONS; i++)
        code[i] = UINT64_C(1) << 32 | 0x07; /* r0 += 1 */
    code[BPF_ADDITIONS + 1] = 0x95;         /* exit */
    strncpy(attr.name, name, sizeof attr.name - 1);
    long fd = syscall(SYS_bpf, BPF_PROGRAM_LOAD, &attr, sizeof attr);
    return fd < 0 ? -errno : (int)fd;
}

/* Runs it until the calling thread has had so much CPU time: 0, or -errno. */
static inline int run_bpf(int fd, uint64_t ms)
{
    static unsigned char packet[64];
    struct {
        uint32_t fd, result, in_bytes, out_bytes;
        uint64_t in, out;
        uint32_t repeat, duration;
    } attr = {.fd = (uint32_t)fd, .in_bytes = sizeof packet, .in = (uintptr_t)packet, .repeat = 100};
    struct timespec t;

    do {
        if (syscall(SYS_bpf, BPF_PROGRAM_RUN, &attr, sizeof attr) < 0 && errno != EINTR)
            return -errno;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    } while ((uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 < ms);
    return 0;
}

#endif

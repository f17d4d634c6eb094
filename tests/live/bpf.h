/*
 * tests/live/bpf.h: loads a BPF program that does nothing.
 */
#ifndef LIVE_BPF_H
#define LIVE_BPF_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Its descriptor, or -errno: not allowed here. It is unloaded when that is closed. */
static inline int load_bpf(const char *name)
{
    static const uint64_t code[] = {0xb7, 0x95}; /* r0 = 0; exit */
    struct {
        uint32_t type, n;
        uint64_t code, license;
        uint32_t log_level, log_bytes;
        uint64_t log;
        uint32_t version, flags;
        char name[16];
    } attr = {.type = 1, .n = 2, .code = (uintptr_t)code, .license = (uintptr_t) "GPL"};

    strncpy(attr.name, name, sizeof attr.name - 1);
    long fd = syscall(SYS_bpf, 5, &attr, sizeof attr);
    return fd < 0 ? -errno : (int)fd;
}

#endif

/*
 * BPF programs that are loaded: bpf(2), thin, -errno, no policy.
 */
#ifndef SYS_BPF_H
#define SYS_BPF_H

#include <stdint.h>

#define SYS_BPF_FUNCTIONS 32u /* of one program: nearly all have one */

struct sys_bpf_program {
    unsigned char tag[8];
    char name[16]; /* ends with a NUL; may be empty */
    uint32_t n;    /* functions, as far as there is room; a start is 0 where addresses are hidden */
    uint64_t starts[SYS_BPF_FUNCTIONS];
    uint32_t bytes[SYS_BPF_FUNCTIONS];
};

/* The next id behind that one: 0; -ENOENT: there is none; -EPERM: not for this user; -ENOSYS. */
int sys_bpf_next(uint32_t id, uint32_t *ret);

/* 0; -ENOENT: it was unloaded meanwhile; -errno. */
int sys_bpf_program(uint32_t id, struct sys_bpf_program *ret);

#endif

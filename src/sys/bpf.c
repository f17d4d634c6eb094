#include "sys/bpf.h"

#include "sys/file.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NEXT_ID = 11, FD_BY_ID = 13, INFO_BY_FD = 15 }; /* 4.13 */

struct id_attr {
    uint32_t id, next, flags;
};

struct info_attr {
    uint32_t fd, bytes;
    uint64_t info;
};

/* bpf_prog_info as of 4.18, which has the functions; newer kernels write no more than they are asked for. */
struct program_info {
    uint32_t type, id;
    unsigned char tag[8];
    uint32_t jited_bytes, xlated_bytes;
    uint64_t jited, xlated, load_time;
    uint32_t user, map_n;
    uint64_t maps;
    char name[16];
    uint32_t interface, bits;
    uint64_t device, inode;
    uint32_t start_n, length_n;
    uint64_t starts, lengths;
};

static int ask(int command, void *attr, size_t bytes)
{
    long rc = syscall(SYS_bpf, command, attr, bytes);

    return rc < 0 ? -errno : (int)rc;
}

int sys_bpf_next(uint32_t id, uint32_t *ret)
{
    struct id_attr attr = {.id = id};
    int rc = ask(NEXT_ID, &attr, sizeof attr);

    if (rc < 0)
        return rc;
    *ret = attr.next;
    return 0;
}

int sys_bpf_program(uint32_t id, struct sys_bpf_program *ret)
{
    struct sys_bpf_program program = {0};
    struct id_attr attr = {.id = id};
    int fd = ask(FD_BY_ID, &attr, sizeof attr);

    if (fd < 0)
        return fd;
    struct program_info info = {.start_n = SYS_BPF_FUNCTIONS,
                                .length_n = SYS_BPF_FUNCTIONS,
                                .starts = (uintptr_t)program.starts,
                                .lengths = (uintptr_t)program.bytes};
    struct info_attr of = {(uint32_t)fd, sizeof info, (uintptr_t)&info};
    int rc = ask(INFO_BY_FD, &of, sizeof of);
    sys_close(fd);
    if (rc < 0)
        return rc;
    uint32_t n = info.start_n < info.length_n ? info.start_n : info.length_n;
    program.n = n < SYS_BPF_FUNCTIONS ? n : SYS_BPF_FUNCTIONS;
    memcpy(program.tag, info.tag, sizeof program.tag);
    memcpy(program.name, info.name, sizeof program.name);
    program.name[sizeof program.name - 1] = '\0';
    *ret = program;
    return 0;
}

/*
 * reckon/module.h: what addresses lie in: a program, a library, the kernel.
 *
 * Which file is opened for one. The process may have seen another file at that path than we do: it lives in another
 * mount namespace (a container), or the file was replaced or deleted since. Looked at are, in this order, the path
 * itself; the path below /proc/PID/root; and what is mapped, which outlives its name: /proc/PID/map_files (needs
 * CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN) and /proc/PID/exe. The last three only as long as the process lives, and only
 * a file that proves to be the one that was mapped: by its build-id, or, where that is not known, by its inode. If none
 * does, the path itself is believed, unless a build-id speaks against it or the file had been deleted.
 */
#ifndef RECKON_MODULE_H
#define RECKON_MODULE_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum rk_module_kind {
    RK_MODULE_FILE,   /* an ELF file */
    RK_MODULE_KERNEL, /* the kernel proper */
    RK_MODULE_KERNEL_MODULE,
    RK_MODULE_VDSO,
    RK_MODULE_ANONYMOUS,   /* no file: "//anon", "[heap]", "[stack]", memfd */
    RK_MODULE_KERNEL_CODE, /* one function that the kernel made at run time: a BPF program, a trampoline */
};

struct rk_module {
    uint32_t size;
    uint32_t kind;    /* enum rk_module_kind */
    const char *path; /* as the process saw it; "[kernel]" for the kernel; KERNEL_CODE: the function's name */
    const char *name; /* its last part, for people; "[ext4]" for a module of the kernel; "[bpf]" */
    uint32_t build_id_bytes; /* 0: unknown */
    unsigned char build_id[20];
    uint64_t start, end; /* kernel and its modules: where they lie; 0: unknown. The kernel's start is _text.
                            A file: where `pid` has mapped it */
    uint32_t deleted; /* 1: the file had been unlinked when it was mapped, `path` may be another's by now */
    int32_t pid;      /* the process that mapped it, or the last one that did; 0: unknown */
    uint64_t inode;   /* of the file; 0: unknown */
};

#ifdef __cplusplus
}
#endif
#endif

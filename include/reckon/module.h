/*
 * reckon/module.h: what addresses lie in: a program, a library, the kernel.
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
    RK_MODULE_ANONYMOUS, /* no file: "//anon", "[heap]", "[stack]", memfd */
};

struct rk_module {
    uint32_t size;
    uint32_t kind;           /* enum rk_module_kind */
    const char *path;        /* as the process saw it; "[kernel]" for the kernel */
    const char *name;        /* its last part, for people; "[ext4]" for a module of the kernel */
    uint32_t build_id_bytes; /* 0: unknown */
    unsigned char build_id[20];
    uint64_t start, end; /* kernel and its modules: where they lie; 0: unknown. The kernel's start is _text */
    uint32_t deleted; /* 1: the file had been unlinked when it was mapped, `path` may be another's by now */
    int32_t pid;      /* code without a file: the process that mapped it; 0: unknown */
};

#ifdef __cplusplus
}
#endif
#endif

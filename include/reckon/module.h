/*
 * reckon/module.h: what an address lies in: a program, a library, the kernel.
 *
 * Which file is opened for a module. The process may have seen another file at that path than we do: it runs
 * in a container, or the file was replaced or deleted since. These are tried in order:
 *   1. the path;
 *   2. the path below /proc/PID/root;
 *   3. /proc/PID/map_files, which outlives the file's name (needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN);
 *   4. /proc/PID/exe.
 * The last three exist only while the process lives. They are taken only if they prove to be the mapped file:
 * by build-id, or, where that is unknown, by inode. If none does, the file at the path is taken, unless its
 * build-id is another one or the mapped file was deleted.
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

/* The longest build-id; a longer one is cut, as perf and the kernel do. */
#define RK_BUILD_ID_BYTES 20

struct rk_module {
    uint32_t size;
    uint32_t kind; /* enum rk_module_kind */

    /* As the process saw it. "[kernel]" for the kernel; of KERNEL_CODE the function's name. */
    const char *path;

    /* The last part of the path, for people. "[ext4]" for a module of the kernel; "[bpf]". */
    const char *name;

    uint32_t build_id_bytes; /* 0: unknown */
    unsigned char build_id[20];

    /* Where the kernel or its module lies (the kernel's start is _text), or where `pid` has mapped the file.
     * 0: unknown. */
    uint64_t start, end;

    /* 1: the file was unlinked when it was mapped. Another one may have its path by now. */
    uint32_t deleted;

    int32_t pid;    /* the last process that mapped it; 0: unknown */
    uint64_t inode; /* of the file; 0: unknown */

    /* What rk_place.offset is at `start`. */
    uint64_t offset;
};

/*
 * The build-id of an ELF file, or of a descriptor, which stays open and keeps its offset. Returns its number
 * of bytes, 1 to RK_BUILD_ID_BYTES, in ret, which has room for so many. -ENODATA: the file has none.
 * -ENOEXEC: it is no ELF file; only regular files are opened.
 */
RK_API int rk_module_build_id(const char *path, unsigned char *ret, struct rk_error *e);
RK_API int rk_module_build_id_fd(int fd, unsigned char *ret, struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

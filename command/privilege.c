#include "privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* By their numbers: headers may be older than the kernel. */
enum {
    DAC_OVERRIDE = 1,
    DAC_READ_SEARCH = 2,
    KILL = 5,
    IPC_LOCK = 14,
    SYS_PTRACE = 19,
    SYS_ADMIN = 21,
    SYSLOG = 34,
    PERFMON = 38,
    BPF = 39,
    CHECKPOINT_RESTORE = 40,
};

#define BIT(n) (UINT64_C(1) << (n))

static const uint64_t to_read =
    BIT(DAC_READ_SEARCH) | BIT(SYS_PTRACE) | BIT(SYSLOG) | BIT(CHECKPOINT_RESTORE);
static const uint64_t to_measure = BIT(DAC_OVERRIDE) | BIT(KILL) | BIT(IPC_LOCK) | BIT(PERFMON) | BIT(BPF);

/* Keeps these of what there are. */
static void keep(uint64_t wanted)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_capget, &head, data) < 0)
        return;
    for (unsigned i = 0; i < 2; i++) {
        data[i].effective &= (uint32_t)(wanted >> 32 * i);
        data[i].permitted &= (uint32_t)(wanted >> 32 * i);
        data[i].inheritable &= (uint32_t)(wanted >> 32 * i);
    }
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    syscall(SYS_capset, &head, data); /* fewer is never refused */
}

void privilege_measure(void)
{
    bool old = prctl(PR_CAPBSET_READ, PERFMON, 0, 0, 0) < 0; /* before Linux 5.8 */

    keep(to_read | to_measure | (old ? BIT(SYS_ADMIN) : 0));
}

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

/*
 * What naming never calls is refused by -EPERM, so is opening a file to write to it, and another architecture's calls. No
 * Landlock: who has entered that can't look at other processes, whose files may be reached through /proc/PID/root alone.
 */
static void forbid_calls(void)
{
#ifdef ARCHITECTURE
    enum { WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC };
#ifdef SYS_open
    enum { OLD_OPEN = SYS_open };
#else
    static const uint32_t OLD_OPEN = UINT32_MAX; /* no call's number */
#endif
    static const uint32_t calls[] = {
        SYS_execve,
        SYS_execveat,
        SYS_socket,
        SYS_socketpair,
        SYS_connect,
        SYS_bind,
        SYS_listen,
        SYS_ptrace,
        SYS_kill,
        SYS_tkill,
        SYS_tgkill,
        SYS_rt_sigqueueinfo,
        SYS_rt_tgsigqueueinfo,
        SYS_process_vm_readv,
        SYS_process_vm_writev,
        SYS_mount,
        SYS_umount2,
        SYS_pivot_root,
        SYS_chroot,
        SYS_unshare,
        SYS_setns,
        SYS_bpf,
        SYS_perf_event_open,
        SYS_init_module,
        SYS_kexec_load,
        SYS_finit_module,
        SYS_reboot,
        SYS_swapon,
        SYS_add_key,
        SYS_request_key,
        SYS_keyctl,
        SYS_truncate,
        SYS_fchmodat,
        SYS_fchownat,
        SYS_setxattr,
        SYS_lsetxattr,
        SYS_unlinkat,
        SYS_linkat,
        SYS_symlinkat,
        SYS_mkdirat,
        SYS_mknodat,
        SYS_renameat2,
        SYS_utimensat,
        SYS_acct,
        SYS_sethostname,
        SYS_settimeofday,
#ifdef SYS_open /* what younger architectures never had */
        SYS_creat,
        SYS_unlink,
        SYS_rmdir,
        SYS_mkdir,
        SYS_mknod,
        SYS_link,
        SYS_symlink,
        SYS_rename,
        SYS_renameat,
        SYS_chmod,
        SYS_chown,
        SYS_lchown,
        SYS_utimes,
        SYS_fork,
        SYS_vfork,
#endif
#ifdef SYS_openat2 /* its flags lie in memory */
        SYS_openat2,
#endif
#ifdef SYS_io_uring_setup
        SYS_io_uring_setup,
#endif
#ifdef SYS_userfaultfd
        SYS_userfaultfd,
#endif
#ifdef SYS_pidfd_getfd
        SYS_pidfd_getfd,
#endif
#ifdef SYS_pidfd_send_signal
        SYS_pidfd_send_signal,
#endif
    };
    enum { N = sizeof calls / sizeof *calls };
    const struct sock_filter head[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__ /* x32: the same calls by numbers of its own */
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
#endif
    };
    const struct sock_filter tail[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OLD_OPEN, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 3, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, WRITES, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    enum { HEAD = sizeof head / sizeof *head, TAIL = sizeof tail / sizeof *tail };
    struct sock_filter code[HEAD + N + TAIL];

    memcpy(code, head, sizeof head);
    for (unsigned i = 0; i < N; i++) /* to the last one of the tail */
        code[HEAD + i] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], (uint8_t)(N + TAIL - 2 - i), 0);
    memcpy(code + HEAD + N, tail, sizeof tail);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){HEAD + N + TAIL, code}, 0, 0);
#endif
}

void privilege_read(void)
{
    keep(to_read);
    forbid_calls();
}

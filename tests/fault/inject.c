/*
 * The wrappers: the linker's --wrap sends every call of libreckon-internal.a (and of the scenario) to malloc, open …
 * through __wrap_malloc, __wrap_open … here. libc's own calls inside itself are not seen.
 *
 * Each wrapper says with which errors its function may fail. SHORT is none: one byte is transferred, and no more.
 * The list of names to wrap is in meson.build; tests/fault/complete checks it against what the library
 * really calls.
 */
#include "inject.h"

#include <dirent.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHORT (-1)

struct fault_state *fault;
bool fault_inside;
void (*fault_strike)(void);
extern const char __executable_start[];

/* Where a call comes from: all of its callers, folded into one number. */
static uint64_t stack_now(void)
{
    void *frames[24];
    uint64_t sum = 0;
    int n = backtrace(frames, 24);
    for (int i = 2; i < n; i++)
        sum = (sum ^ (uint64_t)(uintptr_t)frames[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* 0: the call goes through; SHORT; or the errno to fail with, already set. */
static int pick(enum fault_kind kind, const char *name, const int *errors, void *caller)
{
    if (!fault || !fault_inside || !__atomic_load_n(&fault->armed, __ATOMIC_RELAXED))
        return 0;
    bool strike = fault->kind == FAULT_STRIKE && kind == FAULT_CALL;
    if (fault->kind != kind && !strike)
        return 0;
    uint32_t call = __atomic_add_fetch(&fault->calls, 1, __ATOMIC_RELAXED);
    if (fault->tracing && call < FAULT_TRACE) {
        fault->stacks[call] = stack_now();
        return 0;
    }
    if (call != fault->nth)
        return 0;
    uint32_t n = 0;
    while (errors[n])
        n++;
    snprintf(fault->name, sizeof fault->name, "%s", name);
    fault->caller = (uint64_t)(uintptr_t)caller - (uint64_t)(uintptr_t)__executable_start;
    if (strike) {
        int saved = errno;
        fault->hit = 1;
        fault_strike();
        errno = saved;
        return 0;
    }
    if (fault->any_variant)
        fault->variant = fault->nth % n;
    fault->exhausted = fault->variant >= n;
    fault->error = fault->exhausted ? 0 : errors[fault->variant];
    fault->transparent = fault->error == SHORT || fault->error == EINTR;
    fault->hit = 1;
    if (fault->error > 0)
        errno = fault->error;
    return fault->error;
}

#define PICK(kind, name, ...) pick(kind, name, (const int[]){__VA_ARGS__, 0}, __builtin_return_address(0))
#define FAIL(name, result, ...)                  \
    do {                                         \
        if (PICK(FAULT_CALL, name, __VA_ARGS__)) \
            return result;                       \
    } while (0)

/* --- What is held: a table of addresses, open addressing; removal leaves a tombstone. --- */

#define ROOM (1u << 18)
#define TOMB 1u
static struct held {
    uintptr_t at;
    uint64_t caller; /* top bit: a mapping */
} table[ROOM];
static const uint64_t mapping = UINT64_C(1) << 63;

static struct held *slot_of(uintptr_t at, bool add)
{
    size_t i = (at >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 20 & (ROOM - 1);
    for (size_t k = 0; k < ROOM; k++, i = (i + 1) & (ROOM - 1))
        if (table[i].at == at || (add && table[i].at <= TOMB))
            return &table[i];
        else if (table[i].at == 0)
            return NULL;
    return NULL;
}

static void *hold(void *at, void *caller, uint64_t flag)
{
    struct held *slot = at && fault && fault->armed ? slot_of((uintptr_t)at, true) : NULL;
    if (slot)
        *slot = (struct held){(uintptr_t)at,
                              ((uint64_t)(uintptr_t)caller - (uint64_t)(uintptr_t)__executable_start) | flag};
    return at;
}

static void drop(void *at)
{
    struct held *slot = at ? slot_of((uintptr_t)at, false) : NULL;
    if (slot)
        slot->at = TOMB;
}

struct fault_held fault_held(void)
{
    struct fault_held held = {0};
    for (size_t i = 0; i < ROOM; i++)
        if (table[i].at > TOMB) {
            held.mappings += (table[i].caller & mapping) != 0;
            held.blocks += (table[i].caller & mapping) == 0;
            held.caller = table[i].caller & ~mapping;
        }
    return held;
}

/* Declares the real function and our replacement's prototype. */
#define WRAP(type, name, ...)        \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

/* --- Memory --- */

#define NO_MEMORY(name)                       \
    do {                                      \
        if (PICK(FAULT_MEMORY, name, ENOMEM)) \
            return NULL;                      \
    } while (0)
#define HOLD(at) hold(at, __builtin_return_address(0), 0)

WRAP(void *, malloc, size_t n)
{
    NO_MEMORY("malloc");
    return HOLD(__real_malloc(n));
}

WRAP(void *, calloc, size_t n, size_t size)
{
    NO_MEMORY("calloc");
    return HOLD(__real_calloc(n, size));
}

WRAP(void *, realloc, void *at, size_t n)
{
    NO_MEMORY("realloc");
    struct held *slot = at ? slot_of((uintptr_t)at, false) : NULL;
    void *moved = __real_realloc(at, n);
    if (moved && slot)
        slot->at = TOMB;
    return HOLD(moved);
}

WRAP(void *, reallocarray, void *at, size_t n, size_t size)
{
    NO_MEMORY("reallocarray");
    struct held *slot = at ? slot_of((uintptr_t)at, false) : NULL;
    void *moved = __real_reallocarray(at, n, size);
    if (moved && slot)
        slot->at = TOMB;
    return HOLD(moved);
}

WRAP(void *, aligned_alloc, size_t alignment, size_t n)
{
    NO_MEMORY("aligned_alloc");
    return HOLD(__real_aligned_alloc(alignment, n));
}

WRAP(char *, strdup, const char *text)
{
    NO_MEMORY("strdup");
    return HOLD(__real_strdup(text));
}

WRAP(char *, strndup, const char *text, size_t n)
{
    NO_MEMORY("strndup");
    return HOLD(__real_strndup(text, n));
}

WRAP(void *, dlopen, const char *name, int flags)
{
    NO_MEMORY("dlopen");
    return __real_dlopen(name, flags);
}

WRAP(char *, getcwd, char *buffer, size_t n)
{
    NO_MEMORY("getcwd");
    return buffer ? __real_getcwd(buffer, n) : HOLD(__real_getcwd(buffer, n));
}

WRAP(void, free, void *at)
{
    drop(at);
    __real_free(at);
}

/* --- Files. Names with 64 are what the others become with _FILE_OFFSET_BITS=64. --- */

#define OPEN_ERRORS EACCES, EMFILE, ENOENT, EIO

#define WRAP_OPEN(name)                                                         \
    WRAP(int, name, const char *path, int flags, ...)                           \
    {                                                                           \
        va_list ap;                                                             \
        va_start(ap, flags);                                                    \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0; \
        va_end(ap);                                                             \
        FAIL(#name, -1, OPEN_ERRORS);                                           \
        return __real_##name(path, flags, mode);                                \
    }
WRAP_OPEN(open)
WRAP_OPEN(open64)

#define WRAP_OPENAT(name)                                                       \
    WRAP(int, name, int at, const char *path, int flags, ...)                   \
    {                                                                           \
        va_list ap;                                                             \
        va_start(ap, flags);                                                    \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0; \
        va_end(ap);                                                             \
        FAIL(#name, -1, EINTR, OPEN_ERRORS);                                    \
        return __real_##name(at, path, flags, mode);                            \
    }
WRAP_OPENAT(openat)
WRAP_OPENAT(openat64)

/* A descriptor is closed even where close(2) fails. */
WRAP(int, close, int fd)
{
    int error = PICK(FAULT_CALL, "close", EIO);
    int rc = __real_close(fd);
    if (!error)
        return rc;
    errno = error;
    return -1;
}

/* The shortest transfer there is. */
#define CUT(n) ((n) > 1 ? 1 : (n))

WRAP(ssize_t, readlink, const char *path, char *buffer, size_t n)
{
    FAIL("readlink", -1, EACCES);
    return __real_readlink(path, buffer, n);
}

/* Counters want a read of all their words (else ENOSPC), files of /proc/sys give a later read nothing, lists of CPUs in
 * sysfs give nothing at all to a buffer of one byte: there a short read can't come from the kernel. */
static bool only_whole(int fd)
{
    char path[64], to[128] = "";
    int saved = errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t n = __real_readlink(path, to, sizeof to - 1);
    errno = saved;
    return n > 0 && (strstr(to, "[perf_event]") || !strncmp(to, "/proc/sys/", 10) ||
                     (!strncmp(to, "/sys/devices/", 13) && strstr(to, "list")));
}

WRAP(ssize_t, read, int fd, void *buffer, size_t n)
{
    int error = PICK(FAULT_CALL, "read", EINTR, SHORT, EIO);
    if (error == SHORT && !only_whole(fd))
        n = CUT(n);
    else if (error > 0)
        return -1;
    return __real_read(fd, buffer, n);
}

WRAP(ssize_t, write, int fd, const void *bytes, size_t n)
{
    int error = PICK(FAULT_CALL, "write", EINTR, SHORT, ENOSPC, EIO);
    if (error == SHORT)
        n = CUT(n);
    else if (error)
        return -1;
    return __real_write(fd, bytes, n);
}

WRAP(ssize_t, send, int fd, const void *bytes, size_t n, int flags)
{
    int error = PICK(FAULT_CALL, "send", EINTR, SHORT, EPIPE);
    if (error == SHORT)
        n = CUT(n);
    else if (error)
        return -1;
    return __real_send(fd, bytes, n, flags);
}

WRAP(ssize_t, recv, int fd, void *buffer, size_t n, int flags)
{
    int error = PICK(FAULT_CALL, "recv", EINTR, SHORT, ECONNRESET);
    if (error == SHORT)
        n = CUT(n);
    else if (error)
        return -1;
    return __real_recv(fd, buffer, n, flags);
}

#define WRAP_AT(name, constant, offset_type, ...)                                   \
    WRAP(ssize_t, name, int fd, constant void *bytes, size_t n, offset_type offset) \
    {                                                                               \
        int error = PICK(FAULT_CALL, #name, EINTR, SHORT, __VA_ARGS__);             \
        if (error == SHORT)                                                         \
            n = CUT(n);                                                             \
        else if (error)                                                             \
            return -1;                                                              \
        return __real_##name(fd, bytes, n, offset);                                 \
    }
WRAP_AT(pread, , off_t, EIO)
WRAP_AT(pread64, , off64_t, EIO)
WRAP_AT(pwrite, const, off_t, ENOSPC, EIO)
WRAP_AT(pwrite64, const, off64_t, ENOSPC, EIO)

/* A plain call that fails with -1. */
#define WRAP_PLAIN(name, parameters, arguments, ...) \
    int __real_##name parameters;                    \
    int __wrap_##name parameters;                    \
    int __wrap_##name parameters                     \
    {                                                \
        FAIL(#name, -1, __VA_ARGS__);                \
        return __real_##name arguments;              \
    }
WRAP_PLAIN(fstat, (int fd, struct stat *st), (fd, st), EIO)
WRAP_PLAIN(fstat64, (int fd, struct stat64 *st), (fd, st), EIO)
WRAP_PLAIN(stat, (const char *path, struct stat *st), (path, st), EACCES, ENOENT)
WRAP_PLAIN(stat64, (const char *path, struct stat64 *st), (path, st), EACCES, ENOENT)
WRAP_PLAIN(lstat, (const char *path, struct stat *st), (path, st), EACCES, ENOENT)
WRAP_PLAIN(lstat64, (const char *path, struct stat64 *st), (path, st), EACCES, ENOENT)
WRAP_PLAIN(fstatat, (int at, const char *path, struct stat *st, int flags), (at, path, st, flags), EACCES,
           ENOENT)
WRAP_PLAIN(fstatat64, (int at, const char *path, struct stat64 *st, int flags), (at, path, st, flags), EACCES,
           ENOENT)
WRAP_PLAIN(access, (const char *path, int mode), (path, mode), EACCES, ENOENT)
WRAP_PLAIN(faccessat, (int at, const char *path, int mode, int flags), (at, path, mode, flags), EACCES,
           ENOENT)
WRAP_PLAIN(rename, (const char *from, const char *to), (from, to), EACCES, EIO)
WRAP_PLAIN(renameat, (int at, const char *from, int to_at, const char *to), (at, from, to_at, to), EACCES,
           EIO)
WRAP_PLAIN(unlink, (const char *path), (path), EACCES)
WRAP_PLAIN(unlinkat, (int at, const char *path, int flags), (at, path, flags), EACCES)
WRAP_PLAIN(ftruncate, (int fd, off_t n), (fd, n), EIO)
WRAP_PLAIN(ftruncate64, (int fd, off64_t n), (fd, n), EIO)
WRAP_PLAIN(fchmod, (int fd, mode_t mode), (fd, mode), EPERM)
WRAP_PLAIN(fsync, (int fd), (fd), EIO)
WRAP_PLAIN(fdatasync, (int fd), (fd), EIO)
WRAP_PLAIN(chdir, (const char *path), (path), ENOENT)
WRAP_PLAIN(fchdir, (int fd), (fd), EACCES)
WRAP_PLAIN(dup2, (int from, int to), (from, to), EMFILE)
WRAP_PLAIN(dup3, (int from, int to, int flags), (from, to, flags), EMFILE)
WRAP_PLAIN(dup, (int fd), (fd), EMFILE)
WRAP_PLAIN(pipe2, (int fds[2], int flags), (fds, flags), EMFILE)
WRAP_PLAIN(socketpair, (int domain, int type, int protocol, int fds[2]), (domain, type, protocol, fds),
           EMFILE)
WRAP_PLAIN(eventfd, (unsigned value, int flags), (value, flags), EMFILE)
WRAP_PLAIN(memfd_create, (const char *name, unsigned flags), (name, flags), EMFILE)
WRAP_PLAIN(setrlimit, (__rlimit_resource_t what, const struct rlimit *l), (what, l), EPERM)
WRAP_PLAIN(setrlimit64, (__rlimit_resource_t what, const struct rlimit64 *l), (what, l), EPERM)
WRAP_PLAIN(madvise, (void *at, size_t n, int advice), (at, n, advice), EINVAL)

WRAP(off_t, lseek, int fd, off_t offset, int whence)
{
    FAIL("lseek", -1, ESPIPE);
    return __real_lseek(fd, offset, whence);
}

WRAP(off64_t, lseek64, int fd, off64_t offset, int whence)
{
    FAIL("lseek64", -1, ESPIPE);
    return __real_lseek64(fd, offset, whence);
}

WRAP(ssize_t, readlinkat, int at, const char *path, char *buffer, size_t n)
{
    FAIL("readlinkat", -1, EACCES);
    return __real_readlinkat(at, path, buffer, n);
}

/* DIR is libc's memory: the descriptor count shows whether it was closed. */
WRAP(DIR *, fdopendir, int fd)
{
    FAIL("fdopendir", NULL, ENOMEM);
    return __real_fdopendir(fd);
}

WRAP(struct dirent *, readdir, DIR *dir)
{
    FAIL("readdir", NULL, EIO);
    return __real_readdir(dir);
}

WRAP(struct dirent64 *, readdir64, DIR *dir)
{
    FAIL("readdir64", NULL, EIO);
    return __real_readdir64(dir);
}

/* fcntl and ioctl take one argument at most, of a word. */
#define WRAP_WORD(name, request_type, ...)                           \
    int __real_##name(int fd, request_type request, ...);            \
    int __wrap_##name(int fd, request_type request, void *argument); \
    int __wrap_##name(int fd, request_type request, void *argument)  \
    {                                                                \
        FAIL(#name, -1, __VA_ARGS__);                                \
        return __real_##name(fd, request, argument);                 \
    }
WRAP_WORD(fcntl, int, EMFILE)
WRAP_WORD(fcntl64, int, EMFILE)
WRAP_WORD(ioctl, unsigned long, EIO, ENOTTY)

/* --- Mappings --- */

#define WRAP_MMAP(name, offset_type)                                                               \
    WRAP(void *, name, void *at, size_t n, int protection, int flags, int fd, offset_type offset)  \
    {                                                                                              \
        FAIL(#name, MAP_FAILED, ENOMEM, EPERM, ENODEV);                                            \
        void *mapped = __real_##name(at, n, protection, flags, fd, offset);                        \
        return mapped == MAP_FAILED ? mapped : hold(mapped, __builtin_return_address(0), mapping); \
    }
WRAP_MMAP(mmap, off_t)
WRAP_MMAP(mmap64, off64_t)

WRAP(int, munmap, void *at, size_t n)
{
    drop(at);
    return __real_munmap(at, n);
}

/* --- Waiting --- */

WRAP_PLAIN(poll, (struct pollfd * fds, nfds_t n, int timeout), (fds, n, timeout), EINTR, ENOMEM)
WRAP_PLAIN(ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *t, const sigset_t *s),
           (fds, n, t, s), EINTR, ENOMEM)
WRAP_PLAIN(epoll_create1, (int flags), (flags), EMFILE, ENOMEM)
WRAP_PLAIN(epoll_ctl, (int fd, int what, int of, struct epoll_event *event), (fd, what, of, event), ENOMEM,
           ENOSPC)
WRAP_PLAIN(epoll_wait, (int fd, struct epoll_event *events, int n, int timeout), (fd, events, n, timeout),
           EINTR)
WRAP_PLAIN(nanosleep, (const struct timespec *t, struct timespec *left), (t, left), EINTR)

/* --- Processes --- */

WRAP(pid_t, fork, void)
{
    FAIL("fork", -1, EAGAIN, ENOMEM);
    return __real_fork();
}

WRAP(pid_t, vfork, void) /* a child that shares our stack can't be wrapped: the slow way is as good here */
{
    FAIL("vfork", -1, EAGAIN);
    return __real_fork();
}

WRAP_PLAIN(execve, (const char *path, char *const argv[], char *const environment[]),
           (path, argv, environment), ENOEXEC, EACCES)
WRAP_PLAIN(execv, (const char *path, char *const argv[]), (path, argv), ENOEXEC)
WRAP_PLAIN(execvp, (const char *path, char *const argv[]), (path, argv), ENOEXEC)
WRAP_PLAIN(waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options), EINTR)

WRAP(pid_t, waitpid, pid_t pid, int *status, int options)
{
    FAIL("waitpid", -1, EINTR);
    return __real_waitpid(pid, status, options);
}

WRAP(pid_t, wait4, pid_t pid, int *status, int options, struct rusage *usage)
{
    FAIL("wait4", -1, EINTR);
    return __real_wait4(pid, status, options, usage);
}

/* It returns its error. */
WRAP(int, pthread_create, pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *context)
{
    FAIL("pthread_create", EAGAIN, EAGAIN);
    return __real_pthread_create(thread, attr, run, context);
}

/* Those that libc has no name for. A signal to a child of one's own does not fail. */
long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    if (number == SYS_perf_event_open)
        FAIL("perf_event_open", -1, EACCES, EMFILE, EINVAL, ENOENT, EOPNOTSUPP);
    else if (number == SYS_pidfd_open)
        FAIL("pidfd_open", -1, ENOSYS, EMFILE);
    else if (number != SYS_pidfd_send_signal)
        FAIL("syscall", -1, ENOSYS, EPERM);
    return __real_syscall(number, a, b, c, d, e, f);
}

/* Its first argument is an enum in glibc; the others are what the request wants. */
WRAP(long, ptrace, int request, int pid, void *address, void *data)
{
    /* Of a thread that is held the others fail only when it dies, which is not told but done: fault_kill.c. */
    if (request == PTRACE_SEIZE || (fault && fault->kind == FAULT_STRIKE))
        FAIL("ptrace", -1, EPERM, ESRCH);
    return __real_ptrace(request, pid, address, data);
}

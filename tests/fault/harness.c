/*
 * Runs a scenario with every fault that it can meet: fault.h says what is checked.
 *
 * Each run is a process of its own in a process group of its own, so that a crash or a hang ends one run,
 * and what it left behind can be ended with it. The state that says which call fails is in shared memory,
 * so that the parent learns what was hit, and children that the scenario forks count with it.
 *
 *     fault_stat            all faults; prints a line per failure and a summary
 *     fault_stat -v         … and a line per fault
 *     fault_stat call 12 1  only this one: the 12th system call, with its second error
 */
#include "../temporary.h"
#include "fault.h"
#include "inject.h"

#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 100      /* of one run */
#define MAX_FAULTS 20000 /* of one kind: a scenario beyond it does not end */

static const char *const kind_names[] = {"none", "memory", "call", "strike"};

struct tally {
    uint64_t clean;              /* digest of the run without faults */
    unsigned allocations, calls; /* of the run without faults */
    unsigned runs, failures, absorbed, memory_absorbed;
    bool verbose, single; /* single: one fault was asked for */
};

uint64_t fault_fold(uint64_t digest, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        digest = (digest ^ p[i]) * UINT64_C(0x100000001b3);
    return digest;
}

bool fault_pending(void)
{
    return fault->kind != FAULT_NONE && !fault->hit;
}

void fault_pause(bool pause)
{
    fault->armed = !pause;
}

/* The first wrong thing that a run tells is the one that counts. */
static void wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void wrong(const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (!fault->wrong[0])
        vsnprintf(fault->wrong, sizeof fault->wrong, format, ap);
    va_end(ap);
}

void fault_wrong(const char *file, int line, const char *what)
{
    const char *base = strrchr(file, '/');
    wrong("%s:%d: %s", base ? base + 1 : file, line, what);
    _exit(1);
}

void fault_check_error(const char *file, int line, const char *call, int rc, const struct rk_error *e)
{
    const char *base = strrchr(file, '/');
    file = base ? base + 1 : file;
    if (e->code != rc)
        wrong("%s:%d: %s returned %d, its error says %d", file, line, call, rc, e->code);
    else if (!e->what[0])
        wrong("%s:%d: %s returned %d and does not say what failed", file, line, call, rc);
    else if (e->stage == RK_STAGE_NONE)
        wrong("%s:%d: %s returned %d and does not say at which stage: %s", file, line, call, rc, e->what);
}

/* Open descriptors, as a mask of the first 1024 and where one of those not in `before` leads. */
struct descriptors {
    unsigned char open[1024];
};

static void list_descriptors(struct descriptors *ret)
{
    memset(ret, 0, sizeof *ret);
    for (int fd = 0; fd < (int)sizeof ret->open; fd++)
        ret->open[fd] = fcntl(fd, F_GETFD) >= 0;
}

static void check_descriptors(const struct descriptors *before)
{
    struct descriptors after;
    list_descriptors(&after);
    for (int fd = 0; fd < (int)sizeof after.open; fd++) {
        char path[64], to[200] = "";
        if (after.open[fd] == before->open[fd])
            continue;
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        if (after.open[fd] && readlink(path, to, sizeof to - 1) >= 0)
            wrong("descriptor %d (%s) was left open", fd, to);
        else
            wrong("descriptor %d was closed, which was not the library's", fd);
    }
}

static void check_run(int rc, uint64_t digest, const struct fault_scenario *s, const struct tally *t)
{
    bool injected = fault->hit && !fault->exhausted;
    if (rc < 0 && !injected)
        wrong("failed with no fault injected: %s", strerror(-rc));
    if (rc < 0 && injected && fault->transparent)
        wrong("failed, though it could go on: %s", strerror(-rc));
    if (rc >= 0 && injected && fault->kind == FAULT_MEMORY && t->memory_absorbed >= s->absorbed_memory)
        wrong("succeeded, though memory was out (with %u before it)", t->memory_absorbed);
    if (rc >= 0 && t->runs && (!injected || fault->transparent) && digest != t->clean)
        wrong("gave another result than a run without faults");

    struct fault_held held = fault_held();
    if (held.blocks || held.mappings) {
        fault->caller = held.caller;
        wrong("%zu blocks of memory and %zu mappings are still held; the caller shown got one", held.blocks,
              held.mappings);
    }
    if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
        wrong("a child was left");
}

/* In the run's own process. The digest goes back through a pipe. */
static void run_child(const struct fault_scenario *s, const struct tally *t, int out)
{
    struct descriptors before;
    uint64_t digest = 0;
    setpgid(0, 0);
    alarm(s->limit_s ? s->limit_s : LIMIT_S);
    list_descriptors(&before);
    fault_inside = true;
    fault->armed = 1;
    int rc = s->run(&digest);
    fault->armed = 0;
    check_run(rc, digest, s, t);
    check_descriptors(&before);
    if (write(out, &(struct { uint64_t digest, rc; }){digest, (uint64_t)(rc < 0)}, 16) != 16)
        wrong("can't tell the result");
    fflush(NULL);
    exit(fault->wrong[0] != 0); /* not _exit: LeakSanitizer has a word to say */
}

/* file:line of an address in this program, by addr2line where there is one. */
static void print_caller(uint64_t caller)
{
    char exe[64], address[32];
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)getpid());
    snprintf(address, sizeof address, "%#jx", (uintmax_t)(caller - 1));
    printf("    called from ");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execlp("addr2line", "addr2line", "-fspe", exe, address, (char *)NULL);
        printf("%s\n", address);
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

/* One run; false: it never met its fault, so that this kind is done. */
static bool run(const struct fault_scenario *s, struct tally *t, enum fault_kind kind, uint32_t nth,
                uint32_t variant)
{
    struct {
        uint64_t digest, failed;
    } result = {0};
    int fds[2], status = 0;
    memset(fault, 0, offsetof(struct fault_state, stacks));
    fault->kind = kind;
    fault->nth = nth;
    fault->variant = variant;
    fault->any_variant = s->one_error && !t->single;
    fault->tracing = nth == 0;
    fflush(NULL);
    if (pipe(fds) < 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        run_child(s, t, fds[1]);
    }
    close(fds[1]);
    waitpid(pid, &status, 0);
    kill(-pid, SIGKILL); /* the process group: what the run has left */
    ssize_t got = read(fds[0], &result, sizeof result);
    close(fds[0]);

    if (WIFSIGNALED(status))
        wrong(WTERMSIG(status) == SIGALRM ? "hung" : "died of signal %d", WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0 || got != sizeof result)
        wrong("ended with status %d", WEXITSTATUS(status));
    bool injected = fault->hit && !fault->exhausted;
    if (fault->wrong[0] || (t->verbose && injected)) {
        char how[64] = "";
        if (injected && fault->error)
            snprintf(how, sizeof how, "%s ", fault->error == -1 ? "short" : strerrorname_np(fault->error));
        printf("%s: %s %u %u (%s%s): %s\n", s->name, kind_names[kind], nth, fault->variant, how,
               injected ? fault->name : "no fault",
               fault->wrong[0] ? fault->wrong
               : result.failed ? "error"
                               : "ok");
        if (fault->wrong[0] && fault->caller)
            print_caller(fault->caller);
    }
    t->failures += fault->wrong[0] != 0;
    t->memory_absorbed += injected && !result.failed && kind == FAULT_MEMORY;
    t->absorbed += injected && !result.failed && !fault->transparent;
    t->runs += nth == 0 || injected;
    if (nth == 0)
        t->clean = result.digest;
    return fault->hit;
}

/* Whether the nth call's place had its share of faults by those before it. */
static bool enough(const uint64_t *stacks, uint32_t n, uint32_t nth, unsigned repeats)
{
    unsigned same = 0;
    for (uint32_t i = 1; repeats && nth < n && i < nth; i++)
        same += stacks[i] == stacks[nth];
    return repeats && same >= repeats;
}

static void run_all(const struct fault_scenario *s, struct tally *t, enum fault_kind kind)
{
    static uint64_t stacks[FAULT_TRACE];
    run(s, t, kind, 0, 0); /* no fault: to learn which calls there are */
    uint32_t calls = fault->calls < FAULT_TRACE - 1 ? fault->calls : FAULT_TRACE - 1;
    memcpy(stacks, fault->stacks, sizeof stacks);
    *(kind == FAULT_MEMORY ? &t->allocations : &t->calls) = calls;
    for (uint32_t nth = 1; nth < MAX_FAULTS; nth++) {
        uint32_t variant = 0;
        if (s->repeats && nth > calls)
            return;
        if (enough(stacks, calls + 1, nth, s->repeats))
            continue;
        do
            if (!run(s, t, kind, nth, variant))
                return;
        while (kind != FAULT_STRIKE && !s->one_error && !fault->exhausted && ++variant);
        if (t->failures >= 20) {
            printf("%s: enough is wrong; the rest was not tried\n", s->name);
            return;
        }
    }
    printf("%s: no end after %u faults\n", s->name, MAX_FAULTS);
    t->failures++;
}

/* An empty working directory, and its end. */
static int enter_folder(char *folder)
{
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -errno;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

static void leave_folder(const char *folder)
{
    if (chdir("/") == 0)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int try_all(struct fault_scenario *s, struct tally *t, int argc, char **argv)
{
    int rc = s->prepare ? s->prepare() : 0;
    if (s->skip) {
        printf("%s\n", s->skip);
        return 77;
    }
    if (rc < 0) {
        printf("%s: could not be prepared: %s\n", s->name, strerror(-rc));
        return 1;
    }
    run(s, t, FAULT_NONE, 0, 0);
    if (argc > 3) {
        enum fault_kind kind = s->strike                    ? FAULT_STRIKE
                               : !strcmp(argv[1], "memory") ? FAULT_MEMORY
                                                            : FAULT_CALL;
        t->verbose = t->single = true;
        run(s, t, kind, (uint32_t)strtoul(argv[2], NULL, 0), (uint32_t)strtoul(argv[3], NULL, 0));
    } else if (!t->failures && s->strike) {
        run_all(s, t, FAULT_STRIKE);
    } else if (!t->failures) {
        run_all(s, t, FAULT_MEMORY);
        run_all(s, t, FAULT_CALL);
    }
    printf("%s: %u allocations, %u calls; %u runs, %u faults absorbed, %u wrong\n", s->name, t->allocations,
           t->calls, t->runs, t->absorbed, t->failures);
    return t->failures != 0;
}

int fault_main(struct fault_scenario *s, int argc, char **argv)
{
    struct tally t = {.verbose = argc > 1 && !strcmp(argv[1], "-v")};
    char folder[TEMPORARY];
    void *frame[1];
    backtrace(frame, 1); /* loads what it needs now, and not in the middle of a run */
    fault = mmap(NULL, sizeof *fault, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fault == MAP_FAILED || enter_folder(temporary(folder, "reckon-fault-XXXXXX")) < 0)
        return 1;
    fault_strike = s->strike;
    int rc = try_all(s, &t, argc, argv);
    leave_folder(folder);
    munmap(fault, sizeof *fault);
    fault = NULL;
    return rc;
}

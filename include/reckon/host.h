/*
 * reckon/host.h: what this machine has.
 *
 * A host is opened at a root directory ("/" by default; tests use a fake tree) and reads nothing
 * until asked. Each part is read at its first question, then fixed for the host's life.
 *
 *     struct rk_host *host;
 *     rk_host_open(NULL, &host, NULL);
 *     int64_t level;
 *     if (rk_host_limit(host, RK_LIMIT_PARANOID, &level) == 0)
 *         printf("perf_event_paranoid is %d\n", (int)level);
 *     rk_host_free(host);
 *
 * One host, one thread at a time. Strings handed out live as long as the host.
 */
#ifndef RECKON_HOST_H
#define RECKON_HOST_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_host;

/* Opens the machine whose /proc and /sys are below `root` (NULL: "/"). Cheap: reads nothing yet. */
RK_API int rk_host_open(const char *root, struct rk_host **ret, struct rk_error *e);

/* Frees the host; takes NULL; returns NULL. Events, sets and streams made from it must be closed first. */
RK_API struct rk_host *rk_host_free(struct rk_host *host);

/* Limits that the kernel sets. */
enum rk_limit {
    RK_LIMIT_PARANOID,     /* kernel.perf_event_paranoid: -1 … 4 */
    RK_LIMIT_MLOCK_KB,     /* kernel.perf_event_mlock_kb, per CPU and user */
    RK_LIMIT_SAMPLE_RATE,  /* kernel.perf_event_max_sample_rate, Hz */
    RK_LIMIT_MAX_STACK,    /* kernel.perf_event_max_stack, frames */
    RK_LIMIT_KPTR,         /* kernel.kptr_restrict */
    RK_LIMIT_USER_ACCESS,  /* kernel.perf_user_access (arm64, riscv) */
    RK_LIMIT_NMI_WATCHDOG, /* kernel.nmi_watchdog: 1 takes a hardware counter */
    RK_LIMIT_NOFILE,       /* RLIMIT_NOFILE, soft */
    RK_LIMIT_NOFILE_HARD,  /* RLIMIT_NOFILE, hard */
    RK_LIMIT_MEMLOCK,      /* RLIMIT_MEMLOCK, bytes; INT64_MAX: unlimited */
    RK_LIMIT_ATTR_SIZE,    /* bytes of perf_event_attr that this kernel knows, as it says itself */
    RK_LIMIT_LAST_CAP,     /* kernel.cap_last_cap: 38, CAP_PERFMON, is known from Linux 5.8 */
};

/* 0 and *ret, or -ENOENT where this kernel has no such limit, or -errno. The process's own limits (RLIMIT_…) are
 * asked for each time, since a process may raise them. */
RK_API int rk_host_limit(struct rk_host *host, uint32_t limit, int64_t *ret);

/* Online CPU numbers, ascending. At least one. The array belongs to the host. */
RK_API int rk_host_cpus(struct rk_host *host, const int32_t **ret, size_t *ret_n);

/* The same for CPUs that could come online. */
RK_API int rk_host_cpus_possible(struct rk_host *host, const int32_t **ret, size_t *ret_n);

/* Where a CPU is. Numbers are the kernel's, and -1 where it says none (an offline CPU, a container without /sys). */
struct rk_cpu {
    uint32_t size;  /* set by the caller */
    int32_t cpu;    /* its own number */
    int32_t thread; /* 0, 1 … among the threads of its core */
    int32_t core;   /* within the die */
    int32_t die;    /* within the socket */
    int32_t socket;
    int32_t node;     /* of memory */
    int32_t capacity; /* how fast, of 1024, where cores differ (arm64, riscv) */
    uint32_t online;  /* 1 or 0 */
    uint32_t reserved;
    const char
        *type; /* its core PMU where there are several: "cpu_core", "cpu_atom", "armv8_cortex_a72"; else "" */
};

/* 0 and *ret; -ENOENT: there can't be such a CPU. */
RK_API int rk_host_cpu(struct rk_host *host, int32_t cpu, struct rk_cpu *ret);

/* A PMU as sysfs shows it, below /sys/bus/event_source/devices. */
struct rk_pmu {
    uint32_t size;    /* set by the caller */
    uint32_t type;    /* perf_event_attr.type */
    const char *name; /* "cpu", "armv8_pmuv3", "software", "msr" … */
    uint32_t core;    /* 1: counts what a core does (generic hardware events land here) */
    uint32_t reserved;
};

/* Number of PMUs, or -errno (-ENOENT: no sysfs here). */
RK_API int rk_host_pmu_count(struct rk_host *host);
/* The index-th by name; -ERANGE beyond the end, -errno where its type can't be read: go on with the next. */
RK_API int rk_host_pmu_get(struct rk_host *host, size_t index, struct rk_pmu *ret);

/* Facts found by asking or by trying, each once. 1 yes, 0 no, -errno can't be told. */
enum rk_fact {
    RK_FACT_CORE_PMU,    /* some core PMU: hardware events exist */
    RK_FACT_CAP_PERFMON, /* CAP_PERFMON or CAP_SYS_ADMIN is effective, and not in a user namespace of its own */
    RK_FACT_CAP_SYS_PTRACE, /* may look into other users' processes */
    RK_FACT_CAP_IPC_LOCK,   /* no mlock limit */
    RK_FACT_CAP_SYSLOG,     /* kernel addresses visible */
    RK_FACT_VIRTUAL,        /* this is a virtual machine */
    RK_FACT_CONTAINER,      /* this looks like a container */
    RK_FACT_TRACEFS,        /* tracepoint formats are mounted and readable */
    RK_FACT_KERNEL_SYMBOLS, /* /proc/kallsyms shows addresses */
    RK_FACT_USER_NAMESPACE, /* in a user namespace of its own, where capabilities lift no paranoid level */
};
RK_API int rk_host_fact(struct rk_host *host, uint32_t fact);

/* Where the kernel's own file systems are. */
enum rk_mount {
    RK_MOUNT_TRACEFS, /* tracepoints: "/sys/kernel/tracing", or below debugfs, or wherever it was mounted */
    RK_MOUNT_CGROUP2, /* the unified hierarchy: "/sys/fs/cgroup" */
    RK_MOUNT_CGROUP1, /* the perf_event controller of cgroup v1: "/sys/fs/cgroup/perf_event" */
};

/* 0 and *ret, a path from the root on that begins with '/'; -ENOENT: it is not mounted; -EACCES: it is, in *ret, and
 * this user can't read it; -EPERM: which there are can't be read; or -errno. */
RK_API int rk_host_mount(struct rk_host *host, uint32_t mount, const char **ret);

/*
 * What the running kernel's perf_event_open(2) knows, each found by asking for it once, with a clock on this thread:
 * a kernel refuses bits and bytes that it does not know. Never by the version: distributions carry features back.
 */
enum rk_feature {
    RK_FEATURE_MMAP2,               /* mappings with inode and protection */
    RK_FEATURE_COMM_EXEC,           /* which change of a name was an exec */
    RK_FEATURE_CLOCKID,             /* a clock of one's choice for samples */
    RK_FEATURE_CONTEXT_SWITCH,      /* records of switches */
    RK_FEATURE_WRITE_BACKWARD,      /* rings that overwrite */
    RK_FEATURE_MAX_STACK,           /* a limit of frames for each event */
    RK_FEATURE_NAMESPACES,          /* records of namespaces */
    RK_FEATURE_INHERIT_GROUP,       /* groups that are inherited and read together */
    RK_FEATURE_SAMPLE_PHYS_ADDR,    /* physical addresses */
    RK_FEATURE_KSYMBOL,             /* records of code that the kernel gets at run time */
    RK_FEATURE_BPF_EVENT,           /* records of BPF programs */
    RK_FEATURE_AUX_OUTPUT,          /* samples into an AUX area */
    RK_FEATURE_SAMPLE_AUX,          /* pieces of an AUX area in samples */
    RK_FEATURE_CGROUP,              /* records of cgroups */
    RK_FEATURE_SAMPLE_CGROUP,       /* the cgroup in samples */
    RK_FEATURE_TEXT_POKE,           /* records of changes in the kernel's code */
    RK_FEATURE_SAMPLE_DATA_PAGE,    /* size of the page of a data address */
    RK_FEATURE_SAMPLE_CODE_PAGE,    /* size of the page of an instruction */
    RK_FEATURE_BUILD_ID,            /* build-ids in records of mappings */
    RK_FEATURE_SAMPLE_WEIGHT_PARTS, /* weights in three parts */
    RK_FEATURE_INHERIT_THREAD,      /* threads inherit, children don't */
    RK_FEATURE_REMOVE_ON_EXEC,      /* gone with an exec */
    RK_FEATURE_SIGTRAP,             /* a signal at each overflow, with data of one's own */
    RK_FEATURE_READ_LOST,           /* how many samples were lost, in what is read */
    RK_FEATURE_CONFIG3,             /* a fourth word of configuration */
    RK_FEATURE_INHERIT_READ,        /* counts in the samples of inherited events */
    RK_FEATURE_AUX_PAUSE,           /* AUX areas that begin paused */
    RK_FEATURE_DEFER_CALLCHAIN,     /* user call chains on the way back to user space */
    RK_FEATURE_CONFIG4,             /* a fifth word of configuration */
    RK_FEATURE_PMU_TYPE,            /* generic events on a PMU of one's choice; -ENODEV: no core PMU to ask */
};

/* 1 it is known (whether or not this user may use it), 0 it is not, -errno it can't be told. Asked once. */
RK_API int rk_host_feature(struct rk_host *host, uint32_t feature);

struct rk_feature_text {
    uint32_t size; /* set by the caller */
    uint32_t reserved;
    const char *name;  /* a stable word: "write-backward" */
    const char *since; /* the Linux that brought it, for messages: "4.7" */
    const char *about; /* one line */
};

/* 0 and *ret, or -ERANGE behind the last. */
RK_API int rk_feature_describe(uint32_t feature, struct rk_feature_text *ret);

/* "6.18.44": uname -r, for messages only; nothing is decided by it. "" where /proc is not there. */
RK_API const char *rk_host_kernel(struct rk_host *host);

#ifdef __cplusplus
}
#endif
#endif

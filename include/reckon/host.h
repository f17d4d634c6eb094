/*
 * reckon/host.h: describes this machine: limits, CPUs, PMUs, mounts, what its kernel supports.
 *
 * A host has a root directory: "/", or a copy of /proc and /sys elsewhere. It reads each part when first
 * asked for it, and then keeps the answer.
 *
 *     struct rk_host *host;
 *     rk_host_open(NULL, &host, NULL);
 *     int64_t level;
 *     if (rk_host_limit(host, RK_LIMIT_PARANOID, &level) == 0)
 *         printf("perf_event_paranoid is %d\n", (int)level);
 *     rk_host_free(host);
 *
 * A host has no lock: use it from one thread at a time. What was opened with it asks it too, when it is
 * opened, explained or refreshed (rk_set_refresh(), rk_rows_open(), rk_stream_live() …): for handles that
 * share a host, make these calls from one thread at a time. Counting, reading and freeing are exempt.
 *
 * Its strings and arrays live as long as it.
 */
#ifndef RECKON_HOST_H
#define RECKON_HOST_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_host;

/* Opens the machine whose /proc and /sys are below `root` (NULL: "/"). Reads nothing yet. */
RK_API int rk_host_open(const char *root, struct rk_host **ret, struct rk_error *e);

/* Takes NULL; returns NULL. Targets and sets that were made with it keep it alive until they are freed. */
RK_API struct rk_host *rk_host_free(struct rk_host *host);

/* Limits that the kernel sets. */
enum rk_limit {
    RK_LIMIT_PARANOID,     /* kernel.perf_event_paranoid: -1 … 4 */
    RK_LIMIT_MLOCK_KB,     /* kernel.perf_event_mlock_kb, per CPU and user */
    RK_LIMIT_SAMPLE_RATE,  /* kernel.perf_event_max_sample_rate, Hz */
    RK_LIMIT_MAX_STACK,    /* kernel.perf_event_max_stack, frames */
    RK_LIMIT_KPTR,         /* kernel.kptr_restrict */
    RK_LIMIT_USER_ACCESS,  /* kernel.perf_user_access (arm64, riscv) */
    RK_LIMIT_NMI_WATCHDOG, /* kernel.nmi_watchdog; 1: it occupies a hardware counter */
    RK_LIMIT_NOFILE,       /* RLIMIT_NOFILE, soft */
    RK_LIMIT_NOFILE_HARD,  /* RLIMIT_NOFILE, hard */
    RK_LIMIT_MEMLOCK,      /* RLIMIT_MEMLOCK, bytes; INT64_MAX: unlimited */
    RK_LIMIT_ATTR_SIZE,    /* bytes of perf_event_attr that this kernel knows */
    RK_LIMIT_LAST_CAP,     /* kernel.cap_last_cap: 38, CAP_PERFMON, since Linux 5.8 */
};

/* Returns 0 and *ret, -ENOENT if this kernel has no such limit, or another -errno. The limits of the process
 * (RLIMIT_…) are read at each call, since a process may raise them. */
RK_API int rk_host_limit(struct rk_host *host, uint32_t limit, int64_t *ret);

/* The numbers of the online CPUs, ascending, one at least. The array belongs to the host. */
RK_API int rk_host_cpus(struct rk_host *host, const int32_t **ret, size_t *ret_n);

/* The same for all CPUs that may come online. */
RK_API int rk_host_cpus_possible(struct rk_host *host, const int32_t **ret, size_t *ret_n);

/* Where a CPU is, by the kernel's numbers. -1: unknown, as for an offline CPU or in a container without
 * /sys. */
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
    /* Its core PMU, if there are several: "cpu_core", "cpu_atom", "armv8_cortex_a72". Else "". */
    const char *type;
};

/* Returns 0 and *ret, or -ENOENT if this machine has no CPU of that number. */
RK_API int rk_host_cpu(struct rk_host *host, int32_t cpu, struct rk_cpu *ret);

/* A PMU as sysfs shows it, below /sys/bus/event_source/devices. */
struct rk_pmu {
    uint32_t size;    /* set by the caller */
    uint32_t type;    /* perf_event_attr.type */
    const char *name; /* "cpu", "armv8_pmuv3", "software", "msr" … */
    uint32_t core;    /* 1: counts what a core does (generic hardware events land here) */
    uint32_t reserved;
};

/*
 * How many PMUs there are; 0 if sysfs is unreadable, and rk_host_pmu_get(host, 0, …) then returns the
 * reason. They are sorted by name. rk_host_pmu_get() returns -ERANGE after the last, or another -errno if
 * the type of this one is unreadable: go on with the next.
 */
RK_API size_t rk_host_pmu_count(struct rk_host *host);
RK_API int rk_host_pmu_get(struct rk_host *host, size_t index, struct rk_pmu *ret);

/* Facts, each found once by asking the kernel or by trying: 1 yes, 0 no, -errno unknown. */
enum rk_fact {
    RK_FACT_CORE_PMU,       /* some core PMU: hardware events exist */
    RK_FACT_CAP_PERFMON,    /* CAP_PERFMON or CAP_SYS_ADMIN is effective, in the first user namespace */
    RK_FACT_CAP_SYS_PTRACE, /* may examine other users' processes */
    RK_FACT_CAP_IPC_LOCK,   /* no mlock limit */
    RK_FACT_CAP_SYSLOG,     /* kernel addresses visible */
    RK_FACT_VIRTUAL,        /* this is a virtual machine */
    RK_FACT_CONTAINER,      /* this looks like a container */
    RK_FACT_TRACEFS,        /* tracepoint formats are mounted and readable */
    RK_FACT_KERNEL_SYMBOLS, /* /proc/kallsyms shows addresses */
    RK_FACT_USER_NAMESPACE, /* in another user namespace, where capabilities lift no paranoid level */
};
RK_API int rk_host_fact(struct rk_host *host, uint32_t fact);

/* Where the kernel's own file systems are. */
enum rk_mount {
    RK_MOUNT_TRACEFS, /* tracepoints: "/sys/kernel/tracing", below debugfs, or elsewhere */
    RK_MOUNT_CGROUP2, /* the unified hierarchy: "/sys/fs/cgroup" */
    RK_MOUNT_CGROUP1, /* the perf_event controller of cgroup v1: "/sys/fs/cgroup/perf_event" */
};

/*
 * Finds a mount point. Returns 0 and *ret, an absolute path below the host's root. -ENOENT: it is not
 * mounted. -EACCES: it is mounted at *ret, and this user may not read it. -EPERM: the list of mounts is
 * unreadable.
 */
RK_API int rk_host_mount(struct rk_host *host, uint32_t mount, const char **ret);

/*
 * What the running kernel's perf_event_open(2) supports. Each is found once, by trying it with a clock on
 * this thread: a kernel refuses bits that it does not know. The version decides nothing, since distributions
 * backport features.
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

/* Returns 1 if the kernel supports it (even if this user may not use it), 0 if not, -errno if that is
 * unknown. */
RK_API int rk_host_feature(struct rk_host *host, uint32_t feature);

/* A feature in words. */
struct rk_feature_text {
    uint32_t size; /* set by the caller */
    uint32_t reserved;
    const char *name;  /* a stable word: "write-backward" */
    const char *since; /* the first Linux with it, for messages: "4.7" */
    const char *about; /* one line */
};

/* Returns 0 and *ret, or -ERANGE after the last feature. */
RK_API int rk_feature_describe(uint32_t feature, struct rk_feature_text *ret);

/* "6.18.44": uname -r, for messages only; it decides nothing. "" without /proc. */
RK_API const char *rk_host_kernel(struct rk_host *host);

#ifdef __cplusplus
}
#endif
#endif

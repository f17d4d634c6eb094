/*
 * The kernel's perf ABI in our own words, complete to Linux 6.19, so that what reckon can say does not
 * depend on the headers it was built with, and a bit can be probed as a bit. Little-endian only, like
 * the machines we run on. What a running kernel knows of this is found by asking it.
 */
#ifndef BASE_ABI_H
#define BASE_ABI_H

#include <stdint.h>

/* attr.type */
enum {
    PERF_HARDWARE = 0,
    PERF_SOFTWARE = 1,
    PERF_TRACEPOINT = 2,
    PERF_HW_CACHE = 3,
    PERF_RAW = 4,
    PERF_BREAKPOINT = 5,
};

/* PERF_TRACEPOINT: the one that has the same number everywhere, ftrace:function */
#define TRACEPOINT_FUNCTION 1

/* PERF_HARDWARE */
enum {
    HW_CYCLES,
    HW_INSTRUCTIONS,
    HW_CACHE_REFERENCES,
    HW_CACHE_MISSES,
    HW_BRANCHES,
    HW_BRANCH_MISSES,
    HW_BUS_CYCLES,
    HW_STALLED_FRONTEND,
    HW_STALLED_BACKEND,
    HW_REF_CYCLES,
};

/* PERF_SOFTWARE */
enum {
    SW_CPU_CLOCK,
    SW_TASK_CLOCK,
    SW_PAGE_FAULTS,
    SW_CONTEXT_SWITCHES,
    SW_CPU_MIGRATIONS,
    SW_PAGE_FAULTS_MIN,
    SW_PAGE_FAULTS_MAJ,
    SW_ALIGNMENT_FAULTS,
    SW_EMULATION_FAULTS,
    SW_DUMMY,
    SW_BPF_OUTPUT,
    SW_CGROUP_SWITCHES,
};

/* attr.flags: the kernel's bit-field, bit by bit */
#define ATTR_DISABLED (UINT64_C(1) << 0)
#define ATTR_INHERIT (UINT64_C(1) << 1)
#define ATTR_PINNED (UINT64_C(1) << 2)
#define ATTR_EXCLUSIVE (UINT64_C(1) << 3)
#define ATTR_EXCLUDE_USER (UINT64_C(1) << 4)
#define ATTR_EXCLUDE_KERNEL (UINT64_C(1) << 5)
#define ATTR_EXCLUDE_HV (UINT64_C(1) << 6)
#define ATTR_EXCLUDE_IDLE (UINT64_C(1) << 7)
#define ATTR_MMAP (UINT64_C(1) << 8)
#define ATTR_COMM (UINT64_C(1) << 9)
#define ATTR_FREQ (UINT64_C(1) << 10)
#define ATTR_INHERIT_STAT (UINT64_C(1) << 11)
#define ATTR_ENABLE_ON_EXEC (UINT64_C(1) << 12)
#define ATTR_TASK (UINT64_C(1) << 13)
#define ATTR_WATERMARK (UINT64_C(1) << 14)
#define ATTR_PRECISE_SHIFT 15 /* two bits */
#define ATTR_PRECISE_MASK (UINT64_C(3) << 15)
#define ATTR_MMAP_DATA (UINT64_C(1) << 17)
#define ATTR_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define ATTR_EXCLUDE_HOST (UINT64_C(1) << 19)
#define ATTR_EXCLUDE_GUEST (UINT64_C(1) << 20)
#define ATTR_EXCLUDES                                                                                    \
    (ATTR_EXCLUDE_USER | ATTR_EXCLUDE_KERNEL | ATTR_EXCLUDE_HV | ATTR_EXCLUDE_IDLE | ATTR_EXCLUDE_HOST | \
     ATTR_EXCLUDE_GUEST)
#define ATTR_EXCLUDE_CALLCHAIN_KERNEL (UINT64_C(1) << 21)
#define ATTR_EXCLUDE_CALLCHAIN_USER (UINT64_C(1) << 22)
#define ATTR_MMAP2 (UINT64_C(1) << 23)
#define ATTR_COMM_EXEC (UINT64_C(1) << 24)
#define ATTR_USE_CLOCKID (UINT64_C(1) << 25)
#define ATTR_CONTEXT_SWITCH (UINT64_C(1) << 26)
#define ATTR_WRITE_BACKWARD (UINT64_C(1) << 27)
#define ATTR_NAMESPACES (UINT64_C(1) << 28)
#define ATTR_KSYMBOL (UINT64_C(1) << 29)
#define ATTR_BPF_EVENT (UINT64_C(1) << 30)
#define ATTR_AUX_OUTPUT (UINT64_C(1) << 31)
#define ATTR_CGROUP (UINT64_C(1) << 32)
#define ATTR_TEXT_POKE (UINT64_C(1) << 33)
#define ATTR_BUILD_ID (UINT64_C(1) << 34)
#define ATTR_INHERIT_THREAD (UINT64_C(1) << 35)
#define ATTR_REMOVE_ON_EXEC (UINT64_C(1) << 36)
#define ATTR_SIGTRAP (UINT64_C(1) << 37)
#define ATTR_DEFER_CALLCHAIN (UINT64_C(1) << 38)
#define ATTR_DEFER_OUTPUT (UINT64_C(1) << 39)

/* attr.read_format */
#define FORMAT_ENABLED (UINT64_C(1) << 0)
#define FORMAT_RUNNING (UINT64_C(1) << 1)
#define FORMAT_ID (UINT64_C(1) << 2)
#define FORMAT_GROUP (UINT64_C(1) << 3)
#define FORMAT_LOST (UINT64_C(1) << 4)

/* attr.branch_sample_type: the bits that change a sample's layout */
#define BRANCH_CALL_STACK (UINT64_C(1) << 11)
#define BRANCH_HW_INDEX (UINT64_C(1) << 17)
#define BRANCH_COUNTERS (UINT64_C(1) << 19)

#define ATTR_SIZE_0 64 /* the first published size */
#define ATTR_SIZE_NOW 144

struct perf_attr {
    uint32_t type;
    uint32_t size;
    uint64_t config;
    uint64_t sample_period; /* or frequency, with ATTR_FREQ */
    uint64_t sample_type;   /* RK_SAMPLE_… */
    uint64_t read_format;
    uint64_t flags;  /* ATTR_… */
    uint32_t wakeup; /* samples, or bytes with ATTR_WATERMARK */
    uint32_t bp_type;
    uint64_t config1; /* or bp_addr, kprobe_func, uprobe_path */
    uint64_t config2; /* or bp_len, kprobe_addr, probe_offset */
    uint64_t branch_sample_type;
    uint64_t sample_regs_user;
    uint32_t sample_stack_user;
    int32_t clockid;
    uint64_t sample_regs_intr;
    uint32_t aux_watermark;
    uint16_t sample_max_stack;
    uint16_t reserved_2;
    uint32_t aux_sample_size;
    uint32_t aux_action;
    uint64_t sig_data;
    uint64_t config3;
    uint64_t config4;
};
_Static_assert(sizeof(struct perf_attr) == ATTR_SIZE_NOW, "perf_event_attr of Linux 6.19");

/* perf_event_open flags */
#define OPEN_FD_NO_GROUP 1u
#define OPEN_FD_OUTPUT 2u
#define OPEN_PID_CGROUP 4u
#define OPEN_FD_CLOEXEC 8u

/* ioctl requests; those with an argument by pointer carry its size in the number */
#define IOC_ENABLE 0x2400u
#define IOC_DISABLE 0x2401u
#define IOC_REFRESH 0x2402u
#define IOC_RESET 0x2403u
#define IOC_PERIOD 0x40082404u
#define IOC_SET_OUTPUT 0x2405u
#define IOC_SET_FILTER 0x40082406u
#define IOC_ID 0x80082407u
#define IOC_SET_BPF 0x40042408u
#define IOC_PAUSE_OUTPUT 0x40042409u
#define IOC_QUERY_BPF 0xc008240au
#define IOC_MODIFY_ATTRIBUTES 0x4008240bu

/* A record's first eight bytes. `size` counts them too and is a multiple of 8. */
struct perf_header {
    uint32_t type;
    uint16_t misc;
    uint16_t size;
};

/* The first page of a mapped event. Shared with the kernel: fields it writes are read once, through
 * sys/barrier.h. */
struct perf_page {
    uint32_t version, compat_version;
    uint32_t lock;  /* seqlock for what follows, up to time_mask */
    uint32_t index; /* hardware counter + 1, or 0: not on the PMU now */
    int64_t offset; /* add to the hardware counter's value */
    uint64_t time_enabled, time_running;
    uint64_t capabilities; /* PAGE_CAP_… */
    uint16_t pmc_width;    /* bits */
    uint16_t time_shift;
    uint32_t time_mult;
    uint64_t time_offset;
    uint64_t time_zero;
    uint32_t size;
    uint32_t reserved_1;
    uint64_t time_cycles, time_mask;
    uint8_t reserved_2[116 * 8];
    uint64_t data_head; /* free-running; the kernel writes it */
    uint64_t data_tail; /* free-running; we write it */
    uint64_t data_offset, data_size;
    uint64_t aux_head, aux_tail, aux_offset, aux_size;
};
_Static_assert(__builtin_offsetof(struct perf_page, data_head) == 1024, "perf_event_mmap_page");

#define PAGE_CAP_BIT0_IS_DEPRECATED (UINT64_C(1) << 1)
#define PAGE_CAP_USER_RDPMC (UINT64_C(1) << 2)
#define PAGE_CAP_USER_TIME (UINT64_C(1) << 3)
#define PAGE_CAP_USER_TIME_ZERO (UINT64_C(1) << 4)
#define PAGE_CAP_USER_TIME_SHORT (UINT64_C(1) << 5)

/* The one name that reckon prints for a generic event (PERF_HARDWARE, PERF_SOFTWARE, PERF_HW_CACHE), or NULL. */
const char *abi_event_name(uint32_t type, uint64_t config);

#endif

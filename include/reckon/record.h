/*
 * reckon/record.h: what the kernel says, as views.
 *
 * A record comes from a stream (reckon/stream.h) and points into the ring or the file: nothing is
 * copied, and it is valid until the stream's next one. Fields that are there are said by a mask;
 * a zero is a zero. Types that this release does not know pass through with their bytes.
 */
#ifndef RECKON_RECORD_H
#define RECKON_RECORD_H

#include <reckon/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kernel record types, by the kernel's numbers. */
enum rk_record_type {
    RK_RECORD_MMAP = 1,
    RK_RECORD_LOST = 2,
    RK_RECORD_COMM = 3,
    RK_RECORD_EXIT = 4,
    RK_RECORD_THROTTLE = 5,
    RK_RECORD_UNTHROTTLE = 6,
    RK_RECORD_FORK = 7,
    RK_RECORD_READ = 8,
    RK_RECORD_SAMPLE = 9,
    RK_RECORD_MMAP2 = 10,
    RK_RECORD_AUX = 11,
    RK_RECORD_ITRACE_START = 12,
    RK_RECORD_LOST_SAMPLES = 13,
    RK_RECORD_SWITCH = 14,
    RK_RECORD_SWITCH_CPU_WIDE = 15,
    RK_RECORD_NAMESPACES = 16,
    RK_RECORD_KSYMBOL = 17,
    RK_RECORD_BPF_EVENT = 18,
    RK_RECORD_CGROUP = 19,
    RK_RECORD_TEXT_POKE = 20,
    RK_RECORD_AUX_OUTPUT_HW_ID = 21,
    RK_RECORD_CALLCHAIN_DEFERRED = 22,
};
/* "MMAP2"; "UNKNOWN" for a type that this release does not know. Never NULL. */
RK_API const char *rk_record_name(uint32_t type);

/* header.misc */
#define RK_MISC_MODE 7u /* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
#define RK_MISC_MMAP_DATA (1u << 13)
#define RK_MISC_COMM_EXEC (1u << 13)
#define RK_MISC_SWITCH_OUT (1u << 13)
#define RK_MISC_BUILD_ID (1u << 14)

/* Sample fields, by the kernel's bits: what to ask for, and rk_sample.present / rk_record.present. */
#define RK_SAMPLE_IP (UINT64_C(1) << 0)
#define RK_SAMPLE_TID (UINT64_C(1) << 1)
#define RK_SAMPLE_TIME (UINT64_C(1) << 2)
#define RK_SAMPLE_ADDR (UINT64_C(1) << 3)
#define RK_SAMPLE_READ (UINT64_C(1) << 4)
#define RK_SAMPLE_CALLCHAIN (UINT64_C(1) << 5)
#define RK_SAMPLE_ID (UINT64_C(1) << 6)
#define RK_SAMPLE_CPU (UINT64_C(1) << 7)
#define RK_SAMPLE_PERIOD (UINT64_C(1) << 8)
#define RK_SAMPLE_STREAM_ID (UINT64_C(1) << 9)
#define RK_SAMPLE_RAW (UINT64_C(1) << 10)
#define RK_SAMPLE_BRANCH_STACK (UINT64_C(1) << 11)
#define RK_SAMPLE_REGS_USER (UINT64_C(1) << 12)
#define RK_SAMPLE_STACK_USER (UINT64_C(1) << 13)
#define RK_SAMPLE_WEIGHT (UINT64_C(1) << 14)
#define RK_SAMPLE_DATA_SRC (UINT64_C(1) << 15)
#define RK_SAMPLE_IDENTIFIER (UINT64_C(1) << 16)
#define RK_SAMPLE_TRANSACTION (UINT64_C(1) << 17)
#define RK_SAMPLE_REGS_INTR (UINT64_C(1) << 18)
#define RK_SAMPLE_PHYS_ADDR (UINT64_C(1) << 19)
#define RK_SAMPLE_AUX (UINT64_C(1) << 20)
#define RK_SAMPLE_CGROUP (UINT64_C(1) << 21)
#define RK_SAMPLE_DATA_PAGE_SIZE (UINT64_C(1) << 22)
#define RK_SAMPLE_CODE_PAGE_SIZE (UINT64_C(1) << 23)
#define RK_SAMPLE_WEIGHT_STRUCT (UINT64_C(1) << 24)

#define RK_NO_EVENT UINT32_MAX

/* Any record, with the identity that kernel or file attached to it. Frozen. */
struct rk_record {
    uint32_t type; /* enum rk_record_type, or what the kernel wrote */
    uint16_t misc;
    uint16_t bytes; /* header.size, 8 … 65528 */
    uint32_t event; /* index among the stream's events, or RK_NO_EVENT */
    uint32_t cpu;
    uint64_t present; /* of the fields below: RK_SAMPLE_TID, _TIME, _CPU, _IDENTIFIER or _ID */
    uint64_t time;
    uint64_t id;
    int32_t pid, tid;
    const unsigned char *data; /* the whole record, header first, 8-byte aligned */
    uint64_t offset;           /* where in the file; live: bytes before it in its ring */
};

/* Markers inside a callchain: what follows runs in this mode. */
#define RK_CHAIN_HYPERVISOR ((uint64_t)-32)
#define RK_CHAIN_KERNEL ((uint64_t)-128)
#define RK_CHAIN_USER ((uint64_t)-512)
#define RK_CHAIN_USER_DEFERRED ((uint64_t)-640)
#define RK_CHAIN_GUEST ((uint64_t)-2048)
#define RK_CHAIN_GUEST_KERNEL ((uint64_t)-2176)
#define RK_CHAIN_GUEST_USER ((uint64_t)-2560)
#define RK_CHAIN_MAX ((uint64_t)-4095) /* an entry ≥ this is a marker */

/* One branch, as the kernel packs it: `flags` is its third word. Frozen. */
struct rk_branch {
    uint64_t from, to, flags;
};

/* One counter's value inside a sample or a READ record. Frozen. */
struct rk_read {
    uint64_t value, id, lost;
};

/* A sample, decoded. Pointers are into the record. Arrays of u64 are 8-byte aligned. */
struct rk_sample {
    uint32_t size; /* set by the caller */
    uint32_t cpu;
    uint64_t present; /* RK_SAMPLE_… that this sample carries */
    uint64_t ip, time, addr, id, stream_id, period;
    int32_t pid, tid;

    const uint64_t *chain; /* markers included; chain_n entries */
    uint64_t chain_n;

    const unsigned char *raw; /* tracepoint payload, with the kernel's padding */
    uint64_t raw_bytes;

    const struct rk_branch *branches; /* the latest first; NULL: the kernel took no stack */
    uint64_t branch_n;
    uint64_t branch_hw_index;        /* UINT64_MAX where the kernel gave none */
    const uint64_t *branch_counters; /* branch_n entries, or NULL */

    uint64_t regs_user_abi, regs_user_mask; /* abi 0: none were taken */
    const uint64_t *regs_user;              /* one per set bit of the mask */
    uint64_t regs_intr_abi, regs_intr_mask;
    const uint64_t *regs_intr;

    const unsigned char *stack; /* user stack as dumped */
    uint64_t stack_bytes;       /* as many as the dump has room for … */
    uint64_t stack_used;        /* … and as many as are valid */

    uint64_t weight; /* with RK_SAMPLE_WEIGHT_STRUCT: 32 bits, then 16, then 16 */
    uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;

    const unsigned char *aux;
    uint64_t aux_bytes;

    /* RK_SAMPLE_READ */
    uint64_t read_n, read_enabled, read_running; /* read_n values: rk_sample_read() */
    uint64_t read_format;                        /* PERF_FORMAT_… of the above */
    const uint64_t *read_words;                  /* as the kernel laid them out */
};

/* The index-th value of RK_SAMPLE_READ. 0, or -ERANGE. */
RK_API int rk_sample_read(const struct rk_sample *sample, uint64_t index, struct rk_read *ret);

/*
 * The other records that naming and loss need, decoded on request. Each returns 0, or -EINVAL where the
 * record is of another type, or -EBADMSG where its bytes don't hold what its type says.
 * Strings point into the record and end with a NUL inside it (checked).
 */
struct rk_mapping { /* MMAP, MMAP2 */
    uint32_t size;
    int32_t pid, tid;           /* pid -1: the kernel's own */
    uint32_t protection, flags; /* PROT_…, MAP_…; MMAP2 only */
    uint32_t major, minor;
    uint32_t build_id_bytes; /* 0: none was given */
    uint64_t start, length, file_offset, inode, inode_generation;
    const unsigned char *build_id;
    const char *path;
};
RK_API int rk_record_mapping(const struct rk_record *record, struct rk_mapping *ret);

struct rk_task { /* FORK, EXIT */
    uint32_t size;
    int32_t pid, parent_pid, tid, parent_tid;
    uint32_t reserved;
    uint64_t time;
};
RK_API int rk_record_task(const struct rk_record *record, struct rk_task *ret);

struct rk_comm { /* COMM; record->misc has RK_MISC_COMM_EXEC */
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
    const char *name;
};
RK_API int rk_record_comm(const struct rk_record *record, struct rk_comm *ret);

struct rk_lost { /* LOST, LOST_SAMPLES */
    uint32_t size;
    uint32_t reserved;
    uint64_t id; /* of the event; 0 for LOST_SAMPLES: see record->event */
    uint64_t count;
};
RK_API int rk_record_lost(const struct rk_record *record, struct rk_lost *ret);

#ifdef __cplusplus
}
#endif
#endif

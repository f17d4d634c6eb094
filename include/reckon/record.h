/*
 * reckon/record.h: the kernel's records, decoded in place.
 *
 * 1. Records of a stream (reckon/stream.h), which finds each record's event and layout:
 *
 *     if (record->type == RK_RECORD_COMM && rk_record_comm(record, &comm) == 0)
 *         printf("%d is %s\n", comm.tid, comm.name);
 *
 * 2. Records from anywhere else: a ring that you mapped yourself, a socket, a BPF program. The
 *    perf_event_attr of their event says where their fields lie:
 *
 *     const struct perf_event_header *header;
 *     rk_layout_open(&attr, sizeof attr, &layout, &e);
 *     for (size_t at = 0; at < n; at += header->size) {
 *         header = (const void *)(bytes + at);
 *         rc = rk_layout_record(layout, header, n - at, &record);
 *         if (rc == 1 && rk_layout_sample(layout, &record, &sample) == 0)
 *             printf("%d %#jx\n", sample.tid, (uintmax_t)sample.ip);
 *         if (rc == 0 || header->size < sizeof *header || header->size % 8 != 0)
 *             break;                             // its end is missing; an invalid size hides the next one
 *     }                                          // -EBADMSG: this one is damaged, the next may be whole
 *     rk_layout_free(layout);
 *
 * 3. The inverse, a record from its parts:
 *
 *     struct rk_record record = {.type = RK_RECORD_COMM, .pid = 1, .tid = 1};
 *     struct rk_comm comm = RK_INIT(comm, .pid = 1, .tid = 1, .name = "init");
 *     int bytes = rk_layout_encode(layout, &record, &comm, buffer, sizeof buffer);
 *
 * Nothing is copied: pointers lead into the record's bytes and live as long as these do. A mask (`present`)
 * says which fields a record has, so that a zero is a zero. Records of unknown types keep their bytes.
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
/* "MMAP2"; from 64 on the records that perf adds to its files ("FINISHED_ROUND"); "UNKNOWN" for a type that
 * this release does not know. Never NULL. */
RK_API const char *rk_record_type_name(uint32_t type);

/* Where a sample fell: record->misc & RK_MISC_MODE. */
enum rk_mode {
    RK_MODE_UNKNOWN = 0,
    RK_MODE_KERNEL = 1,
    RK_MODE_USER = 2,
    RK_MODE_HYPERVISOR = 3,
    RK_MODE_GUEST_KERNEL = 4,
    RK_MODE_GUEST_USER = 5,
};

/* Returns "kernel" for RK_MODE_KERNEL, "guest-user" for RK_MODE_GUEST_USER; "unknown" for others. Never
 * NULL. */
RK_API const char *rk_mode_name(uint32_t mode);

/* record->misc */
#define RK_MISC_MODE 0x7u /* enum rk_mode */
#define RK_MISC_MMAP_DATA 0x2000u
#define RK_MISC_COMM_EXEC 0x2000u
#define RK_MISC_SWITCH_OUT 0x2000u
#define RK_MISC_FORK_EXEC 0x2000u
#define RK_MISC_EXACT_IP 0x4000u       /* SAMPLE: ip is that of the instruction itself */
#define RK_MISC_SWITCH_PREEMPT 0x4000u /* SWITCH out: it could have gone on */
#define RK_MISC_BUILD_ID 0x4000u

/* Sample fields, by the kernel's bits: what to ask for, and rk_sample.present / rk_record.present. */
#define RK_SAMPLE_IP 0x1ull
#define RK_SAMPLE_TID 0x2ull
#define RK_SAMPLE_TIME 0x4ull
#define RK_SAMPLE_ADDR 0x8ull
#define RK_SAMPLE_READ 0x10ull
#define RK_SAMPLE_CALLCHAIN 0x20ull
#define RK_SAMPLE_ID 0x40ull
#define RK_SAMPLE_CPU 0x80ull
#define RK_SAMPLE_PERIOD 0x100ull
#define RK_SAMPLE_STREAM_ID 0x200ull
#define RK_SAMPLE_RAW 0x400ull
#define RK_SAMPLE_BRANCH_STACK 0x800ull
#define RK_SAMPLE_REGS_USER 0x1000ull
#define RK_SAMPLE_STACK_USER 0x2000ull
#define RK_SAMPLE_WEIGHT 0x4000ull
#define RK_SAMPLE_DATA_SRC 0x8000ull
#define RK_SAMPLE_IDENTIFIER 0x10000ull
#define RK_SAMPLE_TRANSACTION 0x20000ull
#define RK_SAMPLE_REGS_INTR 0x40000ull
#define RK_SAMPLE_PHYS_ADDR 0x80000ull
#define RK_SAMPLE_AUX 0x100000ull
#define RK_SAMPLE_CGROUP 0x200000ull
#define RK_SAMPLE_DATA_PAGE_SIZE 0x400000ull
#define RK_SAMPLE_CODE_PAGE_SIZE 0x800000ull
#define RK_SAMPLE_WEIGHT_STRUCT 0x1000000ull

/* rk_record.present: reckon made the record from what /proc and the kernel report (reckon/stream.h); no
 * kernel wrote it. */
#define RK_PRESENT_SYNTHESISED 0x4000000000000000ull

#define RK_NO_EVENT 0xffffffffu

/* Any record, with the identity that kernel or file attached to it. Frozen. */
struct rk_record {
    uint32_t type; /* enum rk_record_type, or what the kernel wrote */
    uint16_t misc;
    uint16_t bytes; /* header.size, 8 … 65528 */
    uint32_t event; /* index among the stream's events, or RK_NO_EVENT */
    uint32_t cpu;
    uint64_t present; /* RK_SAMPLE_TID, _TIME, _CPU, _IDENTIFIER or _ID of the fields below; RK_PRESENT_… */
    uint64_t time;
    uint64_t id;
    int32_t pid, tid;
    const unsigned char *data; /* the whole record, header first, 8-byte aligned */
    uint64_t offset;           /* where in the file; live: bytes before it in its ring, 0 if synthesised */
};

/* Markers inside a callchain: what follows runs in this mode. */
#define RK_CHAIN_HYPERVISOR 0xffffffffffffffe0ull
#define RK_CHAIN_KERNEL 0xffffffffffffff80ull
#define RK_CHAIN_USER 0xfffffffffffffe00ull
#define RK_CHAIN_USER_DEFERRED 0xfffffffffffffd80ull
#define RK_CHAIN_GUEST 0xfffffffffffff800ull
#define RK_CHAIN_GUEST_KERNEL 0xfffffffffffff780ull
#define RK_CHAIN_GUEST_USER 0xfffffffffffff600ull
#define RK_CHAIN_MAX 0xfffffffffffff001ull /* an entry ≥ this is a marker */

/* One branch, as the kernel packs it: `flags` is its third word. Frozen. */
struct rk_branch {
    uint64_t from, to, flags;
};

/* One counter's value inside a sample or a READ record. Frozen. */
struct rk_read {
    uint64_t value, id, lost;
};

/* A sample, decoded. Pointers are into the record. Arrays of u64 are 8-byte aligned. `present` says what is
 * there; the rest is 0 (rk_stream_sample() says how). */
struct rk_sample {
    uint32_t size; /* set by the caller */
    uint32_t cpu;
    uint64_t present; /* RK_SAMPLE_… that this sample carries */
    uint64_t ip, time, addr, id, stream_id;
    uint64_t period; /* where it is not present: the event's own, if that is fixed (rk_stream_sample()) */
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

/* --- Bytes to records, and back --- */

/* Where the fields of one event's records lie. */
struct rk_layout;

/* Makes a layout from a struct perf_event_attr, of any size since Linux 2.6.31. It is copied. */
RK_API int rk_layout_open(const void *attr, size_t bytes, struct rk_layout **ret, struct rk_error *e);
RK_API struct rk_layout *rk_layout_free(struct rk_layout *layout);

/*
 * Hot. Finds the record at the beginning of n bytes, which are 8-byte aligned. Returns 1 and fills *ret; 0:
 * fewer bytes than the record has; -EBADMSG: its size makes no sense, or it is too short for its layout;
 * -EINVAL: not aligned. The next record begins ret->bytes further on. ret->event is 0, ret->offset 0.
 *
 * Records of several events in one place: if all have RK_SAMPLE_IDENTIFIER, any of their layouts finds
 * ret->id, which the kernel's PERF_EVENT_IOC_ID names. Call again with the layout of that event.
 */
RK_API int rk_layout_record(const struct rk_layout *layout, const void *bytes, size_t n,
                            struct rk_record *ret);

/* Hot. Decode a SAMPLE or READ record, as rk_stream_sample() and rk_stream_read() do. */
RK_API int rk_layout_sample(const struct rk_layout *layout, const struct rk_record *record,
                            struct rk_sample *ret);
RK_API int rk_layout_read(const struct rk_layout *layout, const struct rk_record *record,
                          struct rk_sample *ret);

/*
 * Writes a record as the kernel would. `body` is the struct of record->type: rk_sample for SAMPLE and READ,
 * rk_mapping for MMAP2, rk_comm, rk_task … The layout decides which fields are written. `record` gives type
 * and misc, and to all but samples pid, tid, time, cpu and id. `buffer` is 8-byte
 * aligned; 65528 bytes always suffice.
 *
 * Returns the record's size, a multiple of 8. -EINVAL: the body lacks a field that the layout has, or the
 * type is not written (MMAP, perf's own); -ENOSPC: more than n bytes; -EMSGSIZE: too long for any record.
 */
RK_API int rk_layout_encode(const struct rk_layout *layout, const struct rk_record *record, const void *body,
                            void *buffer, size_t n);

/* The index-th value of RK_SAMPLE_READ. 0, or -ERANGE. */
RK_API int rk_sample_read(const struct rk_sample *sample, uint64_t index, struct rk_read *ret);

/*
 * The other records that naming and loss need, decoded on request. Each returns 0, or -EINVAL where the
 * record is of another type, or -EBADMSG where its bytes don't hold what its type says.
 * Strings point into the record and end with a NUL inside it (checked).
 */
/* MMAP, MMAP2 */
struct rk_mapping {
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

/* FORK, EXIT */
struct rk_task {
    uint32_t size;
    int32_t pid, parent_pid, tid, parent_tid;
    uint32_t reserved;
    uint64_t time;
};
RK_API int rk_record_task(const struct rk_record *record, struct rk_task *ret);

/* COMM; record->misc has RK_MISC_COMM_EXEC */
struct rk_comm {
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
    const char *name;
};
RK_API int rk_record_comm(const struct rk_record *record, struct rk_comm *ret);

/* LOST, LOST_SAMPLES */
struct rk_lost {
    uint32_t size;
    uint32_t reserved;
    uint64_t id; /* of the event; 0 for LOST_SAMPLES: see record->event */
    uint64_t count;
};
RK_API int rk_record_lost(const struct rk_record *record, struct rk_lost *ret);

/* THROTTLE, UNTHROTTLE */
struct rk_throttle {
    uint32_t size;
    uint32_t reserved;
    uint64_t time, id, stream_id;
};
RK_API int rk_record_throttle(const struct rk_record *record, struct rk_throttle *ret);

#define RK_AUX_TRUNCATED 0x01ull /* the AUX area was full */
#define RK_AUX_OVERWRITE 0x02ull /* a snapshot: older bytes were written over */
#define RK_AUX_PARTIAL 0x04ull   /* there are gaps */
#define RK_AUX_COLLISION 0x08ull /* samples collided */
#define RK_AUX_FORMAT 0xff00ull  /* the PMU's format */
/* AUX */
struct rk_aux {
    uint32_t size;
    uint32_t reserved;
    uint64_t offset, bytes; /* free-running, in the AUX area */
    uint64_t flags;         /* RK_AUX_… */
};
RK_API int rk_record_aux(const struct rk_record *record, struct rk_aux *ret);

/* ITRACE_START */
struct rk_itrace {
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
};
RK_API int rk_record_itrace(const struct rk_record *record, struct rk_itrace *ret);

/* SWITCH, SWITCH_CPU_WIDE */
struct rk_switch {
    uint32_t size;
    uint32_t out;                 /* 1: the thread left the CPU, 0: it came */
    uint32_t preempted;           /* 1: left while it could have gone on */
    uint32_t wide;                /* 1: SWITCH_CPU_WIDE, which has the other one's ids … */
    int32_t other_pid, other_tid; /* … who comes next, or was there before */
};
RK_API int rk_record_switch(const struct rk_record *record, struct rk_switch *ret);

/* Frozen. The kernel's order: net, uts, ipc, pid, user, mnt, cgroup. */
struct rk_namespace {
    uint64_t device, inode;
};
/* NAMESPACES */
struct rk_namespaces {
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
    const struct rk_namespace *list;
    uint64_t n;
};
RK_API int rk_record_namespaces(const struct rk_record *record, struct rk_namespaces *ret);

/* rk_ksymbol.kind */
enum rk_ksymbol_kind {
    RK_KSYMBOL_UNKNOWN = 0,
    RK_KSYMBOL_BPF = 1,
    RK_KSYMBOL_OUT_OF_LINE = 2, /* kprobe, ftrace … */
};

/* Returns "bpf", "out-of-line" or "unknown". Never NULL. */
RK_API const char *rk_ksymbol_kind_name(uint32_t kind);

/* rk_ksymbol.flags */
#define RK_KSYMBOL_REMOVED 0x1u

/* KSYMBOL: code that the kernel made or removed. */
struct rk_ksymbol {
    uint32_t size;
    uint32_t length;
    uint64_t address;
    /* enum rk_ksymbol_kind */
    uint32_t kind;
    /* RK_KSYMBOL_REMOVED */
    uint32_t flags;
    const char *name;
};
RK_API int rk_record_ksymbol(const struct rk_record *record, struct rk_ksymbol *ret);

/* rk_bpf.kind */
enum rk_bpf_kind {
    RK_BPF_UNKNOWN = 0,
    RK_BPF_LOADED = 1,
    RK_BPF_UNLOADED = 2,
};

/* Returns "loaded", "unloaded" or "unknown". Never NULL. */
RK_API const char *rk_bpf_kind_name(uint32_t kind);

/* BPF_EVENT */
struct rk_bpf {
    uint32_t size;
    /* enum rk_bpf_kind */
    uint32_t kind;
    uint32_t flags;
    uint32_t id;
    /* 8 bytes */
    const unsigned char *tag;
};
RK_API int rk_record_bpf(const struct rk_record *record, struct rk_bpf *ret);

/* CGROUP */
struct rk_cgroup {
    uint32_t size;
    uint32_t reserved;
    uint64_t id; /* as samples have it with RK_SAMPLE_CGROUP */
    const char *path;
};
RK_API int rk_record_cgroup(const struct rk_record *record, struct rk_cgroup *ret);

/* TEXT_POKE: the kernel changed its code */
struct rk_text_poke {
    uint32_t size;
    uint32_t old_bytes, new_bytes; /* 0 old: code is new there; 0 new: it is removed */
    uint32_t reserved;
    uint64_t address;
    const unsigned char *old_code, *new_code;
};
RK_API int rk_record_text_poke(const struct rk_record *record, struct rk_text_poke *ret);

/* AUX_OUTPUT_HW_ID */
struct rk_hw_id {
    uint32_t size;
    uint32_t reserved;
    uint64_t hw_id;
};
RK_API int rk_record_hw_id(const struct rk_record *record, struct rk_hw_id *ret);

/*
 * CALLCHAIN_DEFERRED: the user part of chains that were taken in the kernel, written when their thread goes
 * back to user space (Linux 6.19). A sample's chain then ends with RK_CHAIN_USER_DEFERRED and a cookie; the
 * first such record of the thread with that cookie completes it, and it may complete several samples. A
 * stream (reckon/stream.h) gives samples with their whole chain already; what has no such marker at its end
 * needs nothing.
 */
struct rk_deferred {
    uint32_t size;
    uint32_t reserved;
    uint64_t cookie;
    const uint64_t *chain; /* markers included */
    uint64_t chain_n;
};
RK_API int rk_record_deferred(const struct rk_record *record, struct rk_deferred *ret);

/* The cookie that a sample's chain waits for: 0, or -ENOENT: none. */
RK_API int rk_sample_cookie(const struct rk_sample *sample, uint64_t *ret);

/* The whole chain: the sample's up to its cookie, then the deferred part. How many entries there are, of
 * which at most `max` are stored; -EINVAL where the cookies differ. */
RK_API int64_t rk_sample_join(const struct rk_sample *sample, const struct rk_deferred *deferred,
                              uint64_t *ret, uint64_t max);

/* --- Words for what is packed ---
 *
 * Texts go to `buffer` with a NUL, cut where it is too small; the length they want is returned, as by
 * snprintf(). */

/* One register's name on a machine ("x86_64", "aarch64", "riscv64", as uname(2) says it; i386 … i686 too), by
 * the kernel's number: "ax", "x0", "pc", "s11". NULL: there is none. */
RK_API const char *rk_register_name(const char *machine, uint32_t number);

/* The mask of a list of names, "ip,sp,bp"; NULL, "" or "all": every register but the vector ones. 0, -ENOENT:
 * no register of that name, -EOPNOTSUPP: not a machine whose registers are known. */
RK_API int rk_register_mask(const char *machine, const char *names, uint64_t *ret);

/* A register of a sample by its number: 0, or -ENOENT: not taken. `interrupt` 1: of regs_intr, 0: of
 * regs_user. */
RK_API int rk_sample_register(const struct rk_sample *sample, uint32_t interrupt, uint32_t number,
                              uint64_t *ret);

/* rk_sample.data_src, part by part; a part that says nothing is "". */
enum rk_memory_part {
    RK_MEMORY_OPERATION, /* "load", "store", "prefetch", "exec" */
    RK_MEMORY_LEVEL,     /* "L1 hit", "remote RAM miss" */
    RK_MEMORY_SNOOP,     /* "none", "hit", "miss", "hit modified", "forward", "peer" */
    RK_MEMORY_LOCK,      /* "locked" */
    RK_MEMORY_TLB,       /* "L1 L2 hit", "walker miss" */
    RK_MEMORY_BLOCKED,   /* "data", "address" */
    RK_MEMORY_HOPS,      /* "core", "node", "socket", "board" */
    RK_MEMORY_REGION,    /* its number */
    RK_MEMORY_PARTS,
};
RK_API const char *rk_memory_part_name(uint32_t part); /* "operation" …; NULL: no such part */
RK_API int rk_memory_text(uint64_t data_src, uint32_t part, char *buffer, size_t n);

/* rk_sample.transaction: "transaction sync conflict code 12". */
RK_API int rk_transaction_text(uint64_t transaction, char *buffer, size_t n);

/* rk_sample.weight: one number, or with RK_SAMPLE_WEIGHT_STRUCT three, whose meaning is the PMU's (on Intel
 * the latency of the access, then of the instruction). Frozen. */
struct rk_weight {
    uint64_t first;
    uint32_t second, third;
};
RK_API int rk_sample_weight(const struct rk_sample *sample, struct rk_weight *ret); /* -ENOENT: none */

/* rk_branch_info.type, by the kernel's numbers. */
enum rk_branch_type {
    RK_BRANCH_UNKNOWN = 0,
    RK_BRANCH_CONDITIONAL = 1,
    RK_BRANCH_UNCONDITIONAL = 2,
    RK_BRANCH_INDIRECT = 3,
    RK_BRANCH_CALL = 4,
    RK_BRANCH_INDIRECT_CALL = 5,
    RK_BRANCH_RETURN = 6,
    RK_BRANCH_SYSTEM_CALL = 7,
    RK_BRANCH_SYSTEM_RETURN = 8,
    RK_BRANCH_CONDITIONAL_CALL = 9,
    RK_BRANCH_CONDITIONAL_RETURN = 10,
    RK_BRANCH_EXCEPTION_RETURN = 11,
    RK_BRANCH_INTERRUPT = 12,
    RK_BRANCH_SYSTEM_ERROR = 13,
    RK_BRANCH_NO_TRANSACTION = 14,
    RK_BRANCH_EXTENDED = 15, /* rk_branch_info.new_type has the type */
};

/* rk_branch_info.speculation */
enum rk_speculation {
    RK_SPECULATION_UNKNOWN = 0,
    RK_SPECULATION_WRONG_PATH = 1,
    RK_SPECULATION_NONE = 2, /* not speculated, on the correct path */
    RK_SPECULATION_CORRECT_PATH = 3,
};

/* rk_branch_info.privilege */
enum rk_privilege {
    RK_PRIVILEGE_UNKNOWN = 0,
    RK_PRIVILEGE_USER = 1,
    RK_PRIVILEGE_KERNEL = 2,
    RK_PRIVILEGE_HYPERVISOR = 3,
};

/* Return the words: "conditional"; "wrong path"; "kernel". "unknown" for others. Never NULL. */
RK_API const char *rk_branch_type_name(uint32_t type);
RK_API const char *rk_speculation_name(uint32_t speculation);
RK_API const char *rk_privilege_name(uint32_t privilege);

/* A branch's flags, unpacked. */
struct rk_branch_info {
    uint32_t size;
    /* Both 0: unknown. */
    uint32_t mispredicted, predicted;
    uint32_t in_transaction, aborted;
    /* Since the branch before it; 0: unknown. */
    uint32_t cycles;
    /* enum rk_branch_type */
    uint32_t type;
    /* The kernel's number, with RK_BRANCH_EXTENDED. */
    uint32_t new_type;
    /* enum rk_speculation */
    uint32_t speculation;
    /* enum rk_privilege */
    uint32_t privilege;
    /* The type's word: "conditional", "call", "return" …; "" if it is unknown. */
    const char *name;
};
RK_API int rk_branch_info(const struct rk_branch *branch, struct rk_branch_info *ret);

/* --- Arm SPE: what an AUX area of that PMU, or RK_SAMPLE_AUX of it, holds --- */

enum rk_spe_kind {
    RK_SPE_PADDING, /* also alignment */
    RK_SPE_END,
    RK_SPE_TIMESTAMP,
    RK_SPE_EVENTS,
    RK_SPE_SOURCE,
    RK_SPE_CONTEXT,
    RK_SPE_OPERATION,
    RK_SPE_ADDRESS,
    RK_SPE_COUNTER,
};
/* One packet. Frozen. */
struct rk_spe_packet {
    uint32_t kind;
    uint32_t index; /* which address, counter, context; class of an operation */
    uint64_t value;
    uint64_t bytes; /* of the packet, header included */
};
/* Reads the packet at *at of n bytes. Returns 1, and *at is the next packet; 0: no more; -EBADMSG: no packet,
 * *at is one byte further; -ENODATA: cut inside a packet, *at is unchanged. */
RK_API int rk_spe_packet(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe_packet *ret);

#define RK_SPE_HAS_PC 0x001u
#define RK_SPE_HAS_TARGET 0x002u   /* of a branch */
#define RK_SPE_HAS_ADDRESS 0x004u  /* of data, virtual */
#define RK_SPE_HAS_PHYSICAL 0x008u /* … physical */
#define RK_SPE_HAS_PREVIOUS 0x010u /* target of the branch before it */
#define RK_SPE_HAS_EVENTS 0x020u
#define RK_SPE_HAS_SOURCE 0x040u
#define RK_SPE_HAS_CONTEXT 0x080u
#define RK_SPE_HAS_OPERATION 0x100u
#define RK_SPE_HAS_LATENCY 0x200u     /* total */
#define RK_SPE_HAS_ISSUE 0x400u       /* issue latency */
#define RK_SPE_HAS_TRANSLATION 0x800u /* address translation's latency */
#define RK_SPE_HAS_TIME 0x1000u

/* rk_spe.operation_class */
#define RK_SPE_OPERATION_OTHER 0x0u
#define RK_SPE_OPERATION_MEMORY 0x1u /* load or store */
#define RK_SPE_OPERATION_BRANCH 0x2u

/* rk_spe.events */
#define RK_SPE_EVENT_EXCEPTION 0x1ull
#define RK_SPE_EVENT_RETIRED 0x2ull
#define RK_SPE_EVENT_L1D_ACCESS 0x4ull
#define RK_SPE_EVENT_L1D_REFILL 0x8ull
#define RK_SPE_EVENT_TLB_ACCESS 0x10ull
#define RK_SPE_EVENT_TLB_WALK 0x20ull
#define RK_SPE_EVENT_NOT_TAKEN 0x40ull
#define RK_SPE_EVENT_MISPREDICTED 0x80ull
#define RK_SPE_EVENT_LLC_ACCESS 0x100ull
#define RK_SPE_EVENT_LLC_MISS 0x200ull
#define RK_SPE_EVENT_REMOTE_ACCESS 0x400ull
#define RK_SPE_EVENT_UNALIGNED 0x800ull

/* A sampled operation: the packets up to its timestamp or end, put together. */
struct rk_spe {
    uint32_t size;
    /* RK_SPE_HAS_… */
    uint32_t present;
    /* 56 bits; virtual ones are sign-extended. */
    uint64_t pc, target, previous_target, address, physical;
    /* Exception level of pc, 0 … 3. */
    uint32_t level;
    /* RK_SPE_OPERATION_…; the packet's payload. */
    uint32_t operation_class, operation;
    uint32_t latency, issue, translation;
    /* RK_SPE_EVENT_… */
    uint64_t events;
    uint64_t source, context, time;
};
/* Reads the operation at *at. Returns 1, and *at is the next one; 0: no more; -EBADMSG: bytes that are no
 * packet, *at is after them; -ENODATA: the rest is no whole operation. */
RK_API int rk_spe_next(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe *ret);

/* The names of its events: "retired L1D-access TLB-access". */
RK_API int rk_spe_events_text(uint64_t events, char *buffer, size_t n);

/* --- Tracepoint payloads by field: rk_stream_field_get() says what fields there are --- */

enum rk_field_kind {
    /* A number of `bytes` bytes. */
    RK_FIELD_NUMBER,
    /* `bytes` bytes in place. */
    RK_FIELD_ARRAY,
    /* 32 bits at `offset`: the bytes' offset from the payload's beginning, and their number << 16. */
    RK_FIELD_DYNAMIC,
    /* The same, offset from the end of these 32 bits. */
    RK_FIELD_RELATIVE,
};
struct rk_field {
    uint32_t size;
    uint32_t kind;
    uint32_t offset, bytes;
    uint32_t is_signed, is_text;
    uint32_t is_common; /* common_type …: every tracepoint has them */
    uint32_t reserved;
    const char *name, *type;
};
/* A field's value: a number (sign-extended where the field is signed), or bytes in the payload; of text as
 * many as stand before its NUL. Frozen. */
struct rk_field_value {
    uint64_t number;
    const unsigned char *bytes; /* NULL: a number */
    uint64_t n;
};
/* 0, or -EBADMSG: the payload is too short for it. */
RK_API int rk_field_value(const struct rk_field *field, const struct rk_sample *sample,
                          struct rk_field_value *ret);

#ifdef __cplusplus
}
#endif
#endif

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
/* "MMAP2"; from 64 on the records that perf adds to its files ("FINISHED_ROUND"); "UNKNOWN" for a type that this
 * release does not know. Never NULL. */
RK_API const char *rk_record_name(uint32_t type);

/* header.misc */
#define RK_MISC_MODE 7u /* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user */
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

/* rk_record.present: reckon made the record from what /proc and the kernel report (reckon/stream.h); no kernel wrote it. */
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

/* A sample, decoded. Pointers are into the record. Arrays of u64 are 8-byte aligned. `present` says what is there; the rest is 0
 * (rk_stream_sample() says how). */
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

struct rk_throttle { /* THROTTLE, UNTHROTTLE */
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
struct rk_aux {                  /* AUX */
    uint32_t size;
    uint32_t reserved;
    uint64_t offset, bytes; /* free-running, in the AUX area */
    uint64_t flags;         /* RK_AUX_… */
};
RK_API int rk_record_aux(const struct rk_record *record, struct rk_aux *ret);

struct rk_itrace { /* ITRACE_START */
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
};
RK_API int rk_record_itrace(const struct rk_record *record, struct rk_itrace *ret);

struct rk_switch { /* SWITCH, SWITCH_CPU_WIDE */
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
struct rk_namespaces { /* NAMESPACES */
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
    const struct rk_namespace *list;
    uint64_t n;
};
RK_API int rk_record_namespaces(const struct rk_record *record, struct rk_namespaces *ret);

struct rk_ksymbol { /* KSYMBOL: code that the kernel made or removed */
    uint32_t size;
    uint32_t length;
    uint64_t address;
    uint32_t kind;  /* 1: BPF, 2: out of line (kprobe, ftrace …) */
    uint32_t flags; /* bit 0: removed */
    const char *name;
};
RK_API int rk_record_ksymbol(const struct rk_record *record, struct rk_ksymbol *ret);

struct rk_bpf { /* BPF_EVENT */
    uint32_t size;
    uint32_t kind; /* 1: loaded, 2: unloaded */
    uint32_t flags;
    uint32_t id;
    const unsigned char *tag; /* 8 bytes */
};
RK_API int rk_record_bpf(const struct rk_record *record, struct rk_bpf *ret);

struct rk_cgroup { /* CGROUP */
    uint32_t size;
    uint32_t reserved;
    uint64_t id; /* as samples have it with RK_SAMPLE_CGROUP */
    const char *path;
};
RK_API int rk_record_cgroup(const struct rk_record *record, struct rk_cgroup *ret);

struct rk_text_poke { /* TEXT_POKE: the kernel changed its code */
    uint32_t size;
    uint32_t old_bytes, new_bytes; /* 0 old: code is new there; 0 new: it is removed */
    uint32_t reserved;
    uint64_t address;
    const unsigned char *old_code, *new_code;
};
RK_API int rk_record_text_poke(const struct rk_record *record, struct rk_text_poke *ret);

struct rk_hw_id { /* AUX_OUTPUT_HW_ID */
    uint32_t size;
    uint32_t reserved;
    uint64_t hw_id;
};
RK_API int rk_record_hw_id(const struct rk_record *record, struct rk_hw_id *ret);

/*
 * CALLCHAIN_DEFERRED: the user part of chains that were taken in the kernel, written when their thread goes back to
 * user space (Linux 6.19). A sample's chain then ends with RK_CHAIN_USER_DEFERRED and a cookie; the first such
 * record of the thread with that cookie completes it, and it may complete several samples. A stream (reckon/stream.h) gives
 * samples with their whole chain already; what has no such marker at its end needs nothing.
 */
struct rk_deferred {
    uint32_t size;
    uint32_t reserved;
    uint64_t cookie;
    const uint64_t *chain; /* markers included */
    uint64_t chain_n;
};
RK_API int rk_record_deferred(const struct rk_record *record, struct rk_deferred *ret);

/* The cookie that a sample's chain waits for: 0, or -ENOENT: it waits for none. */
RK_API int rk_sample_cookie(const struct rk_sample *sample, uint64_t *ret);

/* The whole chain: the sample's up to its cookie, then the deferred part. How many entries there are, of which at
 * most `max` are stored; -EINVAL where the cookies differ. */
RK_API int64_t rk_sample_join(const struct rk_sample *sample, const struct rk_deferred *deferred,
                              uint64_t *ret, uint64_t max);

/* --- Words for what is packed ---
 *
 * Texts go to `buffer` with a NUL, cut where it is too small; the length they want is returned, as by snprintf(). */

/* One register's name on a machine ("x86_64", "aarch64", "riscv64", as uname(2) says it; i386 … i686 too), by the
 * kernel's number: "ax", "x0", "pc", "s11". NULL: there is none. */
RK_API const char *rk_register_name(const char *machine, uint32_t number);

/* The mask of a list of names, "ip,sp,bp"; NULL, "" or "all": every register but the vector ones. 0, -ENOENT: no register of
 * that name, -EOPNOTSUPP: not a machine whose registers are known. */
RK_API int rk_register_mask(const char *machine, const char *names, uint64_t *ret);

/* A register of a sample by its number: 0, or -ENOENT: not taken. `interrupt` 1: of regs_intr, 0: of regs_user. */
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

/* rk_sample.weight: one number, or with RK_SAMPLE_WEIGHT_STRUCT three, whose meaning is the PMU's (on Intel the
 * latency of the access, then of the instruction). Frozen. */
struct rk_weight {
    uint64_t first;
    uint32_t second, third;
};
RK_API int rk_sample_weight(const struct rk_sample *sample, struct rk_weight *ret); /* -ENOENT: none */

/* A branch's flags, unpacked. */
struct rk_branch_info {
    uint32_t size;
    uint32_t mispredicted, predicted; /* both 0: not told */
    uint32_t in_transaction, aborted;
    uint32_t cycles; /* since the branch before it; 0: not told */
    uint32_t type;   /* the kernel's number; with `new_type` where it is 15 */
    uint32_t new_type;
    uint32_t
        speculation; /* 0 not told, 1 wrong path, 2 not speculated, correct path, 3 speculated, correct path */
    uint32_t privilege; /* 0 not told, 1 user, 2 kernel, 3 hypervisor */
    const char *name;   /* of the type: "conditional", "call", "return" …; "" where it is not told */
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
/* The packet at *at of n bytes, then *at behind it. 1; 0: no more; -EBADMSG: no packet, *at is one byte on;
 * -ENODATA: cut inside a packet, *at is unchanged. */
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

/* A sampled operation: the packets up to its timestamp or end, put together. */
struct rk_spe {
    uint32_t size;
    uint32_t present;                                        /* RK_SPE_HAS_… */
    uint64_t pc, target, previous_target, address, physical; /* 56 bits, sign-extended where virtual */
    uint32_t level;                                          /* exception level of pc, 0 … 3 */
    uint32_t operation_class, operation; /* class 0 other, 1 load or store, 2 branch; the packet's payload */
    uint32_t latency, issue, translation;
    uint64_t events; /* bit 0 exception, 1 retired, 2 L1D access, 3 L1D refill, 4 TLB access, 5 TLB walk,
                          6 not taken, 7 mispredicted, 8 LLC access, 9 LLC miss, 10 remote access, 11 unaligned */
    uint64_t source, context, time;
};
/* The next operation at *at; *at is then behind it. 1; 0: no more; -EBADMSG: bytes that are no packet, *at is
 * behind them; -ENODATA: the rest is no whole operation. */
RK_API int rk_spe_next(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe *ret);

/* The names of its events: "retired L1D-access TLB-access". */
RK_API int rk_spe_events_text(uint64_t events, char *buffer, size_t n);

/* --- Tracepoint payloads by field: rk_stream_field_get() says what fields there are --- */

enum rk_field_kind {
    RK_FIELD_NUMBER, /* of `bytes` bytes */
    RK_FIELD_ARRAY,  /* `bytes` bytes in place */
    RK_FIELD_DYNAMIC, /* 32 bits at `offset` say where: offset | length << 16, from the payload's beginning … */
    RK_FIELD_RELATIVE, /* … or from behind these 32 bits */
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
/* A field's value: a number (sign-extended where the field is signed), or bytes in the payload; of text as many as
 * stand before its NUL. Frozen. */
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

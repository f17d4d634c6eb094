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
 * says which fields a record has: a field that is present and 0 is a true 0. A record of a type that this
 * release does not know is passed on with its bytes.
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

/* rk_record.misc. A bit means something else for each type of record, as the kernel has it. */
#define RK_MISC_MODE 0x7u              /* enum rk_mode */
#define RK_MISC_MMAP_DATA 0x2000u      /* MMAP, MMAP2: not executable */
#define RK_MISC_COMM_EXEC 0x2000u      /* COMM: the name comes from an exec */
#define RK_MISC_SWITCH_OUT 0x2000u     /* SWITCH: the thread left the CPU */
#define RK_MISC_FORK_EXEC 0x2000u      /* FORK: perf wrote it for an exec */
#define RK_MISC_EXACT_IP 0x4000u       /* SAMPLE: ip is the instruction itself */
#define RK_MISC_SWITCH_PREEMPT 0x4000u /* SWITCH out: the thread could have gone on */
#define RK_MISC_BUILD_ID 0x4000u       /* MMAP2: a build-id in place of device and inode */

/* Sample fields, by the kernel's bits: rk_set_options.sample asks for them, rk_sample.present and
 * rk_record.present say which there are. */
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

/* Any record, with the identity that the kernel attached to it. Frozen. */
struct rk_record {
    uint32_t type; /* enum rk_record_type, or a number that this release does not know */
    uint16_t misc; /* RK_MISC_… */

    /* The record's size with its header, 8 … 65528. */
    uint16_t bytes;

    uint32_t event; /* index among the stream's events, or RK_NO_EVENT */
    uint32_t cpu;

    /* Which of the fields here are known: RK_SAMPLE_TID (pid, tid), RK_SAMPLE_TIME, RK_SAMPLE_CPU, and
     * RK_SAMPLE_IDENTIFIER or RK_SAMPLE_ID (id). RK_PRESENT_SYNTHESISED may be set too. */
    uint64_t present;
    uint64_t time;
    uint64_t id;
    int32_t pid, tid;

    const unsigned char *data; /* the whole record, header first, 8-byte aligned */

    /* Of a file: where the record begins. Live: how many bytes came before it in its ring; 0 if it is
     * synthesised. */
    uint64_t offset;
};

/* Markers inside a call chain: the addresses after one belong to this mode. */
#define RK_CHAIN_HYPERVISOR 0xffffffffffffffe0ull
#define RK_CHAIN_KERNEL 0xffffffffffffff80ull
#define RK_CHAIN_USER 0xfffffffffffffe00ull
#define RK_CHAIN_USER_DEFERRED 0xfffffffffffffd80ull /* a cookie follows: CALLCHAIN_DEFERRED */
#define RK_CHAIN_GUEST 0xfffffffffffff800ull
#define RK_CHAIN_GUEST_KERNEL 0xfffffffffffff780ull
#define RK_CHAIN_GUEST_USER 0xfffffffffffff600ull
#define RK_CHAIN_MAX 0xfffffffffffff001ull /* an entry ≥ this is a marker */

/* One branch as the kernel packs it; rk_branch_info() unpacks `flags`. Frozen. */
struct rk_branch {
    uint64_t from, to, flags;
};

/* One counter's value inside a sample or a READ record; rk_sample_read() gets it. Frozen. */
struct rk_read {
    uint64_t value;
    uint64_t id;   /* with RK_FORMAT_ID */
    uint64_t lost; /* with RK_FORMAT_LOST */
};

/* rk_sample.read_format: what the counters' values come with. */
#define RK_FORMAT_ENABLED 0x01ull
#define RK_FORMAT_RUNNING 0x02ull
#define RK_FORMAT_ID 0x04ull
#define RK_FORMAT_GROUP 0x08ull /* the values of a whole group */
#define RK_FORMAT_LOST 0x10ull

/* rk_sample.regs_user_abi and .regs_intr_abi */
enum rk_abi {
    RK_ABI_NONE = 0, /* no registers were taken */
    RK_ABI_32 = 1,   /* a 32-bit program's */
    RK_ABI_64 = 2,
};

/* A sample, decoded. Pointers lead into the record; arrays of 64-bit words are 8-byte aligned. A field that
 * `present` does not name is 0 (rk_stream_sample() has the exception). */
struct rk_sample {
    uint32_t size; /* sizeof(struct rk_sample), set by the caller */
    uint32_t cpu;
    uint64_t present; /* RK_SAMPLE_… that this sample has */
    uint64_t ip, time, addr, id, stream_id;

    /* Without RK_SAMPLE_PERIOD: the event's own period if that is fixed, else 0. */
    uint64_t period;
    int32_t pid, tid;

    /* The call chain, innermost address first, with RK_CHAIN_… markers among the addresses. */
    const uint64_t *chain;
    uint64_t chain_n;

    /* A tracepoint's payload, with the kernel's padding: rk_field_value(). */
    const unsigned char *raw;
    uint64_t raw_bytes;

    /* Branches, the latest first. NULL: the kernel took none. */
    const struct rk_branch *branches;
    uint64_t branch_n;
    uint64_t branch_hw_index;        /* UINT64_MAX if the kernel gave none */
    const uint64_t *branch_counters; /* branch_n of them, or NULL */

    /* Registers at the program's own instruction, and at the interrupted one: one word for each bit that is
     * set in the mask. rk_sample_register() gets one. */
    uint64_t regs_user_abi, regs_user_mask; /* enum rk_abi */
    const uint64_t *regs_user;
    uint64_t regs_intr_abi, regs_intr_mask;
    const uint64_t *regs_intr;

    /* The user stack, from the stack pointer upwards: so many bytes were copied, of which stack_used are
     * valid. */
    const unsigned char *stack;
    uint64_t stack_bytes;
    uint64_t stack_used;

    uint64_t weight;      /* rk_sample_weight() */
    uint64_t data_src;    /* rk_memory_info() */
    uint64_t transaction; /* RK_TRANSACTION_… */
    uint64_t phys_addr, cgroup, data_page_size, code_page_size;

    const unsigned char *aux;
    uint64_t aux_bytes;

    /* RK_SAMPLE_READ: the values of read_n counters, which rk_sample_read() gets one by one, and for how long
     * they were enabled and running. */
    uint64_t read_n, read_enabled, read_running;
    uint64_t read_format;       /* RK_FORMAT_… */
    const uint64_t *read_words; /* as the kernel wrote them */
};

/* --- Bytes to records, and back --- */

/* Says where the fields of one event's records lie. */
struct rk_layout;

/* Makes a layout from a struct perf_event_attr of so many bytes, as any Linux since 2.6.31 has it. It is
 * copied. */
RK_API int rk_layout_open(const void *attr, size_t bytes, struct rk_layout **ret, struct rk_error *e);

/* Takes NULL; returns NULL. */
RK_API struct rk_layout *rk_layout_free(struct rk_layout *layout);

/*
 * Hot. Finds the record at the beginning of n bytes, which are 8-byte aligned. The next one begins ret->bytes
 * further on. ret->event and ret->offset are 0.
 *
 * Returns 1 and *ret; 0: the record has more than n bytes; -EBADMSG: its size is invalid, or too small for
 * the layout; -EINVAL: not aligned.
 *
 * Records of several events in one place: if all have RK_SAMPLE_IDENTIFIER, the layout of any of them finds
 * ret->id. The kernel names the id of an event's descriptor by PERF_EVENT_IOC_ID. Call again with the layout
 * of that event.
 */
RK_API int rk_layout_record(const struct rk_layout *layout, const void *bytes, size_t n,
                            struct rk_record *ret);

/* Hot. Decode a SAMPLE or READ record, as rk_stream_sample() and rk_stream_read() do. */
RK_API int rk_layout_sample(const struct rk_layout *layout, const struct rk_record *record,
                            struct rk_sample *ret);
RK_API int rk_layout_read(const struct rk_layout *layout, const struct rk_record *record,
                          struct rk_sample *ret);

/*
 * Writes a record as the kernel would, into a buffer of n bytes that is 8-byte aligned. 65528 bytes always
 * suffice.
 *
 * `body` is the struct that goes with record->type: rk_sample for SAMPLE and READ, rk_mapping for MMAP2,
 * rk_comm, rk_task and so on. The layout decides which fields are written. `record` gives type and misc, and,
 * except for samples, pid, tid, time, cpu and id.
 *
 * Returns the record's size, a multiple of 8. -EINVAL: the body lacks a field that the layout has, or records
 * of this type are not written (MMAP, those of perf alone); -ENOSPC: it needs more than n bytes; -EMSGSIZE:
 * no record may be so long.
 */
RK_API int rk_layout_encode(const struct rk_layout *layout, const struct rk_record *record, const void *body,
                            void *buffer, size_t n);

/* Gets the index-th value of RK_SAMPLE_READ. Returns 0 or -ERANGE. */
RK_API int rk_sample_read(const struct rk_sample *sample, uint64_t index, struct rk_read *ret);

/*
 * --- Records of other types ---
 *
 * Each function decodes one type. It returns 0; -EINVAL: the record is of another type; -EBADMSG: its bytes
 * don't hold what the type says. Strings point into the record and end with a NUL inside it.
 */

/* MMAP, MMAP2: a file was mapped. */
struct rk_mapping {
    uint32_t size;    /* sizeof(struct rk_mapping), set by the caller; so in all structs below */
    int32_t pid, tid; /* pid -1: the kernel's own code */

    /* PROT_… and MAP_… of mmap(2). MMAP has neither. */
    uint32_t protection, flags;

    /* Device and inode, or the build-id. MMAP has neither. */
    uint32_t major, minor;
    uint32_t build_id_bytes; /* 0: no build-id */
    uint64_t start, length, file_offset, inode, inode_generation;
    const unsigned char *build_id;
    const char *path;
};
RK_API int rk_record_mapping(const struct rk_record *record, struct rk_mapping *ret);

/* FORK, EXIT: a thread began or ended. */
struct rk_task {
    uint32_t size;
    int32_t pid, parent_pid, tid, parent_tid;
    uint32_t reserved;
    uint64_t time;
};
RK_API int rk_record_task(const struct rk_record *record, struct rk_task *ret);

/* COMM: a thread has a new name, by an exec if record->misc has RK_MISC_COMM_EXEC. */
struct rk_comm {
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
    const char *name;
};
RK_API int rk_record_comm(const struct rk_record *record, struct rk_comm *ret);

/* LOST: so many records of any type found the ring full. LOST_SAMPLES: so many samples. */
struct rk_lost {
    uint32_t size;
    uint32_t reserved;
    uint64_t id; /* of the event; 0 for LOST_SAMPLES, where record->event says it */
    uint64_t count;
};
RK_API int rk_record_lost(const struct rk_record *record, struct rk_lost *ret);

/* THROTTLE, UNTHROTTLE: the kernel paused an event that sampled too often, or let it go on. */
struct rk_throttle {
    uint32_t size;
    uint32_t reserved;
    uint64_t time, id, stream_id;
};
RK_API int rk_record_throttle(const struct rk_record *record, struct rk_throttle *ret);

/* rk_aux.flags */
#define RK_AUX_TRUNCATED 0x01ull /* the AUX area was full */
#define RK_AUX_OVERWRITE 0x02ull /* a snapshot: older bytes were overwritten */
#define RK_AUX_PARTIAL 0x04ull   /* there are gaps */
#define RK_AUX_COLLISION 0x08ull /* samples collided */
#define RK_AUX_FORMAT 0xff00ull  /* the PMU's format */

/* AUX: new bytes in the AUX area. */
struct rk_aux {
    uint32_t size;
    uint32_t reserved;

    /* How many bytes came before these in the area, and how many these are. The offset only grows: take it
     * modulo the area's size. */
    uint64_t offset, bytes;
    uint64_t flags; /* RK_AUX_… */
};
RK_API int rk_record_aux(const struct rk_record *record, struct rk_aux *ret);

/* ITRACE_START: the trace of a thread begins. */
struct rk_itrace {
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
};
RK_API int rk_record_itrace(const struct rk_record *record, struct rk_itrace *ret);

/* SWITCH, SWITCH_CPU_WIDE: a thread came onto a CPU or left it. */
struct rk_switch {
    uint32_t size;
    uint32_t out;       /* 1: it left, 0: it came */
    uint32_t preempted; /* 1: it left although it could have gone on */
    uint32_t wide;      /* 1: SWITCH_CPU_WIDE */

    /* SWITCH_CPU_WIDE: the thread that comes next, or that was there before. */
    int32_t other_pid, other_tid;
};
RK_API int rk_record_switch(const struct rk_record *record, struct rk_switch *ret);

/* A namespace, by the file below /proc/PID/ns that stands for it. Frozen. */
struct rk_namespace {
    uint64_t device, inode;
};

/* NAMESPACES: those of a thread. */
struct rk_namespaces {
    uint32_t size;
    int32_t pid, tid;
    uint32_t reserved;
    const struct rk_namespace *list; /* in the kernel's order: net, uts, ipc, pid, user, mnt, cgroup */
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
    uint32_t kind;  /* enum rk_ksymbol_kind */
    uint32_t flags; /* RK_KSYMBOL_REMOVED */
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

/* BPF_EVENT: a BPF program was loaded or unloaded. */
struct rk_bpf {
    uint32_t size;
    uint32_t kind; /* enum rk_bpf_kind */
    uint32_t flags;
    uint32_t id;
    const unsigned char *tag; /* 8 bytes */
};
RK_API int rk_record_bpf(const struct rk_record *record, struct rk_bpf *ret);

/* CGROUP: the path of a cgroup that samples name by its id (RK_SAMPLE_CGROUP). */
struct rk_cgroup {
    uint32_t size;
    uint32_t reserved;
    uint64_t id;
    const char *path;
};
RK_API int rk_record_cgroup(const struct rk_record *record, struct rk_cgroup *ret);

/* TEXT_POKE: the kernel changed its own code. Without old bytes the code is new; without new ones it is
 * removed. */
struct rk_text_poke {
    uint32_t size;
    uint32_t old_bytes, new_bytes;
    uint32_t reserved;
    uint64_t address;
    const unsigned char *old_code, *new_code;
};
RK_API int rk_record_text_poke(const struct rk_record *record, struct rk_text_poke *ret);

/* AUX_OUTPUT_HW_ID: the number by which an AUX area names the event. */
struct rk_hw_id {
    uint32_t size;
    uint32_t reserved;
    uint64_t hw_id;
};
RK_API int rk_record_hw_id(const struct rk_record *record, struct rk_hw_id *ret);

/*
 * CALLCHAIN_DEFERRED: the user part of call chains (Linux 6.19). The kernel writes it when the thread goes
 * back to user space. The chain of a sample then ends with RK_CHAIN_USER_DEFERRED and a cookie. The thread's
 * next record with that cookie completes the chain; one record may complete several samples.
 *
 * A stream (reckon/stream.h) does that itself: its samples have their whole chains.
 */
struct rk_deferred {
    uint32_t size;
    uint32_t reserved;
    uint64_t cookie;
    const uint64_t *chain; /* with markers among the addresses */
    uint64_t chain_n;
};
RK_API int rk_record_deferred(const struct rk_record *record, struct rk_deferred *ret);

/* Gets the cookie that a sample's chain waits for. Returns 0; -ENOENT: the chain waits for none. */
RK_API int rk_sample_cookie(const struct rk_sample *sample, uint64_t *ret);

/* Joins a sample's chain, up to its cookie, and the deferred part. Stores at most `max` entries; returns how
 * many there are. -EINVAL: the cookies differ. */
RK_API int64_t rk_sample_join(const struct rk_sample *sample, const struct rk_deferred *deferred,
                              uint64_t *ret, uint64_t max);

/*
 * --- What is packed: registers, data sources, transactions, weights, branches ---
 *
 * Functions that end with _text write words to a buffer of n bytes, with a NUL. They cut the text if the
 * buffer is too small, and return the length of the whole text, as snprintf() does.
 */

/* Returns a register's name by the kernel's number: "ax", "x0", "pc". `machine` is "x86_64", "aarch64" or
 * "riscv64", as uname(2) has it, or "i386" … "i686". NULL: there is no such register. */
RK_API const char *rk_register_name(const char *machine, uint32_t number);

/* Makes the mask of a list of names, "ip,sp,bp". NULL, "" and "all" mean every register but the vector ones.
 * Returns 0; -ENOENT: there is no register of that name; -EOPNOTSUPP: an unknown machine. */
RK_API int rk_register_mask(const char *machine, const char *names, uint64_t *ret);

/* Gets a register by its number, from regs_intr if `interrupt` is 1, else from regs_user. Returns 0; -ENOENT:
 * the sample does not have it. */
RK_API int rk_sample_register(const struct rk_sample *sample, uint32_t interrupt, uint32_t number,
                              uint64_t *ret);

/* rk_memory_info.operation */
#define RK_OPERATION_UNAVAILABLE 0x01u
#define RK_OPERATION_LOAD 0x02u
#define RK_OPERATION_STORE 0x04u
#define RK_OPERATION_PREFETCH 0x08u
#define RK_OPERATION_EXEC 0x10u

/* rk_memory_info.levels */
#define RK_LEVELS_UNAVAILABLE 0x0001u
#define RK_LEVELS_HIT 0x0002u
#define RK_LEVELS_MISS 0x0004u
#define RK_LEVELS_L1 0x0008u
#define RK_LEVELS_LFB 0x0010u /* line fill buffer */
#define RK_LEVELS_L2 0x0020u
#define RK_LEVELS_L3 0x0040u
#define RK_LEVELS_LOCAL_RAM 0x0080u
#define RK_LEVELS_REMOTE_RAM_1 0x0100u   /* one hop away */
#define RK_LEVELS_REMOTE_RAM_2 0x0200u   /* two hops */
#define RK_LEVELS_REMOTE_CACHE_1 0x0400u /* one hop */
#define RK_LEVELS_REMOTE_CACHE_2 0x0800u /* two hops */
#define RK_LEVELS_IO 0x1000u
#define RK_LEVELS_UNCACHED 0x2000u

/* rk_memory_info.level */
enum rk_level {
    RK_LEVEL_UNKNOWN = 0,
    RK_LEVEL_L1 = 1,
    RK_LEVEL_L2 = 2,
    RK_LEVEL_L3 = 3,
    RK_LEVEL_L4 = 4,
    RK_LEVEL_L2_MHB = 5, /* miss handling buffer */
    RK_LEVEL_MSC = 6,    /* memory-side cache */
    RK_LEVEL_L0 = 7,
    RK_LEVEL_UNCACHED = 8,
    RK_LEVEL_CXL = 9,
    RK_LEVEL_IO = 10,
    RK_LEVEL_ANY_CACHE = 11,
    RK_LEVEL_LFB = 12, /* line fill buffer */
    RK_LEVEL_RAM = 13,
    RK_LEVEL_PMEM = 14, /* persistent memory */
    RK_LEVEL_UNAVAILABLE = 15,
};

/* rk_memory_info.snoop */
#define RK_SNOOP_UNAVAILABLE 0x01u
#define RK_SNOOP_NONE 0x02u
#define RK_SNOOP_HIT 0x04u
#define RK_SNOOP_MISS 0x08u
#define RK_SNOOP_HIT_MODIFIED 0x10u
#define RK_SNOOP_FORWARD 0x20u
#define RK_SNOOP_PEER 0x40u

/* rk_memory_info.lock */
#define RK_LOCK_UNAVAILABLE 0x01u
#define RK_LOCK_LOCKED 0x02u

/* rk_memory_info.tlb */
#define RK_TLB_UNAVAILABLE 0x01u
#define RK_TLB_HIT 0x02u
#define RK_TLB_MISS 0x04u
#define RK_TLB_L1 0x08u
#define RK_TLB_L2 0x10u
#define RK_TLB_WALKER 0x20u        /* the hardware's page walker */
#define RK_TLB_FAULT_HANDLER 0x40u /* the operating system's */

/* rk_memory_info.blocked */
#define RK_BLOCKED_UNAVAILABLE 0x01u
#define RK_BLOCKED_DATA 0x02u    /* data could not be forwarded */
#define RK_BLOCKED_ADDRESS 0x04u /* address conflict */

/* rk_memory_info.hops: how far away a remote level is. */
enum rk_hops {
    RK_HOPS_UNKNOWN = 0,
    RK_HOPS_CORE = 1,   /* another core of the node */
    RK_HOPS_NODE = 2,   /* another node of the socket */
    RK_HOPS_SOCKET = 3, /* another socket of the board */
    RK_HOPS_BOARD = 4,  /* another board */
};

/* rk_sample.data_src, unpacked: what a memory access was, and what answered it. A part that is 0, or
 * …_UNAVAILABLE, is unknown. */
struct rk_memory_info {
    uint32_t size;      /* sizeof(struct rk_memory_info), set by the caller */
    uint32_t operation; /* RK_OPERATION_… */

    /* Newer PMUs report one level, and whether it is a remote one; older ones a set of levels. RK_LEVELS_HIT
     * and RK_LEVELS_MISS go with both. */
    uint32_t level;  /* enum rk_level */
    uint32_t remote; /* 1: another node's */
    uint32_t levels; /* RK_LEVELS_… */

    uint32_t snoop;   /* RK_SNOOP_… */
    uint32_t lock;    /* RK_LOCK_… */
    uint32_t tlb;     /* RK_TLB_… */
    uint32_t blocked; /* RK_BLOCKED_… */
    uint32_t hops;    /* enum rk_hops */
    uint32_t region;  /* the PMU's number of a memory region */
    uint32_t reserved;
};
RK_API int rk_memory_info(uint64_t data_src, struct rk_memory_info *ret);

/* The parts of rk_sample.data_src that have words. */
enum rk_memory_part {
    RK_MEMORY_OPERATION, /* "load", "store", "prefetch", "exec" */
    RK_MEMORY_LEVEL,     /* "L1 hit", "remote RAM miss" */
    RK_MEMORY_SNOOP,     /* "none", "hit", "miss", "hit modified", "forward", "peer" */
    RK_MEMORY_LOCK,      /* "locked" */
    RK_MEMORY_TLB,       /* "L1 L2 hit", "walker miss" */
    RK_MEMORY_BLOCKED,   /* "data", "address" */
    RK_MEMORY_HOPS,      /* "core", "node", "socket", "board" */
    RK_MEMORY_REGION,    /* its number */
    RK_MEMORY_PARTS,     /* how many parts there are */
};

/* Returns "operation" for RK_MEMORY_OPERATION; NULL: there is no such part. */
RK_API const char *rk_memory_part_name(uint32_t part);

/* Writes a part's words; "" if the part is unknown. */
RK_API int rk_memory_text(uint64_t data_src, uint32_t part, char *buffer, size_t n);

/* rk_sample.transaction: how a transaction ended. */
#define RK_TRANSACTION_ELISION 0x01ull
#define RK_TRANSACTION_TRANSACTION 0x02ull
#define RK_TRANSACTION_SYNC 0x04ull  /* the sampled instruction caused the abort */
#define RK_TRANSACTION_ASYNC 0x08ull /* it did not */
#define RK_TRANSACTION_RETRY 0x10ull /* a retry may succeed */
#define RK_TRANSACTION_CONFLICT 0x20ull
#define RK_TRANSACTION_CAPACITY_WRITE 0x40ull
#define RK_TRANSACTION_CAPACITY_READ 0x80ull
#define RK_TRANSACTION_CODE 0xffffffff00000000ull /* the program's abort code */

/* Writes rk_sample.transaction in words: "transaction sync conflict code 12". */
RK_API int rk_transaction_text(uint64_t transaction, char *buffer, size_t n);

/* rk_sample.weight: one number, or three with RK_SAMPLE_WEIGHT_STRUCT. Their meaning is the PMU's; on Intel
 * the latency of the access, then of the instruction. Frozen. */
struct rk_weight {
    uint64_t first;
    uint32_t second, third;
};

/* Returns 0; -ENOENT: the sample has no weight. */
RK_API int rk_sample_weight(const struct rk_sample *sample, struct rk_weight *ret);

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
    uint32_t size;                    /* sizeof(struct rk_branch_info), set by the caller */
    uint32_t mispredicted, predicted; /* both 0: unknown */
    uint32_t in_transaction, aborted;
    uint32_t cycles;      /* since the branch before it; 0: unknown */
    uint32_t type;        /* enum rk_branch_type */
    uint32_t new_type;    /* the kernel's number, with RK_BRANCH_EXTENDED */
    uint32_t speculation; /* enum rk_speculation */
    uint32_t privilege;   /* enum rk_privilege */
    const char *name;     /* the type's word: "conditional", "call", "return"; "" if it is unknown */
};
RK_API int rk_branch_info(const struct rk_branch *branch, struct rk_branch_info *ret);

/* --- Arm SPE: the bytes of an AUX area of that PMU, or of rk_sample.aux --- */

enum rk_spe_kind {
    RK_SPE_PADDING, /* alignment too */
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
    uint32_t kind;  /* enum rk_spe_kind */
    uint32_t index; /* which address, counter or context; the class of an operation */
    uint64_t value;
    uint64_t bytes; /* of the packet, header included */
};

/* Reads the packet at *at of n bytes. Returns 1, and *at is the next packet; 0: no more; -EBADMSG: not a
 * packet, and *at is one byte further; -ENODATA: the bytes end inside a packet, and *at is unchanged. */
RK_API int rk_spe_packet(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe_packet *ret);

/* rk_spe.present */
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

/* A sampled operation: the packets up to a timestamp or an end, put together. */
struct rk_spe {
    uint32_t size;    /* sizeof(struct rk_spe), set by the caller */
    uint32_t present; /* RK_SPE_HAS_… */

    /* Addresses of 56 bits; virtual ones are sign-extended. */
    uint64_t pc, target, previous_target, address, physical;
    uint32_t level;                       /* the exception level of pc, 0 … 3 */
    uint32_t operation_class, operation;  /* RK_SPE_OPERATION_…; the packet's payload */
    uint32_t latency, issue, translation; /* in cycles */
    uint64_t events;                      /* RK_SPE_EVENT_… */
    uint64_t source, context, time;
};

/* Reads the operation at *at. Returns 1, and *at is the next one; 0: no more; -EBADMSG: bytes that are no
 * packet, and *at is after them; -ENODATA: the rest is no whole operation. */
RK_API int rk_spe_next(const unsigned char *bytes, uint64_t n, uint64_t *at, struct rk_spe *ret);

/* Writes the names of rk_spe.events: "retired L1D-access TLB-access". */
RK_API int rk_spe_events_text(uint64_t events, char *buffer, size_t n);

/* --- The fields of a tracepoint's payload: rk_stream_field_get() describes them --- */

enum rk_field_kind {
    RK_FIELD_NUMBER, /* a number of `bytes` bytes */
    RK_FIELD_ARRAY,  /* `bytes` bytes in place */

    /* 32 bits at `offset`: where the bytes begin in the payload, and how many there are << 16. */
    RK_FIELD_DYNAMIC,

    /* The same, counted from the end of these 32 bits. */
    RK_FIELD_RELATIVE,
};

/* A field of a tracepoint. */
struct rk_field {
    uint32_t size; /* sizeof(struct rk_field), set by the caller */
    uint32_t kind; /* enum rk_field_kind */
    uint32_t offset, bytes;
    uint32_t is_signed, is_text;
    uint32_t is_common; /* 1: every tracepoint has it, as common_type */
    uint32_t reserved;
    const char *name, *type;
};

/* A field's value: a number, sign-extended if the field is signed; or bytes of the payload, of a text those
 * before its NUL. Frozen. */
struct rk_field_value {
    uint64_t number;
    const unsigned char *bytes; /* NULL: a number */
    uint64_t n;
};

/* Returns 0; -EBADMSG: the payload ends before the field does. */
RK_API int rk_field_value(const struct rk_field *field, const struct rk_sample *sample,
                          struct rk_field_value *ret);

#ifdef __cplusplus
}
#endif
#endif

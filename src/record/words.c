/*
 * What a sample packs into bits, in words: registers, data sources, transactions, weights, branches. Tables of the
 * kernel's numbers; what a table does not have is said as a number.
 */
#include "base/error.h"
#include "record/say.h"

#include <reckon/record.h>

#include <errno.h>

/* --- Registers --- */

static const char *const x86_names[] = {
    "ax", "bx", "cx", "dx", "si", "di", "bp",  "sp",  "ip",  "flags", "cs",  "ss",
    "ds", "es", "fs", "gs", "r8", "r9", "r10", "r11", "r12", "r13",   "r14", "r15",
};
/* From 32 on: each of 128 bits, in two. */
static const char *const x86_vectors[] = {
    "xmm0",  "xmm0h",  "xmm1",  "xmm1h",  "xmm2",  "xmm2h",  "xmm3",  "xmm3h",  "xmm4",  "xmm4h",  "xmm5",
    "xmm5h", "xmm6",   "xmm6h", "xmm7",   "xmm7h", "xmm8",   "xmm8h", "xmm9",   "xmm9h", "xmm10",  "xmm10h",
    "xmm11", "xmm11h", "xmm12", "xmm12h", "xmm13", "xmm13h", "xmm14", "xmm14h", "xmm15", "xmm15h",
};
static const char *const arm64_names[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10", "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "lr",  "sp",  "pc",  NULL,  NULL,  NULL,
    NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  NULL,  "vg",
};
static const char *const riscv_names[] = {
    "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
    "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
};

static const struct machine {
    const char *name;
    const char *const *names;
    uint32_t n;
    uint64_t all; /* general ones that can always be asked for */
} machines[] = {
    {"x86_64", x86_names, 24, 0xff0fff}, /* without ds es fs gs, which 64-bit kernels refuse */
    {"i386", x86_names, 16, 0xffff},
    {"aarch64", arm64_names, 47, UINT64_C(0x1ffffffff)},
    {"riscv64", riscv_names, 32, 0xffffffff},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct machine *find_machine(const char *name)
{
    if (name && name[0] == 'i' && name[1] >= '3' && name[1] <= '6' && strcmp(name + 2, "86") == 0)
        name = "i386";
    for (size_t i = 0; name && i < COUNT(machines); i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

const char *rk_register_name(const char *machine, uint32_t number)
{
    const struct machine *m = find_machine(machine);

    if (!m)
        return NULL;
    if (m->names == x86_names && number >= 32 && number - 32 < COUNT(x86_vectors))
        return x86_vectors[number - 32];
    return number < m->n ? m->names[number] : NULL;
}

int rk_register_mask(const char *machine, const char *names, uint64_t *ret)
{
    if (!machine || !ret)
        return -EINVAL;
    const struct machine *m = find_machine(machine);
    uint64_t mask = 0;

    if (!m)
        return -EOPNOTSUPP;
    if (!names || !*names || strcmp(names, "all") == 0) {
        *ret = m->all;
        return 0;
    }
    for (const char *at = names;; at++) {
        size_t n = strcspn(at, ",");
        uint32_t number = 0;

        for (; number < 64; number++) {
            const char *name = rk_register_name(machine, number);
            if (name && strlen(name) == n && memcmp(name, at, n) == 0)
                break;
        }
        if (number == 64)
            return -ENOENT;
        mask |= UINT64_C(1) << number;
        at += n;
        if (!*at)
            break;
    }
    *ret = mask;
    return 0;
}

int rk_sample_register(const struct rk_sample *sample, uint32_t interrupt, uint32_t number, uint64_t *ret)
{
    if (!sample || !ret)
        return -EINVAL;
    uint64_t mask = interrupt ? sample->regs_intr_mask : sample->regs_user_mask;
    const uint64_t *values = interrupt ? sample->regs_intr : sample->regs_user;

    if (!values || number > 63 || !(mask >> number & 1))
        return -ENOENT;
    *ret = values[__builtin_popcountll(mask & ((UINT64_C(1) << number) - 1))];
    return 0;
}

/* --- Data sources --- */

const char *rk_memory_part_name(uint32_t part)
{
    static const char *const names[] = {
        [RK_MEMORY_OPERATION] = "operation", [RK_MEMORY_LEVEL] = "level",   [RK_MEMORY_SNOOP] = "snoop",
        [RK_MEMORY_LOCK] = "lock",           [RK_MEMORY_TLB] = "tlb",       [RK_MEMORY_BLOCKED] = "blocked",
        [RK_MEMORY_HOPS] = "hops",           [RK_MEMORY_REGION] = "region",
    };
    return part < COUNT(names) ? names[part] : NULL;
}

/* u64 op:5 lvl:14 snoop:5 lock:2 dtlb:7 lvl_num:4 remote:1 snoopx:2 blk:3 hops:3 region:5;
 * lvl_num … snoopx 4.14, blk 5.12, hops 5.16, region after 6.19. Bit 0 of each mask is "not available". */
static uint32_t bits(uint64_t word, unsigned from, unsigned n)
{
    return (uint32_t)(word >> from & ((UINT64_C(1) << n) - 1));
}

int rk_memory_info(uint64_t data_src, struct rk_memory_info *ret)
{
    struct rk_memory_info mine = {
        .operation = bits(data_src, 0, 5),
        .level = bits(data_src, 33, 4),
        .remote = bits(data_src, 37, 1),
        .levels = bits(data_src, 5, 14),
        .snoop = bits(data_src, 19, 5) | bits(data_src, 38, 2) << 5,
        .lock = bits(data_src, 24, 2),
        .tlb = bits(data_src, 26, 7),
        .blocked = bits(data_src, 40, 3),
        .hops = bits(data_src, 43, 3),
        .region = bits(data_src, 46, 5),
    };

    return result_give(ret, &mine, sizeof mine);
}

static void say_hit(struct say *say, uint32_t mask)
{
    if (mask & RK_LEVELS_HIT)
        say_word(say, "hit");
    if (mask & RK_LEVELS_MISS)
        say_word(say, "miss");
}
_Static_assert(RK_LEVELS_HIT == RK_TLB_HIT && RK_LEVELS_MISS == RK_TLB_MISS, "the same bits");

static void say_level(struct say *say, const struct rk_memory_info *m)
{
    static const char *const masks[] = {NULL,
                                        NULL,
                                        NULL,
                                        "L1",
                                        "LFB",
                                        "L2",
                                        "L3",
                                        "local RAM",
                                        "remote RAM 1",
                                        "remote RAM 2",
                                        "remote cache 1",
                                        "remote cache 2",
                                        "I/O",
                                        "uncached"};
    static const char *const numbers[] = {NULL,  "L1",  "L2",       "L3",  "L4",  "L2 MHB",
                                          "MSC", "L0",  "uncached", "CXL", "I/O", "any cache",
                                          "LFB", "RAM", "PMEM",     NULL};

    if (numbers[m->level]) { /* the newer and finer */
        if (m->remote)
            say_word(say, "remote");
        say_word(say, numbers[m->level]);
    } else {
        say_bits(say, m->levels, masks, COUNT(masks));
    }
    say_hit(say, m->levels);
}

int rk_memory_text(uint64_t data_src, uint32_t part, char *buffer, size_t n)
{
    static const char *const operations[] = {NULL, "load", "store", "prefetch", "exec"};
    static const char *const snoops[] = {NULL, "none", "hit", "miss", "hit modified", "forward", "peer"};
    static const char *const locks[] = {NULL, "locked"};
    static const char *const tlbs[] = {NULL, NULL, NULL, "L1", "L2", "walker", "fault handler"};
    static const char *const blocks[] = {NULL, "data", "address"};
    static const char *const hops[] = {NULL, "core", "node", "socket", "board"};
    struct rk_memory_info m = {.size = sizeof m};

    if (!buffer && n)
        return -EINVAL;
    struct say say = say_begin(buffer, n);

    rk_memory_info(data_src, &m);
    switch (part) {
    case RK_MEMORY_OPERATION:
        say_bits(&say, m.operation, operations, COUNT(operations));
        break;
    case RK_MEMORY_LEVEL:
        say_level(&say, &m);
        break;
    case RK_MEMORY_SNOOP:
        say_bits(&say, m.snoop, snoops, COUNT(snoops));
        break;
    case RK_MEMORY_LOCK:
        say_bits(&say, m.lock, locks, COUNT(locks));
        break;
    case RK_MEMORY_TLB:
        say_bits(&say, m.tlb, tlbs, COUNT(tlbs));
        say_hit(&say, m.tlb);
        break;
    case RK_MEMORY_BLOCKED:
        say_bits(&say, m.blocked, blocks, COUNT(blocks));
        break;
    case RK_MEMORY_HOPS:
        if (m.hops < COUNT(hops) && hops[m.hops])
            say_word(&say, hops[m.hops]);
        else if (m.hops)
            say_number(&say, m.hops);
        break;
    case RK_MEMORY_REGION:
        if (m.region)
            say_number(&say, m.region);
        break;
    default:
        break;
    }
    return say_end(&say);
}

/* Bits 0 … 7, and an abort code of 32 bits in the upper half   3.13 */
int rk_transaction_text(uint64_t transaction, char *buffer, size_t n)
{
    static const char *const names[] = {"elision", "transaction", "sync",           "async",
                                        "retry",   "conflict",    "capacity-write", "capacity-read"};
    if (!buffer && n)
        return -EINVAL;
    struct say say = say_begin(buffer, n);

    say_bits(&say, bits(transaction, 0, 32), names, COUNT(names));
    if (transaction >> 32) {
        say_word(&say, "code");
        say_number(&say, transaction >> 32);
    }
    return say_end(&say);
}

int rk_sample_weight(const struct rk_sample *sample, struct rk_weight *ret)
{
    if (!sample || !ret)
        return -EINVAL;
    uint64_t w = sample->weight;

    if (sample->present & RK_SAMPLE_WEIGHT_STRUCT)
        *ret = (struct rk_weight){bits(w, 0, 32), bits(w, 32, 16), bits(w, 48, 16)};
    else if (sample->present & RK_SAMPLE_WEIGHT)
        *ret = (struct rk_weight){w, 0, 0};
    else
        return -ENOENT;
    return 0;
}

/* --- Branches --- */

/* u64 mispred:1 predicted:1 in_tx:1 abort:1 cycles:16 type:4 spec:2 new_type:4 priv:3;
 * cycles 4.3, type 4.14, spec … priv 6.1 */
/* By enum rk_branch_type. */
static const char *const branch_types[] = {"",
                                           "conditional",
                                           "unconditional",
                                           "indirect",
                                           "call",
                                           "indirect-call",
                                           "return",
                                           "syscall",
                                           "sysret",
                                           "conditional-call",
                                           "conditional-return",
                                           "eret",
                                           "irq",
                                           "serror",
                                           "no-tx",
                                           ""};

int rk_branch_info(const struct rk_branch *branch, struct rk_branch_info *ret)
{
    static const char *const new_types[] = {"fault-alignment", "fault-data", "fault-instruction",
                                            "arch-1",          "arch-2",     "arch-3",
                                            "arch-4",          "arch-5"};
    if (!branch)
        return -EINVAL;
    uint64_t f = branch->flags;
    struct rk_branch_info mine = {
        .mispredicted = bits(f, 0, 1),
        .predicted = bits(f, 1, 1),
        .in_transaction = bits(f, 2, 1),
        .aborted = bits(f, 3, 1),
        .cycles = bits(f, 4, 16),
        .type = bits(f, 20, 4),
        .speculation = bits(f, 24, 2),
        .new_type = bits(f, 26, 4),
        .privilege = bits(f, 30, 3),
    };

    mine.name = branch_types[mine.type];
    if (mine.type == RK_BRANCH_EXTENDED)
        mine.name = mine.new_type < COUNT(new_types) ? new_types[mine.new_type] : "";
    return result_give(ret, &mine, sizeof mine);
}

static const char *word_of(const char *const *words, size_t n, uint32_t value)
{
    return value < n && words[value] ? words[value] : "unknown";
}

const char *rk_mode_name(uint32_t mode)
{
    static const char *const words[] = {NULL, "kernel", "user", "hypervisor", "guest-kernel", "guest-user"};

    return word_of(words, COUNT(words), mode);
}

const char *rk_ksymbol_kind_name(uint32_t kind)
{
    static const char *const words[] = {NULL, "bpf", "out-of-line"};

    return word_of(words, COUNT(words), kind);
}

const char *rk_bpf_kind_name(uint32_t kind)
{
    static const char *const words[] = {NULL, "loaded", "unloaded"};

    return word_of(words, COUNT(words), kind);
}

const char *rk_branch_type_name(uint32_t type)
{
    return type < COUNT(branch_types) && *branch_types[type] ? branch_types[type] : "unknown";
}

const char *rk_speculation_name(uint32_t speculation)
{
    static const char *const words[] = {NULL, "wrong path", "not speculated", "correct path"};

    return word_of(words, COUNT(words), speculation);
}

const char *rk_privilege_name(uint32_t privilege)
{
    static const char *const words[] = {NULL, "user", "kernel", "hypervisor"};

    return word_of(words, COUNT(words), privilege);
}

/*
 * What only hardware gives, as canned bytes through a file of ours: branch stacks (with the hardware's index, types and
 * cycles), data addresses with what memory answered, weights, physical addresses, interrupt registers. Written by
 * perfdata/writer.h, read back as they were, and by perf script in its own words.
 */
#include "session.h"

#include "perfdata/writer.h"
#include "record/encode.h"

#define SAMPLES 50
#define BRANCHES 32
#define IP 0x401000
#define LOAD_L1_HIT UINT64_C(0x5080142) /* what perf calls |OP LOAD|LVL L1 hit|SNP N/A|TLB N/A|… */

static const struct perf_attr base = {
    .type = PERF_HARDWARE,
    .size = 128,
    .config = 0, /* cycles */
    .sample_period = 1000,
    .sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_ADDR |
                   RK_SAMPLE_CPU | RK_SAMPLE_PERIOD | RK_SAMPLE_BRANCH_STACK | RK_SAMPLE_WEIGHT |
                   RK_SAMPLE_DATA_SRC | RK_SAMPLE_PHYS_ADDR | RK_SAMPLE_REGS_INTR,
    .sample_regs_intr = 1 << 8 | 1 << 7, /* x86: ip, sp */
    .flags = ATTR_SAMPLE_ID_ALL | ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_TASK,
};

/* The k-th branch of the i-th sample: every other one missed, every third in a transaction, cycles, and a type. */
static struct rk_branch branch(uint64_t i, uint64_t k)
{
    uint64_t missed = k & 1, in_tx = k % 3 == 0, aborted = k % 7 == 0, cycles = k * 3, type = 1 + k % 10;

    return (struct rk_branch){IP + i * 64 + k, IP + 0x800 + k,
                              missed | !missed << 1 | in_tx << 2 | aborted << 3 | cycles << 4 | type << 20};
}

static struct rk_sample canned(const struct layout *layout, uint64_t i, struct rk_branch *branches,
                               uint64_t *registers)
{
    struct rk_sample s = {.size = sizeof s,
                          .present = layout->sample_type,
                          .id = 77,
                          .ip = IP + i,
                          .pid = 42,
                          .tid = 43,
                          .time = 5000000000 + i * 1000,
                          .addr = 0x7000 + i * 8,
                          .cpu = i & 1,
                          .period = 1000,
                          .branches = branches,
                          .branch_n = i % (BRANCHES + 1), /* none is one of them */
                          .branch_hw_index = i,
                          .weight = i + 1,
                          .data_src = LOAD_L1_HIT,
                          .regs_intr_abi = 2,
                          .regs_intr_mask = layout->regs_intr,
                          .regs_intr = registers,
                          .phys_addr = 0x90000000 + i};
    for (uint64_t k = 0; k < s.branch_n; k++)
        branches[k] = branch(i, k);
    registers[0] = 0x7ffe0000 + i; /* sp, by its number before ip */
    registers[1] = s.ip;
    return s;
}

static void write_file(const char *path, const struct perf_attr *attr)
{
    _Alignas(8) static unsigned char record[RECORD_BYTES_MAX];
    struct rk_error e = {.size = sizeof e};
    struct perfdata_writer *w;
    struct layout layout;
    uint64_t id = 77, registers[2];
    struct rk_branch branches[BRANCHES];
    struct rk_record from = {.misc = 2, .pid = 42, .tid = 42, .time = 1000, .id = id};
    struct rk_comm comm = {.size = sizeof comm, .pid = 42, .tid = 43, .name = "canned"};
    struct rk_mapping mapping = {.size = sizeof mapping,
                                 .pid = 42,
                                 .tid = 42,
                                 .start = 0x400000,
                                 .length = 0x10000,
                                 .protection = 5,
                                 .path = "/nonexistent/canned"};

    CHECK(layout_init(&layout, attr) == 0);
    const struct perfdata_writer_event events[] = {{attr, &id, 1, "cycles"}};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(fd >= 0);
    OK(perfdata_writer_open(fd, events, 1, &w, &e));
    CHECK(perfdata_writer_append(w, record,
                                 (size_t)encode_comm(&layout, &from, &comm, record, sizeof record)) == 0);
    CHECK(perfdata_writer_append(
              w, record, (size_t)encode_mapping(&layout, &from, &mapping, record, sizeof record)) == 0);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct rk_sample s = canned(&layout, i, branches, registers);
        int n = encode_sample(&layout, 2, &s, record, sizeof record);
        CHECK(n > 0);
        CHECK(perfdata_writer_append(w, record, (size_t)n) == 0);
    }
    CHECK(perfdata_writer_text(w, FEATURE_ARCH, "x86_64") == 0);
    OK(perfdata_writer_finish(w, &e));
    perfdata_writer_close(w);
    close(fd);
}

static void read_back(const char *path, const struct perf_attr *attr)
{
    struct rk_error e = {.size = sizeof e};
    const struct rk_record *r;
    struct rk_stream *st;
    struct layout layout;
    struct rk_branch branches[BRANCHES];
    uint64_t registers[2], i = 0;

    CHECK(layout_init(&layout, attr) == 0);
    OK(rk_stream_file(path, &st, &e));
    for (; rk_stream_next(st, &r) == 1; rk_stream_release(st)) {
        struct rk_sample s = {.size = sizeof s}, want = canned(&layout, i, branches, registers);
        if (r->type != RK_RECORD_SAMPLE)
            continue;
        EQUAL(rk_stream_sample(st, r, &s), 0);
        CHECK(s.ip == want.ip && s.addr == want.addr && s.weight == want.weight &&
              s.data_src == want.data_src && s.phys_addr == want.phys_addr);
        EQUAL(s.branch_n, want.branch_n);
        for (uint64_t k = 0; k < s.branch_n; k++)
            CHECK(memcmp(&s.branches[k], &want.branches[k], sizeof want.branches[k]) == 0);
        if (attr->branch_sample_type & (1 << 17))
            EQUAL(s.branch_hw_index, i);
        CHECK(s.regs_intr[0] == registers[0] && s.regs_intr[1] == registers[1]);
        i++;
    }
    EQUAL(i, SAMPLES);
    rk_stream_free(st);
}

/* Line by line: perf's "tid time: addr ip weight … 0xFROM/0xTO/M/X/A/CYCLES…". Its words for the same. */
static void perf_says(const char *path)
{
    char command[256], line[8192];
    uint64_t i = 0;

    snprintf(command, sizeof command,
             "perf script --ns -F tid,time,addr,ip,weight,data_src,phys_addr,brstack,iregs -i %s 2>perf.err",
             path);
    FILE *p = popen(command, "r");
    CHECK(p);
    while (fgets(line, sizeof line, p)) {
        uint64_t seconds, ns, tid, addr, registers;
        char *at = strstr(line, "0x"), *found;
        if (!strchr(line, ':'))
            continue; /* an address of a chain alone */
        if (sscanf(line, "%" SCNu64 " %" SCNu64 ".%9" SCNu64 ": %" SCNx64, &tid, &seconds, &ns, &addr) != 4)
            FAIL("perf script said: %s", line);
        EQUAL(tid, 43);
        EQUAL(seconds * 1000000000 + ns, 5000000000 + i * 1000);
        EQUAL(addr, 0x7000 + i * 8);
        if (!strstr(line, "|OP LOAD|LVL L1 hit|"))
            FAIL("data source: %s", line);
        for (uint64_t k = 0; k < i % (BRANCHES + 1); k++) {
            char want[128];
            snprintf(want, sizeof want, "0x%jx/0x%jx/%c/%c/%c/%ju", (uintmax_t)(IP + i * 64 + k),
                     (uintmax_t)(IP + 0x800 + k), k & 1 ? 'M' : 'P', k % 3 ? '-' : 'X', k % 7 ? '-' : 'A',
                     (uintmax_t)(k * 3));
            found = at ? strstr(at, want) : NULL;
            if (!found)
                FAIL("sample %ju: no %s in order in %s", (uintmax_t)i, want, line);
            at = found + 1;
        }
        registers = 0;
        found = strstr(line, "SP:0x");
        CHECK(found && sscanf(found, "SP:0x%" SCNx64, &registers) == 1);
        EQUAL(registers, 0x7ffe0000 + i);
        found = strstr(line, "IP:0x");
        CHECK(found && sscanf(found, "IP:0x%" SCNx64, &registers) == 1);
        EQUAL(registers, IP + i);
        snprintf(command, sizeof command, "%jx", (uintmax_t)(0x90000000 + i));
        CHECK(strstr(line, command));
        i++;
    }
    EQUAL(pclose(p), 0);
    EQUAL(i, SAMPLES);
}

int main(void)
{
    static const uint64_t kinds[] = {0x8 | 0x1,
                                     0x8 | 0x1 | 1 << 16 | 1 << 17}; /* any; with types and the index */
    bool perf = have("perf");

    use_directory();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct perf_attr attr = base;
        attr.branch_sample_type = kinds[i];
        write_file("canned.data", &attr);
        read_back("canned.data", &attr);
        if (perf)
            perf_says("canned.data");
        printf("branch_sample_type %#jx: %d samples as they were%s\n", (uintmax_t)kinds[i], SAMPLES,
               perf ? ", for perf too" : "; no perf to ask");
    }
    unlink("canned.data");
    unlink("perf.err");
    return 0;
}

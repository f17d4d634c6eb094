/* Records of every kind, as text and as JSON. */
#include "../profile/fake.h"
#include "sink.h"

#include "base/abi.h"

#include <sys/mman.h>

/* A record's bytes: header and whatever follows. */
static uint64_t words[64];

static struct rk_record record(uint32_t type, uint16_t misc, size_t body_bytes)
{
    size_t bytes = (8 + body_bytes + 7) / 8 * 8;
    struct perf_header header = {type, misc, (uint16_t)bytes};
    memcpy(words, &header, sizeof header);
    return (struct rk_record){.type = type,
                              .misc = misc,
                              .bytes = (uint16_t)bytes,
                              .event = 0,
                              .cpu = 3,
                              .present = RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU,
                              .time = 4711000123456,
                              .pid = 77,
                              .tid = 78,
                              .data = (const unsigned char *)words};
}

static struct rk_stream *stream = (struct rk_stream *)words; /* never looked at */

static char all[sizeof written];
static size_t all_n;

static void show(const struct rk_record *r, const char *format)
{
    struct rk_error e = {.size = sizeof e};
    forget();
    assert_int_equal(rk_record_export(stream, r, format, &text_sink, NULL, &e), 0);
    assert_ptr_equal(strchr(written, '\n'), written + written_n - 1); /* one line */
    if (strcmp(format, "json") == 0) {
        assert_true(all_n + written_n < sizeof all);
        memcpy(all + all_n, written, written_n + 1);
        all_n += written_n;
    }
}

/* All lines that were shown, at once. */
static void every_line_is_json(void **state)
{
    (void)state;
    memcpy(written, all, all_n + 1);
    written_n = all_n;
    validate("record --lines");
}

static void a_sample(void **state)
{
    static const uint64_t chain[] = {RK_CHAIN_KERNEL, KERNEL, KERNEL + 16, RK_CHAIN_USER, 0x5500, 0x5600};
    struct rk_record r = record(RK_RECORD_SAMPLE, 1, 0);
    (void)state;
    fake_sample =
        (struct rk_sample){.size = sizeof fake_sample,
                           .present = RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME | RK_SAMPLE_CPU |
                                      RK_SAMPLE_PERIOD | RK_SAMPLE_CALLCHAIN | RK_SAMPLE_ADDR,
                           .ip = KERNEL,
                           .addr = 0xdead,
                           .period = 250000,
                           .chain = chain,
                           .chain_n = 6};
    show(&r, "text");
    assert_string_equal(written,
                        "   4711.000123456 [003]      77/78      SAMPLE       cpu-clock 250000 kernel "
                        "0xffff800000000000 addr 0xdead chain kernel 0xffff800000000000 "
                        "0xffff800000000010 user 0x5500 0x5600\n");
    show(&r, "json");
    assert_string_equal(
        written,
        "{\"type\":\"SAMPLE\",\"time\":4711000123456,\"pid\":77,\"tid\":78,\"cpu\":3,\"event\":\"cpu-clock\","
        "\"mode\":\"kernel\",\"ip\":\"0xffff800000000000\",\"period\":250000,\"addr\":\"0xdead\",\"chain\":["
        "\"0xffff800000000000\",\"0xffff800000000010\",\"0x5500\",\"0x5600\"],\"chain_modes\":[{\"mode\":"
        "\"kernel\",\"n\":2},{\"mode\":\"user\",\"n\":2}]}\n");
}

static void a_sample_with_everything(void **state)
{
    static const uint64_t chain[] = {RK_CHAIN_KERNEL, KERNEL, RK_CHAIN_USER_DEFERRED, 99};
    static const uint64_t read_words[] = {2, 500, 400, 11, 1, 0, 22, 2, 7};
    static const struct rk_branch branches[] = {{1, 2, 3}, {4, 5, 6}};
    static const uint64_t counters[] = {7, 8}, regs[] = {0xa, 0xb};
    struct rk_record r = record(RK_RECORD_SAMPLE, 2, 0);
    (void)state;
    fake_sample = (struct rk_sample){
        .size = sizeof fake_sample,
        .present = (RK_SAMPLE_WEIGHT_STRUCT << 1) - 1,
        .chain = chain,
        .chain_n = 4,
        .raw = (const unsigned char *)"\x01\x02\xff",
        .raw_bytes = 3,
        .branches = branches,
        .branch_n = 2,
        .branch_hw_index = 5,
        .branch_counters = counters,
        .regs_user_abi = 2,
        .regs_user_mask = 0x81,
        .regs_user = regs,
        .regs_intr_mask = 0x81, /* abi 0: none taken */
        .stack = (const unsigned char *)"stack   ",
        .stack_bytes = 8,
        .stack_used = 5,
        .aux = (const unsigned char *)"xyz",
        .aux_bytes = 3,
        .read_n = 2,
        .read_enabled = 500,
        .read_running = 400,
        .read_format = FORMAT_GROUP | FORMAT_ENABLED | FORMAT_RUNNING | FORMAT_ID | FORMAT_LOST,
        .read_words = read_words,
        .weight = UINT64_C(3) << 48 | UINT64_C(2) << 32 | 7,
        .data_src = 0x2 | 0xa << 5, /* load, L1 hit */
        .transaction = 1 << 1,
    };
    show(&r, "json");
    contains("\"weight\":7,\"weights\":[7,2,3]");
    contains("\"data_src\":\"0x142\",\"memory\":{\"operation\":\"load\",\"level\":\"L1 hit\"}");
    contains("\"transaction\":\"0x2\",\"transaction_words\":\"");
    contains("\"raw\":\"0102ff\"");
    contains("\"chain\":[\"0xffff800000000000\"]");
    contains("{\"mode\":\"user-deferred\",\"n\":0,\"cookie\":99}");
    contains(
        "\"branches\":[{\"from\":\"0x1\",\"to\":\"0x2\",\"flags\":\"0x3\",\"predicted\":false,\"counters\":"
        "\"0x7\"},{\"from\":\"0x4\",\"to\":\"0x5\",\"flags\":\"0x6\",\"predicted\":true,\"in_transaction\":"
        "true,");
    contains("\"branch_hw_index\":5");
    contains("\"regs_user\":{\"abi\":2,\"mask\":\"0x81\",\"registers\":{\"ax\":\"0xa\",\"sp\":\"0xb\"}}");
    contains("\"regs_intr\":{\"abi\":0,\"mask\":\"0x81\",\"registers\":{}}");
    contains("\"stack\":\"737461636b\"");
    contains("\"read\":{\"enabled\":500,\"running\":400,\"values\":[{\"value\":11,\"id\":1,\"lost\":0},{"
             "\"value\":22,\"id\":2,\"lost\":7}]}");
    show(&r, "text");
    contains(" read 11,22 enabled 500 running 400 ");
    contains(" branches 0x1/0x2/M/-/-/0/- 0x4/0x5/P/X/-/0/- ");
    contains(" regs_user ax=0xa sp=0xb regs_intr none stack 5 bytes ");
}

/* A tracepoint's payload by field: a number, a negative one, text that control characters are in, bytes that are not there. */
static void a_tracepoint(void **state)
{
    static const struct {
        int32_t pid, prio;
        char comm[8];
    } payload = {4711, -5,
                 "a\x1b"
                 "b"};
    struct rk_record r = record(RK_RECORD_SAMPLE, 1, 0);
    struct rk_field number = {
        .size = sizeof number, .kind = RK_FIELD_NUMBER, .bytes = 4, .name = "pid", .type = "pid_t"};
    (void)state;
    r.event = 1;
    fake_field_n = 4;
    fake_fields[0] = number;
    number.name = "prio";
    number.offset = 4;
    number.is_signed = 1;
    fake_fields[1] = number;
    fake_fields[2] = (struct rk_field){.size = sizeof number,
                                       .kind = RK_FIELD_ARRAY,
                                       .offset = 8,
                                       .bytes = 8,
                                       .is_text = 1,
                                       .name = "comm",
                                       .type = "char[8]"};
    number.name = "beyond";
    number.offset = 400;
    fake_fields[3] = number;
    fake_sample = (struct rk_sample){.size = sizeof fake_sample,
                                     .present = RK_SAMPLE_RAW,
                                     .raw = (const unsigned char *)&payload,
                                     .raw_bytes = sizeof payload};
    show(&r, "json");
    contains("\"trace\":{\"pid\":4711,\"prio\":-5,\"comm\":\"a\\u001bb\",\"beyond\":null}");
    show(&r, "text");
    contains(" page-faults kernel pid=4711 prio=-5 comm=a?b beyond=?\n");
    fake_field_n = 0; /* not described: its size */
    show(&r, "text");
    contains(" raw 16 bytes");
}

/* 0x55xx is a function of a module, all else has no name. */
static void name(void *context, const struct rk_record *r, uint64_t address, uint32_t caller,
                 struct rk_address_name *ret)
{
    (void)context, (void)r;
    if (address >> 8 == 0x55)
        *ret = (struct rk_address_name){.symbol = caller ? "ca\nller" : "f",
                                        .symbol_distance = address & 0xff,
                                        .module = "prog",
                                        .file = "prog.c",
                                        .line = 7};
}

static const char *chosen(const struct rk_record *r, const char *fields, const char *format)
{
    struct rk_record_options options = {.size = sizeof options, .comm = "a b", .name = name};
    forget();
    assert_int_equal(rk_record_fields(fields, &options.fields, NULL), 0);
    assert_int_equal(rk_record_export(stream, r, format, &text_sink, &options, NULL), 0);
    return written;
}

static void fields_can_be_chosen(void **state)
{
    static const uint64_t chain[] = {RK_CHAIN_USER, 0x5501, 0x5502, 0x77};
    struct rk_record r = record(RK_RECORD_SAMPLE, 2, 0);
    struct rk_error e = {.size = sizeof e};
    uint64_t fields = 99;
    (void)state;
    fake_sample = (struct rk_sample){.size = sizeof fake_sample,
                                     .present = RK_SAMPLE_IP | RK_SAMPLE_PERIOD | RK_SAMPLE_CALLCHAIN,
                                     .ip = 0x5501,
                                     .period = 5,
                                     .chain = chain,
                                     .chain_n = 4};
    assert_string_equal(chosen(&r, "tid,ip", "text"), "      78 0x5501\n");
    assert_string_equal(chosen(&r, "period", "text"), " 5\n");
    assert_string_equal(chosen(&r, "comm,time,event", "text"),
                        "a b                4711.000123456 cpu-clock\n");
    assert_string_equal(chosen(&r, "ip,sym,symoff,dso,srcline", "text"), " 0x5501 f+0x1 (prog) prog.c:7\n");
    assert_string_equal(chosen(&r, "chain,sym", "text"),
                        " chain user 0x5501 f 0x5502 ca?ller 0x77 [unknown]\n");
    assert_string_equal(chosen(&r, "tid,comm,ip", "json"),
                        "{\"tid\":78,\"comm\":\"a b\",\"ip\":\"0x5501\"}\n");
    assert_string_equal(
        chosen(&r, "ip,sym,srcline", "json"),
        "{\"ip\":\"0x5501\",\"ip_name\":{\"symbol\":\"f\",\"file\":\"prog.c\",\"line\":7}}\n");
    assert_non_null(strstr(chosen(&r, "chain,dso", "json"),
                           "\"chain_names\":[{\"module\":\"prog\"},{\"module\":\"prog\"},{}]"));
    assert_string_equal(chosen(&r, "uregs,iregs,brstack", "json"),
                        "{}\n"); /* perf's words; it has none of them */

    static const struct rk_branch branches[] = {{0x5501, 0x77, 1 | UINT64_C(2) << 24 | UINT64_C(2) << 30},
                                                {0x77, 0x5502, 4 | 3 << 4 | 5 << 20}};
    fake_sample.present |= RK_SAMPLE_BRANCH_STACK;
    fake_sample.branches = branches;
    fake_sample.branch_n = 2;
    assert_string_equal(chosen(&r, "brstacksym", "text"),
                        " brstacksym f+0x1/0x77/mispredicted,not-speculated,kernel"
                        " 0x77/f+0x2/indirect-call,in-transaction,cycles:3\n");
    assert_string_equal(chosen(&r, "dso,brstacksym,ip", "text"),
                        " 0x5501 (prog) brstacksym f+0x1(prog)/0x77/mispredicted,not-speculated,kernel"
                        " 0x77/f+0x2(prog)/indirect-call,in-transaction,cycles:3\n");
    assert_non_null(strstr(chosen(&r, "brstacksym", "json"),
                           "\"from_name\":{\"symbol\":\"f\",\"offset\":1},\"to_name\":{}"));
    assert_int_equal(rk_record_fields("time,nonsense,ip", &fields, &e), -EINVAL);
    assert_non_null(strstr(e.what, "'nonsense'"));
    assert_non_null(strstr(e.remedy, "srcline"));
    assert_non_null(strstr(e.remedy, "body")); /* all of them fit */
    assert_int_equal(fields, 99);
    for (uint32_t i = 0; rk_record_field_name(i); i++) /* each by its name, and no two alike */
        assert_true(rk_record_fields(rk_record_field_name(i), &fields, NULL) == 0 && fields == UINT64_C(1)
                                                                                                   << i);
}

static void mappings(void **state)
{
    (void)state;
    /* MMAP2: pid, tid, addr, len, pgoff, size+pad, build_id[20], prot, flags, filename */
    unsigned char *body = (unsigned char *)(words + 1);
    struct rk_record r = record(RK_RECORD_MMAP2, 2 | RK_MISC_BUILD_ID, 64 + 16);
    memset(body, 0, 80);
    memcpy(body, &(int32_t[]){5, 6}, 8);
    memcpy(body + 8, &(uint64_t[]){0x7f0000000000, 0x2000, 0x1000}, 24);
    body[32] = 2;
    body[36] = 0xab;
    body[37] = 0xcd;
    memcpy(body + 56, &(uint32_t[]){PROT_READ | PROT_EXEC, MAP_PRIVATE}, 8);
    memcpy(body + 64, "/lib/\x1b[31mx", sizeof "/lib/\x1b[31mx");
    show(&r, "json");
    contains("\"pid\":5,\"tid\":6,"); /* whose mapping it is, not who was running */
    lacks("77");
    contains(
        "\"start\":\"0x7f0000000000\",\"length\":8192,\"file_offset\":4096,\"path\":\"/lib/\\u001b[31mx\"");
    contains("\"build_id\":\"abcd\"");
    show(&r, "text");
    contains(" 0x7f0000000000-0x7f0000002000 r-xp @0x1000 /lib/?[31mx build-id abcd\n");

    r.misc = 2; /* now the same bytes are major, minor, inode */
    show(&r, "json");
    contains("\"device\":\"02:cdab\"");
    lacks("build_id");

    r = record(RK_RECORD_MMAP, RK_MISC_MMAP_DATA, 32 + 8);
    memset(body + 32, 0, 8);
    memcpy(body + 32, "[heap]", sizeof "[heap]");
    show(&r, "json");
    contains("\"data\":true");
    lacks("protection");
}

static void tasks_names_and_loss(void **state)
{
    unsigned char *body = (unsigned char *)(words + 1);
    (void)state;
    struct rk_record r = record(RK_RECORD_FORK, 0, 24);
    memcpy(body, &(int32_t[]){10, 9, 11, 8}, 16);
    memcpy(body + 16, &(uint64_t){123}, 8);
    r.present = 0; /* no identity: the body's own time is shown */
    show(&r, "json");
    contains("{\"type\":\"FORK\",\"time\":123,\"pid\":10,\"tid\":11,\"event\":\"cpu-clock\",\"parent_pid\":9,"
             "\"parent_tid\":8}");
    show(&r, "text");
    contains("     10/11      FORK         parent 9/8\n");

    r = record(RK_RECORD_COMM, RK_MISC_COMM_EXEC, 16);
    memcpy(body, &(int32_t[]){10, 11}, 8);
    memcpy(body + 8, "sh\"\n", sizeof "sh\"\n");
    show(&r, "json");
    contains("\"name\":\"sh\\\"\\u000a\",\"exec\":true");
    show(&r, "text");
    contains(" exec sh\"?\n");

    r = record(RK_RECORD_LOST, 0, 16);
    memcpy(body, &(uint64_t[]){42, 1000}, 16);
    show(&r, "json");
    contains("\"id\":42,\"count\":1000}");
    r = record(RK_RECORD_LOST_SAMPLES, 0, 8);
    show(&r, "json");
    contains("\"count\":42}");
    show(&r, "text");
    contains("LOST_SAMPLES 42\n");
}

static void a_read(void **state)
{
    struct rk_record r = record(RK_RECORD_READ, 0, 8 + 24);
    (void)state;
    memcpy(words + 1, &(int32_t[]){10, 11}, 8);
    words[2] = 1000;
    words[3] = 7;
    words[4] = 6;
    fake_events[0].read_format = FORMAT_ENABLED | FORMAT_RUNNING;
    show(&r, "json");
    contains("\"read\":{\"enabled\":7,\"running\":6,\"values\":[{\"value\":1000}]}");
    r.event = RK_NO_EVENT; /* its layout is not known then */
    show(&r, "json");
    contains("\"type\":\"READ\"");
    contains("\"bytes\":\"08");
    fake_events[0].read_format = 0;
}

/* Every other type: what it must say, from a body of known bytes. */
static void all_other_types(void **state)
{
    static const struct {
        uint32_t type;
        uint16_t misc;
        size_t n;
        const char *expected;
    } cases[] = {
        {RK_RECORD_THROTTLE, 0, 24, "\"at\":578437695752307201,\"id\":"},
        {RK_RECORD_UNTHROTTLE, 0, 24, "\"type\":\"UNTHROTTLE\""},
        {RK_RECORD_AUX, 0, 24, "\"flags\":\"0x1817161514131211\""},
        {RK_RECORD_ITRACE_START, 0, 8, "\"pid\":67305985,\"tid\":134678021,\"cpu\""},
        {RK_RECORD_SWITCH, RK_MISC_SWITCH_OUT, 0, "\"out\":true"},
        {RK_RECORD_SWITCH_CPU_WIDE, 0, 8, "\"out\":false,\"other_pid\":67305985,\"other_tid\":134678021"},
        {RK_RECORD_KSYMBOL, 0, 24,
         "\"addr\":\"0x807060504030201\",\"length\":202050057,\"kind\":3597,\"flags\":\"0x100f\",\"name\":"
         "\"\\u0011"},
        {RK_RECORD_BPF_EVENT, 0, 16,
         "\"kind\":513,\"flags\":\"0x403\",\"id\":134678021,\"tag\":\"090a0b0c0d0e0f10\""},
        {RK_RECORD_CGROUP, 0, 24, "\"path\":\"\\u0009\\u000a"},
        {RK_RECORD_AUX_OUTPUT_HW_ID, 0, 8, "\"hw_id\":578437695752307201"},
    };
    unsigned char *body = (unsigned char *)(words + 1);
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rk_record r = record(cases[i].type, cases[i].misc, cases[i].n);
        for (int k = 0; k < 32; k++)
            body[k] = (unsigned char)(k + 1);
        body[23] = cases[i].type == RK_RECORD_KSYMBOL || cases[i].type == RK_RECORD_CGROUP ? 0 : 24;
        show(&r, "json");
        contains(cases[i].expected);
        lacks("damaged");
        show(&r, "text");
        /* a byte less than the body needs, or no NUL at the end: shown as bytes, not read beyond */
        if (cases[i].n == 0)
            continue;
        body[23] = 24;
        r = record(cases[i].type, cases[i].misc, cases[i].n);
        r.bytes = (uint16_t)(r.bytes - 8);
        show(&r, "json");
        contains("\"damaged\":true");
    }
}

static void counts_inside_a_record_are_bounded(void **state)
{
    (void)state;
    struct rk_record r = record(RK_RECORD_NAMESPACES, 0, 8 + 8 + 32);
    words[2] = 2;
    for (int i = 3; i < 7; i++)
        words[i] = (uint64_t)i;
    show(&r, "json");
    contains("\"namespaces\":[{\"device\":3,\"inode\":4},{\"device\":5,\"inode\":6}]");
    const uint64_t bad[] = {3, UINT64_MAX, UINT64_MAX / 2 + 2, UINT64_MAX / 16 + 1};
    for (size_t i = 0; i < 4; i++) {
        words[2] = bad[i];
        show(&r, "json");
        contains("\"damaged\":true");
    }

    r = record(RK_RECORD_CALLCHAIN_DEFERRED, 0, 8 + 8 + 16);
    words[1] = 9;
    words[2] = 2;
    show(&r, "json");
    contains("\"cookie\":9,\"chain\":[\"0x3\",\"0x4\"]");
    words[2] = UINT64_MAX / 8 + 2;
    show(&r, "text");
    contains("damaged, ");

    r = record(RK_RECORD_TEXT_POKE, 0, 8 + 4 + 4);
    words[1] = KERNEL;
    words[2] = 0x0403020100020002; /* old 2, new 2, then four bytes */
    show(&r, "json");
    contains("\"old_bytes\":2,\"new_bytes\":2,\"bytes\":\"01020304\"");
    words[2] = 0x0403020100020003;
    show(&r, "json");
    contains("\"damaged\":true");
}

static void what_is_not_known_passes_as_bytes(void **state)
{
    struct rk_record r = record(0x1234, 0x77, 16);
    struct rk_error e = {.size = sizeof e};
    (void)state;
    words[1] = 0x1122334455667788;
    words[2] = 0;
    r.event = RK_NO_EVENT;
    r.present = 0;
    r.offset = 4096;
    show(&r, "json");
    assert_string_equal(written,
                        "{\"type\":\"UNKNOWN\",\"number\":4660,\"misc\":119,\"size\":24,\"offset\":4096,"
                        "\"bytes\":\"341200007700180088776655443322110000000000000000\"}\n");
    show(&r, "text");
    assert_string_equal(written,
                        "                                        UNKNOWN      type 4660 misc 0x77 at "
                        "0x1000 size 24: 341200007700180088776655443322110000000000000000\n");
    SAME_BY_OPTION_TWINS(rk_record_export, stream, &r, "text");
    assert_int_equal(rk_record_export(stream, &r, "csv", &text_sink, NULL, &e), -EINVAL);
    assert_non_null(strstr(e.what, "text, json"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample),
        cmocka_unit_test(a_sample_with_everything),
        cmocka_unit_test(a_tracepoint),
        cmocka_unit_test(fields_can_be_chosen),
        cmocka_unit_test(mappings),
        cmocka_unit_test(tasks_names_and_loss),
        cmocka_unit_test(a_read),
        cmocka_unit_test(all_other_types),
        cmocka_unit_test(counts_inside_a_record_are_bounded),
        cmocka_unit_test(what_is_not_known_passes_as_bytes),
        cmocka_unit_test(every_line_is_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

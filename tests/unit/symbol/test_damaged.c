/*
 * Debug information that no compiler wrote: a file of two units, of which the first is made to be as costly or as wrong as
 * can be, and the second is whole. Whatever the first one says, the call succeeds, soon, and the second one's lines are there.
 * And files that are cut, emptied or exchanged while they are used.
 */
#include "../fixture.h"

#include <reckon/reckon.h>

#include <stdarg.h>
#include <stdbool.h>
#include <time.h>

/* Two functions of 16 bytes; unit 1 is `one`'s, and its DIEs are put in; unit 2 is `two`'s, line 22. */
static const char frame[] =
    ".text\n.globl one\n.type one, @function\none: .fill 16, 1, 0x90\n.size one, 16\n"
    ".globl two\n.type two, @function\ntwo: .fill 16, 1, 0x90\n.size two, 16\n"
    ".section .debug_abbrev,\"\",@progbits\n"
    ".Labbrev1: .uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 7, 0, 0\n" /* unit: low_pc, high_pc, children */
    ".uleb128 2, 0x0b\n.byte 1\n.uleb128 0, 0\n"                              /* a block with children */
    ".uleb128 3, 0x2e\n.byte 0\n.uleb128 0x55, 0x17, 0, 0\n"                  /* a function by ranges */
    "%s\n.byte 0\n"
    ".Labbrev2: .uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 7, 0, 0\n"
    ".uleb128 2, 0x2e\n.byte 1\n.uleb128 3, 8, 0x11, 1, 0x12, 7, 0, 0\n"                   /* a function */
    ".uleb128 3, 0x1d\n.byte 0\n.uleb128 0x31, 0x13, 0x11, 1, 0x12, 7, 0x59, 0x0b, 0, 0\n" /* inlined: call_line */
    ".uleb128 4, 0x2e\n.byte 0\n.uleb128 3, 8, 0, 0\n.byte 0\n"
    ".section .debug_info,\"\",@progbits\n"
    ".long 2f - 1f\n1: .short 4\n.long .Labbrev1 - .debug_abbrev\n.byte 8\n"
    ".uleb128 1\n.quad one\n.quad 16\n%s\n.byte 0\n2:\n"
    ".Lunit2: .long 4f - 3f\n3: .short 4\n.long .Labbrev2 - .debug_abbrev\n.byte 8\n"
    ".uleb128 1\n.quad two\n.quad 16\n"
    ".uleb128 2\n.asciz \"two\"\n.quad two\n.quad 16\n"
    ".uleb128 3\n.long 5f - .Lunit2\n.quad two\n.quad 8\n.byte 22\n.byte 0\n"
    "5: .uleb128 4\n.asciz \"inside\"\n.byte 0\n4:\n%s\n";

struct damage {
    const char *name, *abbrevs, *dies, *sections;
};

static const struct damage damages[] = {
    {"none", "", "", ""},
    {"children without end", "", ".fill 200000, 1, 2", ""},
    {"one list, many functions", "", ".rept 100000\n.byte 3\n.long 0\n.endr",
     ".section .debug_ranges,\"\",@progbits\n.rept 60000\n.quad 0x7000000000000000, "
     "0x7000000000000001\n.endr\n.quad 0, 0"},
    {"many abbreviations",
     ".altmacro\n.set n, 4\n.rept 100000\n.uleb128 n, 0x34\n.byte 0\n.uleb128 0, 0\n.set n, n + 1\n.endr", "",
     ""},
    {"numbers of abbreviations far apart",
     ".set n, 5\n.rept 50000\n.uleb128 n * 7919, 0x34\n.byte 0\n.uleb128 0, 0\n.set n, n + 1\n.endr",
     ".uleb128 39595", ""},
    {"an abbreviation of many attributes",
     ".uleb128 4, 0x34\n.byte 0\n.rept 200000\n.uleb128 3, 0x19\n.endr\n.uleb128 0, 0",
     ".rept 20000\n.byte 4\n.endr", ""},
    {"an attribute of no bytes, many times",
     ".uleb128 4, 0x2e\n.byte 0\n.rept 4000\n.uleb128 0x11, 0x19\n.endr\n.uleb128 0, 0",
     ".rept 200000\n.byte 4\n.endr", ""},
    {"no such abbreviation", "", ".uleb128 99", ""},
    {"indirect without end", ".uleb128 4, 0x34\n.byte 0\n.uleb128 3, 0x16, 0, 0",
     ".byte 4\n.fill 64, 1, 0x16", ""},
    {"an origin that is itself", ".uleb128 4, 0x2e\n.byte 0\n.uleb128 0x31, 0x13, 0x11, 1, 0x12, 7, 0, 0",
     "6: .byte 4\n.long 6b - .debug_info\n.quad one\n.quad 16", ""},
    {"a sibling before it", ".uleb128 4, 0x13\n.byte 1\n.uleb128 1, 0x13, 0, 0",
     "6: .byte 4\n.long 6b - .debug_info", ""},
};

static bool make(const struct damage *d)
{
    static char text[16384];
    snprintf(text, sizeof text, frame, d->abbrevs, d->dies, d->sections);
    fake_file("src/prog.S", text);
    return fake_run("src", "cc -nostdlib -shared -Wl,--build-id=sha1 -o prog prog.S 2>/dev/null") == 0;
}

/* Where `two` lies in the file; `one` is 16 bytes before it. */
static uint64_t offset_of_two(void)
{
    char command[1024], line[256];
    uint64_t at = 0, address = 0, offset = 0;
    snprintf(
        command, sizeof command,
        "cd '%s'/src && nm prog | awk '/ two$/ { print $1 }'; readelf -SW prog | sed -n 's/.*\\] \\.text "
        "*PROGBITS *//p'",
        fake_path);
    FILE *pipe = popen(command, "re");
    if (pipe && fgets(line, sizeof line, pipe))
        at = strtoull(line, NULL, 16);
    if (pipe && fgets(line, sizeof line, pipe))
        assert_int_equal(sscanf(line, "%lx %lx", &address, &offset), 2);
    if (pipe)
        pclose(pipe);
    return at - address + offset;
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The names of what two's first and one's first byte are in, innermost first. */
static void ask(struct rk_symbolizer *s, uint64_t two, char said[64])
{
    char path[600];
    struct rk_sources *sources = NULL;
    snprintf(path, sizeof path, "%s/src/prog", fake_path);
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    uint64_t offsets[] = {two, two - 16};
    said[0] = '\0';
    assert_int_equal(rk_symbolizer_sources(s, &module, offsets, 2, NULL, &sources, NULL), 0);
    for (uint32_t i = sources->first[0]; i < sources->first[1]; i++)
        snprintf(said + strlen(said), 64 - strlen(said), "%.20s ",
                 sources->function[i] ? sources->function[i] : "?");
    rk_sources_free(sources);
}

static void units(void **state)
{
    (void)state;
    char said[64];
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        fake_root();
        if (!make(&damages[i])) {
            fake_end();
            skip();
        }
        struct rk_symbolizer *s = NULL;
        assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
        uint64_t two = offset_of_two();
        double begin = cpu();
        ask(s, two, said);
        double took = cpu() - begin;
        print_message("%s: %s%.3f s\n", damages[i].name, said, took);
        assert_string_equal(said, "inside two ");
        assert_true(took < 1);
        rk_symbolizer_free(s);
        fake_end();
    }
}

/* Units of which each has but one DIE, and all abbreviations behind the one where the unit before began to read. Each has a
 * byte of code, which is asked for; the last of them is honest. */
static const char overlapping[] =
    ".text\n.globl one\n.type one, @function\none: .fill 16, 1, 0x90\n"
    ".globl two\n.type two, @function\ntwo: .fill 10000, 1, 0x90\n"
    ".section .debug_abbrev,\"\",@progbits\n.Lmany: .set n, 1\n.rept 100000\n"
    ".uleb128 n + 0x10000, 0x34\n.byte 0\n.uleb128 0, 0\n.set n, n + 1\n.endr\n" /* of seven bytes each */
    ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x11, 1, 0x12, 7, 0, 0\n.byte 0\n"
    ".Lhonest: .uleb128 1, 0x11\n.byte 1\n.uleb128 3, 8, 0x11, 1, 0x12, 7, 0, 0\n"
    ".uleb128 2, 0x2e\n.byte 1\n.uleb128 3, 8, 0x11, 1, 0x12, 7, 0, 0\n"
    ".uleb128 3, 0x1d\n.byte 0\n.uleb128 3, 8, 0x11, 1, 0x12, 7, 0, 0\n.byte 0\n"
    ".section .debug_info,\"\",@progbits\n.set n, 0\n.rept 9999\n"
    ".long 25\n.short 4\n.long .Lmany + 7 * n - .debug_abbrev\n.byte 8\n"
    ".uleb128 1\n.quad two + n\n.quad 1\n.byte 0\n.set n, n + 1\n.endr\n"
    ".long 2f - 1f\n1: .short 4\n.long .Lhonest - .debug_abbrev\n.byte 8\n"
    ".uleb128 1\n.asciz \"two.c\"\n.quad two + 9999\n.quad 1\n"
    ".uleb128 2\n.asciz \"two\"\n.quad two + 9999\n.quad 1\n"
    ".uleb128 3\n.asciz \"honest\"\n.quad two + 9999\n.quad 1\n.byte 0, 0\n2:\n";

static void tables(void **state)
{
    (void)state;
    static uint64_t offsets[10000];
    char path[600];
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    fake_root();
    fake_file("src/prog.S", overlapping);
    if (fake_run("src", "cc -nostdlib -shared -Wl,--build-id=sha1 -o prog prog.S 2>/dev/null")) {
        fake_end();
        skip();
    }
    snprintf(path, sizeof path, "%s/src/prog", fake_path);
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    uint64_t two = offset_of_two();
    for (uint64_t i = 0; i < 10000; i++)
        offsets[i] = two + i;
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    double begin = cpu();
    assert_int_equal(rk_symbolizer_sources(s, &module, offsets, 10000, NULL, &sources, NULL), 0);
    double took = cpu() - begin;
    uint32_t last = sources->first[9999];
    print_message("overlapping tables: %s, %.3f s\n", sources->function[last], took);
    assert_string_equal(sources->function[last], "honest");
    assert_true(took < 5); /* where each is read whole: ten thousand times 700 KB */
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    fake_end();
}

/* The file shrinks, is emptied, is replaced, is gone: before it is opened, and between two questions. */
static void files(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "truncate -s 900 prog",
        "truncate -s 0 prog",
        "rm prog",
        "head -c 100000 /dev/zero > prog",
        "truncate -s 64 prog",
        "objcopy --update-section .debug_info=/dev/null prog",
        "objcopy --update-section .debug_abbrev=/dev/null prog",
    };
    char said[64];
    for (size_t i = 0; i < 2 * sizeof changes / sizeof *changes; i++) {
        fake_root();
        if (!make(&damages[0])) {
            fake_end();
            skip();
        }
        struct rk_symbolizer *s = NULL;
        assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
        uint64_t two = offset_of_two();
        if (i % 2) {
            ask(s, two, said);
            assert_string_equal(said, "inside two ");
        }
        (void)!fake_run("src", "%s 2>/dev/null", changes[i / 2]);
        ask(s, two,
            said); /* an answer of some kind, and no crash; "two" by name where that was read before */
        assert_true(!(i % 2) || strstr(said, "two "));
        rk_symbolizer_free(s);
        fake_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(units), cmocka_unit_test(tables),
                                       cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

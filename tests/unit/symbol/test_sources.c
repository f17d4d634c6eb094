/* Lines and inlined functions of a program that is compiled here, whose lines are known. */
#include "../fixture.h"

#include <reckon/reckon.h>

#include <stdbool.h>

static const char source[] = "#include <stdlib.h>\n"                                           /* 1 */
                             "static volatile int sink;\n"                                     /* 2 */
                             "static inline __attribute__((always_inline)) int inner(int x)\n" /* 3 */
                             "{\n"                                                             /* 4 */
                             "    sink = x;\n"                                                 /* 5 */
                             "    return sink;\n"                                              /* 6 */
                             "}\n"                                                             /* 7 */
                             "static inline __attribute__((always_inline)) int outer(int x)\n" /* 8 */
                             "{\n"                                                             /* 9 */
                             "    return inner(x + 1);\n"                                      /* 10 */
                             "}\n"                                                             /* 11 */
                             "__attribute__((noinline)) int work(int x)\n"                     /* 12 */
                             "{\n"                                                             /* 13 */
                             "    return outer(x * 3);\n"                                      /* 14 */
                             "}\n"                                                             /* 15 */
                             "int main(int n, char **v) { (void)v; return work(n); }\n";

static bool compile(const char *flags, char path[512])
{
    char command[2048];
    fake_file("src/prog.c", source);
    snprintf(path, 512, "%s/src/prog", fake_path);
    snprintf(command, sizeof command, "cd '%s'/src && %s -o prog prog.c 2>/dev/null", fake_path, flags);
    return system(command) == 0;
}

/* File offset of a function, and its size. */
static bool locate(const char *path, const char *name, uint64_t *ret_offset, uint64_t *ret_bytes)
{
    char command[1024], line[512];
    uint64_t address = 0, bytes = 0, start, offset, length;
    snprintf(command, sizeof command, "nm -S --defined-only '%s' | grep ' %s$'; readelf -lW '%s' | grep LOAD",
             path, name, path);
    FILE *pipe = popen(command, "re");
    bool found = false;
    while (pipe && fgets(line, sizeof line, pipe)) {
        if (sscanf(line, "%lx %lx", &address, &bytes) == 2)
            continue;
        if (sscanf(line, " LOAD %lx %lx %*s %lx", &offset, &start, &length) == 3 && address >= start &&
            address - start < length) {
            *ret_offset = address - start + offset;
            *ret_bytes = bytes;
            found = true;
        }
    }
    if (pipe)
        pclose(pipe);
    return found;
}

/* dwz has moved functions into a unit that the program's own don't know the files of. */
static bool moved_out;

/* Every byte of `work`: where sink is written the chain is inner:5, outer:10, work:14. */
static void check(const char *path)
{
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    struct rk_sources_options options = {.size = sizeof options, .threads = 2};
    uint64_t offset = 0, bytes = 0, offsets[256];
    assert_true(locate(path, "work", &offset, &bytes));
    assert_true(bytes > 0 && bytes < 256);
    for (uint64_t i = 0; i < bytes; i++)
        offsets[i] = offset + bytes - 1 - i; /* in any order */
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    assert_int_equal(rk_symbolizer_sources(s, &module, offsets, bytes, &options, &sources, NULL), 0);
    assert_int_equal(sources->n, bytes);
    unsigned whole = 0;
    for (size_t i = 0; i < bytes; i++) {
        uint32_t first = sources->first[i], n = sources->first[i + 1] - first;
        assert_true(n >= 1 && n <= 3);
        assert_int_equal(sources->miss[i], RK_MISS_NONE);
        assert_string_equal(sources->function[first + n - 1], "work");
        for (uint32_t f = first; f < first + n; f++) {
            assert_non_null(sources->file[f]);
            assert_non_null(strstr(sources->file[f], "/src/prog.c"));
            assert_int_equal(sources->file[f][0], '/');
            assert_true(sources->line[f] >= 3 && sources->line[f] <= 15);
        }
        if (n == 3) {
            assert_string_equal(sources->function[first], "inner");
            assert_string_equal(sources->function[first + 1], "outer");
            assert_true(sources->line[first] == 5 || sources->line[first] == 6 || sources->line[first] == 4);
            assert_int_equal(sources->line[first + 1], 10);
            assert_int_equal(sources->line[first + 2], 14);
            static const uint32_t declared[] = {3, 8, 12};
            for (uint32_t k = 0; k < 3; k++) {
                assert_int_equal(sources->declared_line[first + k], declared[k]);
                const char *file = sources->declared_file[first + k];
                assert_true(file ? strstr(file, "/src/prog.c") != NULL : moved_out);
            }
            whole++;
        }
    }
    assert_true(whole > 0);
    rk_sources_free(sources);
    rk_symbolizer_free(s);
}

static void each_kind(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "cc -g -O2 -gdwarf-2",
        "cc -g -O2 -gdwarf-3",
        "cc -g -O2 -gdwarf-4",
        "cc -g -O2 -gdwarf-5",
        "cc -g -O1 -gdwarf-5 -gdwarf64",
        "cc -g -O2 -gdwarf-5 -gsplit-dwarf",
        "cc -g -O2 -gdwarf-4 -gsplit-dwarf",
        "cc -g -O2 -gz=zlib",
        "cc -g -O2 -no-pie",
        "cc -g -O2 -ffunction-sections -Wl,--gc-sections",
        "clang -g -O2 -gdwarf-4",
        "clang -g -O2 -gdwarf-5",
        "clang -g -O2 -gdwarf-5 -gsplit-dwarf",
        "clang -g -O2 -fuse-ld=lld",
        "cc -g -O2 -fuse-ld=gold",
        "cc -g -O2 -fuse-ld=mold",
    };
    char path[512];
    unsigned made = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        fake_root();
        if (compile(kinds[i], path)) {
            print_message("%s\n", kinds[i]);
            check(path);
            made++;
        }
        fake_end();
    }
    assert_true(made >= 4);
}

/* .debug_aranges that has the unit, and not all of its code: what it has of `work` is main's. */
static void a_range_is_missing(void **state)
{
    (void)state;
    char path[512];
    fake_root();
    if (!compile("cc -g -O2 -ffunction-sections", path) ||
        fake_run("src",
                 "objcopy --dump-section .debug_aranges=whole prog && test $(stat -c %%s whole) = 64 && "
                 "(head -c 16 whole; tail -c +33 whole | head -c 16; tail -c +33 whole) >less && "
                 "! cmp -s whole less && objcopy --update-section .debug_aranges=less prog") != 0) {
        fake_end();
        skip();
    }
    check(path);
    fake_end();
}

/* The .dwo files of a program packed into one beside it, and gone. Another unit comes first, so that no part begins
 * at 0. */
static void packages(void **state)
{
    (void)state;
    static const char *const kinds[] = {
        "cc -g -O2 -gdwarf-5 -gsplit-dwarf other.c -o prog prog.c && llvm-dwp -e prog -o prog.dwp",
        "cc -g -O2 -gdwarf-4 -gsplit-dwarf other.c -o prog prog.c && dwp -e prog",
        "clang -g -O2 -gdwarf-5 -gsplit-dwarf other.c -o prog prog.c && llvm-dwp -e prog -o prog.dwp",
        "clang -g -O2 -gdwarf-4 -gsplit-dwarf other.c -o prog prog.c && llvm-dwp -e prog -o prog.dwp",
        ("clang -g -O2 -gdwarf-5 -gsplit-dwarf -ffunction-sections other.c -o prog prog.c && "
         "llvm-dwp -e prog -o prog.dwp"),
    };
    unsigned made = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char path[512], command[2048];
        fake_root();
        fake_file("src/prog.c", source);
        fake_file("src/other.c",
                  "static inline __attribute__((always_inline)) int near(int x) { return x * 7; }\n"
                  "int other(int x) { return near(x) + 1; }\n");
        snprintf(path, sizeof path, "%s/src/prog", fake_path);
        snprintf(command, sizeof command, "cd '%s'/src && (%s) 2>/dev/null && rm *.dwo && test -f prog.dwp",
                 fake_path, kinds[i]);
        if (system(command) == 0) {
            print_message("%s\n", kinds[i]);
            check(path);
            made++;
        }
        fake_end();
    }
    if (made == 0)
        skip();
}

/* Asks for every byte of `work`: the frames that have no name. A line must be there for each. */
static unsigned nameless(const char *path)
{
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    uint64_t offset = 0, bytes = 0, offsets[256];
    unsigned n = 0;
    assert_true(locate(path, "work", &offset, &bytes));
    for (uint64_t i = 0; i < bytes; i++)
        offsets[i] = offset + i;
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    assert_int_equal(rk_symbolizer_sources(s, &module, offsets, bytes, NULL, &sources, NULL), 0);
    for (size_t i = 0; i < sources->frame_n; i++) {
        assert_true(sources->line[i] > 0);
        n += !sources->function[i];
    }
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    return n;
}

/* What dwz moved into a file beside: found there, or by its build-id; without it lines are told yet, and a link that
 * leads to itself is not followed. */
static void shared_by_dwz(void **state)
{
    (void)state;
    char path[512], command[4096];
    fake_root();
    if (!compile("cc -g -O2", path)) {
        fake_end();
        skip();
    }
    snprintf(command, sizeof command,
             "cd '%s'/src && cc -g -O2 -DA -o other prog.c && dwz -m shared -r prog other 2>/dev/null",
             fake_path);
    if (system(command) != 0) {
        fake_end();
        skip();
    }
    moved_out = true;
    check(path);
    moved_out = false;
    snprintf(command, sizeof command, "cd '%s'/src && mv shared elsewhere", fake_path);
    assert_int_equal(system(command), 0);
    assert_true(nameless(path) > 0);

    /* Another file in its place. */
    snprintf(command, sizeof command, "cd '%s'/src && cp other shared", fake_path);
    assert_int_equal(system(command), 0);
    assert_true(nameless(path) > 0);

    /* One that says it is its own. */
    snprintf(command, sizeof command,
             "cd '%s'/src && objcopy --dump-section .gnu_debugaltlink=link prog && "
             "objcopy --add-section .gnu_debugaltlink=link elsewhere shared && cp shared elsewhere",
             fake_path);
    assert_int_equal(system(command), 0);
    moved_out = true;
    check(path);
    moved_out = false;
    fake_end();
}

/* In a file of its own: by build-id below a root, or by debuglink beside it. */
static void debug_files(void **state)
{
    (void)state;
    char path[512], command[4096];
    fake_root();
    if (!compile("cc -g -O2", path)) {
        fake_end();
        skip();
    }
    snprintf(command, sizeof command,
             "cd '%s'/src && objcopy --only-keep-debug prog prog.debug && objcopy --strip-debug prog && "
             "objcopy --add-gnu-debuglink=prog.debug prog",
             fake_path);
    assert_int_equal(system(command), 0);
    check(path);
    snprintf(command, sizeof command, "cd '%s'/src && mkdir .debug && mv prog.debug .debug/", fake_path);
    assert_int_equal(system(command), 0);
    check(path);

    /* A debug file with another checksum is not believed. */
    snprintf(command, sizeof command, "cd '%s'/src && printf x >> .debug/prog.debug", fake_path);
    assert_int_equal(system(command), 0);
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    uint64_t offset = 0, bytes;
    assert_true(locate(path, "work", &offset, &bytes));
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    assert_int_equal(rk_symbolizer_sources(s, &module, &offset, 1, NULL, &sources, NULL), 0);
    assert_int_equal(sources->miss[0], RK_MISS_NO_LINES);
    assert_int_equal(sources->frame_n, 1);
    assert_string_equal(sources->function[0], "work");
    assert_null(sources->file[0]);
    rk_sources_free(sources);

    /* Nothing asked, nothing there, nothing loaded at that place. */
    assert_int_equal(rk_symbolizer_sources(s, &module, NULL, 0, NULL, &sources, NULL), 0);
    assert_int_equal(sources->n + sources->frame_n, 0);
    rk_sources_free(sources);
    module.path = "/nowhere/at/all";
    assert_int_equal(rk_symbolizer_sources(s, &module, &offset, 1, NULL, &sources, NULL), 0);
    assert_int_equal(sources->miss[0], RK_MISS_NO_FILE);
    assert_null(sources->function[0]);
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    fake_end();
}

/* The oracle's class "folded": a symbol covers the address, the debug information has another name for its function (as
 * where two functions compile to the same). The symbol names the outermost frame. */
static void symbol_before_dwarf(void **state)
{
    (void)state;
    char path[512], command[1024];
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    uint64_t offset = 0, bytes = 0;
    unsigned inlined = 0;
    fake_root();
    assert_true(compile("cc -g -O2", path));
    snprintf(command, sizeof command, "objcopy --redefine-sym work=twin.part.0 '%s'", path);
    assert_int_equal(system(command), 0);
    assert_true(locate(path, "twin.part.0", &offset, &bytes));
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    for (uint64_t end = offset + bytes; offset < end; offset++) {
        assert_int_equal(rk_symbolizer_sources(s, &module, &offset, 1, NULL, &sources, NULL), 0);
        assert_string_equal(sources->function[sources->frame_n - 1], "twin.part.0");
        inlined += sources->frame_n == 3 && strcmp(sources->function[1], "outer") == 0;
        rk_sources_free(sources);
    }
    assert_true(inlined > 0);
    rk_symbolizer_free(s);
    fake_end();
}

/* A function that two units have, of which the linker keeps the first one's: GNU ld gives its address to both. */
static void claimed_by_two(void **state)
{
    (void)state;
    char path[512], command[1024];
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    uint64_t offset = 0, bytes = 0;
    fake_root();
    fake_file("src/f.h", "struct S { int v[8]; int get(int i) const; };\n"
                         "#ifdef FIRST\n"
                         "inline __attribute__((noinline)) int S::get(int i) const { return v[i] + i * 3; }\n"
                         "#else\n"
                         "inline __attribute__((noinline)) int S::get(int i) const\n"
                         "{\n"
                         "    return v[i] +\n"
                         "           i * 3;\n"
                         "}\n"
                         "#endif\n");
    fake_file("src/a.cpp", "#define FIRST\n#include \"f.h\"\nint a(S *s) { return s->get(3); }\n");
    fake_file("src/b.cpp", "#include \"f.h\"\nint a(S *);\nint main() { S s{}; return s.get(1) + a(&s); }\n");
    snprintf(path, sizeof path, "%s/src/prog", fake_path);
    snprintf(command, sizeof command, "cd '%s'/src && c++ -g -O2 a.cpp b.cpp -o prog 2>/dev/null", fake_path);
    if (system(command) != 0) {
        fake_end();
        skip();
    }
    assert_true(locate(path, "_ZNK1S3getEi", &offset, &bytes));
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    for (uint64_t end = offset + bytes; offset < end; offset++) {
        assert_int_equal(rk_symbolizer_sources(s, &module, &offset, 1, NULL, &sources, NULL), 0);
        assert_non_null(strstr(sources->file[0], "/src/f.h"));
        assert_int_equal(sources->line[0], 3);
        rk_sources_free(sources);
    }
    rk_symbolizer_free(s);
    fake_end();
}

/* The oracle's class "padding": what lies between two functions is nobody's, and nothing is inlined there. */
static void padding_is_nobodys(void **state)
{
    (void)state;
    char path[512];
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    uint64_t offset = 0, bytes = 0;
    fake_root();
    assert_true(compile("cc -g -O1 -falign-functions=64", path));
    assert_true(locate(path, "work", &offset, &bytes));
    assert_true(bytes % 64);
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    for (uint64_t behind = offset + bytes; behind < (offset + bytes + 63) / 64 * 64; behind++) {
        assert_int_equal(rk_symbolizer_sources(s, &module, &behind, 1, NULL, &sources, NULL), 0);
        assert_int_equal(sources->frame_n, 1);
        assert_null(sources->function[0]);
        rk_sources_free(sources);
    }
    rk_symbolizer_free(s);
    fake_end();
}

/* As Go 1.12 has it: b is inlined into a, that into f, each has 16 bytes, and none lies in the other. */
static void inlined_outside(void **state)
{
    (void)state;
    static const char source_of_it[] =
        ".text\n.globl f\n.type f, @function\nf: .skip 48, 0x90\n.size f, 48\n.Lend:\n"
        ".section .debug_abbrev,\"\",@progbits\n"
        ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x13, 0x0b, 0x11, 0x01, 0x12, 0x06, 0, 0\n"
        ".uleb128 2, 0x2e\n.byte 0\n.uleb128 0x03, 0x08, 0x20, 0x0b, 0, 0\n"
        ".uleb128 3, 0x2e\n.byte 1\n.uleb128 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0\n"
        ".uleb128 4, 0x1d\n.byte 1\n"
        ".uleb128 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x58, 0x0b, 0x59, 0x0b, 0, 0\n"
        ".byte 0\n"
        ".section .debug_info,\"\",@progbits\n"
        ".Lbegin: .long .Lstop - .Lversion\n"
        ".Lversion: .short 4\n.long .debug_abbrev\n.byte 8\n"
        ".uleb128 1\n.byte 0x16\n.quad f\n.long 48\n"
        ".La: .uleb128 2\n.asciz \"a\"\n.byte 1\n"
        ".Lb: .uleb128 2\n.asciz \"b\"\n.byte 1\n"
        ".uleb128 3\n.asciz \"f\"\n.quad f\n.long 48\n"
        ".uleb128 4\n.long .La - .Lbegin\n.quad f + 16\n.long 16\n.byte 1, 10\n"
        ".uleb128 4\n.long .Lb - .Lbegin\n.quad f + 32\n.long 16\n.byte 1, 20\n"
        ".byte 0, 0, 0, 0\n"
        ".Lstop:\n";
    static const char *const chains[3][3] = {{"f"}, {"a", "f"}, {"b", "a", "f"}};
    static const uint32_t lines[3][3] = {{0}, {0, 10}, {0, 20, 10}};
    char path[512];
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    uint64_t offset = 0, bytes = 0;
    fake_root();
    fake_file("src/go.s", source_of_it);
    if (!compile("clang --target=x86_64-linux-gnu -nostdlib -shared go.s -fuse-ld=lld -o prog; :", path) ||
        !locate(path, "f", &offset, &bytes)) {
        fake_end();
        skip();
    }
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    assert_int_equal(rk_symbolizer_open(NULL, &s, NULL), 0);
    for (uint64_t i = 0; i < 48; i++) {
        uint64_t at = offset + i;
        assert_int_equal(rk_symbolizer_sources(s, &module, &at, 1, NULL, &sources, NULL), 0);
        assert_int_equal(sources->frame_n, i / 16 + 1);
        for (uint32_t k = 0; k <= i / 16; k++) {
            assert_string_equal(sources->function[k], chains[i / 16][k]);
            assert_int_equal(sources->line[k], lines[i / 16][k]);
        }
        rk_sources_free(sources);
    }
    rk_symbolizer_free(s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind),          cmocka_unit_test(a_range_is_missing),
        cmocka_unit_test(packages),           cmocka_unit_test(shared_by_dwz),
        cmocka_unit_test(debug_files),        cmocka_unit_test(symbol_before_dwarf),
        cmocka_unit_test(padding_is_nobodys), cmocka_unit_test(claimed_by_two),
        cmocka_unit_test(inlined_outside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* jitdump files: names, lines and places of code made at run time, of both byte orders; code that moved, and addresses that
 * were used again; whatever makes no sense ends the reading and not the reader. */
#include "symbol/jitcode.h"
#include "symbol/jitdump.h"

#include "../fake_root.h"

#include <reckon/reckon.h>

#include <byteswap.h>

static unsigned char file[8192];
static size_t file_n;
static bool swapped;

static void put(const void *bytes, size_t n)
{
    assert_true(file_n + n <= sizeof file);
    memcpy(file + file_n, bytes, n);
    file_n += n;
}

static void u32(uint32_t value)
{
    value = swapped ? bswap_32(value) : value;
    put(&value, sizeof value);
}

static void u64(uint64_t value)
{
    value = swapped ? bswap_64(value) : value;
    put(&value, sizeof value);
}

static void header(uint64_t time, uint64_t flags)
{
    file_n = 0;
    u32(0x4a695444), u32(1), u32(40), u32(62), u32(0), u32(42);
    u64(time), u64(flags);
}

static void prefix(uint32_t id, size_t bytes, uint64_t time)
{
    u32(id), u32((uint32_t)bytes), u64(time);
}

/* Returns where the code is. */
static uint64_t load(uint64_t time, uint64_t address, uint64_t bytes, uint64_t index, const char *name)
{
    prefix(0, 56 + strlen(name) + 1 + bytes, time);
    u32(42), u32(43), u64(address), u64(address), u64(bytes), u64(index);
    put(name, strlen(name) + 1);
    uint64_t at = file_n;
    for (uint64_t i = 0; i < bytes; i++)
        put("\x90", 1);
    return at;
}

static void move(uint64_t time, uint64_t from, uint64_t to, uint64_t bytes, uint64_t index)
{
    prefix(1, 64, time);
    u32(42), u32(43), u64(from), u64(from), u64(to), u64(bytes), u64(index);
}

static void entry(uint64_t address, uint32_t line, const char *name)
{
    u64(address), u32(line), u32(0);
    put(name, strlen(name) + 1);
}

/* Two lines in one file, the second's name being "as before". */
static void lines(uint64_t time, uint64_t address, uint64_t shift)
{
    prefix(2, 32 + 16 + 5 + 16 + 2, time);
    u64(address), u64(2);
    entry(address + shift, 7, "a.js");
    entry(address + shift + 8, 9, "\xff");
}

static int read_file(struct jitdump *dump, size_t n, struct intern *names)
{
    const struct jit_source source = {.fd = -1, .bytes = file, .size = n};

    *dump = (struct jitdump){0};
    return jitdump_read(dump, &source, names);
}

static const char *line_at(const struct jitdump *dump, const struct intern *names, uint64_t code)
{
    static char text[64];
    const struct jit_source source = {.fd = -1, .bytes = file, .size = file_n};
    const struct jit_load *found = jitdump_find(dump, code);
    char *name = NULL;
    uint32_t line;

    if (!found ||
        jitdump_line(dump, &source, found, intern_text(names, found->name), code, &name, &line) != 1)
        return "";
    snprintf(text, sizeof text, "%s:%u", name, line);
    free(name);
    return text;
}

static void records(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct intern names = {0};
        struct jitdump dump;
        swapped = order;
        header(100, 0);
        prefix(4, 24, 101), u64(0); /* unwinding tables, which are not read */
        lines(102, 0x1000, 0);
        uint64_t one = load(103, 0x1000, 16, 0, "first");
        prefix(77, 17, 104), put("x", 1); /* unknown */
        uint64_t two = load(105, 0x2000, 32, 1, "second");
        move(106, 0x2000, 0x3000, 32, 1);
        move(107, 0x2000, 0x4000, 32, 99); /* of what is not there */
        uint64_t none = load(108, 0x5000, 0, 2, "empty");
        prefix(3, 16, 109);
        assert_int_equal(read_file(&dump, file_n, &names), 0);
        assert_int_equal(dump.swapped, order);
        assert_false(dump.damaged);
        assert_int_equal(dump.taken, file_n);
        assert_int_equal(dump.unwinding, 1);
        assert_int_equal(dump.loads.n, 3);
        assert_string_equal(intern_text(&names, jitdump_find(&dump, one)->name), "first");
        assert_string_equal(intern_text(&names, jitdump_find(&dump, one + 15)->name), "first");
        assert_null(jitdump_find(&dump, one - 1));
        assert_null(jitdump_find(&dump, one + 16));
        assert_string_equal(intern_text(&names, jitdump_find(&dump, two + 31)->name), "second");
        assert_int_equal(dump.loads.items[2].address, 0x3000); /* the same bytes, elsewhere */
        assert_int_equal(dump.loads.items[2].code, two);
        assert_null(jitdump_find(&dump, none));
        assert_string_equal(line_at(&dump, &names, one), "a.js:7");
        assert_string_equal(line_at(&dump, &names, one + 7), "a.js:7");
        assert_string_equal(line_at(&dump, &names, one + 8), "a.js:9");
        assert_string_equal(line_at(&dump, &names, two), "");
        jitdump_free(&dump);
        intern_free(&names);
    }
    swapped = false;
}

/* V8's lines are 0x40 further on, for perf inject's ELF header. */
static void lines_of_v8(void **state)
{
    struct intern names = {0};
    struct jitdump dump;

    (void)state;
    header(1, 0);
    lines(2, 0x1000, 0x40);
    uint64_t code = load(3, 0x1000, 16, 0, "JS:*add /s/b.js:7:1");
    assert_int_equal(read_file(&dump, file_n, &names), 0);
    assert_string_equal(line_at(&dump, &names, code), "a.js:7");
    assert_string_equal(line_at(&dump, &names, code + 8), "a.js:9");
    jitdump_free(&dump);
    file[40 + 32 + 16] = 1; /* … and have names that were freed before they were written */
    assert_int_equal(read_file(&dump, file_n, &names), 0);
    assert_string_equal(line_at(&dump, &names, code), "/s/b.js:7"); /* the function's name has it, too */
    jitdump_free(&dump);
    intern_free(&names);
}

static void hostile(void **state)
{
    struct intern names = {0};
    struct jitdump dump;
    struct jit_source source = {.fd = -1, .bytes = file};

    (void)state;
    header(100, 0);
    lines(102, 0x1000, 0);
    load(103, 0x1000, 16, 0, "first");
    move(104, 0x1000, 0x3000, 16, 0);
    load(105, 0x1000, 16, 1, "second");
    size_t whole = file_n;
    for (size_t n = 0; n <= whole;
         n++) { /* cut anywhere: what is whole is taken, and the rest when it is there */
        assert_int_equal(read_file(&dump, n, &names), 0);
        assert_true(dump.taken <= n && !dump.damaged);
        source.size = whole;
        assert_int_equal(jitdump_read(&dump, &source, &names), 0);
        assert_int_equal(dump.loads.n, 3);
        jitdump_free(&dump);
    }
    for (size_t at = 0; at < whole; at++) /* any byte wrong */
        for (int bit = 0; bit < 8; bit++) {
            file[at] ^= (unsigned char)(1 << bit);
            int rc = read_file(&dump, whole, &names);
            assert_true(rc == 0 || rc == -ENOEXEC);
            for (uint64_t code = 0; code < whole; code += 8)
                line_at(&dump, &names, code);
            jitdump_free(&dump);
            file[at] ^= (unsigned char)(1 << bit);
        }
    /* Sizes that no file has; a name without an end; code that leaves the record, and the address space. */
    header(100, 0), prefix(0, 15, 1);
    assert_int_equal(read_file(&dump, file_n, &names), 0);
    assert_true(dump.damaged);
    jitdump_free(&dump);
    header(100, 0), prefix(0, 60, 1), u64(0), u64(0), u64(0x1000), u64(UINT64_MAX), u64(0), put("abcd", 4);
    assert_int_equal(read_file(&dump, file_n, &names), 0);
    assert_true(dump.damaged && dump.loads.n == 0);
    jitdump_free(&dump);
    header(100, 0), prefix(0, 60, 1), u64(0), u64(0), u64(UINT64_MAX), u64(2), u64(0), put("a\0xx", 4);
    assert_int_equal(read_file(&dump, file_n, &names), 0);
    assert_true(dump.damaged && dump.loads.n == 0);
    jitdump_free(&dump);
    memcpy(file, "\177ELF", 4);
    assert_int_equal(read_file(&dump, file_n, &names), -ENOEXEC);
    jitdump_free(&dump);
    intern_free(&names);
}

static void paths(void **state)
{
    (void)state;
    assert_true(jitdump_is_path("/home/me/.debug/jit/java-jit-1/jit-4711.dump"));
    assert_true(jitdump_is_path("jit-1.dump"));
    assert_false(jitdump_is_path("/tmp/jit-.dump"));
    assert_false(jitdump_is_path("/tmp/jit-1.dump.so"));
    assert_false(jitdump_is_path("/tmp/xjit-1.dump"));
    assert_false(jitdump_is_path("/tmp/jit-1a.dump"));
}

static const char *name_at(struct rk_symbolizer *symbolizer, uint64_t offset)
{
    struct rk_module module = {.size = sizeof module,
                               .kind = RK_MODULE_FILE,
                               .path = "/w/jit-42.dump",
                               .name = "jit-42.dump",
                               .pid = 42};
    struct rk_symbol symbol = {.miss = 99};

    assert_int_equal(rk_symbolizer_resolve(symbolizer, &module, &offset, 1, &symbol), 0);
    return symbol.name ? symbol.name : rk_miss_text(symbol.miss);
}

/* What was appended is read; a link and another user's file are not. */
static void symbolizer(void **state)
{
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    struct rk_module module = {.size = sizeof module,
                               .kind = RK_MODULE_FILE,
                               .path = "/w/jit-42.dump",
                               .name = "jit-42.dump",
                               .pid = 42};

    (void)state;
    fake_root();
    struct rk_symbolizer_options options = {.size = sizeof options, .root = fake_path};
    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
    assert_string_equal(name_at(s, 1), rk_miss_text(RK_MISS_NO_FILE));
    header(100, 0);
    lines(102, 0x1000, 0);
    uint64_t one = load(103, 0x1000, 16, 0, "_ZN3foo3barEi");
    fake_bytes("w/jit-42.dump", file, file_n);
    const char *first = name_at(s, one);
    assert_string_equal(first, rk_symbolizer_demangles() ? "foo::bar(int)" : "_ZN3foo3barEi");
    uint64_t two = load(104, 0x2000, 16, 1, "appended");
    assert_string_equal(name_at(s, two), rk_miss_text(RK_MISS_NO_SYMBOL));
    fake_bytes("w/jit-42.dump", file, file_n);
    assert_string_equal(name_at(s, two), "appended");
    assert_int_equal(rk_symbolizer_sources(s, &module, (uint64_t[]){one + 8, two}, 2, NULL, &sources, NULL),
                     0);
    assert_string_equal(sources->function[0], first);
    assert_string_equal(sources->file[0], "a.js");
    assert_int_equal(sources->line[0], 9);
    assert_null(sources->file[1]);
    rk_sources_free(sources);
    rk_symbolizer_free(s);

    char from[512], to[512];
    snprintf(from, sizeof from, "%s/w/jit-42.dump", fake_path);
    snprintf(to, sizeof to, "%s/w/real", fake_path);
    if (geteuid() == 0) {
        assert_int_equal(chown(from, 65534, 65534), 0);
        assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
        assert_string_equal(name_at(s, one), rk_miss_text(RK_MISS_NOT_YOURS));
        rk_symbolizer_free(s);
    }
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(symlink("real", from), 0);
    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
    assert_string_equal(name_at(s, one), rk_miss_text(RK_MISS_NO_FILE));
    rk_symbolizer_free(s);
    fake_end();
}

static uint64_t place_at(struct jitcode *code, int32_t pid, uint64_t time, uint64_t address)
{
    struct rk_place place = {.module = 1, .status = RK_PLACE_ANONYMOUS, .offset = 0};

    jitcode_place(code, pid, time, &address, 1, &place);
    assert_int_equal(place.module, place.offset ? 7 : 1);
    return place.offset;
}

/* An address is what lay there by then. The recording's clock is another one than the file's. */
static void times(void **state)
{
    const struct rk_module module = {.size = sizeof module, .path = "/jit-42.dump", .name = "jit-42.dump"};
    const uint64_t s = 1000000000, ahead = 5000 * s; /* of the recording's clock */
    struct jitcode *code = NULL;

    (void)state;
    fake_root();
    header(100 * s, 0);
    uint64_t one = load(101 * s, 0x10f00, 0x300, 0, "one"); /* on two pages */
    uint64_t two = load(102 * s, 0x11000, 0x100, 1, "two");
    move(103 * s, 0x11000, 0x20000, 0x100, 1);
    uint64_t three = load(104 * s, 0x10f80, 0x10, 2, "three");
    fake_bytes("jit-42.dump", file, file_n);
    assert_int_equal(jitcode_mapping(&code, fake_path, 42, 100 * s + ahead, &module, 7), 0);
    assert_int_equal(place_at(code, 42, 100 * s + ahead, 0x10f00), 0);
    assert_int_equal(place_at(code, 42, 101 * s + ahead - 1000, 0x10f04),
                     one + 4); /* clocks differ a little */
    assert_int_equal(place_at(code, 42, 101 * s + ahead, 0x11010), one + 0x110);
    assert_int_equal(place_at(code, 42, 102 * s + ahead, 0x11010), two + 0x10);
    assert_int_equal(place_at(code, 42, 102 * s + ahead, 0x11100), one + 0x200);
    assert_int_equal(place_at(code, 42, 102 * s + ahead, 0x11200), 0);
    assert_int_equal(place_at(code, 42, 102 * s + ahead, 0x20010), 0);
    assert_int_equal(place_at(code, 42, 103 * s + ahead, 0x20010), two + 0x10);
    assert_int_equal(place_at(code, 42, 103 * s + ahead, 0x10f80), one + 0x80);
    assert_int_equal(place_at(code, 42, 104 * s + ahead, 0x10f80), three);
    assert_int_equal(place_at(code, 42, 0, 0x10f80), three); /* unknown: what came last */
    assert_int_equal(place_at(code, 43, 104 * s + ahead, 0x10f80), 0);
    uint32_t before = jitcode_generation(code, 42, 101 * s + ahead);
    assert_int_equal(jitcode_generation(code, 42, 101 * s + ahead + 1), before);
    assert_int_not_equal(jitcode_generation(code, 42, 102 * s + ahead), before);
    assert_int_equal(jitcode_generation(code, 43, 102 * s + ahead), 0);
    /* What is appended later is found where it is asked about. */
    uint64_t four = load(110 * s, 0x30000, 0x10, 3, "four");
    fake_bytes("jit-42.dump", file, file_n);
    for (int i = 0; i < 10000 && !place_at(code, 42, 111 * s + ahead, 0x30000); i++)
        jitcode_generation(code, 42, 111 * s + ahead);
    assert_int_equal(place_at(code, 42, 111 * s + ahead, 0x30000), four);
    jitcode_free(code);

    /* Times that nobody can convert: what came last. */
    code = NULL;
    header(100, 1);
    load(7, 0x1000, 0x10, 0, "old");
    uint64_t last = load(6, 0x1000, 0x10, 1, "new");
    fake_bytes("jit-42.dump", file, file_n);
    assert_int_equal(jitcode_mapping(&code, fake_path, 42, 5, &module, 7), 0);
    assert_int_equal(place_at(code, 42, 1, 0x1000), last);
    jitcode_free(code);
    jitcode_free(NULL);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records), cmocka_unit_test(lines_of_v8), cmocka_unit_test(hostile),
        cmocka_unit_test(paths),   cmocka_unit_test(symbolizer),  cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

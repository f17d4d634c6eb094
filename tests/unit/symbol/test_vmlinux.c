/* Lines of the kernel: a program linked as one, with a vmlinux to be found, kallsyms and notes in a fake root. */
#include "../fixture.h"

#include <reckon/reckon.h>

#include <stdarg.h>
#include <stdbool.h>

#define KASLR UINT64_C(0x1c000000)

static const char head[] = "__asm__(\".text\\n.globl _text, _stext\\n_text: _stext: .fill 64, 1, 0\\n\");\n";
static const char source[] = "volatile int sink;\n"                                             /* 1 */
                             "static inline __attribute__((always_inline)) void inner(int x)\n" /* 2 */
                             "{\n"                                                              /* 3 */
                             "    sink = x;\n"                                                  /* 4 */
                             "}\n"                                                              /* 5 */
                             "__attribute__((noinline)) void work(int x)\n"                     /* 6 */
                             "{\n"                                                              /* 7 */
                             "    inner(x * 3);\n"                                              /* 8 */
                             "}\n"                                                              /* 9 */
                             "void _start(void) { work(1); }\n";

struct kernel {
    uint64_t text, work, bytes; /* addresses as linked */
    unsigned char id[20];
};

/* src/NAME, whose build-id is 20 times that byte. */
static bool make_kernel(const char *name, unsigned char id, struct kernel *ret)
{
    char path[600], line[512], digits[41];
    fake_file("src/head.c", head);
    fake_file("src/prog.c", source);
    for (size_t i = 0; i < 20; i++)
        snprintf(digits + 2 * i, 3, "%02x", id);
    if (fake_run(".",
                 "cd src && cc -g -O2 -nostdlib -static -fno-pie -no-pie -Wl,-Ttext=0x41000000 "
                 "-Wl,--build-id=0x%s "
                 "-o %s head.c prog.c 2>/dev/null",
                 digits, name) != 0)
        return false;
    memset(ret->id, id, sizeof ret->id);
    snprintf(path, sizeof path, "nm -S '%s'/src/%s", fake_path, name);
    FILE *pipe = popen(path, "re");
    while (pipe && fgets(line, sizeof line, pipe)) {
        uint64_t a, n;
        if (strstr(line, " _text\n"))
            ret->text = strtoull(line, NULL, 16);
        if (strstr(line, " work\n") && sscanf(line, "%lx %lx", &a, &n) == 2) {
            ret->work = a;
            ret->bytes = n;
        }
    }
    if (pipe)
        pclose(pipe);
    return ret->text && ret->work && ret->bytes;
}

/* What the running kernel says of itself. */
static void boot(const struct kernel *k, const char *name, bool hidden)
{
    char text[256];
    uint64_t move = hidden ? 0 : KASLR;
    snprintf(text, sizeof text, "%016lx T _text\n%016lx T _stext\n%016lx T work\n%016lx T _etext\n",
             hidden ? 0 : k->text + move, hidden ? 0 : k->text + move, hidden ? 0 : k->work + move,
             hidden ? 0 : k->work + k->bytes + move);
    fake_file("proc/kallsyms", text);
    fake_file("sys/kernel/notes", "");
    assert_int_equal(
        fake_run(".", "objcopy -O binary --only-section=.note.gnu.build-id src/%s sys/kernel/notes", name),
        0);
}

static struct rk_symbolizer *open_root(void)
{
    struct rk_symbolizer_options options = {
        .size = sizeof options, .root = fake_path, .lines_bytes = 1}; /* closed after each call */
    struct rk_symbolizer *s = NULL;
    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
    return s;
}

static struct rk_module module_of(const struct kernel *k, uint64_t start)
{
    struct rk_module m = {.size = sizeof m, .kind = RK_MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"};
    m.start = start;
    if (k) {
        m.build_id_bytes = 20;
        memcpy(m.build_id, k->id, 20);
    }
    return m;
}

/* Every byte of `work`, which lies `moved` from where it was linked. The miss of all, or NONE: lines are as written. */
static uint32_t ask(const struct kernel *k, const struct rk_module *module, uint64_t moved)
{
    struct rk_symbolizer *s = open_root();
    struct rk_sources *sources = NULL;
    uint64_t addresses[128];
    unsigned chains = 0;
    assert_true(k->bytes < 128);
    for (uint64_t i = 0; i < k->bytes; i++)
        addresses[i] = k->work + i + moved;
    assert_int_equal(rk_symbolizer_sources(s, module, addresses, 1, NULL, &sources, NULL), 0);
    rk_sources_free(sources);
    assert_int_equal(rk_symbolizer_sources(s, module, addresses, k->bytes, NULL, &sources, NULL), 0);
    uint32_t miss = sources->miss[0];
    for (size_t i = 0; i < k->bytes; i++) {
        uint32_t first = sources->first[i], n = sources->first[i + 1] - first;
        assert_int_equal(sources->miss[i], miss);
        if (miss)
            continue;
        assert_string_equal(sources->function[first + n - 1], "work");
        assert_non_null(strstr(sources->file[first], "/src/prog.c"));
        if (n == 2 && sources->line[first] == 4 && sources->line[first + 1] == 8)
            chains += strcmp(sources->function[first], "inner") == 0;
    }
    assert_true(miss || chains);
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    return miss;
}

static void lines_of_kernels(void **state)
{
    (void)state;
    struct kernel a = {0}, b = {0};
    fake_root();
    if (!make_kernel("a", 0xaa, &a) || !make_kernel("b", 0xbb, &b)) {
        fake_end();
        skip();
    }
    boot(&a, "a", false);
    struct rk_module live = module_of(NULL, 0), told = module_of(&a, a.text + KASLR),
                     before = module_of(&a, a.text + 0x5000000), other = module_of(&b, b.text + 0x7000000),
                     unsure = module_of(NULL, a.text + 0x5000000);

    /* No vmlinux, or another one's only. */
    assert_int_equal(ask(&a, &live, KASLR), RK_MISS_NO_LINES);
    assert_int_equal(fake_run(".", "mkdir -p usr/lib/debug/boot && cp src/b usr/lib/debug/boot/vmlinux-1"),
                     0);
    assert_int_equal(ask(&a, &live, KASLR), RK_MISS_NO_LINES);

    /* Beside it; of the boot that runs, of one before, of another kernel that is installed; not of one that may be any. */
    assert_int_equal(fake_run(".", "cp src/a usr/lib/debug/boot/vmlinux-2"), 0);
    assert_int_equal(ask(&a, &live, KASLR), RK_MISS_NONE);
    assert_int_equal(ask(&a, &told, KASLR), RK_MISS_NONE);
    assert_int_equal(ask(&a, &before, 0x5000000), RK_MISS_NONE);
    assert_int_equal(ask(&b, &other, 0x7000000), RK_MISS_NONE);
    assert_int_equal(ask(&a, &unsure, 0x5000000), RK_MISS_OTHER_KERNEL);

    /* By build-id; and in a directory per release. */
    assert_int_equal(
        fake_run(".", "rm -r usr/lib/debug/boot && mkdir -p usr/lib/debug/.build-id/aa && "
                      "cp src/a usr/lib/debug/.build-id/aa/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.debug"),
        0);
    assert_int_equal(ask(&a, &live, KASLR), RK_MISS_NONE);
    assert_int_equal(fake_run(".", "rm -r usr/lib/debug && mkdir -p usr/lib/debug/lib/modules/1 && "
                                   "cp src/a usr/lib/debug/lib/modules/1/vmlinux"),
                     0);
    assert_int_equal(ask(&a, &live, KASLR), RK_MISS_NONE);

    /* Addresses hidden from this user: a recording that tells where it lay has lines yet. */
    boot(&a, "a", true);
    assert_int_equal(ask(&a, &live, KASLR), RK_MISS_KERNEL_HIDDEN);
    assert_int_equal(ask(&a, &told, KASLR), RK_MISS_NONE);

    /* Without DWARF it is of no use, nor cut short. */
    assert_int_equal(fake_run(".", "objcopy --strip-debug src/a usr/lib/debug/lib/modules/1/vmlinux"), 0);
    assert_int_equal(ask(&a, &told, KASLR), RK_MISS_NO_LINES);
    assert_int_equal(fake_run(".", "head -c 5000 src/a > usr/lib/debug/lib/modules/1/vmlinux"), 0);
    assert_int_not_equal(ask(&a, &told, KASLR), RK_MISS_NONE);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_of_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

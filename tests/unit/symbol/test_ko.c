/* Lines of the kernel's modules: a relocatable file, placed as the kernel places it, found by its build-id in a fake root. */
#include "../fixture.h"

#include <reckon/reckon.h>

#include <stdarg.h>
#include <stdbool.h>

#define BASE UINT64_C(0xffffffffc0a10000)

static const char source[] =
    "extern volatile int sink;\n"                                                /* 1 */
    "static inline __attribute__((always_inline)) void inner(int x)\n"           /* 2 */
    "{\n"                                                                        /* 3 */
    "    sink = x;\n"                                                            /* 4 */
    "}\n"                                                                        /* 5 */
    "__attribute__((noinline)) void work(int x)\n"                               /* 6 */
    "{\n"                                                                        /* 7 */
    "    inner(x * 3);\n"                                                        /* 8 */
    "}\n"                                                                        /* 9 */
    "__attribute__((section(\".init.text\"))) void start(int x) { work(x); }\n"  /* 10 */
    "__attribute__((section(\".text.other\"), aligned(64))) void other(int x)\n" /* 11 */
    "{\n"                                                                        /* 12 */
    "    inner(x * 5);\n"                                                        /* 13 */
    "}\n";

/* What a command prints: one number. */
static uint64_t number(const char *command)
{
    char line[600];
    uint64_t n = 0;
    snprintf(line, sizeof line, "cd '%s'/src && %s", fake_path, command);
    FILE *pipe = popen(line, "re");
    assert_non_null(pipe);
    if (fgets(line, sizeof line, pipe))
        n = strtoull(line, NULL, 0);
    pclose(pipe);
    return n;
}

static const unsigned char id[20] = {0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab,
                                     0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab, 0xab};

static struct rk_module module_of(bool told)
{
    struct rk_module m = {.size = sizeof m,
                          .kind = RK_MODULE_KERNEL_MODULE,
                          .path = "[snd_hda]",
                          .name = "[snd_hda]",
                          .start = BASE,
                          .end = BASE + 4096};
    if (told) {
        m.build_id_bytes = 20;
        memcpy(m.build_id, id, 20);
    }
    return m;
}

/* The miss, or NONE: the address is in `function`, and a chain from `line` was seen among its bytes. */
static uint32_t ask(const struct rk_module *module, uint64_t address, uint64_t bytes, const char *function,
                    uint32_t line)
{
    struct rk_symbolizer_options options = {
        .size = sizeof options, .root = fake_path, .lines_bytes = 1}; /* closed after each call */
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    uint64_t addresses[128];
    unsigned chains = 0;
    assert_true(bytes > 0 && bytes < 128);
    for (uint64_t i = 0; i < bytes; i++)
        addresses[i] = address + i;
    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
    assert_int_equal(rk_symbolizer_sources(s, module, addresses, 1, NULL, &sources, NULL), 0);
    rk_sources_free(sources);
    assert_int_equal(rk_symbolizer_sources(s, module, addresses, bytes, NULL, &sources, NULL), 0);
    uint32_t miss = sources->miss[0];
    for (size_t i = 0; !miss && i < bytes; i++) {
        uint32_t first = sources->first[i], n = sources->first[i + 1] - first;
        assert_string_equal(sources->function[first + n - 1], function);
        assert_non_null(strstr(sources->file[first], "/src/mod.c"));
        if (n == 2 && strcmp(sources->function[first], "inner") == 0)
            chains += sources->line[first] == 4 && sources->line[first + 1] == line;
    }
    assert_true(miss || chains);
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    return miss;
}

static bool make(const char *flags)
{
    fake_file("src/mod.c", source);
    return fake_run("src",
                    "cc -c -g -O2 -fno-pic -fno-asynchronous-unwind-tables %s mod.c 2>/dev/null && "
                    "ld -r --build-id=0xabababababababababababababababababababab -o snd-hda.ko mod.o",
                    flags) == 0;
}

static void each_kind(void **state)
{
    (void)state;
    static const char *const kinds[] = {"-gdwarf-5", "-gdwarf-4", "-gdwarf-5 -gz=zlib", "-gdwarf-2"};
    unsigned made = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        fake_root();
        if (make(kinds[i])) {
            print_message("%s\n", kinds[i]);
            uint64_t bytes = number("nm -S snd-hda.ko | awk '$4 == \"work\" { print \"0x\" $2 }'"),
                     more = number("nm -S snd-hda.ko | awk '$4 == \"other\" { print \"0x\" $2 }'"),
                     text = number("size -A -d snd-hda.ko | awk '$1 == \".text\" { print $2 }'");
            struct rk_module told = module_of(true), untold = module_of(false), hidden = told;
            hidden.start = hidden.end = 0;
            assert_int_equal(ask(&told, BASE, bytes, "work", 8), RK_MISS_NO_LINES);
            assert_int_equal(
                fake_run("src", "mkdir -p ../usr/lib/debug/lib/modules/6.1-x/kernel/sound/pci ../lib && "
                                "cp snd-hda.ko ../usr/lib/debug/lib/modules/6.1-x/kernel/sound/pci/"),
                0);
            assert_int_equal(ask(&told, BASE, bytes, "work", 8), RK_MISS_NONE);
            assert_int_equal(ask(&told, BASE + (text + 63) / 64 * 64, more, "other", 13), RK_MISS_NONE);
            assert_int_equal(ask(&hidden, BASE, bytes, "work", 8), RK_MISS_KERNEL_HIDDEN);

            /* Nobody says which it is, then the kernel does. */
            assert_int_equal(ask(&untold, BASE, bytes, "work", 8), RK_MISS_NO_LINES);
            fake_file("sys/module/snd_hda/notes/.note.gnu.build-id", "");
            assert_int_equal(fake_run("src", "objcopy -O binary --only-section=.note.gnu.build-id snd-hda.ko "
                                             "../sys/module/snd_hda/notes/.note.gnu.build-id"),
                             0);
            assert_int_equal(ask(&untold, BASE, bytes, "work", 8), RK_MISS_NONE);

            /* Another build of the same name is not it. */
            told.build_id[0] ^= 1;
            assert_int_equal(ask(&told, BASE, bytes, "work", 8), RK_MISS_NO_LINES);
            made++;
        }
        fake_end();
    }
    assert_true(made > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_kind)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

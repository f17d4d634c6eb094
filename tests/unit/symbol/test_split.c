/* Many skeletons of one .dwo, as a program that is optimised as a whole when it is linked has them, here of two .dwo files in
 * turn. What is read grows with the units, not with their square: counted in bytes, since time is nobody's. */
#include "../fixture.h"

#include <reckon/reckon.h>

#include <stdbool.h>

enum { FEW = 40, MANY = 320 };

/* A table of abbreviations: 1 is the skeleton's or the unit's root, 2 a function, 3 one inlined into it; GNU's of version 4
 * has the id among the root's attributes. */
static void write_abbrevs(FILE *f, bool skeleton, bool old)
{
    fprintf(f, ".section .debug_abbrev%s\n", skeleton ? "" : ".dwo");
    if (skeleton) /* dwo_name string, low_pc addr, high_pc data4, addr_base sec_offset */
        fprintf(f, ".uleb128 1, %s\n.byte 0\n.uleb128 %s, 8, 0x11, 1, 0x12, 6, %s, 0x17\n",
                old ? "0x11" : "0x4a", old ? "0x2130" : "0x76", old ? "0x2133" : "0x73");
    else /* language data1 */
        fprintf(f, ".uleb128 1, 0x11\n.byte 1\n.uleb128 0x13, 0x0b\n");
    fprintf(f, "%s.uleb128 0, 0\n", old ? ".uleb128 0x2131, 7\n" : "");
    for (int tag = 2; !skeleton && tag < 4; tag++) /* name string, low_pc addrx, high_pc data4 */
        fprintf(f, ".uleb128 %d, %s\n.uleb128 3, 8, 0x11, %s, 0x12, 6, 0, 0\n", tag,
                tag == 2 ? "0x2e\n.byte 1" : "0x1d\n.byte 0", old ? "0x1f01" : "0x1b");
    fprintf(f, ".uleb128 0\n");
}

static void write_unit(FILE *f, unsigned i, bool skeleton, bool old)
{
    fprintf(f, ".long 2f - 1f\n1: .short %d\n", old ? 4 : 5);
    if (old)
        fprintf(f, ".long 0\n.byte 8\n");
    else
        fprintf(f, ".byte %d, 8\n.long 0\n.quad %u\n", skeleton ? 4 : 5, i + 1);
    fprintf(f, ".uleb128 1\n");
    if (skeleton)
        fprintf(f, ".asciz \"%s/src/%u.dwo\"\n.quad f%u\n.long 8\n.long .Laddresses\n", fake_path, i % 2, i);
    else
        fprintf(f, ".byte 29\n");
    if (old)
        fprintf(f, ".quad %u\n", i + 1);
    if (!skeleton)
        fprintf(f,
                ".uleb128 2\n.asciz \"f%u\"\n.uleb128 %u\n.long 8\n"
                ".uleb128 3\n.asciz \"inner%u\"\n.uleb128 %u\n.long 4\n.byte 0, 0\n",
                i, i, i, i);
    fprintf(f, "2:\n");
}

static FILE *open_source(const char *name)
{
    char path[600];
    snprintf(path, sizeof path, "%s/src/%s", fake_path, name);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    return file;
}

static bool build(unsigned n, bool old)
{
    fake_file("src/of", "by the test\n"); /* which makes its directory */
    FILE *f = open_source("prog.s");
    for (unsigned i = 0; i < n; i++)
        fprintf(f, ".globl f%u\n.type f%u, @function\nf%u: .skip 8\n.size f%u, 8\n", i, i, i, i);
    write_abbrevs(f, true, old);
    fprintf(f, ".section .debug_addr\n");
    if (!old)
        fprintf(f, ".long 4 + 8 * %u\n.short 5\n.byte 8, 0\n", n);
    fprintf(f, ".Laddresses:\n");
    for (unsigned i = 0; i < n; i++)
        fprintf(f, ".quad f%u\n", i);
    fprintf(f, ".section .debug_info\n");
    for (unsigned i = 0; i < n; i++)
        write_unit(f, i, true, old);
    fclose(f);
    for (unsigned k = 0; k < 2; k++) {
        f = open_source(k ? "1.s" : "0.s");
        write_abbrevs(f, false, old);
        fprintf(f, ".section .debug_info.dwo\n");
        for (unsigned i = k; i < n; i += 2)
            write_unit(f, i, false, old);
        fclose(f);
    }
    char command[1024];
    snprintf(command, sizeof command,
             "cd '%s'/src && cc -nostdlib -shared -o prog prog.s && cc -c -o 0.dwo 0.s && cc -c -o 1.dwo 1.s",
             fake_path);
    return system(command) == 0;
}

static unsigned addresses_of(const char *path, uint64_t *addresses, unsigned *numbers, unsigned n)
{
    char command[600], line[512];
    unsigned got = 0;
    snprintf(command, sizeof command, "nm -n --defined-only '%s'", path);
    FILE *pipe = popen(command, "re");
    assert_non_null(pipe);
    while (fgets(line, sizeof line, pipe))
        if (got < n && sscanf(line, "%lx %*c f%u\n", &addresses[got], &numbers[got]) == 2)
            got++;
    pclose(pipe);
    return got;
}

/* Bytes that this process has read; 0: the kernel does not count them. */
static unsigned long long bytes_read(void)
{
    unsigned long long n = 0;
    FILE *file = fopen("/proc/self/io", "re");
    if (file && fscanf(file, "rchar: %llu", &n) != 1)
        n = 0;
    if (file)
        fclose(file);
    return n;
}

/* Asks each unit for its function: how many bytes were read for that. */
static unsigned long long ask(unsigned n)
{
    static uint64_t addresses[MANY];
    static unsigned numbers[MANY];
    char path[512], wanted[64];
    struct rk_symbolizer_options by_address = {.size = sizeof by_address, .flags = RK_SYMBOLIZER_ADDRESSES};
    struct rk_symbolizer *s = NULL;
    struct rk_sources *sources = NULL;
    snprintf(path, sizeof path, "%s/src/prog", fake_path);
    assert_int_equal(addresses_of(path, addresses, numbers, n), n);
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    assert_int_equal(rk_symbolizer_open(&by_address, &s, NULL), 0);
    unsigned long long before = bytes_read();
    assert_int_equal(rk_symbolizer_sources(s, &module, addresses, n, NULL, &sources, NULL), 0);
    unsigned long long after = bytes_read();
    for (unsigned i = 0; i < n; i++) {
        snprintf(wanted, sizeof wanted, "inner%u", numbers[i]);
        assert_int_equal(sources->first[i + 1] - sources->first[i], 2);
        assert_string_equal(sources->function[sources->first[i]], wanted);
    }
    rk_sources_free(sources);
    rk_symbolizer_free(s);
    return after - before;
}

static void grows_as_they_do(void **state)
{
    (void)state;
    for (int old = 0; old < 2; old++) {
        fake_root();
        assert_true(build(FEW, old));
        unsigned long long few = ask(FEW);
        fake_end();
        fake_root();
        assert_true(build(MANY, old));
        unsigned long long many = ask(MANY);
        fake_end();
        print_message("%u units %llu bytes, %u units %llu bytes\n", FEW, few, MANY, many);
        assert_true(many <= few * (MANY / FEW) * 2); /* 0, where the kernel does not count */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grows_as_they_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

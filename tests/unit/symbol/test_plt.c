/* Stubs against objdump, on files of this system: each stub has the name that objdump gives it. */
#include "symbol/plt.h"
#include "sys/file.h"

#include "../fixture.h"

#include <errno.h>

struct tally {
    unsigned same, own;
    bool puts; /* that one is there */
};

/* "0000000000002030 <puts@plt>:", or "<*ABS*+0xa0700@plt>" for an ifunc of the file's own, which has no name there */
static void compare(const struct functions *plt, const char *line, struct tally *tally)
{
    uint64_t address;
    char name[512];
    if (sscanf(line, "%lx <%511[^>]>:", &address, name) != 2)
        return;
    const struct index_entry *entry = index_find(&plt->index, address);
    const char *found = entry ? plt->names + (entry->name & ~NAME_MANGLED) : "-";
    if (!strstr(name, "@plt")) {
        /* The first, which objdump calls by its section; of mold's stubs it knows none. */
        assert_true(strcmp(found, ".plt") == 0 || strstr(found, "@plt"));
    } else if (strncmp(name, "*ABS*", 5) == 0) {
        assert_int_equal(entry->start, address);
        tally->own += strcmp(found, ".plt") != 0;
    } else {
        /* A stub that resolves a thread-local's address: objdump calls it by its variable. */
        bool local = strcmp(name, found) != 0 && strcmp(found, ".plt") == 0 && strstr(name, "__once_call");
        if (!local) /* objdump counts the header from the first stub: "puts@plt-0x10" */
            assert_string_equal(found, strstr(name, "@plt-") ? ".plt" : name);
        tally->same += !local;
    }
}

static struct tally check(const char *path, const char *objdump)
{
    char command[1024], line[1024];
    struct functions functions = {0}, plt = {0};
    struct elf *elf = NULL;
    struct tally tally = {0};
    int root = sys_root_open(NULL);
    if (elf_open_at(root, path, &elf, NULL) < 0) {
        sys_close(root);
        return tally;
    }
    functions_load(elf, ELF_SECTION_DYNSYM, &functions);
    int rc = plt_load(elf, &functions, NULL, &plt);
    assert_true(rc == 0 || rc == -ENOENT);
    snprintf(command, sizeof command, "%s -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null", objdump,
             path);
    FILE *pipe = rc == 0 ? popen(command, "re") : NULL;
    while (pipe && fgets(line, sizeof line, pipe))
        compare(&plt, line, &tally);
    if (pipe)
        pclose(pipe);
    for (uint32_t i = 0; i < plt.index.n; i++)
        tally.puts =
            tally.puts || strcmp(plt.names + (plt.index.entries[i].name & ~NAME_MANGLED), "puts@plt") == 0;
    functions_free(&functions);
    functions_free(&plt);
    elf_close(elf);
    sys_close(root);
    print_message("%s: %u stubs as objdump says, %u ifuncs\n", path, tally.same, tally.own);
    return tally;
}

static void x86(void **state)
{
    (void)state;
    static const char *const paths[] = {"/bin/ls",
                                        "/bin/bash",
                                        "/usr/bin/python3.11",
                                        "/usr/bin/perf",
                                        "/lib/x86_64-linux-gnu/libstdc++.so.6",
                                        "/lib/x86_64-linux-gnu/libc.so.6",
                                        "/lib/x86_64-linux-gnu/libm.so.6"};
    struct tally all = {0};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct tally one = check(paths[i], "objdump");
        all.same += one.same;
        all.own += one.own;
    }
#if defined(__x86_64__)
    assert_true(all.same > 50);
#endif
}

/* What each linker makes of one program. */
static void linkers(void **state)
{
    (void)state;
    static const char *const names[] = {"bfd", "gold", "lld", "mold"}, *const flags[] = {
                                                                           "",
                                                                           "-fcf-protection -Wl,-z,ibtplt",
                                                                           "-no-pie", "-Wl,-z,now",
                                                                           "-fno-plt"};
    char path[512], command[2048];
    unsigned made = 0;
    fake_root();
    fake_file("stubs.c", "#include <stdio.h>\n#include <stdlib.h>\nvoid *(*volatile p)(size_t) = malloc;\n"
                         "int main(void) { free(p(1)); free(malloc(2)); return puts(\"\") < 0; }\n");
    snprintf(path, sizeof path, "%s/stubs", fake_path);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 5; k++) {
            snprintf(command, sizeof command, "cc -o '%s' %s -fuse-ld=%s %s.c >/dev/null 2>&1", path,
                     flags[k], names[i], path);
            if (system(command) != 0)
                continue;
            struct tally one = check(path, "objdump");
            if (k < 4)
                assert_true(one.puts);
            made++;
        }
    fake_end();
    print_message("%u ways to link\n", made);
}

static void arm64(void **state)
{
    (void)state;
    static const char path[] = "/usr/aarch64-linux-gnu/lib/libstdc++.so.6",
                      other[] = "/usr/aarch64-linux-gnu/lib/libc.so.6";
    if (access(other, R_OK) < 0 || system("aarch64-linux-gnu-objdump --version >/dev/null 2>&1") != 0) {
        print_message("no arm64 libraries and objdump here\n");
        skip();
    }
    struct tally one = check(other, "aarch64-linux-gnu-objdump");
    assert_true(one.same + one.own > 5);
    check(path, "aarch64-linux-gnu-objdump");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(x86), cmocka_unit_test(linkers),
                                       cmocka_unit_test(arm64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

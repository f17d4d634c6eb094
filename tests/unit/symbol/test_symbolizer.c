/* Names and misses: each reason is given for what it is, and a file that is not the one that ran is not believed. */
#include "elf/note.h"
#include "sys/file.h"

#include "../fixture.h"

#include <reckon/reckon.h>

#include <dlfcn.h>
#include <elf.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define ID "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff\x01\x23\x45\x67"
#define DEBUG_PATH "usr/lib/debug/.build-id/00/112233445566778899aabbccddeeff01234567.debug"

static struct rk_symbolizer *open_at(const char *root)
{
    struct rk_symbolizer_options options = {.size = sizeof options, .root = root};
    struct rk_symbolizer *symbolizer = NULL;
    assert_int_equal(rk_symbolizer_open(&options, &symbolizer, NULL), 0);
    return symbolizer;
}

static struct rk_module module_of(const char *path, const char *id)
{
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    if (id) {
        module.build_id_bytes = 20;
        memcpy(module.build_id, id, 20);
    }
    return module;
}

static struct rk_symbol ask(struct rk_symbolizer *symbolizer, const struct rk_module *module, uint64_t offset)
{
    struct rk_symbol symbol = {.miss = 99};
    assert_int_equal(rk_symbolizer_resolve(symbolizer, module, &offset, 1, &symbol), 0);
    assert_int_equal(!symbol.mangled, symbol.miss != RK_MISS_NONE); /* a place may be given all the same */
    return symbol;
}

static void expect_name(struct rk_symbolizer *symbolizer, const struct rk_module *module, uint64_t offset,
                        const char *name, uint64_t distance)
{
    struct rk_symbol symbol = ask(symbolizer, module, offset);
    assert_string_equal(symbol.name ? symbol.name : rk_miss_text(symbol.miss), name);
    assert_int_equal(symbol.distance, distance);
}

static void expect_miss(struct rk_symbolizer *symbolizer, const struct rk_module *module, uint64_t offset,
                        uint32_t miss)
{
    assert_string_equal(rk_miss_text(ask(symbolizer, module, offset).miss), rk_miss_text(miss));
}

static void put_fixture(const char *path, const char *name)
{
    size_t n;
    unsigned char *bytes = fixture(name, &n);
    fake_bytes(path, bytes, n);
    free(bytes);
}

/* Where .text begins in the file: `first` of labels.S. */
static uint64_t text_offset(const char *name)
{
    size_t n;
    unsigned char *bytes = fixture(name, &n);
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
    uint64_t offset = 0;
    for (unsigned i = 0; i < header->e_shnum && !offset; i++)
        if (sections[i].sh_flags & SHF_EXECINSTR)
            offset = sections[i].sh_offset;
    free(bytes);
    return offset;
}

static void names(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root());
    put_fixture("lib/labels", "elf/labels");
    uint64_t text = text_offset("elf/labels");
    struct rk_module unknown = module_of("/lib/labels", NULL), known = module_of("/lib/labels", ID);

    expect_name(s, &unknown, text, "first", 0);
    expect_name(s, &unknown, text + 15, "first", 15);
    expect_name(s, &known, text + 6 * 16, "outer", 32);
    expect_miss(s, &known, text + 10 * 16, RK_MISS_NO_SYMBOL); /* the hole */
    expect_miss(s, &known, 0, RK_MISS_NO_SYMBOL);              /* the header */
    expect_miss(s, &known, UINT64_C(1) << 40, RK_MISS_NO_SYMBOL);
    expect_miss(s, &known, UINT64_MAX, RK_MISS_NO_SYMBOL);

    /* Many at once, and one's pointer stays good when others are loaded. */
    uint64_t offsets[] = {text, text + 16, text + 10 * 16, text};
    struct rk_symbol symbols[4];
    assert_int_equal(rk_symbolizer_resolve(s, &known, offsets, 4, symbols), 0);
    struct rk_module other = module_of("/lib/other", NULL);
    put_fixture("lib/other", "elf/gnu-pie");
    ask(s, &other, text_offset("elf/gnu-pie"));
    assert_string_equal(symbols[1].name, "_global_name");
    assert_ptr_equal(symbols[0].name, symbols[3].name);
    assert_null(symbols[2].name);

    /* Removed or overwritten after it was loaded: nothing changes. */
    put_fixture("lib/labels", "elf/arm64");
    expect_name(s, &known, text, "first", 0);
    expect_name(s, &known, text + 5 * 16, "inner", 0);
    rk_symbolizer_free(s);
    fake_end();
}

/* Closing a peer's handle frees the names of all of them; and it installs handlers for SIGSEGV and SIGABRT in its host. */
static void apart(void **state)
{
    (void)state;
    struct sigaction before[32];
    for (int i = 1; i < 32; i++) /* cmocka's own, or a sanitizer's */
        assert_int_equal(sigaction(i, NULL, &before[i]), 0);
    struct rk_symbolizer *one = open_at(fake_root()), *other = open_at(fake_path);
    put_fixture("lib/labels", "elf/labels");
    put_fixture("lib/cut", "elf/labels");
    char path[FIXTURE_PATH];
    snprintf(path, sizeof path, "%s/lib/cut", fake_path);
    assert_int_equal(truncate(path, 300), 0);
    uint64_t text = text_offset("elf/labels");
    struct rk_module labels = module_of("/lib/labels", ID), cut = module_of("/lib/cut", NULL);
    struct rk_symbol mine = ask(one, &labels, text), theirs = ask(other, &labels, text);

    assert_int_equal(ask(one, &cut, text).miss, RK_MISS_BAD_FILE);
    assert_true(mine.name != theirs.name);
    assert_null(rk_symbolizer_free(other));
    assert_string_equal(mine.name, "first");
    expect_name(one, &labels, text + 15, "first", 15);
    for (int i = 1; i < 32; i++) {
        struct sigaction now;
        assert_int_equal(sigaction(i, NULL, &now), 0);
        assert_true(now.sa_handler == before[i].sa_handler);
    }
    rk_symbolizer_free(one);
    fake_end();
}

static void not_believed(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root());
    uint64_t text = text_offset("elf/labels");
    struct rk_module module = module_of("/lib/labels", ID);

    put_fixture("lib/labels", "elf/labels");
    module.build_id[19] ^= 1;
    expect_miss(s, &module, text, RK_MISS_CHANGED);
    module.build_id[19] ^= 1;
    expect_name(s, &module, text, "first", 0);

    put_fixture("lib/nameless", "elf/labels.nameless"); /* it had one, it has none now */
    struct rk_module nameless = module_of("/lib/nameless", ID);
    expect_miss(s, &nameless, text, RK_MISS_CHANGED);
    nameless.build_id_bytes = 0;
    expect_name(s, &nameless, text, "first", 0);

    /* Unlinked when it was mapped: what lies there now is another's, unless the build-id says it is not. */
    module.deleted = 1;
    expect_name(s, &module, text, "first", 0);
    module.build_id_bytes = 0;
    expect_miss(s, &module, text, RK_MISS_NO_FILE);
    rk_symbolizer_free(s);
    fake_end();
}

static void reasons(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root());
    size_t n;
    unsigned char *bytes = fixture("elf/labels", &n);
    struct rk_module module = module_of("/none", NULL);

    expect_miss(s, &module, 0, RK_MISS_NO_FILE);
    fake_bytes("cut", bytes, n / 2);
    module.path = "/cut";
    expect_miss(s, &module, 0, RK_MISS_BAD_FILE);
    fake_file("script", "#!/bin/sh\n");
    module.path = "script";
    expect_miss(s, &module, 0, RK_MISS_BAD_FILE);
    fake_file("directory/", "");
    module.path = "/directory";
    expect_miss(s, &module, 0, RK_MISS_BAD_FILE);
    bytes[4] = 1;
    fake_bytes("old", bytes, n);
    module.path = "/old";
    expect_miss(s, &module, 0, RK_MISS_UNSUPPORTED);
    module.path = "//anon", module.kind = RK_MODULE_ANONYMOUS;
    expect_miss(s, &module, 0, RK_MISS_ANONYMOUS);
    free(bytes);

    uint64_t offset = 0;
    struct rk_symbol symbol;
    module.kind = 77;
    assert_int_equal(rk_symbolizer_resolve(s, &module, &offset, 1, &symbol), -EINVAL);
    module.kind = RK_MODULE_FILE, module.path = NULL;
    assert_int_equal(rk_symbolizer_resolve(s, &module, &offset, 1, &symbol), -EINVAL);
    module.size = 0;
    assert_int_equal(rk_symbolizer_resolve(s, &module, &offset, 1, &symbol), -EINVAL);
    for (uint32_t miss = 0; miss < 100; miss++)
        assert_true(strlen(rk_miss_text(miss)) > 5);
    rk_symbolizer_free(s);
    assert_null(rk_symbolizer_free(NULL));
    fake_end();

    struct rk_error e = {.size = sizeof e};
    struct rk_symbolizer_options options = {.size = sizeof options, .root = "/nowhere"};
    struct rk_symbolizer *none = NULL;
    assert_int_equal(rk_symbolizer_open(&options, &none, &e), -ENOENT);
    assert_int_equal(e.stage, RK_STAGE_SYMBOL);
    assert_null(none);
}

/* A stripped file: what it exports, or everything, where its debug file is installed and is its own. */
static void stripped(void **state)
{
    (void)state;
    uint64_t text = text_offset("elf/labels.stripped");
    struct rk_module module = module_of("/lib/stripped", NULL);

    struct rk_symbolizer *s = open_at(fake_root());
    put_fixture("lib/stripped", "elf/labels.stripped");
    expect_name(s, &module, text, "first", 0);
    expect_miss(s, &module, text + 14 * 16, RK_MISS_STRIPPED); /* `whole` is local */
    rk_symbolizer_free(s);

    s = open_at(fake_path);
    put_fixture(DEBUG_PATH, "elf/labels.debug");
    expect_name(s, &module, text + 14 * 16, "whole", 16);
    rk_symbolizer_free(s);

    s = open_at(fake_path); /* under the right name, but another's */
    put_fixture(DEBUG_PATH, "elf/labels.nameless");
    expect_name(s, &module, text, "first", 0);
    expect_miss(s, &module, text + 14 * 16, RK_MISS_STRIPPED);
    rk_symbolizer_free(s);

    s = open_at(fake_path);
    fake_file(DEBUG_PATH, "damaged");
    expect_miss(s, &module, text + 14 * 16, RK_MISS_STRIPPED);
    rk_symbolizer_free(s);
    fake_end();
}

/* Of a peer's names of an lld PIE, 0 of 200 are right. */
static void lld_pie(void **state)
{
    (void)state;
    char path[FIXTURE_PATH];
    struct rk_symbolizer *s = open_at(NULL);
    struct rk_module module = module_of(fixture_path("elf/lld-pie", path), ID);
    size_t n, right = 0;
    unsigned char *bytes = fixture("elf/lld-pie", &n);
    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Phdr *code = (const void *)(bytes + header->e_phoff);
    const Elf64_Shdr *table = (const void *)(bytes + header->e_shoff);
    while (code->p_type != PT_LOAD || !(code->p_flags & PF_X))
        code++;
    while (table->sh_type != SHT_SYMTAB)
        table++;
    const Elf64_Sym *symbols = (const void *)(bytes + table->sh_offset);
    const char *texts =
        (const char *)bytes +
        ((const Elf64_Shdr *)(const void *)(bytes + header->e_shoff))[table->sh_link].sh_offset;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const char *name = texts + symbols[i].st_name;
        if (ELF64_ST_TYPE(symbols[i].st_info) != STT_FUNC || strncmp(name, "function_", 9) != 0)
            continue;
        uint64_t offset = symbols[i].st_value - code->p_vaddr + code->p_offset;
        assert_int_not_equal(offset, symbols[i].st_value);
        expect_name(s, &module, offset, name, 0);
        expect_name(s, &module, offset + symbols[i].st_size - 1, name, symbols[i].st_size - 1);
        right++;
    }
    assert_int_equal(right, 200);
    free(bytes);
    rk_symbolizer_free(s);
}

/* A peer calls it libc. */
static void vdso(void **state)
{
    (void)state;
    struct rk_image *image = NULL;
    struct rk_symbolizer *s = open_at(NULL);
    unsigned long at = getauxval(AT_SYSINFO_EHDR);
    uint64_t found = 0;

    if (!at) {
        rk_symbolizer_free(s);
        print_message("this process has no vDSO\n");
        skip();
    }
    assert_int_equal(rk_image_open(&image, NULL), 0);
    assert_int_equal(rk_image_feed_process(image, NULL, getpid()), 0);
    for (uint64_t address = at; address < at + 8192; address += 4) {
        struct rk_place place;
        struct rk_module module = {.size = sizeof module};
        assert_int_equal(rk_image_find(image, getpid(), &address, 1, &place), 0);
        if (place.status != RK_PLACE_FOUND)
            break;
        assert_int_equal(rk_image_module_get(image, place.module, &module), 0);
        assert_int_equal(module.kind, RK_MODULE_VDSO);
        assert_string_equal(module.name, "[vdso]");
        assert_int_equal(place.offset, address - at);
        struct rk_symbol symbol = ask(s, &module, place.offset);
        found += symbol.name && strcmp(symbol.name, "__vdso_clock_gettime") == 0;
        found += symbol.name && strcmp(symbol.name, "__kernel_clock_gettime") == 0; /* arm64 */
    }
    assert_true(found > 0);
    struct rk_module module = module_of("[vdso]", ID); /* of another kernel */
    module.kind = RK_MODULE_VDSO;
    expect_miss(s, &module, 0x800, RK_MISS_CHANGED);
    rk_image_free(image);
    rk_symbolizer_free(s);
}

static const char kallsyms[] =
    "ffffffff81000000 T _text\nffffffff81000040 T do_work\nffffffff81000080 T _etext\n"
    "ffffffffc0001000 t ext4_open\t[ext4]\n";
static const char notes[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0" ID;

static void kernel(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root());
    struct rk_module module = module_of("[kernel]", NULL);
    const uint64_t do_work = 0xffffffff81000044;

    module.kind = RK_MODULE_KERNEL;
    fake_file("proc/kallsyms", kallsyms);
    fake_bytes("sys/kernel/notes", notes, sizeof notes - 1);
    expect_name(s, &module, do_work, "do_work", 4);
    expect_miss(s, &module, 0xffffffff82000000, RK_MISS_NO_SYMBOL);
    memcpy(module.build_id, ID, 20), module.build_id_bytes = 20;
    expect_name(s, &module, do_work, "do_work", 4);
    module.build_id[3] ^= 1;
    expect_miss(s, &module, do_work, RK_MISS_OTHER_KERNEL);
    module.build_id[3] ^= 1;

    /* Another boot of the same kernel put it elsewhere; of an unknown one nothing can be said. */
    module.start = 0xffffffff81000000;
    expect_name(s, &module, do_work, "do_work", 4);
    module.start = 0xffffffffa2000000;
    expect_name(s, &module, 0xffffffffa2000044, "do_work", 4);
    module.build_id_bytes = 0;
    expect_miss(s, &module, 0xffffffffa2000044, RK_MISS_OTHER_KERNEL);

    struct rk_module ext4 = module_of("/lib/modules/6.1/kernel/fs/ext4/ext4.ko", ID); /* its own id */
    ext4.kind = RK_MODULE_KERNEL_MODULE, ext4.name = "[ext4]";
    expect_name(s, &ext4, 0xffffffffc0001001, "ext4_open", 1);
    ext4.name = "[xfs]"; /* it was there then */
    expect_miss(s, &ext4, 0xffffffffc0001001, RK_MISS_OTHER_KERNEL);
    rk_symbolizer_free(s);
    fake_end();
}

/* Another kernel's names are those that perf kept with its build-id, wherever it lay when it was recorded. */
static void kernel_in_cache(void **state)
{
    (void)state;
    const char *root = fake_root();
    char cache[4200];
    snprintf(cache, sizeof cache, "%s/cache", root);
    fake_file("cache/.build-id/0f/0e0d0c0b0a09080706050403020100f0f1f2f3/kallsyms",
              "ffffffff90000000 T _text\nffffffff90000100 T other_work\nffffffff90000200 T after\n");
    fake_file("proc/kallsyms", kallsyms);
    fake_bytes("sys/kernel/notes", notes, sizeof notes - 1);
    assert_int_equal(setenv("PERF_BUILDID_DIR", cache, 1), 0);
    struct rk_symbolizer *s = open_at(root);
    struct rk_module module = module_of("[kernel]", NULL);
    module.kind = RK_MODULE_KERNEL;
    memcpy(module.build_id,
           "\x0f\x0e\x0d\x0c\x0b\x0a\x09\x08\x07\x06\x05\x04\x03\x02\x01\x00\xf0\xf1\xf2\xf3", 20);
    module.build_id_bytes = 20;
    expect_name(s, &module, 0xffffffff90000104, "other_work", 4);
    module.start = 0xffffffffa2000000;
    expect_name(s, &module, 0xffffffffa2000104, "other_work", 4);
    module.build_id[3] ^= 1; /* that one was not kept */
    expect_miss(s, &module, 0xffffffffa2000104, RK_MISS_OTHER_KERNEL);
    module.build_id[3] ^= 1, module.start = 0;
    expect_name(s, &module, 0xffffffff90000104, "other_work", 4);
    memcpy(module.build_id, ID, 20); /* the one that runs */
    expect_name(s, &module, 0xffffffff81000044, "do_work", 4);
    expect_miss(s, &module, 0xffffffff90000104, RK_MISS_NO_SYMBOL);
    rk_symbolizer_free(s);
    assert_int_equal(unsetenv("PERF_BUILDID_DIR"), 0);
    fake_end();
}

/* Read when a kernel address is asked for, not before, and once. */
static void kernel_read_once(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root());
    struct rk_module module = module_of("[kernel]", NULL);

    module.kind = RK_MODULE_KERNEL;
    fake_file("proc/kallsyms", kallsyms); /* after it was opened */
    expect_name(s, &module, 0xffffffff81000040, "do_work", 0);
    fake_file("proc/kallsyms", "");
    expect_name(s, &module, 0xffffffff81000040, "do_work", 0);
    rk_symbolizer_free(s);

    s = open_at(fake_path);
    fake_file("proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T do_work\n");
    expect_miss(s, &module, 0xffffffff81000040, RK_MISS_KERNEL_HIDDEN);
    rk_symbolizer_free(s);
    fake_end();
    s = open_at(fake_root());
    expect_miss(s, &module, 0xffffffff81000040, RK_MISS_NO_KALLSYMS);
    rk_symbolizer_free(s);
    fake_end();
}

/* A function of this very program and one of libc, by their addresses. */
static void myself(void **state)
{
    (void)state;
    struct rk_image *image = NULL;
    struct rk_symbolizer *s = open_at(NULL);
    uint64_t addresses[] = {(uint64_t)(uintptr_t)&myself + 1,
                            (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "lsearch")};
    const char *const wanted[] = {"myself", "lsearch"};

    assert_int_equal(rk_image_open(&image, NULL), 0);
    assert_int_equal(rk_image_feed_process(image, NULL, getpid()), 0);
    for (size_t i = 0; i < 2; i++) {
        struct rk_place place;
        struct rk_module module = {.size = sizeof module};
        assert_int_equal(rk_image_find(image, getpid(), &addresses[i], 1, &place), 0);
        assert_int_equal(place.status, RK_PLACE_FOUND);
        assert_int_equal(rk_image_module_get(image, place.module, &module), 0);
        expect_name(s, &module, place.offset, wanted[i], i == 0);
    }
    rk_image_free(image);
    rk_symbolizer_free(s);
}

/* A function that the kernel made is its own module: no list of names is needed. */
static void kernel_code(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root()); /* it has no /proc/kallsyms */
    char path[] = "bpf_prog_6deef7357e7b4530_probe";
    struct rk_module code = {
        .size = sizeof code, .kind = RK_MODULE_KERNEL_CODE, .path = path, .name = "[bpf]"};
    code.start = 0xffffffffc0200000, code.end = code.start + 0x80;
    const char *name = ask(s, &code, code.start + 5).name;
    path[0] = '?'; /* the caller's may go */
    assert_string_equal(name, "bpf_prog_6deef7357e7b4530_probe");
    path[0] = 'b';
    expect_name(s, &code, code.start + 0x7f, "bpf_prog_6deef7357e7b4530_probe", 0x7f);
    expect_miss(s, &code, code.start + 0x80, RK_MISS_NO_SYMBOL);
    expect_miss(s, &code, code.start - 1, RK_MISS_NO_SYMBOL);
    rk_symbolizer_free(s);
    fake_end();
}

/* By address, as nm has it; in lld's file offsets and addresses differ. A debug file has no bytes at all. */
static void by_address(void **state)
{
    (void)state;
    struct rk_symbolizer_options options = {
        .size = sizeof options, .root = fake_root(), .flags = RK_SYMBOLIZER_ADDRESSES};
    struct rk_symbolizer *s = NULL;
    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), 0);
    put_fixture("lib/lld", "elf/lld-pie");
    struct rk_module lld = module_of("/lib/lld", NULL);
    expect_name(s, &lld, 0x2650, "function_00", 0);
    expect_name(s, &lld, 0x2671, "function_01", 1);
    expect_miss(s, &lld, 0x1650, RK_MISS_NO_SYMBOL);
    expect_miss(s, &lld, UINT64_MAX, RK_MISS_NO_SYMBOL);
    rk_symbolizer_free(s);
    s = NULL;
    options.flags = 1u << 31;
    assert_int_equal(rk_symbolizer_open(&options, &s, NULL), -EINVAL);
    fake_end();
}

/* Two containers, one path, no build-ids: each its own file. */
static void containers(void **state)
{
    (void)state;
    struct rk_symbolizer *s = open_at(fake_root());
    struct rk_module a = module_of("/lib/app", NULL), b = a;
    char path[512];
    struct stat st;
    put_fixture("proc/71/root/lib/app", "elf/labels");
    put_fixture("proc/72/root/lib/app", "elf/lld-pie");
    snprintf(path, sizeof path, "%s/proc/71/root/lib/app", fake_path);
    assert_int_equal(stat(path, &st), 0);
    a.pid = 71, a.inode = st.st_ino;
    snprintf(path, sizeof path, "%s/proc/72/root/lib/app", fake_path);
    assert_int_equal(stat(path, &st), 0);
    b.pid = 72, b.inode = st.st_ino;
    expect_name(s, &a, text_offset("elf/labels"), "first", 0);
    expect_name(s, &b, 0x1650, "function_00", 0);
    expect_name(s, &a, text_offset("elf/labels"), "first", 0);
    rk_symbolizer_free(s);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apart),
        cmocka_unit_test(names),
        cmocka_unit_test(not_believed),
        cmocka_unit_test(reasons),
        cmocka_unit_test(stripped),
        cmocka_unit_test(lld_pie),
        cmocka_unit_test(vdso),
        cmocka_unit_test(kernel_code),
        cmocka_unit_test(by_address),
        cmocka_unit_test(containers),
        cmocka_unit_test(kernel),
        cmocka_unit_test(kernel_read_once),
        cmocka_unit_test(kernel_in_cache),
        cmocka_unit_test(myself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Functions of real files: each rule on a file whose symbols are known, and every name that nm knows. */
#include "elf/symtab.h"
#include "symbol/functions.h"
#include "sys/file.h"

#include "../fixture.h"

#include <elf.h>
#include <limits.h>

static struct functions load(const char *name, uint32_t table)
{
    char path[FIXTURE_PATH];
    struct functions functions = {0};
    struct elf *elf = NULL;
    int root = sys_root_open(NULL);
    assert_int_equal(elf_open_at(root, name[0] == '/' ? name : fixture_path(name, path), &elf, NULL), 0);
    assert_int_equal(functions_load(elf, table, &functions), 0);
    elf_close(elf);
    sys_close(root);
    return functions;
}

static const char *name_at(const struct functions *functions, uint64_t address, uint64_t *ret_start)
{
    const struct index_entry *entry = index_find(&functions->index, address);
    if (entry && ret_start)
        *ret_start = entry->start;
    return entry ? functions->names + (entry->name & ~NAME_MANGLED) : "-";
}

/* tests/data/elf/labels.S, 16 bytes a line; .text begins at `first`. */
static void each_rule(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        unsigned start;
    } lines[] = {
        {"first", 0},       {"_global_name", 1},
        {"sized_local", 2}, {"sized_local", 2},
        {"outer", 4},       {"inner", 5},
        {"outer", 4},       {"bare", 7},
        {"label", 8},       {"before_hole", 9},
        {"-", 0},           {"versioned", 11},
        {"versioned", 12},  {"head", 13},
        {"whole", 13},      {"last", 15},
        {"-", 0}, /* the other section: its first 16 bytes are nobody's, and not of `last` */
        {"in_other", 17},   {"-", 0},
    };
    static const char *const files[] = {"elf/labels", "elf/labels.debug"}; /* whose contents are not in it */
    for (size_t k = 0; k < 2; k++) {
        struct functions functions = load(files[k], ELF_SECTION_SYMTAB);
        uint64_t base = functions.index.base, start = 0;
        assert_string_equal(name_at(&functions, base - 1, NULL), "-");
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
            for (unsigned byte = 0; byte < 16; byte += 15) {
                uint64_t address = base + 16 * i + byte;
                assert_string_equal(name_at(&functions, address, &start), lines[i].name);
                if (strcmp(lines[i].name, "-") != 0)
                    assert_int_equal(start, base + 16 * (uint64_t)lines[i].start);
            }
        functions_free(&functions);
    }
}

/* A file with one executable section at 0x1000 and one table; symbols from 1 on are to be filled in. */
struct made {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    Elf64_Sym symbols[8];
    char names[96];
};

static void make(struct made *made, uint32_t table, const char *names, size_t n)
{
    *made = (struct made){0};
    assert_true(n < sizeof made->names);
    memcpy(made->names, names, n);
    memcpy(made->header.e_ident, "\177ELF\2\1\1", 7);
    made->header.e_machine = EM_X86_64;
    made->header.e_shoff = sizeof made->header;
    made->header.e_shentsize = sizeof *made->sections;
    made->header.e_shnum = 4;
    made->sections[1] =
        (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR, .sh_addr = 0x1000, .sh_size = 0x100};
    made->sections[2] = (Elf64_Shdr){.sh_type = table,
                                     .sh_offset = offsetof(struct made, symbols),
                                     .sh_size = sizeof made->symbols,
                                     .sh_entsize = 24,
                                     .sh_link = 3};
    made->sections[3] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(struct made, names), .sh_size = 96};
}

#define NAMES(text) text, sizeof text

static Elf64_Sym symbol(uint32_t name, uint64_t value, uint64_t size, unsigned type)
{
    return (Elf64_Sym){.st_name = name,
                       .st_shndx = 1,
                       .st_value = value,
                       .st_size = size,
                       .st_info = ELF64_ST_INFO(STB_LOCAL, type)};
}

/* .gnu_debugdata and .dynsym: an unsized symbol of the one does not hide a sized one of the other. */
static void two_tables_as_one(void **state)
{
    (void)state;
    struct made mini, own, empty;
    static const char *const wanted[] = {"start", "start", "main",      "main",
                                         "-",     "small", "small_end", "small_end"};
    make(&mini, SHT_SYMTAB, NAMES("\0start\0frame_dummy\0small"));
    mini.symbols[1] = symbol(1, 0x1000, 0, STT_FUNC);
    mini.symbols[2] = symbol(7, 0x1020, 0, STT_FUNC);
    mini.symbols[3] = symbol(19, 0x1050, 0x10, STT_FUNC);
    make(&own, SHT_DYNSYM, NAMES("\0main@@V1\0small_end"));
    own.symbols[1] = symbol(1, 0x1020, 0x20, STT_FUNC);
    own.symbols[2] = symbol(10, 0x1060, 0x20, STT_FUNC);
    make(&empty, SHT_DYNSYM, NAMES(""));
    struct elf *a = NULL, *b = NULL, *c = NULL;
    struct functions functions;
    assert_int_equal(elf_open_memory(&mini, sizeof mini, "mini", &a, NULL), 0);
    assert_int_equal(elf_open_memory(&own, sizeof own, "own", &b, NULL), 0);
    assert_int_equal(elf_open_memory(&empty, sizeof empty, "empty", &c, NULL), 0);
    for (int turned = 0; turned < 2; turned++) {
        int rc = turned ? functions_load_both(b, ELF_SECTION_DYNSYM, a, ELF_SECTION_SYMTAB, &functions)
                        : functions_load_both(a, ELF_SECTION_SYMTAB, b, ELF_SECTION_DYNSYM, &functions);
        assert_int_equal(rc, 0);
        for (unsigned i = 0; i < 8; i++)
            assert_string_equal(name_at(&functions, 0x1000 + 16 * i, NULL), wanted[i]);
        functions_free(&functions);
    }
    assert_int_equal(functions_load_both(c, ELF_SECTION_DYNSYM, b, ELF_SECTION_DYNSYM, &functions), 0);
    assert_string_equal(name_at(&functions, 0x1020, NULL), "main");
    functions_free(&functions);
    assert_int_equal(functions_load_both(a, ELF_SECTION_SYMTAB, c, ELF_SECTION_DYNSYM, &functions), 0);
    assert_string_equal(name_at(&functions, 0x1020, NULL), "frame_dummy");
    functions_free(&functions);
    assert_int_equal(functions_load_both(c, ELF_SECTION_DYNSYM, c, ELF_SECTION_SYMTAB, &functions), -ENOENT);
    elf_close(a);
    elf_close(b);
    elf_close(c);
}

/* GHC's code has OBJECT symbols; annobin's labels lie where functions begin, and are none. */
static void odd_compilers(void **state)
{
    (void)state;
    struct made file;
    make(&file, SHT_SYMTAB, NAMES("\0stg_upd_frame_info\0.annobin_main.cold.0\0main.cold.0\0data\0code"));
    file.symbols[1] = symbol(1, 0x1000, 0, STT_OBJECT);
    file.symbols[2] = symbol(20, 0x1010, 0x10, STT_FUNC);
    file.symbols[3] = symbol(41, 0x1010, 0, STT_FUNC);
    file.symbols[4] = symbol(53, 0x1020, 0x10, STT_OBJECT);
    file.symbols[5] = symbol(58, 0x1020, 0x10, STT_FUNC);
    struct elf *elf = NULL;
    struct functions functions;
    assert_int_equal(elf_open_memory(&file, sizeof file, "odd", &elf, NULL), 0);
    assert_int_equal(functions_load(elf, ELF_SECTION_SYMTAB, &functions), 0);
    assert_string_equal(name_at(&functions, 0x100f, NULL), "stg_upd_frame_info");
    assert_string_equal(name_at(&functions, 0x1010, NULL), "main.cold.0");
    assert_string_equal(name_at(&functions, 0x1020, NULL), "code"); /* a function goes before an object */
    functions_free(&functions);
    elf_close(elf);
}

/* A table made here: what a linker does not write, a file may have. */
static void odd_names(void **state)
{
    (void)state;
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[4];
        Elf64_Sym symbols[10];
        char names[64];
    } file;
    static const char names[64] = "\0name@@VER\0@start\0two@one@more\0$x\0$d.7\0$xrv64i\0.Lfake\0$y\0..@4.x";
    static const unsigned at[10] = {0, 1, 11, 18, 31, 34, 39, 47, 54, 57};
    memset(&file, 0, sizeof file);
    memcpy(file.names, names, sizeof names);
    memcpy(file.header.e_ident, "\177ELF\2\1\1", 7);
    file.header.e_shoff = sizeof file.header;
    file.header.e_shentsize = sizeof *file.sections;
    file.header.e_shnum = 4;
    file.sections[1] =
        (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_EXECINSTR, .sh_addr = 0x1000, .sh_size = 0x100};
    file.sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
                                    .sh_offset = offsetof(__typeof__(file), symbols),
                                    .sh_size = sizeof file.symbols,
                                    .sh_entsize = 24,
                                    .sh_link = 3};
    file.sections[3] =
        (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(__typeof__(file), names), .sh_size = 64};
    for (unsigned i = 1; i < 10; i++)
        file.symbols[i] = (Elf64_Sym){.st_name = at[i],
                                      .st_shndx = 1,
                                      .st_value = 0x1000 + 16 * i,
                                      .st_size = 16,
                                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)};
    static const struct {
        uint16_t machine;
        const char *names[10];
    } wanted[] = {
        {EM_AARCH64, {"-", "name", "@start", "two", "-", "-", "-", "-", "$y", "..@4.x"}},
        {EM_RISCV, {"-", "name", "@start", "two", "-", "-", "-", "-", "$y", "..@4.x"}},
        {EM_X86_64, {"-", "name", "@start", "two", "$x", "$d.7", "$xrv64i", "-", "$y", "..@4.x"}},
    };
    for (size_t m = 0; m < 3; m++) {
        struct elf *elf = NULL;
        struct functions functions;
        file.header.e_machine = wanted[m].machine;
        assert_int_equal(elf_open_memory(&file, sizeof file, "odd", &elf, NULL), 0);
        assert_int_equal(functions_load(elf, ELF_SECTION_SYMTAB, &functions), 0);
        for (unsigned i = 0; i < 10; i++)
            assert_string_equal(name_at(&functions, 0x1000 + 16 * i, NULL), wanted[m].names[i]);
        functions_free(&functions);
        elf_close(elf);
    }

    /* Outside their section, in none, with a name beyond the table, not a function: none of them is taken. */
    for (unsigned i = 1; i < 10; i++)
        file.symbols[i] = (Elf64_Sym){.st_name = 1,
                                      .st_shndx = 1,
                                      .st_value = 0x1000,
                                      .st_size = UINT64_MAX,
                                      .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)};
    file.symbols[1].st_value = 0xfff;
    file.symbols[2].st_value = 0x1100;
    file.symbols[3].st_shndx = 0;
    file.symbols[4].st_shndx = 4;
    file.symbols[5].st_shndx = SHN_ABS;
    file.symbols[6].st_name = 64;
    file.symbols[7].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_SECTION);
    file.symbols[8].st_shndx = 3;
    file.symbols[9].st_name = UINT32_MAX;
    struct elf *elf = NULL;
    struct functions functions;
    assert_int_equal(elf_open_memory(&file, sizeof file, "odd", &elf, NULL), 0);
    assert_int_equal(functions_load(elf, ELF_SECTION_SYMTAB, &functions), -ENOENT);
    assert_int_equal(functions_load(elf, ELF_SECTION_DYNSYM, &functions), -ENOENT);
    /* A size that overflows ends with the section. */
    file.symbols[1].st_value = 0x1010;
    assert_int_equal(functions_load(elf, ELF_SECTION_SYMTAB, &functions), 0);
    assert_string_equal(name_at(&functions, 0x10ff, NULL), "name");
    assert_string_equal(name_at(&functions, 0x1100, NULL), "-");
    functions_free(&functions);
    /* A section that wraps round the end of memory has none. */
    file.sections[1].sh_size = UINT64_MAX;
    elf_close(elf);
    assert_int_equal(elf_open_memory(&file, sizeof file, "odd", &elf, NULL), 0);
    assert_int_equal(functions_load(elf, ELF_SECTION_SYMTAB, &functions), -ENOENT);
    elf_close(elf);
}

static void no_mapping_symbols(void **state)
{
    (void)state;
    struct functions functions = load("elf/arm64", ELF_SECTION_SYMTAB);
    uint64_t start = 0, base = functions.index.base;
    assert_int_equal(functions.index.n, 2);
    assert_string_equal(name_at(&functions, base + 12, &start), "first"); /* its data is its own */
    assert_int_equal(start, base);
    assert_string_equal(name_at(&functions, base + 16, NULL), "second");
    assert_string_equal(name_at(&functions, base + 24, NULL), "second"); /* no size: to the section's end */
    assert_string_equal(name_at(&functions, base + 28, NULL), "-");
    functions_free(&functions);
}

struct line {
    uint64_t start, size;
    char name[512];
};

/* nm's functions of a file: address, size where there is one, type, name. */
static size_t ask_nm(const char *path, bool dynamic, struct line **ret)
{
    char command[PATH_MAX + 64], text[4096];
    struct line *lines = NULL;
    size_t n = 0;
    snprintf(command, sizeof command, "nm -S %s '%s' 2>/dev/null", dynamic ? "-D" : "", path);
    FILE *pipe = popen(command, "re"); // NOLINT: a test's own command
    assert_non_null(pipe);
    while (fgets(text, sizeof text, pipe)) {
        struct line line = {0};
        char type = 0;
        text[strcspn(text, "\n")] = '\0';
        if (sscanf(text, "%lx %lx %c %511[^\n]", &line.start, &line.size, &type, line.name) != 4) {
            line.size = 0;
            if (sscanf(text, "%lx %c %511[^\n]", &line.start, &type, line.name) != 3)
                continue;
        }
        if (!strchr("TtWwi", type))
            continue;
        size_t end = strcspn(line.name, "@");
        line.name[end ? end : strlen(line.name)] = '\0';
        lines = reallocarray(lines, n + 1, sizeof *lines);
        assert_non_null(lines);
        lines[n++] = line;
    }
    pclose(pipe);
    *ret = lines;
    return n;
}

static int by_start(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* Whether nm has this name for a function that covers the address, or begins there. */
static bool nm_agrees(const struct line *lines, size_t n, uint64_t address, const char *name)
{
    size_t from = 0,
           to = n; /* the first that starts behind the address; what covers it is mostly just before */
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (lines[middle].start <= address)
            from = middle + 1;
        else
            to = middle;
    }
    while (from-- > 0) {
        const struct line *l = &lines[from];
        if ((l->start == address || address - l->start < l->size) && strcmp(l->name, name) == 0)
            return true;
    }
    return false;
}

static size_t compare_with_nm(const char *path, bool dynamic)
{
    struct line *lines = NULL;
    size_t n = ask_nm(path, dynamic, &lines), sized = 0;
    if (n == 0) {
        free(lines);
        return 0;
    }
    qsort(lines, n, sizeof *lines, by_start);
    struct functions functions = load(path, dynamic ? ELF_SECTION_DYNSYM : ELF_SECTION_SYMTAB);
    for (size_t i = 0; i < n; i++) {
        const char *name = name_at(&functions, lines[i].start, NULL);
        if (strcmp(name, "-") == 0 && lines[i].size == 0)
            continue; /* _etext and such: at a section's end */
        if (!nm_agrees(lines, n, lines[i].start, name))
            fail_msg("%s: %#lx is %s, not %s", path, lines[i].start, name, lines[i].name);
        if (lines[i].size == 0)
            continue;
        sized++;
        uint64_t last = lines[i].start + lines[i].size - 1;
        name = name_at(&functions, last, NULL);
        if (!nm_agrees(lines, n, last, name))
            fail_msg("%s: %#lx is %s, not %s", path, last, name, lines[i].name);
    }
    functions_free(&functions);
    free(lines);
    return sized;
}

static void as_nm_says(void **state)
{
    (void)state;
    static const char *const own[] = {"elf/gnu-pie", "elf/lld-pie", "elf/labels"};
    static const char *const system[] = {"/bin/bash",
                                         "/usr/bin/python3",
                                         "/usr/lib/x86_64-linux-gnu/libc.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libm.so.6",
                                         "/lib64/ld-linux-x86-64.so.2",
                                         "/usr/lib/aarch64-linux-gnu/libc.so.6",
                                         "/lib/ld-linux-aarch64.so.1"};
    char path[FIXTURE_PATH];
    size_t compared = 0;
    for (size_t i = 0; i < 3; i++)
        compared += compare_with_nm(fixture_path(own[i], path), false);
    if (!compared) {
        print_message("no nm to compare with\n");
        skip();
    }
    assert_true(compared > 400);
    assert_int_equal(readlink("/proc/self/exe", path, sizeof path - 1) > 0, 1);
    path[readlink("/proc/self/exe", path, sizeof path - 1)] = '\0';
    assert_true(compare_with_nm(path, false) > 20); /* this program */
    compared = 0;
    for (size_t i = 0; i < sizeof system / sizeof *system; i++)
        if (access(system[i], R_OK) == 0)
            compared += compare_with_nm(system[i], true);
    assert_true(compared > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule),          cmocka_unit_test(odd_names),
        cmocka_unit_test(two_tables_as_one),  cmocka_unit_test(odd_compilers),
        cmocka_unit_test(no_mapping_symbols), cmocka_unit_test(as_nm_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* An ELF file: what it says, from a descriptor and from memory; and every way in which it may lie. */
#include "elf/note.h"
#include "elf/symtab.h"
#include "sys/file.h"

#include "../fixture.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct rk_error error;

static struct rk_error *e(void)
{
    error = (struct rk_error){.size = sizeof error};
    return &error;
}

static int memory_file(const void *bytes, size_t n)
{
    int fd = memfd_create("elf", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    return fd;
}

/* Asks a file for everything; 0, or the first error. */
static int use(struct elf *elf)
{
    struct build_id id;
    struct symtab table = {0};
    uint64_t address;
    int rc = elf_sections(elf), again;

    elf_address(elf, elf->size / 2, &address);
    again = elf_build_id(elf, &id);
    rc = rc < 0 || again >= 0 ? rc : again;
    again = symtab_load(elf, ELF_SECTION_SYMTAB, &table);
    for (uint32_t i = 0; again == 0 && i < table.n; i++)
        assert_true(symtab_at(&table, i).type < 16);
    symtab_free(&table);
    return rc < 0 ? rc : again;
}

static void says_what_is_there(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = fixture("elf/lld-pie", &n);
    struct elf *memory = NULL, *file = NULL;
    assert_int_equal(elf_open_memory(bytes, n, "lld-pie", &memory, e()), 0);
    assert_int_equal(elf_open_fd(memory_file(bytes, n), "lld-pie", &file, e()), 0);

    const Elf64_Ehdr *header = (const void *)bytes;
    const Elf64_Phdr *segments = (const void *)(bytes + header->e_phoff);
    const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
    struct elf *both[] = {memory, file};
    for (size_t k = 0; k < 2; k++) {
        struct elf *elf = both[k];
        assert_int_equal(elf->type, ELF_TYPE_SHARED);
        assert_int_equal(elf->machine, ELF_MACHINE_X86_64);
        assert_int_equal(elf->segment_n, header->e_phnum);
        for (uint32_t i = 0; i < elf->segment_n; i++) {
            assert_int_equal(elf->segments[i].type, segments[i].p_type);
            assert_int_equal(elf->segments[i].flags, segments[i].p_flags);
            assert_int_equal(elf->segments[i].offset, segments[i].p_offset);
            assert_int_equal(elf->segments[i].address, segments[i].p_vaddr);
            assert_int_equal(elf->segments[i].file_bytes, segments[i].p_filesz);
            assert_int_equal(elf->segments[i].memory_bytes, segments[i].p_memsz);
        }
        assert_int_equal(elf_sections(elf), 0);
        assert_int_equal(elf_sections(elf), 0); /* once */
        assert_int_equal(elf->section_n, header->e_shnum);
        for (uint32_t i = 0; i < elf->section_n; i++) {
            assert_int_equal(elf->sections[i].type, sections[i].sh_type);
            assert_int_equal(elf->sections[i].flags, sections[i].sh_flags);
            assert_int_equal(elf->sections[i].address, sections[i].sh_addr);
            assert_int_equal(elf->sections[i].offset, sections[i].sh_offset);
            assert_int_equal(elf->sections[i].bytes, sections[i].sh_size);
            assert_int_equal(elf->sections[i].link, sections[i].sh_link);
            assert_int_equal(elf->sections[i].entry_bytes, sections[i].sh_entsize);
        }
        struct symtab table;
        assert_int_equal(symtab_load(elf, ELF_SECTION_SYMTAB, &table), 0);
        assert_true(table.n > 200);
        symtab_free(&table);
        assert_null(elf_close(elf));
    }
    free(bytes);
}

/* The code of an lld PIE does not lie in memory where it lies in the file. */
static void addresses(void **state)
{
    (void)state;
    char path[FIXTURE_PATH];
    struct elf *elf = NULL;
    int root = sys_root_open(NULL), moved = 0;
    assert_int_equal(elf_open_at(root, fixture_path("elf/lld-pie", path), &elf, e()), 0);
    for (uint32_t i = 0; i < elf->segment_n; i++) {
        const struct elf_segment *s = &elf->segments[i];
        uint64_t address = 0;
        if (s->type != ELF_SEGMENT_LOAD)
            continue;
        moved += s->address != s->offset && s->flags & ELF_SEGMENT_EXECUTE;
        assert_int_equal(elf_address(elf, s->offset, &address), 0);
        assert_int_equal(address, s->address);
        assert_int_equal(elf_address(elf, s->offset + s->file_bytes - 1, &address), 0);
        assert_int_equal(address, s->address + s->file_bytes - 1);
    }
    assert_int_equal(moved, 1);
    uint64_t untouched = 7;
    assert_int_equal(elf_address(elf, UINT64_MAX, &untouched), -ENOENT);
    assert_int_equal(elf_address(elf, elf->size, &untouched), -ENOENT);
    assert_int_equal(untouched, 7);
    elf_close(elf);
    sys_close(root);
}

static void refuses(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = fixture("elf/labels", &n);
    struct elf *elf = NULL;

    bytes[EI_CLASS] = ELFCLASS32;
    assert_int_equal(elf_open_memory(bytes, n, "old", &elf, e()), -EOPNOTSUPP);
    assert_non_null(strstr(error.what, "32-bit"));
    assert_int_equal(error.cause, RK_CAUSE_UNSUPPORTED);
    bytes[EI_CLASS] = 9;
    assert_int_equal(elf_open_memory(bytes, n, "odd", &elf, e()), -EOPNOTSUPP);
    bytes[EI_CLASS] = ELFCLASS64;
    bytes[EI_DATA] = ELFDATA2MSB;
    assert_int_equal(elf_open_memory(bytes, n, "big", &elf, e()), -EOPNOTSUPP);
    assert_non_null(strstr(error.what, "big-endian"));
    bytes[EI_DATA] = ELFDATA2LSB;
    bytes[0] = '#';
    assert_int_equal(elf_open_memory(bytes, n, "script", &elf, e()), -ENOEXEC);
    assert_string_equal(error.what, "script: not an ELF file");
    assert_int_equal(elf_open_memory("", 0, "empty", &elf, e()), -ENOEXEC);
    assert_int_equal(elf_open_memory("\177ELF", 4, "magic", &elf, NULL), -EBADMSG);
    assert_null(elf);
    free(bytes);
}

/* A path of a recording may be anything by now. To open a pipe would wait for ever. */
static void opens_regular_files_only(void **state)
{
    (void)state;
    struct elf *elf = NULL;
    int root = sys_root_open(fake_root());
    char path[TEMPORARY + 16];

    fake_file("directory/file", "text");
    snprintf(path, sizeof path, "%s/pipe", fake_path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(elf_open_at(root, "pipe", &elf, e()), -ENOEXEC);
    assert_int_equal(elf_open_at(root, "directory", &elf, e()), -ENOEXEC);
    assert_int_equal(elf_open_at(root, "directory/file", &elf, e()), -ENOEXEC);
    assert_int_equal(elf_open_at(root, "nothing", &elf, e()), -ENOENT);
    assert_int_equal(error.cause, RK_CAUSE_NO_FILE);
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_int_equal(elf_open_fd(ends[0], "pipe", &elf, e()), -ENOEXEC);
    close(ends[1]);
    assert_null(elf);
    assert_null(elf_close(NULL));
    sys_close(root);
    fake_end();
}

/* Cut at every offset: an error or less is known, never a byte read beyond the end (the copy is exact, so that a
 * sanitizer sees one). */
static void cut_anywhere(void **state)
{
    (void)state;
    static const char *const names[] = {"elf/labels", "elf/arm64", "elf/labels.debug"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        size_t n, opened = 0;
        unsigned char *bytes = fixture(names[k], &n);
        for (size_t cut = 0; cut <= n; cut++) {
            unsigned char *copy = malloc(cut ? cut : 1);
            struct elf *elf = NULL;
            assert_non_null(copy);
            memcpy(copy, bytes, cut);
            int rc = elf_open_memory(copy, cut, "cut", &elf, NULL);
            assert_true(rc == 0 || rc == -ENOEXEC || rc == -EBADMSG);
            assert_true((rc == 0) == !!elf);
            if (elf) {
                opened++;
                assert_int_equal(use(elf), cut < n ? -EBADMSG : 0); /* the section headers come last */
            }
            elf_close(elf);
            free(copy);
        }
        assert_true(opened > n / 2);
        free(bytes);
    }
}

/* The file shrinks while it is open: by mapping this were a SIGBUS. */
static void cut_while_open(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = fixture("elf/labels", &n);
    for (size_t cut = 0; cut < n; cut += 97) {
        struct elf *elf = NULL;
        int fd = memory_file(bytes, n);
        assert_int_equal(elf_open_fd(fd, "labels", &elf, e()), 0);
        assert_int_equal(ftruncate(fd, (off_t)cut), 0);
        assert_int_equal(use(elf), -EBADMSG);
        elf_close(elf);
    }
    free(bytes);
}

/* Each field of the headers that is an offset, a size or a count, with values that overflow or lead astray. */
static void lies(void **state)
{
    (void)state;
    static const uint64_t values[] = {0,
                                      1,
                                      55,
                                      4095,
                                      UINT32_MAX,
                                      1ull << 31,
                                      1ull << 40,
                                      INT64_MAX,
                                      UINT64_MAX,
                                      UINT64_MAX - 63,
                                      UINT64_MAX - 4095,
                                      0xffffffff00000000ull};
    size_t n;
    unsigned char *bytes = fixture("elf/labels", &n);
    const Elf64_Ehdr *header = (const void *)bytes;
    size_t segments = header->e_phoff, sections = header->e_shoff, fields = 0;
    size_t ends[] = {sizeof *header, segments + header->e_phnum * sizeof(Elf64_Phdr), n};
    size_t starts[] = {16, segments, sections};

    for (size_t part = 0; part < 3; part++)
        for (size_t at = starts[part]; at < ends[part]; at += part ? 8 : 2, fields++)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
                unsigned char *copy = malloc(n);
                struct elf *elf = NULL;
                size_t room = n - at < 8 ? n - at : part ? 8 : 2;
                assert_non_null(copy);
                memcpy(copy, bytes, n);
                memcpy(copy + at, &values[v], room);
                if (elf_open_memory(copy, n, "liar", &elf, NULL) == 0)
                    use(elf);
                elf_close(elf);
                free(copy);
            }
    assert_true(fields > 150);
    free(bytes);
}

static void many_sections(void **state)
{
    (void)state;
    size_t n;
    unsigned char *bytes = fixture("elf/labels", &n);
    Elf64_Ehdr *header = (void *)bytes;
    Elf64_Shdr *sections = (void *)(bytes + header->e_shoff);
    struct elf *elf = NULL;

    sections[0].sh_size = header->e_shnum; /* as where they don't fit 16 bits */
    uint16_t count = header->e_shnum;
    header->e_shnum = 0;
    assert_int_equal(elf_open_memory(bytes, n, "many", &elf, e()), 0);
    assert_int_equal(elf_sections(elf), 0);
    assert_int_equal(elf->section_n, count);
    assert_int_equal(use(elf), 0);
    elf = elf_close(elf);
    sections[0].sh_size = UINT64_MAX / 64 + 2; /* × 64 overflows */
    assert_int_equal(elf_open_memory(bytes, n, "too many", &elf, e()), 0);
    assert_int_equal(elf_sections(elf), -EBADMSG);
    elf = elf_close(elf);
    header->e_shoff = 0; /* none at all: no symbols, and the build-id from its segment */
    assert_int_equal(elf_open_memory(bytes, n, "none", &elf, e()), 0);
    struct symtab table;
    struct build_id id;
    assert_int_equal(symtab_load(elf, ELF_SECTION_SYMTAB, &table), -ENOENT);
    assert_int_equal(elf_build_id(elf, &id), 20);
    elf_close(elf);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_is_there),
        cmocka_unit_test(addresses),
        cmocka_unit_test(refuses),
        cmocka_unit_test(opens_regular_files_only),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(cut_while_open),
        cmocka_unit_test(lies),
        cmocka_unit_test(many_sections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

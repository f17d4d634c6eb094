/* Sections by name; compressed ones; the ELF files inside and beside a file. */
#include "elf/section.h"
#include "elf/symtab.h"
#include "sys/file.h"

#include "../fixture.h"

static const char line[] = "A section that is worth compressing.\n";

static struct elf *open_fixture(const char *name)
{
    char path[FIXTURE_PATH];
    struct elf *elf = NULL;
    int root = sys_root_open(NULL);

    assert_int_equal(elf_open_at(root, fixture_path(name, path), &elf, NULL), 0);
    sys_close(root);
    return elf;
}

static void by_name(void **state)
{
    (void)state;
    struct elf *elf = open_fixture("elf/labels");
    const struct elf_section *section = NULL;

    assert_int_equal(elf_section_find(elf, ".text", &section), 0);
    assert_string_equal(elf_section_name(elf, section), ".text");
    assert_true(section->flags & ELF_SECTION_EXECUTE);
    section = NULL;
    assert_int_equal(elf_section_find(elf, ".debug_str", &section), -ENOENT);
    assert_int_equal(elf_section_find(elf, ".tex", &section), -ENOENT);
    assert_null(section);
    struct elf_section odd = {.name = UINT32_MAX};
    assert_string_equal(elf_section_name(elf, &odd), "");
    elf_close(elf);
}

static void compressed(void **state)
{
    (void)state;
    static const char *const names[] = {"elf/packed.none", "elf/packed.zlib-gabi", "elf/packed.zlib-gnu",
                                        "elf/packed.zstd"};
    for (size_t i = 0; i < 4; i++) {
        struct elf *elf = open_fixture(names[i]);
        const struct elf_section *section;
        void *bytes = NULL;
        size_t n = 0;
        assert_int_equal(elf_section_find(elf, ".debug_str", &section), 0);
        int rc = elf_section_load(elf, section, 4000, &bytes, &n);
        if (rc == -EOPNOTSUPP) {
            print_message("%s: its library is not installed\n", names[i]);
        } else {
            assert_int_equal(rc, 0);
            assert_int_equal(n, 4000);
            for (size_t k = 0; k < n; k++)
                assert_int_equal(((char *)bytes)[k], line[k % strlen(line)]);
            assert_int_equal(((char *)bytes)[n], 0);
            free(bytes);
            assert_int_equal(elf_section_load(elf, section, 3999, &bytes, &n), -EBADMSG);
        }
        elf_close(elf);
    }
}

/* Each byte of the compressed section another one: the same text, or an error, and no more memory than it may take. */
static void damaged(void **state)
{
    (void)state;
    static const char *const names[] = {"elf/packed.zlib-gabi", "elf/packed.zlib-gnu", "elf/packed.zstd",
                                        "elf/packed.xz"};
    for (size_t i = 0; i < 4; i++) {
        size_t n, refused = 0;
        unsigned char *file = fixture(names[i], &n);
        struct elf *elf = NULL;
        const struct elf_section *section;
        assert_int_equal(elf_open_memory(file, n, "damaged", &elf, NULL), 0);
        assert_int_equal(elf_section_find(elf, i == 3 ? ".gnu_debugdata" : ".debug_str", &section), 0);
        for (uint64_t at = section->offset; at < section->offset + section->bytes; at++) {
            void *bytes = NULL;
            size_t got;
            struct elf *inside = NULL;
            file[at] ^= 0x41;
            int rc = i == 3 ? elf_open_debugdata(elf, &inside)
                            : elf_section_load(elf, section, 1 << 20, &bytes, &got);
            assert_true(rc == 0 || rc == -EBADMSG || rc == -EOPNOTSUPP || rc == -ENOMEM || rc == -ENOEXEC);
            refused += rc < 0;
            file[at] ^= 0x41;
            free(bytes);
            elf_close(inside);
        }
        assert_true(refused > 10); /* zstd has no checksum by default, so that another text may come out */
        elf_close(elf);
        free(file);
    }
}

static void debugdata(void **state)
{
    (void)state;
    struct elf *elf = open_fixture("elf/packed.xz"), *inside = NULL;
    struct symtab own = {0}, theirs = {0};
    struct build_id id = {0}, other = {0};

    assert_int_equal(symtab_load(elf, ELF_SECTION_SYMTAB, &own), -ENOENT); /* stripped */
    int rc = elf_open_debugdata(elf, &inside);
    if (rc == -EOPNOTSUPP) {
        elf_close(elf);
        skip();
    }
    assert_int_equal(rc, 0);
    assert_int_equal(symtab_load(inside, ELF_SECTION_SYMTAB, &theirs), 0);
    assert_true(theirs.n > 3);
    assert_int_equal(elf_build_id(elf, &id), 20);
    assert_int_equal(elf_build_id(inside, &other), 20);
    assert_true(build_id_same(&id, &other));
    struct elf *none = NULL;
    assert_int_equal(elf_open_debugdata(inside, &none), -ENOENT);
    assert_null(none);
    symtab_free(&theirs);
    elf_close(inside);
    elf_close(elf);
}

static void vdso(void **state)
{
    (void)state;
    struct elf *elf = NULL;
    struct build_id id;

    if (elf_open_vdso(&elf) == -ENOENT)
        skip();
    assert_non_null(elf);
    assert_int_equal(elf->type, ELF_TYPE_SHARED);
    assert_true(elf_build_id(elf, &id) > 0);
    elf_close(elf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_name),   cmocka_unit_test(compressed), cmocka_unit_test(damaged),
        cmocka_unit_test(debugdata), cmocka_unit_test(vdso),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

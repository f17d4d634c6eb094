/* Object files of other machines, assembled here: where their sections lie, and what is filled in. */
#include "elf/relocate.h"
#include "elf/section.h"
#include "sys/file.h"

#include "../fixture.h"

#include <stdbool.h>

/* Assembles `source` for a machine; false: there is no clang for it here. */
static bool assemble(const char *target, const char *source, struct elf **ret)
{
    char path[FIXTURE_PATH];
    fake_file("src/object.s", source);
    if (fake_run("src", "clang --target=%s -c object.s -o object.o 2>/dev/null", target) != 0)
        return false;
    snprintf(path, sizeof path, "%s/src/object.o", fake_path);
    int root = sys_root_open(NULL);
    assert_int_equal(elf_open_at(root, path, ret, NULL), 0);
    sys_close(root);
    assert_int_equal(elf_place(*ret), 0);
    return true;
}

static uint64_t place_of(struct elf *elf, const char *name)
{
    const struct elf_section *section = NULL;
    assert_int_equal(elf_section_find(elf, name, &section), 0);
    return section->address;
}

/* arm64's kernel modules have sections of a byte in front of .text, which is at 0 all the same. */
static void placeholders(void **state)
{
    (void)state;
    static const char source[] = ".section .plt,\"ax\",@progbits\n.byte 0\n"
                                 ".section .init.plt,\"ax\",@progbits\n.byte 0\n"
                                 ".section .text.ftrace_trampoline,\"ax\",@progbits\n.byte 0\n"
                                 ".section .text.one,\"ax\",@progbits\n.long 0\n"
                                 ".section .text.two,\"ax\",@progbits\n.p2align 4\n.long 0\n"
                                 ".section .init.text,\"ax\",@progbits\n.p2align 2\n.long 0\n";
    struct elf *elf = NULL;
    fake_root();
    if (!assemble("aarch64-linux-gnu", source, &elf)) {
        fake_end();
        skip();
    }
    assert_int_equal(place_of(elf, ".text.one"), 0);
    assert_int_equal(place_of(elf, ".text.two"), 16);
    assert_int_equal(place_of(elf, ".init.text"), UINT64_C(1) << 40);
    assert_true(place_of(elf, ".plt") >= 20);
    elf_close(elf);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(placeholders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

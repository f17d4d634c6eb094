/* Which file is opened for a module: the path's, the process's, or none. */
#include "elf/object.h"

#include "../fixture.h"
#include "sys/file.h"

static int root;

/* A copy of a fixture whose build-id begins with that byte: the last 20 bytes of its note are known. */
static uint64_t put(const char *path, unsigned char first)
{
    static const unsigned char id[] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77};
    char full[512];
    struct stat st;
    size_t n;
    unsigned char *bytes = fixture("elf/labels", &n);
    unsigned char *at = memmem(bytes, n, id, sizeof id);

    assert_non_null(at);
    *at = first;
    fake_bytes(path, bytes, n);
    free(bytes);
    snprintf(full, sizeof full, "%s/%s", fake_path, path);
    assert_int_equal(stat(full, &st), 0);
    return st.st_ino;
}

static struct rk_module module_of(unsigned char first, uint64_t inode, int32_t pid)
{
    struct rk_module m = {.size = sizeof m, .path = "/lib/x", .name = "x", .inode = inode, .pid = pid};
    static const unsigned char rest[] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa,
                                         0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x01, 0x23, 0x45, 0x67};
    m.start = 0x1000, m.end = 0x2000;
    if (first) {
        m.build_id_bytes = 20;
        m.build_id[0] = first;
        memcpy(m.build_id + 1, rest, sizeof rest);
    }
    return m;
}

/* Where it was found, and whether it is proven; or the error's name. */
static const char *found(struct rk_module m)
{
    static char text[OBJECT_PATH_MAX + 16];
    char path[OBJECT_PATH_MAX];
    struct elf *elf = NULL;
    struct build_id id;
    int rc = object_open(root, &m, NULL, path, &elf, &id);

    if (rc < 0)
        return strerrorname_np(-rc);
    snprintf(text, sizeof text, "%s %02x%s", path, id.id[0], rc ? " proven" : "");
    elf_close(elf);
    return text;
}

static int set_up(void **state)
{
    (void)state;
    root = sys_root_open(fake_root());
    return root < 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(root);
    fake_end();
    return 0;
}

static void by_build_id(void **state)
{
    (void)state;
    put("lib/x", 1);
    assert_string_equal(found(module_of(1, 0, 0)), "/lib/x 01 proven");
    assert_string_equal(found(module_of(2, 0, 0)), "ESTALE");
    assert_string_equal(found(module_of(2, 0, 77)), "ESTALE");
    put("proc/77/root/lib/x", 2);
    assert_string_equal(found(module_of(2, 0, 77)), "/proc/77/root/lib/x 02 proven");
    assert_string_equal(found(module_of(1, 0, 77)), "/lib/x 01 proven");
    assert_string_equal(found(module_of(3, 0, 77)), "ESTALE");
    assert_string_equal(found(module_of(2, 0, 78)), "ESTALE"); /* it has ended */
    put("proc/77/map_files/1000-2000", 3);
    assert_string_equal(found(module_of(3, 0, 77)), "/proc/77/map_files/1000-2000 03 proven");
    put("proc/77/exe", 4);
    assert_string_equal(found(module_of(4, 0, 77)), "/proc/77/exe 04 proven");
    struct rk_module deleted = module_of(1, 0, 0); /* an id is proof whatever the name says */
    deleted.deleted = 1;
    assert_string_equal(found(deleted), "/lib/x 01 proven");
}

static void by_inode(void **state)
{
    (void)state;
    uint64_t own = put("lib/x", 1), theirs = put("proc/77/root/lib/x", 2), mapped, exe;
    mapped = put("proc/77/map_files/1000-2000", 3);
    exe = put("proc/77/exe", 4);
    assert_string_equal(found(module_of(0, own, 77)), "/lib/x 01 proven");
    assert_string_equal(found(module_of(0, theirs, 77)), "/proc/77/root/lib/x 02 proven");
    assert_string_equal(found(module_of(0, mapped, 77)), "/proc/77/map_files/1000-2000 03 proven");
    assert_string_equal(found(module_of(0, exe, 77)), "/proc/77/exe 04 proven");
    assert_string_equal(found(module_of(0, 1, 77)), "/lib/x 01"); /* for want of a better one */
    assert_string_equal(found(module_of(0, 0, 77)), "/lib/x 01"); /* nothing is known of it */
    struct rk_module deleted = module_of(0, own + theirs + mapped + exe, 77);
    deleted.deleted = 1;
    assert_string_equal(found(deleted), "ENOENT");
    deleted.inode = mapped;
    assert_string_equal(found(deleted), "/proc/77/map_files/1000-2000 03 proven");
}

static void elsewhere_only(void **state)
{
    (void)state;
    uint64_t theirs = put("proc/77/root/lib/x", 2);
    assert_string_equal(found(module_of(0, theirs, 77)), "/proc/77/root/lib/x 02 proven");
    assert_string_equal(found(module_of(0, 0, 77)), "ENOENT"); /* no proof */
    assert_string_equal(found(module_of(2, 0, 77)), "/proc/77/root/lib/x 02 proven");
    fake_file("lib/x", "no ELF file\n");
    assert_string_equal(found(module_of(2, 0, 77)), "/proc/77/root/lib/x 02 proven");
    assert_string_equal(found(module_of(3, 0, 77)), "ENOEXEC");
}

static void build_ids(void **state)
{
    (void)state;
    struct build_id id = {.bytes = 7};
    uint64_t own = put("lib/x", 1);
    struct rk_module m = module_of(9, 0, 0);
    assert_int_equal(object_find_build_id(root, &m, &id), 0); /* as it was told */
    assert_int_equal(id.id[0], 9);
    m = module_of(0, own, 0);
    assert_int_equal(object_find_build_id(root, &m, &id), 0);
    assert_int_equal(id.id[0], 1);
    m = module_of(0, own + 1, 0); /* replaced: not that one's */
    assert_int_equal(object_find_build_id(root, &m, &id), -ESTALE);
    m = module_of(0, 0, 0);
    assert_int_equal(object_find_build_id(root, &m, &id), 0);
    m.path = "/lib/none";
    assert_int_equal(object_find_build_id(root, &m, &id), -ENOENT);
    m.build_id_bytes = 200; /* cut, not believed */
    assert_int_equal(object_build_id(&m).bytes, 20);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(by_build_id), TEST(by_inode), TEST(elsewhere_only),
                                       TEST(build_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

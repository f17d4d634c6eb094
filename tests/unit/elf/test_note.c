/* Build-ids: the right one, of every shape of notes, the same that readelf prints. */
#include "elf/note.h"
#include "sys/file.h"

#include "../fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

struct notes {
    unsigned char bytes[256];
    size_t n;
};

static void note(struct notes *to, uint32_t type, const char *name, const void *bytes, uint32_t n)
{
    uint32_t head[3] = {(uint32_t)strlen(name) + 1, n, type};
    memcpy(to->bytes + to->n, head, sizeof head);
    memcpy(to->bytes + to->n + 12, name, head[0]);
    to->n += 12 + ((head[0] + 3) & ~3u);
    memcpy(to->bytes + to->n, bytes, n);
    to->n += (n + 3) & ~3u;
}

static const unsigned char bytes[32] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32};

static void among_others(void **state)
{
    (void)state;
    struct notes notes = {.n = 0};
    struct build_id id = {0};

    note(&notes, 5, "GNU", bytes, 16);    /* .note.gnu.property */
    note(&notes, 3, "stapsdt", bytes, 7); /* the same type, another's; odd sizes */
    note(&notes, 3, "Go", bytes, 20);
    assert_int_equal(note_build_id(notes.bytes, notes.n, &id), -ENODATA);
    assert_int_equal(id.bytes, 0);
    note(&notes, 3, "GNU", bytes, 20);
    note(&notes, 3, "GNU", bytes + 1, 20); /* the first counts */
    assert_int_equal(note_build_id(notes.bytes, notes.n, &id), 20);
    assert_int_equal(id.bytes, 20);
    assert_memory_equal(id.id, bytes, 20);
}

static void lengths(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= 32; n++) {
        struct notes notes = {.n = 0};
        struct build_id id = {.bytes = 7, .id = {0}};
        note(&notes, 3, "GNU", bytes, n);
        int rc = note_build_id(notes.bytes, notes.n, &id);
        if (n == 0) {
            assert_int_equal(rc, -ENODATA);
            continue;
        }
        assert_int_equal(rc, n < 20 ? n : 20);
        assert_int_equal(id.bytes, rc);
        assert_memory_equal(id.id, bytes, id.bytes);
        for (uint32_t i = id.bytes; i < 20; i++)
            assert_int_equal(id.id[i], 0);
    }
}

static void cut_and_lying(void **state)
{
    (void)state;
    struct notes notes = {.n = 0};
    note(&notes, 1, "xyz", bytes, 5);
    note(&notes, 3, "GNU", bytes, 18);
    for (size_t n = 0; n < notes.n; n++) {
        struct build_id id = {0};
        unsigned char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, notes.bytes, n);
        int rc = note_build_id(copy, n, &id);
        /* Only the last note's padding may be missing. */
        assert_true(n >= notes.n - 2 ? rc == 18 : rc == -EBADMSG || rc == -ENODATA);
        free(copy);
    }
    uint32_t lies[] = {UINT32_MAX, UINT32_MAX, 3, 0, 0, 0};
    struct build_id id;
    assert_int_equal(note_build_id(lies, sizeof lies, &id), -EBADMSG);
    lies[0] = 4, lies[1] = UINT32_MAX - 3;
    assert_int_equal(note_build_id(lies, sizeof lies, &id), -EBADMSG);
}

static const char *text_of(const struct build_id *id)
{
    static char text[41];
    for (uint32_t i = 0; i < id->bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", id->id[i]);
    return text;
}

static void of_files(void **state)
{
    (void)state;
    static const char *const names[] = {"elf/labels", "elf/labels.debug", "elf/lld-pie", "elf/gnu-pie"};
    char path[FIXTURE_PATH];
    int root = sys_root_open(NULL);
    struct build_id id;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(elf_build_id_at(root, fixture_path(names[i], path), &id), 20);
        assert_string_equal(text_of(&id), "00112233445566778899aabbccddeeff01234567");
    }
    assert_int_equal(elf_build_id_at(root, fixture_path("elf/labels.nameless", path), &id), -ENODATA);
    assert_int_equal(elf_build_id_at(root, fixture_path("elf/labels.S", path), &id), -ENOEXEC);
    assert_int_equal(elf_build_id_at(root, fixture_path("elf/nothing", path), &id), -ENOENT);
    sys_close(root);
}

/* A peer's come out corrupt on x86. */
static void as_readelf_says(void **state)
{
    (void)state;
    static const char *const paths[] = {"/bin/sh", "/bin/ls", "/usr/bin/env", "/proc/self/exe",
                                        "/usr/bin/python3"};
    int root = sys_root_open(NULL), compared = 0;

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char real[PATH_MAX], command[PATH_MAX + 64], line[256];
        struct build_id id;
        if (!realpath(paths[i], real))
            continue;
        snprintf(command, sizeof command, "readelf -n '%s' 2>/dev/null", real);
        FILE *pipe = popen(command, "re"); // NOLINT: a test's own command
        assert_non_null(pipe);
        while (fgets(line, sizeof line, pipe)) {
            const char *at = strstr(line, "Build ID: ");
            if (!at)
                continue;
            line[strcspn(line, "\n")] = '\0';
            assert_int_equal(elf_build_id_at(root, real, &id), 20);
            assert_string_equal(text_of(&id), at + 10);
            compared++;
        }
        pclose(pipe);
    }
    sys_close(root);
    if (!compared) {
        print_message("no file with a build-id, or no readelf, to compare with\n");
        skip();
    }
}

/* By path and by descriptor, which stays open and where it was. */
static void for_callers(void **state)
{
    (void)state;
    unsigned char id[RK_BUILD_ID_BYTES] = {0}, again[RK_BUILD_ID_BYTES] = {1};
    struct rk_error e = RK_INIT(e);
    char here[PATH_MAX], there[PATH_MAX];
    int n = rk_module_build_id("/proc/self/exe", id, &e);
    if (n == -ENODATA)
        skip();
    assert_true(n >= 8 && n <= RK_BUILD_ID_BYTES);
    int fd = open("/proc/self/exe", O_RDONLY);
    assert_int_equal(lseek(fd, 7, SEEK_SET), 7);
    assert_int_equal(rk_module_build_id_fd(fd, again, &e), n);
    assert_memory_equal(id, again, (size_t)n);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 7);
    close(fd);

    /* A path below the working directory, whatever root there is. */
    assert_non_null(getcwd(here, sizeof here));
    assert_true(readlink("/proc/self/exe", there, sizeof there - 1) > 0);
    there[readlink("/proc/self/exe", there, sizeof there - 1)] = '\0';
    char *slash = strrchr(there, '/');
    *slash = '\0';
    assert_int_equal(chdir(there), 0);
    memset(again, 0, sizeof again);
    assert_int_equal(rk_module_build_id(slash + 1, again, &e), n);
    assert_memory_equal(id, again, (size_t)n);
    assert_int_equal(chdir(here), 0);

    assert_int_equal(rk_module_build_id("/dev/zero", again, &e), -ENOEXEC);
    assert_non_null(strstr(e.what, "not a regular file"));
    assert_int_equal(rk_module_build_id("/proc/self/none", again, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_FILE);
    assert_int_equal(rk_module_build_id_fd(-1, again, &e), -EBADF);
    assert_int_equal(rk_module_build_id_fd(1 << 20, again, &e), -EBADF);
    assert_int_equal(rk_module_build_id(NULL, again, &e), -EINVAL);
    assert_int_equal(rk_module_build_id("/proc/self/exe", NULL, &e), -EINVAL);
    assert_int_equal(rk_module_build_id_fd(0, NULL, &e), -EINVAL);
    assert_memory_equal(id, again, (size_t)n); /* untouched on failure */
}

static void of_the_kernel(void **state)
{
    (void)state;
    struct notes notes = {.n = 0};
    struct build_id id;
    int root = sys_root_open(fake_root());

    assert_int_equal(kernel_build_id(root, &id), -ENOENT);
    note(&notes, 6, "Linux", bytes, 4);
    note(&notes, 3, "GNU", bytes, 20);
    fake_bytes("sys/kernel/notes", notes.bytes, notes.n);
    assert_int_equal(kernel_build_id(root, &id), 20);
    assert_memory_equal(id.id, bytes, 20);
    sys_close(root);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(among_others), cmocka_unit_test(lengths),         cmocka_unit_test(cut_and_lying),
        cmocka_unit_test(of_files),     cmocka_unit_test(as_readelf_says), cmocka_unit_test(of_the_kernel),
        cmocka_unit_test(for_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

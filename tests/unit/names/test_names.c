/* Names of a recording's addresses: all of them where nothing limits that; fewer lines, then fewer names, where there is little
 * room; none where there is no time; and what is stored already stays when the file is gone. */
#include "../../temporary.h"
#include "base/abi.h"

#include <reckon/names.h>
#include <reckon/profile.h>
#include <reckon/recording.h>
#include <reckon/stream.h>

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define FIELDS (RK_SAMPLE_IP | RK_SAMPLE_TID | RK_SAMPLE_TIME)

static int into_empty_directory(void **state)
{
    static char path[TEMPORARY];
    *state = path;
    return mkdtemp(temporary(path, "reckon-test-XXXXXX")) && chdir(path) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    char command[TEMPORARY + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* Where this program's code lies: a line of /proc/self/maps. */
static struct rk_mapping own_code(char path[4096])
{
    struct rk_mapping mapping = RK_INIT(mapping, .pid = 7, .tid = 7, .protection = 5, .flags = 2);
    uint64_t start, end, offset, wanted = (uint64_t)(uintptr_t)own_code;
    char line[4400];
    FILE *f = fopen("/proc/self/maps", "re");
    assert_non_null(f);
    while (!mapping.path && fgets(line, sizeof line, f))
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095s", &start, &end, &offset,
                   path) == 4 &&
            wanted >= start && wanted < end) {
            mapping.start = start;
            mapping.length = end - start;
            mapping.file_offset = offset;
            mapping.path = path;
        }
    fclose(f);
    assert_non_null(mapping.path);
    return mapping;
}

/* A recording with a sample at the beginning of each of these functions, and 60 bytes on. */
static void record_functions(const char *path)
{
    static const struct perf_attr attr = {.type = PERF_SOFTWARE,
                                          .size = 128,
                                          .config = SW_DUMMY,
                                          .sample_period = 1,
                                          .sample_type = FIELDS,
                                          .flags = ATTR_SAMPLE_ID_ALL};
    static const struct rk_recording_event event = {&attr, sizeof attr, NULL, 0, "ticks"};
    const void *const functions[] = {(const void *)into_empty_directory, (const void *)remove_directory,
                                     (const void *)own_code, (const void *)record_functions};
    const struct rk_record map = {.type = RK_RECORD_MMAP2, .misc = RK_MODE_USER, .pid = 7, .tid = 7};
    const struct rk_record sample = {.type = RK_RECORD_SAMPLE, .misc = RK_MODE_USER};
    struct rk_recording *recording = NULL;
    char program[4096];
    struct rk_mapping mapping = own_code(program);

    assert_int_equal(rk_recording_open(path, &event, 1, NULL, &recording, NULL), 0);
    assert_int_equal(rk_recording_write(recording, 0, &map, &mapping), 0);
    for (size_t i = 0; i < 2 * sizeof functions / sizeof *functions; i++) {
        struct rk_sample s = RK_INIT(s, .present = FIELDS, .pid = 7, .tid = 7, .time = 100 + i,
                                     .ip = (uint64_t)(uintptr_t)functions[i / 2] + i % 2 * 60);
        assert_int_equal(rk_recording_write(recording, 0, &sample, &s), 0);
    }
    assert_int_equal(rk_recording_finish(recording, NULL), 0);
    rk_recording_free(recording);
}

static struct rk_names *names_of(const char *path, uint64_t bytes, uint64_t cpu_ns, uint32_t flags)
{
    struct rk_names_options options = RK_INIT(options, .bytes = bytes, .cpu_ns = cpu_ns, .flags = flags);
    struct rk_stream *stream = NULL;
    struct rk_names *names = NULL;
    assert_int_equal(rk_stream_file(path, &stream, NULL), 0);
    assert_int_equal(rk_names_stream(stream, &options, &names, NULL), 0);
    rk_stream_free(stream);
    assert_int_equal(names->addresses, 8);
    return names;
}

static void limits(void **state)
{
    (void)state;
    record_functions("data");
    struct rk_names *all = names_of("data", 0, 0, 0);
    assert_int_equal(all->named, 8);
    assert_int_equal(all->left_out + all->unlined, 0);
    bool lines = all->lined == 8; /* where the tests have debug information */
    size_t room = all->bytes;
    rk_names_free(all);

    struct rk_names *some = names_of("data", room - 1, 0, 0);
    assert_true(some->bytes < room);
    assert_true(lines ? some->unlined > 0 && some->named == 8 : some->left_out > 0);
    rk_names_free(some);
    struct rk_names *few = names_of("data", 40, 0, 0);
    assert_true(few->left_out == 8 && few->named == 0);
    rk_names_free(few);
    struct rk_names *plain = names_of("data", 0, 0, RK_NAMES_NO_LINES);
    assert_true(plain->named == 8 && plain->lined == 0);
    rk_names_free(plain);
    struct rk_names *late = names_of("data", 0, 1, 0);
    assert_true(late->left_out == 8 && late->named == 0);
    rk_names_free(late);
}

/* The names of a recording that stores them, its program gone: `data` becomes one of a program that is not there. */
static void stay(void **state)
{
    (void)state;
    struct rk_names *names = NULL;
    record_functions("data");
    assert_int_equal(rk_names_archive("data", "first", NULL, &names, NULL), 0);
    assert_int_equal(names->named, 8);
    assert_true(names->data == NULL && names->bytes == 0);
    rk_names_free(names);

    struct rk_names_options nowhere = RK_INIT(nowhere, .root = "."); /* no program is below it */
    assert_int_equal(rk_names_archive("first", "second", &nowhere, &names, NULL), 0);
    assert_int_equal(names->named, 8);
    rk_names_free(names);
    assert_int_equal(rk_names_archive("data", "third", &nowhere, &names, NULL), 0);
    assert_int_equal(names->named, 0);
    rk_names_free(names);

    struct rk_error e = RK_INIT(e);
    assert_int_equal(rk_names_archive("second", "./second", NULL, &names, &e), -EINVAL);
    assert_non_null(strstr(e.what, "the recording itself"));
    assert_int_equal(rk_names_archive("absent", "fourth", NULL, &names, &e), -ENOENT);
    assert_int_equal(access("fourth", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(limits, into_empty_directory, remove_directory),
        cmocka_unit_test_setup_teardown(stay, into_empty_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

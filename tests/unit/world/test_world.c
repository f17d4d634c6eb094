/* What runs, from a /proc made here. */
#include "../../temporary.h"
#include "sys/file.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[TEMPORARY];
static struct layout layout;
static struct world world;
static struct got {
    struct rk_record record;
    struct rk_mapping mapping;
    struct rk_comm comm;
    char text[64];
} got[64];
static size_t got_n;

static int keep(void *context, const struct perf_header *header)
{
    struct got *at = &got[got_n++];
    (void)context;
    assert_true(got_n <= 64);
    assert_int_equal(layout_record(&layout, header, &at->record), 0);
    at->mapping.size = sizeof at->mapping;
    at->comm.size = sizeof at->comm;
    if (header->type == RK_RECORD_COMM) {
        assert_int_equal(rk_record_comm(&at->record, &at->comm), 0);
        snprintf(at->text, sizeof at->text, "%s", at->comm.name);
    } else {
        assert_int_equal(header->type, RK_RECORD_MMAP2);
        assert_int_equal(rk_record_mapping(&at->record, &at->mapping), 0);
        snprintf(at->text, sizeof at->text, "%s", at->mapping.path);
    }
    return 0;
}

static void make(const char *name, const char *text)
{
    char path[TEMPORARY + 128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    for (char *slash = path + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static int setup(void **state)
{
    (void)state;
    struct perf_attr attr = {.sample_type = RK_SAMPLE_IDENTIFIER | RK_SAMPLE_TID | RK_SAMPLE_TIME |
                                            RK_SAMPLE_CPU | RK_SAMPLE_IP,
                             .flags = ATTR_SAMPLE_ID_ALL};
    if (!mkdtemp(temporary(root, "reckon-test-XXXXXX")))
        return -1;
    make("proc/version", "");
    memset(&world, 0, sizeof world);
    world.root = sys_root_open(root);
    world.layout = &layout;
    world.put = keep;
    got_n = 0;
    return layout_init(&layout, &attr);
}

static int teardown(void **state)
{
    (void)state;
    char command[TEMPORARY + 16];
    close(world.root);
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void kernel_and_modules(void **state)
{
    (void)state;
    make("proc/kallsyms", "0000000000000000 A fixed_percpu_data\n"
                          "0000000000001000 A cpu_debug_store\n"
                          "ffffffff81000000 T _stext\n"
                          "ffffffff81000000 T _text\n"
                          "ffffffff81000040 T not_text\n"
                          "ffffffffc0000000 t init_module\t[ext4]\n");
    make("proc/modules", "ext4 1015808 1 - Live 0xffffffffc0200000\n"
                         "crc16 16384 1 ext4, Live 0xffffffffc0000000 (OE)\n"
                         "broken\n");
    assert_int_equal(world_kernel(&world), 0);
    assert_int_equal(got_n, 3);
    assert_string_equal(got[0].text, "[kernel.kallsyms]_text");
    assert_int_equal(got[0].mapping.pid, -1);
    assert_int_equal(got[0].record.misc & RK_MISC_MODE, 1);
    assert_int_equal(got[0].mapping.start, 0xffffffff81000000);
    assert_int_equal(got[0].mapping.file_offset, 0xffffffff81000000);
    assert_int_equal(got[0].mapping.length, 0xffffffffc0000000 - 0xffffffff81000000);
    assert_int_equal(got[0].record.time, 0);
    assert_string_equal(got[1].text, "[ext4]");
    assert_int_equal(got[1].mapping.start, 0xffffffffc0200000);
    assert_int_equal(got[1].mapping.length, 1015808);
    assert_string_equal(got[2].text, "[crc16]");
    assert_int_equal(got[2].mapping.start, 0xffffffffc0000000);
}

static void a_kernel_without_modules(void **state)
{
    (void)state;
    make("proc/kallsyms", "ffff800080000000 T _stext\nffff800080000010 T x\n");
    assert_int_equal(world_kernel(&world), 0);
    assert_int_equal(got_n, 1);
    assert_string_equal(got[0].text, "[kernel.kallsyms]_stext");
    assert_int_equal(got[0].mapping.start + got[0].mapping.length, UINT64_MAX);
}

static void a_kernel_that_hides(void **state)
{
    (void)state;
    assert_int_equal(world_kernel(&world), 0); /* no kallsyms at all */
    make("proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T _text\n");
    make("proc/modules", "ext4 1015808 1 - Live 0x0000000000000000\n");
    assert_int_equal(world_kernel(&world), 0);
    assert_int_equal(got_n, 0);
}

/* The beginning is found at the edge of what is read at once, and looked for no further than a part of the file. */
static void a_long_kallsyms(void **state)
{
    (void)state;
    static char text[600000];
    for (size_t lines = 400; lines < 500; lines++) {
        char *at = text;
        for (size_t i = 0; i < lines; i++)
            at += sprintf(at, "%016x A some_percpu_thing_%zu\n", 0, i);
        sprintf(at, "ffffffff81000000 T _text\n");
        make("proc/kallsyms", text);
        got_n = 0;
        assert_int_equal(world_kernel(&world), 0);
        assert_int_equal(got_n, 1);
    }
    char *at = text;
    while (at < text + sizeof text - 200)
        at += sprintf(at, "%016x A some_percpu_thing\n", 0);
    sprintf(at, "ffffffff81000000 T _text\n");
    make("proc/kallsyms", text);
    got_n = 0;
    assert_int_equal(world_kernel(&world), 0);
    assert_int_equal(got_n, 0);
}

static void make_process(void)
{
    make("proc/42/status", "Name:\tworker\nUmask:\t0022\nTgid:\t42\nPid:\t42\n");
    make("proc/43/status", "Name:\tsecond\nUmask:\t0022\nTgid:\t42\nPid:\t43\n");
    make("proc/43/maps", "");
    make("proc/42/task/42/comm", "worker\n");
    make("proc/42/task/43/comm", "second one\n");
    make("proc/42/maps",
         "55a000001000-55a000002000 r--p 00000000 fe:01 1234                       /usr/bin/my worker\n"
         "55a000002000-55a000009000 r-xp 00001000 fe:01 1234                       /usr/bin/my worker\n"
         "7f0000000000-7f0000001000 rwxs 00000000 00:00 0 \n"
         "7f0000002000-7f0000003000 r-xp 00000000 00:00 0                          [vdso]\n"
         "nonsense\n"
         "7f0000005000-7f0000004000 r-xp 00000000 00:00 0\n"
         "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]");
}

static void a_process(void **state)
{
    (void)state;
    make_process();
    assert_int_equal(world_task(&world, 42), 0);
    assert_int_equal(got_n, 6);
    assert_int_equal(world.records, 6);
    int first = got[0].comm.tid == 42 ? 0 : 1;
    assert_int_equal(got[first].comm.pid, 42);
    assert_string_equal(got[first].text, "worker");
    assert_int_equal(got[!first].comm.tid, 43);
    assert_int_equal(got[!first].comm.pid, 42);
    assert_string_equal(got[!first].text, "second one");
    const struct rk_mapping *m = &got[2].mapping;
    assert_string_equal(got[2].text, "/usr/bin/my worker");
    assert_int_equal(m->pid, 42);
    assert_int_equal(m->start, 0x55a000002000);
    assert_int_equal(m->length, 0x7000);
    assert_int_equal(m->file_offset, 0x1000);
    assert_int_equal(m->major, 0xfe);
    assert_int_equal(m->minor, 1);
    assert_int_equal(m->inode, 1234);
    assert_int_equal(m->protection, 5);
    assert_int_equal(m->flags, 2);
    assert_int_equal(got[2].record.misc, 2);
    assert_string_equal(got[3].text, "//anon");
    assert_int_equal(got[3].mapping.flags, 1);
    assert_string_equal(got[4].text, "[vdso]");
    assert_string_equal(got[5].text, "[vsyscall]");
}

/* As the kernel's own record has it, not as /proc writes it: else it is another file. */
static void a_path_with_a_newline(void **state)
{
    (void)state;
    make("proc/42/status", "Tgid:\t42\nTgid:\t42\n");
    make("proc/42/task/42/comm", "worker\n");
    make("proc/42/maps", "1000-2000 r-xp 00000000 fe:01 1234 /usr/bin/new\\012line (deleted)\n");
    assert_int_equal(world_task(&world, 42), 0);
    assert_int_equal(got_n, 2);
    assert_string_equal(got[1].text, "/usr/bin/new\nline (deleted)");
}

static void data_mappings_too(void **state)
{
    (void)state;
    make_process();
    world.data_maps = true;
    assert_int_equal(world_task(&world, 42), 0);
    assert_int_equal(got_n, 7);
    assert_int_equal(got[2].record.misc, 2 | RK_MISC_MMAP_DATA);
    assert_int_equal(got[3].record.misc, 2);
}

static void one_thread_of_it(void **state)
{
    (void)state;
    make_process();
    assert_int_equal(world_task(&world, 43), 0);
    assert_int_equal(got_n, 6); /* its process's name, its own, the mappings */
    assert_int_equal(got[1].comm.tid, 43);
    assert_int_equal(got[1].comm.pid, 42);
}

static void all_of_them(void **state)
{
    (void)state;
    make_process();
    make("proc/7/task/7/comm", "init\n");
    make("proc/self-made/comm", "no number");
    assert_int_equal(world_all(&world), 0);
    assert_int_equal(got_n, 7); /* 43 is a thread's name in /proc, with no task folder here */
    assert_int_equal(world_task(&world, 9999), 0); /* gone meanwhile */
    assert_int_equal(got_n, 7);
}

static int refuse(void *context, const struct perf_header *header)
{
    (void)context, (void)header;
    return -ENOSPC;
}

static void a_full_disk_ends_it(void **state)
{
    (void)state;
    make_process();
    make("proc/kallsyms", "ffffffff81000000 T _text\n");
    world.put = refuse;
    assert_int_equal(world_kernel(&world), -ENOSPC);
    assert_int_equal(world_task(&world, 42), -ENOSPC);
    assert_int_equal(world_all(&world), -ENOSPC);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(kernel_and_modules),  TEST(a_kernel_without_modules),
        TEST(a_kernel_that_hides), TEST(a_long_kallsyms),
        TEST(a_process),           TEST(a_path_with_a_newline),
        TEST(data_mappings_too),   TEST(one_thread_of_it),
        TEST(all_of_them),         TEST(a_full_disk_ends_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

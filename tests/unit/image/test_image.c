/* Canned records → processes, mappings, modules, names of threads. */
#include "record/encode.h"
#include "record/layout.h"

#include "../fake_root.h"

#include <reckon/reckon.h>

static struct rk_image *image;
static _Alignas(8) unsigned char buffer[4096];

static int set_up(void **state)
{
    (void)state;
    return rk_image_open(&image, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    image = rk_image_free(image);
    return image ? -1 : 0;
}

/* The record in the buffer, of `bytes`, fed. */
static int feed(int bytes)
{
    struct rk_record record;
    assert_true(bytes > 0);
    assert_int_equal(layout_record(NULL, (const void *)buffer, &record), 0);
    return rk_image_feed(image, &record);
}

static const struct layout none;

static int map(int32_t pid, uint64_t start, uint64_t length, uint64_t offset, const char *path)
{
    struct rk_mapping m = {.size = sizeof m, .pid = pid, .tid = pid, .protection = 5, .flags = 2};
    struct rk_record from = {.misc = 2};
    m.start = start, m.length = length, m.file_offset = offset, m.path = path;
    return feed(encode_mapping(&none, &from, &m, buffer, sizeof buffer));
}

static int map_of(int32_t pid, uint64_t start, uint64_t length, const char *path, uint64_t inode,
                  const char *id)
{
    struct rk_mapping m = {.size = sizeof m, .pid = pid, .tid = pid, .start = start, .length = length};
    struct rk_record from = {.misc = 2};
    m.path = path, m.inode = inode, m.major = 8;
    m.build_id = (const unsigned char *)id, m.build_id_bytes = id ? (uint32_t)strlen(id) : 0;
    return feed(encode_mapping(&none, &from, &m, buffer, sizeof buffer));
}

static int comm(int32_t pid, int32_t tid, const char *name, uint16_t misc)
{
    struct rk_comm c = {.size = sizeof c, .pid = pid, .tid = tid, .name = name};
    struct rk_record from = {.misc = misc};
    return feed(encode_comm(&none, &from, &c, buffer, sizeof buffer));
}

static int task(uint32_t type, int32_t pid, int32_t tid, int32_t parent_pid, int32_t parent_tid,
                uint16_t misc)
{
    struct rk_task t = {
        .size = sizeof t, .pid = pid, .tid = tid, .parent_pid = parent_pid, .parent_tid = parent_tid};
    struct rk_record from = {.misc = misc};
    return feed(encode_task(&none, &from, type, &t, buffer, sizeof buffer));
}

static struct rk_place find(int32_t pid, uint64_t address)
{
    struct rk_place place;
    assert_int_equal(rk_image_find(image, pid, &address, 1, &place), 0);
    return place;
}

static struct rk_module module(uint32_t number)
{
    struct rk_module m = {.size = sizeof m};
    assert_int_equal(rk_image_module_get(image, number, &m), 0);
    return m;
}

/* "path+offset", or the status in words. */
static const char *where(int32_t pid, uint64_t address)
{
    static char text[4][256];
    static unsigned turn;
    static const char *const status[] = {"found", "no process", "no mapping", "anonymous"};
    char *at = text[turn++ % 4];
    struct rk_place place = find(pid, address);
    if (place.module == RK_NO_MODULE)
        snprintf(at, 256, "%s", status[place.status]);
    else
        snprintf(at, 256, "%s+%#lx%s", module(place.module).path, (unsigned long)place.offset,
                 place.status == RK_PLACE_ANONYMOUS ? " anonymous" : "");
    return at;
}

static void finds(void **state)
{
    (void)state;
    assert_string_equal(where(10, 0x5000), "no process");
    assert_int_equal(map(10, 0x5000, 0x2000, 0x1000, "/bin/prog"), 1);
    assert_int_equal(map(10, 0x9000, 0x1000, 0, "/lib/libc.so"), 1);
    assert_string_equal(where(10, 0x5000), "/bin/prog+0x1000");
    assert_string_equal(where(10, 0x6fff), "/bin/prog+0x2fff");
    assert_string_equal(where(10, 0x7000), "no mapping");
    assert_string_equal(where(10, 0x4fff), "no mapping");
    assert_string_equal(where(10, 0x9001), "/lib/libc.so+0x1");
    assert_string_equal(where(11, 0x9001), "no process");
    assert_string_equal(module(find(10, 0x5000).module).name, "prog");
    assert_int_equal(module(find(10, 0x5000).module).kind, RK_MODULE_FILE);

    /* Many at once give the same, in any order, the kernel's among them. */
    uint64_t addresses[] = {0x9001, 0x5000, 0x5001, 0xffffffff81000000, 0x7000, 0x5002, 0};
    struct rk_place places[7];
    assert_int_equal(rk_image_find(image, 10, addresses, 7, places), 0);
    for (size_t i = 0; i < 7; i++) {
        struct rk_place one = find(10, addresses[i]);
        assert_memory_equal(&places[i], &one, sizeof one);
    }
    assert_int_equal(places[3].module, 0);
    assert_int_equal(places[5].offset, 0x1002);
}

/* A mapping over others: what sticks out of them stays, with its right offset. */
static void overlap(void **state)
{
    (void)state;
    map(10, 0x10000, 0x4000, 0x0, "/lib/a");
    map(10, 0x14000, 0x4000, 0x0, "/lib/b");
    map(10, 0x11000, 0x1000, 0x8000, "/lib/c"); /* splits a */
    assert_string_equal(where(10, 0x10fff), "/lib/a+0xfff");
    assert_string_equal(where(10, 0x11000), "/lib/c+0x8000");
    assert_string_equal(where(10, 0x12000), "/lib/a+0x2000");
    map(10, 0x13000, 0x2000, 0x0, "/lib/d"); /* the end of a, the beginning of b */
    assert_string_equal(where(10, 0x12fff), "/lib/a+0x2fff");
    assert_string_equal(where(10, 0x13000), "/lib/d+0");
    assert_string_equal(where(10, 0x15000), "/lib/b+0x1000");
    map(10, 0x10000, 0x8000, 0x0, "/lib/e"); /* all */
    assert_string_equal(where(10, 0x10000), "/lib/e+0");
    assert_string_equal(where(10, 0x17fff), "/lib/e+0x7fff");
    assert_string_equal(where(10, 0x18000), "no mapping");
}

static void fork_and_exec(void **state)
{
    (void)state;
    comm(10, 10, "shell", 0);
    map(10, 0x10000, 0x1000, 0, "/bin/sh");
    assert_int_equal(task(RK_RECORD_FORK, 20, 20, 10, 10, 0), 1);
    assert_string_equal(where(20, 0x10000), "/bin/sh+0");
    assert_string_equal(rk_image_comm(image, 20, 20), "shell");
    map(20, 0x20000, 0x1000, 0, "/lib/child"); /* the child's alone */
    map(10, 0x30000, 0x1000, 0, "/lib/parent");
    assert_string_equal(where(10, 0x20000), "no mapping");
    assert_string_equal(where(20, 0x30000), "no mapping");
    assert_string_equal(where(20, 0x10000), "/bin/sh+0");

    assert_int_equal(comm(20, 20, "renamed", 0), 1); /* prctl: keeps its mappings */
    assert_string_equal(where(20, 0x10000), "/bin/sh+0");
    assert_int_equal(comm(20, 20, "ls", RK_MISC_COMM_EXEC), 1);
    assert_string_equal(where(20, 0x10000), "no mapping");
    assert_string_equal(where(10, 0x10000), "/bin/sh+0");
    assert_string_equal(rk_image_comm(image, 20, 20), "ls");
    assert_string_equal(rk_image_comm(image, 10, 10), "shell");
}

static void threads(void **state)
{
    (void)state;
    comm(10, 10, "main", 0);
    map(10, 0x10000, 0x1000, 0, "/bin/prog");
    assert_int_equal(task(RK_RECORD_FORK, 10, 11, 10, 10, 0), 1);
    assert_string_equal(rk_image_comm(image, 10, 11), "main");
    comm(10, 11, "worker", 0);
    assert_string_equal(rk_image_comm(image, 10, 11), "worker");
    assert_string_equal(rk_image_comm(image, 10, 10), "main");
    assert_int_equal(task(RK_RECORD_FORK, 10, 12, 10, 11, 0), 1); /* by the worker */
    assert_string_equal(rk_image_comm(image, 10, 12), "worker");
    assert_string_equal(rk_image_comm(image, 10, 99), "");
    assert_string_equal(rk_image_comm(image, 0, 0), "swapper");
    assert_string_equal(rk_image_comm(image, 0, 7), "");
    assert_string_equal(where(10, 0x10000), "/bin/prog+0"); /* a thread's birth takes nothing away */
}

/* Samples come after the exit; then the pid is another's. */
static void exit_and_reuse(void **state)
{
    (void)state;
    comm(10, 10, "old", RK_MISC_COMM_EXEC);
    map(10, 0x10000, 0x1000, 0, "/bin/old");
    assert_int_equal(task(RK_RECORD_EXIT, 10, 10, 1, 1, 0), 1);
    assert_string_equal(where(10, 0x10000), "/bin/old+0");
    assert_string_equal(rk_image_comm(image, 10, 10), "old");
    assert_int_equal(task(RK_RECORD_FORK, 10, 10, 1, 1, 0), 1); /* of a process of which nothing is known */
    assert_string_equal(where(10, 0x10000), "no process");
    assert_string_equal(rk_image_comm(image, 10, 10), "");
    map(30, 0x40000, 0x1000, 0, "/bin/parent");
    task(RK_RECORD_FORK, 10, 10, 30, 30, 0);
    assert_string_equal(where(10, 0x40000), "/bin/parent+0");
    /* One that perf made up for a process it found: its mappings are told apart. */
    task(RK_RECORD_FORK, 40, 40, 30, 30, 1u << 13);
    assert_string_equal(where(40, 0x40000), "no process");
}

/* A machine on which processes come and go: what is held does not grow. */
static void ended_go(void **state)
{
    (void)state;
    enum { BEFORE = 100, N = 1024 + BEFORE };
    map(1, 0x10000, 0x1000, 0, "/bin/parent");
    for (int32_t pid = 100; pid < 100 + N; pid++) {
        task(RK_RECORD_FORK, pid, pid, 1, 1, 0);
        map(pid, 0x40000, 0x1000, 0, "/bin/child");
        task(RK_RECORD_EXIT, pid, pid, 1, 1, 0);
        task(RK_RECORD_EXIT, pid, pid, 1, 1, 0); /* once more changes nothing */
    }
    struct rk_process process = {.size = sizeof process};
    for (int32_t pid = 100; pid < 100 + N; pid++) {
        assert_int_equal(rk_image_process(image, pid, &process), 0);
        assert_int_equal(process.mappings, pid < 100 + BEFORE ? 0 : 2);
    }
    assert_string_equal(where(100 + N - 1, 0x10000), "/bin/parent+0");
    assert_string_equal(where(1, 0x10000), "/bin/parent+0");
}

static void kernel(void **state)
{
    (void)state;
    assert_int_equal(rk_image_module_count(image), 1);
    assert_string_equal(where(10, 0xffffffff81000010), "[kernel]+0xffffffff81000010");
    assert_int_equal(map(-1, 0xffffffff81000000, 0x1206448, 0xffffffff81000000, "[kernel.kallsyms]_text"), 1);
    struct rk_module k = module(0);
    assert_int_equal(k.kind, RK_MODULE_KERNEL);
    assert_string_equal(k.path, "[kernel]");
    assert_string_equal(k.name, "[kernel]");
    assert_int_equal(k.start, 0xffffffff81000000);
    assert_int_equal(k.end, 0xffffffff82206448);
    assert_int_equal(rk_image_module_count(image), 1);

    map(-1, 0xffffffffc0000000, 0x5000, 0, "/lib/modules/6.1.0/kernel/sound/snd-hda-intel.ko.xz");
    map(-1, 0xffffffffc0010000, 0x5000, 0, "[nf_tables]");
    struct rk_place place = find(10, 0xffffffffc0000010);
    assert_int_equal(place.offset, 0xffffffffc0000010);
    assert_int_equal(module(place.module).kind, RK_MODULE_KERNEL_MODULE);
    assert_string_equal(module(place.module).name, "[snd_hda_intel]");
    assert_int_equal(module(place.module).start, 0xffffffffc0000000);
    assert_int_equal(module(place.module).end, 0xffffffffc0005000);
    assert_string_equal(module(find(77, 0xffffffffc0010001).module).name, "[nf_tables]");
    assert_int_equal(find(10, 0xffffffffc0005000).module, 0);

    /* Not the kernel's: guests', nobody's half, and what does not lie there. */
    assert_int_equal(map(-1, 0xffffffff81000000, 0x1000, 0, "[guest.kernel.kallsyms]_text"), 0);
    assert_int_equal(map(-1, 0x1000, 0x1000, 0, "/lib/odd.ko"), 0);
    assert_int_equal(map(10, 0xffffffffff600000, 0x1000, 0, "[vsyscall]"), 0);
    assert_string_equal(where(10, 0x8000000000000000), "no process");
    /* As a user who may not see its address gets it. */
    assert_int_equal(map(-1, 0, 0xffffffff81000000, 0, "[kernel.kallsyms]_text"), 1);
    assert_int_equal(module(0).start, 0);
}

static int ksymbol(uint64_t address, uint32_t length, uint32_t kind, uint32_t flags, const char *name)
{
    struct rk_ksymbol k = {.size = sizeof k, .address = address, .length = length, .kind = kind};
    struct rk_record from = {0};
    k.flags = flags, k.name = name;
    return feed(encode_ksymbol(&none, &from, &k, buffer, sizeof buffer));
}

/* Code that the kernel makes: as long as it is there it is what it is called, then what was there before. */
static void kernel_code(void **state)
{
    (void)state;
    enum { REMOVED = 1 };
    const uint64_t at = 0xffffffffc0200000;
    map(-1, at, 0x5000, 0, "[nf_tables]");
    assert_int_equal(ksymbol(at + 0x10000, 0x80, 1, 0, "bpf_prog_6deef7357e7b4530_probe"), 1);
    assert_int_equal(ksymbol(at + 0x10080, 0x40, 1, 0, "bpf_prog_6deef7357e7b4530_probe"), 1); /* again */
    assert_int_equal(ksymbol(at + 0x20000, 0x100, 2, 0, "ftrace_trampoline"), 1);
    struct rk_module first = module(find(1, at + 0x1007f).module),
                     second = module(find(1, at + 0x10080).module);
    assert_int_equal(first.kind, RK_MODULE_KERNEL_CODE);
    assert_string_equal(first.path, "bpf_prog_6deef7357e7b4530_probe");
    assert_string_equal(first.name, "[bpf]");
    assert_int_equal(first.start, at + 0x10000);
    assert_int_equal(first.end, at + 0x10080);
    assert_int_equal(second.start, at + 0x10080);
    assert_int_equal(find(1, at + 0x10081).offset, at + 0x10081);
    assert_string_equal(module(find(1, at + 0x20010).module).name, "[kernel]");

    assert_int_equal(ksymbol(at + 0x10000, 0x80, 1, REMOVED, "bpf_prog_6deef7357e7b4530_probe"), 1);
    assert_int_equal(find(1, at + 0x10000).module, 0); /* the kernel's, as far as anyone knows */
    assert_int_equal(module(find(1, at + 0x10080).module).kind, RK_MODULE_KERNEL_CODE);
    assert_int_equal(ksymbol(at + 0x10000, 0x80, 1, REMOVED, "twice"), 0);
    assert_int_equal(ksymbol(at, 0x80, 1, REMOVED, "not code"), 0); /* a module stays */
    assert_string_equal(module(find(1, at).module).name, "[nf_tables]");
    assert_int_equal(ksymbol(at + 0x20000, 0x100, 1, 0, "bpf_prog_over"), 1); /* in another's place */
    assert_string_equal(module(find(1, at + 0x20000).module).path, "bpf_prog_over");
    assert_int_equal(ksymbol(0x1000, 0x80, 1, 0, "user"), 0);
    assert_int_equal(ksymbol(at, 0, 1, 0, "empty"), 0);
    assert_int_equal(ksymbol(UINT64_MAX - 8, 0x80, 1, 0, "wraps"), 0);
}

static int namespaces(int32_t pid, uint64_t pids, uint64_t mounts)
{
    struct rk_namespace list[7] = {[3] = {.inode = pids}, [5] = {.inode = mounts}};
    struct rk_namespaces n = {.size = sizeof n, .pid = pid, .tid = pid, .list = list, .n = 7};
    struct rk_record from = {0};
    return feed(encode_namespaces(&none, &from, &n, buffer, sizeof buffer));
}

static void processes(void **state)
{
    (void)state;
    struct rk_process p = {.size = sizeof p};
    assert_int_equal(rk_image_process(image, 10, &p), -ESRCH);
    assert_int_equal(rk_image_process(NULL, 10, &p), -EINVAL);
    assert_int_equal(namespaces(10, 4026531836, 4026532001), 1);
    map(10, 0x1000, 0x1000, 0, "/bin/prog");
    assert_int_equal(rk_image_process(image, 10, &p), 0);
    assert_int_equal(p.pid, 10);
    assert_int_equal(p.parent, 0);
    assert_int_equal(p.known, 1);
    assert_int_equal(p.mappings, 1);
    assert_int_equal(p.mount_namespace, 4026532001);
    assert_int_equal(p.pid_namespace, 4026531836);
    task(RK_RECORD_FORK, 11, 11, 10, 10, 0);
    namespaces(11, 4026531999, 4026532001);  /* unshare(CLONE_NEWPID): its children's */
    task(RK_RECORD_EXIT, 11, 12, 10, 10, 0); /* a thread */
    assert_int_equal(rk_image_process(image, 11, &p), 0);
    assert_int_equal(p.parent, 10);
    assert_int_equal(p.ended, 0);
    assert_int_equal(p.mount_namespace, 4026532001); /* its parent's */
    assert_int_equal(p.pid_namespace, 4026531999);
    task(RK_RECORD_EXIT, 11, 11, 10, 10, 0);
    rk_image_process(image, 11, &p);
    assert_int_equal(p.ended, 1);
    task(RK_RECORD_FORK, 11, 11, 1, 1, 0);
    rk_image_process(image, 11, &p);
    assert_int_equal(p.ended, 0);
    assert_int_equal(p.mount_namespace, 0);

    /* One path in two containers, told by records that have no inodes: two modules. */
    namespaces(20, 1, 111);
    namespaces(21, 1, 222);
    namespaces(22, 1, 222);
    for (int32_t pid = 20; pid < 23; pid++)
        map_of(pid, 0x1000, 0x1000, "/usr/bin/app", 0, NULL);
    assert_int_not_equal(find(20, 0x1000).module, find(21, 0x1000).module);
    assert_int_equal(find(21, 0x1000).module, find(22, 0x1000).module);
}

static void cgroups(void **state)
{
    (void)state;
    struct rk_cgroup c = {.size = sizeof c, .id = 4711, .path = "/system.slice/x.service"};
    struct rk_record from = {0};
    assert_string_equal(rk_image_cgroup(image, 4711), "");
    assert_int_equal(feed(encode_cgroup(&none, &from, &c, buffer, sizeof buffer)), 1);
    assert_string_equal(rk_image_cgroup(image, 4711), "/system.slice/x.service");
    assert_string_equal(rk_image_cgroup(image, 4712), "");
    assert_string_equal(rk_image_cgroup(NULL, 4711), "");
}

static void guests(void **state)
{
    (void)state;
    struct rk_mapping m = {
        .size = sizeof m, .pid = 10, .start = 0x1000, .length = 0x1000, .path = "/bin/guest"};
    struct rk_record from = {.misc = 5};
    assert_int_equal(feed(encode_mapping(&none, &from, &m, buffer, sizeof buffer)), 0);
    assert_string_equal(where(10, 0x1000), "no process");
}

static void kinds(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        uint32_t kind, status;
    } cases[] = {
        {"//anon", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"[heap]", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"[stack]", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"[anon:v8]", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"[uprobes]", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"/memfd:jit (deleted)", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"/dev/zero (deleted)", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"/SYSV00000000 (deleted)", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"/anon_hugepage (deleted)", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"anon_inode:[io_uring]", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"", RK_MODULE_ANONYMOUS, RK_PLACE_ANONYMOUS},
        {"[vdso]", RK_MODULE_VDSO, RK_PLACE_FOUND},
        {"/dev/shm/code", RK_MODULE_FILE, RK_PLACE_FOUND},
        {"/x", RK_MODULE_FILE, RK_PLACE_FOUND},
        {"/", RK_MODULE_FILE, RK_PLACE_FOUND},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t start = 0x100000 * (i + 1);
        assert_int_equal(map(10, start, 0x1000, 0x7000, cases[i].path), 1);
        struct rk_place place = find(10, start + 5);
        assert_int_equal(place.status, cases[i].status);
        assert_int_equal(module(place.module).kind, cases[i].kind);
        assert_int_equal(place.offset, cases[i].kind == RK_MODULE_FILE   ? 0x7005
                                       : cases[i].kind == RK_MODULE_VDSO ? 5
                                                                         : start + 5);
        assert_true(module(place.module).name != NULL);
    }
}

static void deleted(void **state)
{
    (void)state;
    map_of(10, 0x1000, 0x1000, "/tmp/prog (deleted)", 5, NULL);
    map_of(11, 0x1000, 0x1000, "/tmp/prog", 6, NULL); /* another file at the same place */
    struct rk_module gone = module(find(10, 0x1000).module), there = module(find(11, 0x1000).module);
    assert_string_equal(gone.path, "/tmp/prog");
    assert_string_equal(gone.name, "prog");
    assert_int_equal(gone.deleted, 1);
    assert_int_equal(there.deleted, 0);
    assert_int_not_equal(find(10, 0x1000).module, find(11, 0x1000).module);
    map_of(11, 0x2000, 0x1000, "/tmp/prog (deleted)", 6, NULL); /* the same file, gone now */
    assert_int_equal(find(11, 0x2000).module, find(11, 0x1000).module);
    assert_int_equal(module(find(11, 0x1000).module).deleted, 1);
}

static void modules_once(void **state)
{
    (void)state;
    for (int32_t pid = 1; pid <= 50; pid++) {
        map_of(pid, 0x1000, 0x1000, "/lib/libc.so", 77, NULL);
        map_of(pid, 0x5000, 0x1000, "/lib/libc.so", 77, NULL);
        map(pid, 0x9000, 0x1000, 0, "//anon");
    }
    assert_int_equal(rk_image_module_count(image), 2 + 50); /* code without a file is each process's own */
    assert_int_equal(module(find(7, 0x9000).module).pid, 7);
    struct rk_module shared = module(find(7, 0x1000).module); /* where the last one has it */
    assert_int_equal(shared.pid, 50);
    assert_int_equal(shared.start, 0x5000);
    assert_int_equal(shared.end, 0x6000);
    assert_int_equal(shared.inode, 77);
    map_of(60, 0x1000, 0x1000, "/lib/libc.so", 78, NULL); /* replaced by an upgrade */
    assert_int_equal(rk_image_module_count(image), 53);
    map_of(61, 0x1000, 0x1000, "/lib/libc.so", 0, "twelve bytes");
    map_of(62, 0x1000, 0x1000, "/lib/libc.so", 0, "twelve BYTES");
    map_of(63, 0x1000, 0x1000, "/lib/libc.so", 0, "twelve bytes");
    assert_int_equal(rk_image_module_count(image), 55);
    assert_int_equal(find(61, 0x1000).module, find(63, 0x1000).module);
    struct rk_module m = module(find(62, 0x1000).module);
    assert_int_equal(m.build_id_bytes, 12);
    assert_memory_equal(m.build_id, "twelve BYTES\0\0\0\0\0\0\0\0", 20);
    struct rk_module untouched = {.size = sizeof untouched, .kind = 9};
    assert_int_equal(rk_image_module_get(image, 55, &untouched), -ERANGE);
    assert_int_equal(untouched.kind, 9);
}

static void told_build_ids(void **state)
{
    (void)state;
    const unsigned char *id = (const unsigned char *)"twenty bytes of an id",
                        *other = (const unsigned char *)"ABCDEFGHIJKLMNOPQRST";
    map_of(10, 0x1000, 0x1000, "/lib/before", 1, NULL);
    assert_int_equal(rk_image_feed_build_id(image, "/lib/before", id, 20), 0);
    assert_int_equal(rk_image_feed_build_id(image, "/lib/after", id, 20), 0);
    map_of(10, 0x2000, 0x1000, "/lib/after", 2, NULL);
    map_of(10, 0x3000, 0x1000, "/lib/after", 0, "its own"); /* the record knows better */
    assert_memory_equal(module(find(10, 0x1000).module).build_id, id, 20);
    assert_memory_equal(module(find(10, 0x2000).module).build_id, id, 20);
    assert_memory_equal(module(find(10, 0x3000).module).build_id, "its own\0", 8);
    assert_int_equal(rk_image_feed_build_id(image, "/lib/after", other, 30), 0); /* a later one; cut at 20 */
    assert_memory_equal(module(find(10, 0x2000).module).build_id, other, 20);
    assert_int_equal(module(find(10, 0x2000).module).build_id_bytes, 20);
    assert_memory_equal(module(find(10, 0x3000).module).build_id, "its own\0", 8);
    assert_int_equal(rk_image_feed_build_id(image, "[kernel.kallsyms]", id, 20), 0);
    assert_memory_equal(module(0).build_id, id, 20);
    assert_int_equal(rk_image_feed_build_id(image, "/x", id, 0), -EINVAL);
    assert_int_equal(rk_image_feed_build_id(image, NULL, id, 20), -EINVAL);
}

static void odd_records(void **state)
{
    (void)state;
    assert_int_equal(map(10, 0x1000, 0, 0, "/empty"), 0);
    assert_int_equal(map(10, 0x7000000000000000, UINT64_MAX, 0, "/long"), 1);
    assert_string_equal(where(10, 0x7000000000000001), "/long+0x1");
    assert_int_equal(map(10, 0x1000, UINT64_MAX - 0x1000, UINT64_MAX, "/wraps"), 1);
    assert_string_equal(where(10, 0x1001), "/wraps+0");

    struct rk_record record = {.type = RK_RECORD_SAMPLE, .bytes = 8, .data = buffer};
    assert_int_equal(rk_image_feed(image, &record), 0);
    record.type = 4711;
    assert_int_equal(rk_image_feed(image, &record), 0);
    for (uint32_t type = 1; type <= 25; type++) { /* too short for what they are */
        record.type = type;
        int rc = rk_image_feed(image, &record);
        assert_true(rc == 0 || rc == -EBADMSG);
        assert_true(rc == 0 || type == 1 || type == 3 || type == 4 || type == 7 || type == 10 || type > 15);
    }
    assert_int_equal(rk_image_feed(NULL, &record), -EINVAL);
    assert_int_equal(rk_image_feed(image, NULL), -EINVAL);
}

/* Five thousand short processes, each forked, mapped, gone. */
static void many_processes(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 40; i++)
        map(1, 0x100000 * (i + 1), 0x1000, 0, "/bin/parent");
    for (int32_t pid = 2; pid < 5002; pid++) {
        assert_int_equal(task(RK_RECORD_FORK, pid, pid, 1, 1, 0), 1);
        if (pid % 2) {
            comm(pid, pid, "child", RK_MISC_COMM_EXEC);
            map(pid, 0x5000, 0x1000, 0, "/bin/child");
        }
        task(RK_RECORD_EXIT, pid, pid, 1, 1, 0);
    }
    assert_string_equal(where(5001, 0x5000), "/bin/child+0");
    assert_string_equal(where(5001, 0x100000), "no mapping");
    assert_string_equal(where(5000, 0x100000 * 40), "/bin/parent+0");
    assert_int_equal(rk_image_module_count(image), 3);
}

static void running(void **state)
{
    (void)state;
    fake_root();
    fake_file("proc/77/maps",
              "00400000-00452000 r-xp 00002000 08:02 173521      /usr/bin/dbus daemon\n"
              "00651000-00652000 r--p 00051000 08:02 173521      /usr/bin/dbus daemon\n"
              "35b1800000-35b1820000 r-xp 00001000 08:02 135522  /tmp/new\\012line (deleted)\n"
              "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
              "7ffff7fc9000-7ffff7fcb000 r-xp 00000000 00:00 0   [vdso]\n"
              "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0   [vsyscall]\n");
    fake_file("proc/77/task/77/comm", "dbus-daemon\n");
    fake_file("proc/77/task/78/comm", "gmain\n");
    fake_file("proc/77/task/odd/comm", "no\n");
    comm(77, 77, "stale", 0);
    map(77, 0x1000, 0x1000, 0, "/bin/stale");
    assert_int_equal(rk_image_feed_process(image, fake_path, 77), 0);
    assert_string_equal(where(77, 0x400010), "/usr/bin/dbus daemon+0x2010");
    assert_string_equal(where(77, 0x651000), "no mapping"); /* not executable */
    assert_string_equal(where(77, 0x35b1800000), "/tmp/new\nline+0x1000");
    assert_int_equal(module(find(77, 0x35b1800000).module).deleted, 1);
    assert_string_equal(where(77, 0x7f0000000001), "//anon+0x7f0000000001 anonymous");
    assert_string_equal(where(77, 0x7ffff7fc9005), "[vdso]+0x5");
    assert_string_equal(where(77, 0x1000), "no mapping");
    assert_string_equal(rk_image_comm(image, 77, 77), "dbus-daemon");
    assert_string_equal(rk_image_comm(image, 77, 78), "gmain");

    /* The same file as a record tells it is the same module. */
    struct rk_mapping m = {
        .size = sizeof m, .pid = 9, .start = 0x1000, .length = 0x1000, .major = 8, .minor = 2};
    struct rk_record from = {.misc = 2};
    m.inode = 173521, m.path = "/usr/bin/dbus daemon";
    assert_int_equal(feed(encode_mapping(&none, &from, &m, buffer, sizeof buffer)), 1);
    assert_int_equal(find(9, 0x1000).module, find(77, 0x400010).module);

    assert_int_equal(rk_image_feed_process(image, fake_path, 79), -ESRCH);
    assert_int_equal(rk_image_feed_process(image, fake_path, -1), -EINVAL);
    assert_int_equal(rk_image_feed_process(image, "/nowhere", 77), -ENOENT);
    static const char *const bad[] = {"nonsense\n", "1-2\n", "5000-4000 r-xp 0 0:0 0\n", "1000-2000 r-xp",
                                      "1000-2000 r-xp 0 8\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fake_file("proc/77/maps", bad[i]);
        assert_int_equal(rk_image_feed_process(image, fake_path, 77), -EBADMSG);
        assert_string_equal(where(77, 0x400010), "/usr/bin/dbus daemon+0x2010"); /* as it was */
    }
    fake_end();
}

static void myself(void **state)
{
    (void)state;
    char comm_text[64], exe[512];
    assert_int_equal(rk_image_feed_process(image, NULL, getpid()), 0);
    uint64_t address = (uint64_t)(uintptr_t)&myself;
    struct rk_place place = find(getpid(), address);
    assert_int_equal(place.status, RK_PLACE_FOUND);
    ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
    assert_true(n > 0);
    exe[n] = '\0';
    assert_string_equal(module(place.module).path, exe);
    FILE *file = fopen("/proc/self/comm", "re");
    assert_non_null(file);
    assert_non_null(fgets(comm_text, sizeof comm_text, file));
    fclose(file);
    comm_text[strcspn(comm_text, "\n")] = '\0';
    assert_string_equal(rk_image_comm(image, getpid(), getpid()), comm_text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds),          TEST(overlap),      TEST(fork_and_exec),  TEST(threads),
        TEST(exit_and_reuse), TEST(ended_go),     TEST(kernel),         TEST(kernel_code),
        TEST(processes),      TEST(cgroups),      TEST(guests),         TEST(kinds),
        TEST(deleted),        TEST(modules_once), TEST(told_build_ids), TEST(odd_records),
        TEST(many_processes), TEST(running),      TEST(myself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

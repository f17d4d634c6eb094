/*
 * A process with one file (tests/data/elf/frames.S), and samples of it whose registers and stacks are made by hand.
 */
#ifndef STACKS_H
#define STACKS_H

#include "elf/symtab.h"
#include "sys/file.h"
#include "unwind/unwinder.h"

#include "../fixture.h"

enum {
    PID = 7,
    BASE = 0x10000,      /* the file */
    ANONYMOUS = 0x20000, /* code without one */
    GONE = 0x22000,      /* code whose file is not there */
    SP = 0x7ff00000,
    WORDS = 128,
    FRAMES = 32
};

static struct rk_image *image;
static struct rk_unwinder *unwinder;
static struct elf *elf;
static uint32_t machine;
static const char *now; /* what is tried, for messages */

/* A fake root with the fixture as /lib/frames, and process 7 that has it mapped. */
__attribute__((unused)) static void begin(const char *name)
{
    char path[FIXTURE_PATH];
    size_t n;
    unsigned char *bytes = fixture(name, &n);
    struct rk_unwinder_options options = {.size = sizeof options, .cache_slots = 64};

    fake_root();
    fake_file("proc/7/maps", "00010000-00020000 r-xp 00000000 08:02 17  /lib/frames\n"
                             "00020000-00021000 r-xp 00000000 00:00 0 \n"
                             "00022000-00023000 r-xp 00000000 08:02 18  /lib/gone\n");
    fake_file("proc/7/task/7/comm", "seven\n");
    fake_file("lib/frames", "");
    snprintf(path, sizeof path, "%s/lib/frames", fake_path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
    free(bytes);
    options.root = fake_path;
    const char *names = "elf/frames"; /* of the file whose symbols are asked for */
    machine = RK_MACHINE_X86_64;
    if (strstr(name, "arm64"))
        machine = RK_MACHINE_AARCH64;
    if (strstr(name, "riscv64"))
        machine = RK_MACHINE_RISCV64;
    if (machine != RK_MACHINE_X86_64 || strstr(name, "unsorted") || strstr(name, "debug"))
        names = name; /* another linker, other places */
    options.machine = machine;
    assert_int_equal(rk_image_open(&image, NULL), 0);
    assert_int_equal(rk_image_feed_process(image, fake_path, PID), 0);
    assert_int_equal(rk_unwinder_open(&options, &unwinder, NULL), 0);
    int root = sys_root_open(NULL);
    assert_int_equal(elf_open_at(root, fixture_path(names, path), &elf, NULL), 0);
    sys_close(root);
}

__attribute__((unused)) static void end(void)
{
    elf = elf_close(elf);
    unwinder = rk_unwinder_free(unwinder);
    image = rk_image_free(image);
    fake_end();
}

/* An address `by` bytes inside a function. */
__attribute__((unused)) static uint64_t in(const char *name, uint64_t by)
{
    struct elf_symbol symbol;
    uint64_t offset;

    assert_int_equal(symtab_find(elf, name, strlen(name), &symbol, NULL, NULL), 0);
    assert_int_equal(elf_offset(elf, symbol.value, &offset), 0);
    return BASE + offset + by;
}

struct made {
    uint64_t regs[33], words[WORDS];
    struct rk_sample sample;
};

__attribute__((unused)) static struct made make(uint64_t pc)
{
    struct made m = {.sample = {.size = sizeof m.sample,
                                .present = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
                                .pid = PID,
                                .regs_user_abi = 2,
                                .regs_user_mask = rk_unwinder_registers(machine),
                                .stack_bytes = sizeof m.words,
                                .stack_used = sizeof m.words}};
    m.regs[machine == RK_MACHINE_AARCH64 ? 32 : machine == RK_MACHINE_RISCV64 ? 0 : 8] = pc;
    m.regs[machine == RK_MACHINE_AARCH64 ? 31 : machine == RK_MACHINE_RISCV64 ? 2 : 7] = SP;
    return m;
}

/* Unwinds it and compares with what is expected, the list ended by 0. */
__attribute__((unused)) static void check(struct made *m, uint32_t end_, uint32_t reason,
                                          const uint64_t *expected)
{
    uint64_t pcs[FRAMES];
    struct rk_unwind_status status = {.size = sizeof status};

    m->sample.regs_user = m->regs;
    m->sample.stack = (const unsigned char *)m->words;
    for (int again = 0; again < 2; again++) { /* by the tables, then by the cache */
        int n = rk_unwinder_sample(unwinder, image, &m->sample, pcs, FRAMES, &status), i = 0;
        if (now && (status.end != end_ || status.reason != reason))
            print_message("%s: %u, %s\n", now, status.end, rk_unwind_reason_text(status.reason));
        for (; expected[i]; i++)
            assert_true(i < n && pcs[i] == expected[i]);
        assert_int_equal(n, i);
        assert_int_equal(status.end, end_);
        assert_int_equal(status.reason, reason);
        /* and where: the last frame's place; the mappings begin where their files do, and code without one is at its address */
        uint64_t last = expected[i - 1], start = last < ANONYMOUS ? BASE : last < GONE ? 0 : GONE;
        bool mapped = last >= BASE && last < GONE + 0x1000;
        assert_int_equal(status.offset, mapped ? last - start : 0);
        assert_int_equal(status.module == RK_NO_MODULE, !mapped);
    }
}
#define EXPECT(m, end, reason, ...) check((m), (end), (reason), (const uint64_t[]){__VA_ARGS__, 0})

#endif

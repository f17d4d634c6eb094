/*
 * Stacks through a whole ELF file, of whichever machine: the input is one, and its bytes are the stack and the registers too. It
 * is mapped at its lowest address, as the image of a process has it, and samples at its functions' addresses are unwound.
 * An answer is in bounds and says how it ended; the same question has the same answer, also once everything is in the cache.
 */
#include "mutate_elf.h"

#include "elf/elf.h"
#include "record/encode.h"

#include <reckon/image.h>
#include <reckon/unwind.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES = 24, FRAMES = 64, BASE = 0x10000000, STACK = 0x7000000, STACK_BYTES = 2048 };

static void feed_mapping(struct rk_image *image, const char *path, size_t size)
{
    static const struct layout none;
    static uint64_t buffer[1024];
    const struct rk_record from = {.misc = 2};
    struct rk_mapping map = {
        .size = sizeof map, .pid = 7, .tid = 7, .protection = PROT_READ | PROT_EXEC, .path = path};
    struct rk_record record;

    map.start = BASE;
    map.length = (size + 4095) / 4096 * 4096 + (1 << 20);
    int n = encode_mapping(&none, &from, &map, buffer, sizeof buffer);
    HOLDS(n > 0 && layout_record(NULL, (const struct perf_header *)buffer, &record) == 0);
    HOLDS(rk_image_feed(image, &record) >= 0);
}

/* Addresses of the file, of the stack, and the file's own bytes. */
static void fill_stack(unsigned char *stack, const uint8_t *data, size_t size)
{
    for (size_t at = 0; at < STACK_BYTES; at += 8) {
        size_t from = at * 131 % size;
        uint64_t word = 0;
        memcpy(&word, data + from, size - from < 8 ? size - from : 8);
        word = word % 3 == 0 ? BASE + word % size : word % 3 == 1 ? STACK + word % STACK_BYTES : word;
        memcpy(stack + at, &word, 8);
    }
}

static void unwind(struct rk_unwinder *unwinder, struct rk_image *image, uint32_t machine,
                   const uint8_t *data, size_t size)
{
    static uint64_t stack[STACK_BYTES / 8];
    size_t pc = machine == RK_MACHINE_X86_64    ? 8
                : machine == RK_MACHINE_AARCH64 ? 32
                                                : 0,
           sp = machine == RK_MACHINE_X86_64    ? 7
                : machine == RK_MACHINE_AARCH64 ? 31
                                                : 2;
    uint64_t registers[33], pcs[2][FRAMES];

    fill_stack((unsigned char *)stack, data, size);
    for (size_t i = 0; i < SAMPLES; i++) {
        struct rk_unwind_status status[2] = {{.size = sizeof *status}, {.size = sizeof *status}};
        struct rk_sample s = {.size = sizeof s, .pid = 7, .tid = 7, .regs_user_abi = RK_ABI_64};
        int64_t n[2];
        for (size_t k = 0; k < 33; k++)
            registers[k] = STACK + (k + i) * 8 % STACK_BYTES;
        registers[pc] = s.ip = BASE + size / SAMPLES * i;
        registers[sp] = STACK;
        s.present = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER | RK_SAMPLE_TID | RK_SAMPLE_IP;
        s.regs_user_mask = rk_unwinder_registers(machine);
        s.regs_user = registers;
        s.stack = (const unsigned char *)stack;
        s.stack_bytes = s.stack_used = sizeof stack;
        for (int k = 0; k < 2; k++)
            n[k] = rk_unwinder_sample(unwinder, image, &s, pcs[k], FRAMES, &status[k]);
        HOLDS(n[0] == n[1] && n[0] <= FRAMES);
        HOLDS(status[0].end == status[1].end && status[0].reason == status[1].reason);
        HOLDS(n[0] <= 0 || memcmp(pcs[0], pcs[1], (size_t)n[0] * 8) == 0);
        HOLDS(n[0] < 0 || status[0].end <= RK_UNWIND_BROKEN);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    struct rk_image *image = NULL;
    struct rk_unwinder *unwinder = NULL;
    struct rk_unwinder_options options = {.size = sizeof options, .cache_slots = 64};

    if (size < 64 || memcmp(data, "\177ELF", 4) != 0)
        return 0;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    HOLDS(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    uint16_t machine;
    memcpy(&machine, data + 18, 2);
    options.machine =
        machine == RK_MACHINE_AARCH64 || machine == RK_MACHINE_RISCV64 ? machine : RK_MACHINE_X86_64;
    HOLDS(rk_image_open(&image, NULL) == 0 && rk_unwinder_open(&options, &unwinder, NULL) == 0);
    feed_mapping(image, path, size);
    unwind(unwinder, image, options.machine, data, size);
    rk_unwinder_free(unwinder);
    rk_image_free(image);
    return 0;
}

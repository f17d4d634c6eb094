#include "unwind/frame.h"

/* The kernel's order: ax bx cx dx si di bp sp ip flags cs ss ds es fs gs r8 … r15. */
const struct machine machine_x86_64 = {
    .number = RK_MACHINE_X86_64,
    .sp = 7,
    .fp = 6,
    .link = CFI_COLUMNS,
    .pc = 16,
    .kernel_pc = 8,
    .kernel_mask = 0xff01ff,
    .from_kernel = {0, 3,  2,  1,  4,  5,  6,  7,  -1, -1, -1, -1, -1, -1, -1, -1, 8,
                    9, 10, 11, 12, 13, 14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1},
    .address_mask = UINT64_MAX,
};

/* x0 … x30, sp, pc. A signed return address has its signature above the 48 bits of an address. */
const struct machine machine_aarch64 = {
    .number = RK_MACHINE_AARCH64,
    .sp = 31,
    .fp = 29,
    .link = 30,
    .pc = CFI_COLUMNS,
    .kernel_pc = 32,
    .kernel_mask = UINT64_C(0x1ffffffff),
    .from_kernel = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1},
    .address_mask = (UINT64_C(1) << 48) - 1,
};

/* pc, ra, sp, … in the order of x1 … x31. */
const struct machine machine_riscv64 = {
    .number = RK_MACHINE_RISCV64,
    .sp = 2,
    .fp = 8,
    .link = 1,
    .pc = CFI_COLUMNS,
    .fp_above = 16,
    .kernel_pc = 0,
    .kernel_mask = UINT32_MAX,
    .from_kernel = {-1, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                    17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1},
    .address_mask = UINT64_MAX,
};

const struct machine *machine_of(uint32_t number)
{
    if (number == RK_MACHINE_HERE) {
#if defined(__x86_64__)
        number = RK_MACHINE_X86_64;
#elif defined(__aarch64__)
        number = RK_MACHINE_AARCH64;
#elif defined(__riscv) && __riscv_xlen == 64
        number = RK_MACHINE_RISCV64;
#endif
    }
    return number == RK_MACHINE_X86_64    ? &machine_x86_64
           : number == RK_MACHINE_AARCH64 ? &machine_aarch64
           : number == RK_MACHINE_RISCV64 ? &machine_riscv64
                                          : NULL;
}

uint64_t rk_unwinder_registers(uint32_t number)
{
    const struct machine *machine = machine_of(number);

    return machine ? machine->kernel_mask : 0;
}

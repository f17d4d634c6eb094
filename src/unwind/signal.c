#include "unwind/signal.h"

#include "base/cleanup.h"
#include "elf/symtab.h"

#include <errno.h>

enum {
    BLOCK = 1 << 18,
    CODE_MAX = 1 << 27, /* of code that is searched: no file that has a libc in it has more */
};

/* mov $15, %rax; syscall */
static const unsigned char restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

int signal_find(struct elf *elf, struct table_range *ret)
{
    bool arm64 = elf->machine == ELF_MACHINE_AARCH64;
    const char *name = arm64 ? "__kernel_rt_sigreturn" : "__vdso_rt_sigreturn";
    uint64_t before = arm64 ? 4 : 1; /* the nop; or the byte alone, which may be another function's last */
    struct elf_symbol symbol;

    if (!arm64 && elf->machine != ELF_MACHINE_RISCV)
        return 0;
    int rc = symtab_find(elf, name, strlen(name), &symbol, NULL, NULL);
    if (rc == 0 && symbol.value >= before && symbol.value < UINT64_MAX - 8)
        *ret = (struct table_range){symbol.value - before, symbol.value + 8}; /* two instructions */
    return rc == -ENOMEM ? rc : 0;
}

/* In one segment; blocks overlap by what might be half of it. */
static bool search_segment(struct elf *elf, const struct elf_segment *s, uint64_t *left, unsigned char *block,
                           struct table_range *ret)
{
    uint64_t n = s->file_bytes < *left ? s->file_bytes : *left, some;

    *left -= n;
    for (uint64_t at = 0; n - at >= sizeof restorer; at += some - sizeof restorer + 1) {
        some = n - at < BLOCK ? n - at : BLOCK;
        if (elf_read(elf, s->offset + at, block, (size_t)some) < 0)
            return false;
        const unsigned char *found = memmem(block, (size_t)some, restorer, sizeof restorer);
        uint64_t address = s->address + at + (found ? (uint64_t)(found - block) : 0);
        if (found && address && address < UINT64_MAX - sizeof restorer) {
            *ret = (struct table_range){address - 1, address + sizeof restorer};
            return true;
        }
    }
    return false;
}

int signal_search(struct elf *elf, struct table_range *ret)
{
    _cleanup_free_ unsigned char *block = malloc(BLOCK);

    uint64_t left = CODE_MAX;

    if (!block)
        return -ENOMEM;
    for (uint32_t i = 0; i < elf->segment_n; i++)
        if (elf->segments[i].type == ELF_SEGMENT_LOAD && elf->segments[i].flags & ELF_SEGMENT_EXECUTE &&
            search_segment(elf, &elf->segments[i], &left, block, ret))
            break;
    return 0;
}

/* sp → siginfo, 128 bytes; ucontext, 176 bytes to its mcontext: fault address, x0 … x30, sp, pc */
static int leave_aarch64(struct frame *caller, uint64_t sp, const struct stack *stack)
{
    int trouble = 0;

    for (uint32_t i = 0; trouble == 0 && i < CFI_COLUMNS; i++)
        trouble = stack_read(stack, sp + 128 + 176 + 8 + i * 8, &caller->reg[i]);
    return trouble ? trouble : stack_read(stack, sp + 128 + 176 + 8 + UINT64_C(8) * CFI_COLUMNS, &caller->pc);
}

/* sp → siginfo, 128 bytes; ucontext, 176 bytes to its mcontext: pc, x1 … x31 */
static int leave_riscv64(struct frame *caller, uint64_t sp, const struct stack *stack)
{
    int trouble = stack_read(stack, sp + 128 + 176, &caller->pc);

    for (uint32_t i = 1; trouble == 0 && i < CFI_COLUMNS; i++)
        trouble = stack_read(stack, sp + 128 + 176 + i * 8, &caller->reg[i]);
    return trouble;
}

/* sp → ucontext, 40 bytes to its mcontext: r8 … r15, di, si, bp, bx, dx, ax, cx, sp, ip */
static int leave_x86_64(struct frame *caller, uint64_t sp, const struct stack *stack)
{
    static const uint8_t columns[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};
    int trouble = 0;

    for (uint32_t i = 0; trouble == 0 && i < sizeof columns; i++)
        trouble = stack_read(stack, sp + 40 + i * 8, &caller->reg[columns[i]]);
    caller->pc = caller->reg[16];
    caller->known = (UINT32_C(1) << 17) - 1;
    return trouble;
}

int signal_leave(struct frame *frame, const struct machine *machine, const struct stack *stack)
{
    struct frame caller = {.known = UINT32_MAX, .exact = true};
    uint64_t sp = frame->reg[machine->sp];

    if (!(frame->known >> machine->sp & 1))
        return RK_UNWIND_NO_VALUE;
    int trouble = machine == &machine_aarch64   ? leave_aarch64(&caller, sp, stack)
                  : machine == &machine_riscv64 ? leave_riscv64(&caller, sp, stack)
                                                : leave_x86_64(&caller, sp, stack);
    if (trouble == 0)
        *frame = caller;
    return trouble;
}

/*
 * tests/live/stack.h: a sample as the kernel would make one, of registers and stack that a test took itself.
 */
#ifndef STACK_H
#define STACK_H

#include "live.h"

#include <sys/ucontext.h>

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)
#define STACK_KNOWN 1
#else
#define STACK_KNOWN 0
#endif

struct taken {
    uint64_t regs[33];
    struct rk_sample sample;
};

#if defined(__x86_64__)
static const int stack_sp = 7;
/* ax bx cx dx si di bp sp ip r8 … r15: what the mask leaves of the kernel's order */
static inline void registers_of(const mcontext_t *c, uint64_t regs[33])
{
    static const int from[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
                               REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
                               REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (int i = 0; i < 17; i++)
        regs[i] = (uint64_t)c->gregs[from[i]];
}
#elif defined(__aarch64__)
static const int stack_sp = 31;
static inline void registers_of(const mcontext_t *c, uint64_t regs[33])
{
    for (int i = 0; i < 31; i++)
        regs[i] = c->regs[i];
    regs[31] = c->sp;
    regs[32] = c->pc;
}
#elif defined(__riscv)
static const int stack_sp = 2;
static inline void registers_of(const mcontext_t *c, uint64_t regs[33])
{
    for (int i = 0; i < 32; i++) /* pc, x1 … x31 */
        regs[i] = c->__gregs[i];
    regs[32] = 0;
}
#else
static const int stack_sp = 0;
static inline void registers_of(const mcontext_t *c, uint64_t regs[33])
{
    (void)c;
    regs[0] = 0;
}
#endif

/* A sample of t->regs with `used` bytes of stack at its sp, of a dump of `bytes`. */
static inline void sample_of(struct taken *t, int32_t pid, const void *stack, uint64_t used, uint64_t bytes)
{
    t->sample = (struct rk_sample){
        .size = sizeof t->sample,
        .present = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
        .pid = pid,
        .tid = pid,
        .regs_user_abi = 2,
        .regs_user_mask = rk_unwinder_registers(RK_MACHINE_HERE),
        .regs_user = t->regs,
        .stack = stack,
        .stack_bytes = bytes,
        .stack_used = used < bytes ? used : bytes,
    };
}

#endif

/*
 * Which register is read for which counter (libperf and PAPI swap arm64's 12 and 13). Most counters are not there, and
 * none may be read while no event is open for it: the instruction traps, and its bits, or the register that it takes,
 * say which one was meant. What does not trap is not looked at.
 */
#include "live.h"

#include "sys/pmc.h"

#include <signal.h>
#include <ucontext.h>

static volatile int64_t meant; /* by the instruction that trapped; -1: none did */

#if defined(__x86_64__)
static void trapped(int signal, siginfo_t *info, void *context)
{
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    const unsigned char *at = (const unsigned char *)(uintptr_t)regs[REG_RIP];

    (void)info;
    if (at[0] != 0x0f || at[1] != 0x33)
        _Exit(128 + signal);
    meant = (uint32_t)regs[REG_RCX];
    regs[REG_RIP] += 2;
}

static int64_t expected(uint32_t counter)
{
    return counter;
}
#elif defined(__aarch64__)
/* op0 op1 CRn CRm op2 of MRS, as one number. */
#define REGISTER(op1, crn, crm, op2) ((int64_t)((op1) << 11 | (crn) << 7 | (crm) << 3 | (op2)))

static void trapped(int signal, siginfo_t *info, void *context)
{
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    uint32_t word = *(const uint32_t *)(uintptr_t)machine->pc;

    (void)info;
    if (word >> 20 != 0xd53)
        _Exit(128 + signal);
    meant = word >> 5 & 0x3fff;
    machine->pc += 4;
}

static int64_t expected(uint32_t counter)
{
    return counter < 31    ? REGISTER(3, 14, 8 | counter >> 3, counter & 7) /* PMEVCNTR<n>_EL0 */
           : counter == 31 ? REGISTER(3, 9, 13, 0)                          /* PMCCNTR_EL0 */
           : counter == 32 ? REGISTER(3, 9, 4, 0)                           /* PMICNTR_EL0 */
                           : -1;
}
#elif defined(__riscv)
static void trapped(int signal, siginfo_t *info, void *context)
{
    unsigned long *pc = &((ucontext_t *)context)->uc_mcontext.__gregs[REG_PC];
    uint32_t word;

    (void)info;
    memcpy(&word, (const void *)*pc, sizeof word);
    if ((word & 0x7f) != 0x73)
        _Exit(128 + signal);
    meant = word >> 20;
    *pc += 4;
}

static int64_t expected(uint32_t counter)
{
    return counter < 32 && counter != 1 ? 0xc00 + (int64_t)counter : -1;
}
#endif

int main(void)
{
#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    uint64_t bits;
    int seen = 0;

    CHECK(sigaction(SIGILL, &action, NULL) == 0 && sigaction(SIGSEGV, &action, NULL) == 0);
    for (uint32_t counter = 0; counter < 40; counter++) {
        meant = -1;
        bool there = pmc_read(counter, &bits);
        if (there != (expected(counter) >= 0))
            FAIL("counter %u: %s", counter, there ? "has no register" : "is not read");
        if (meant < 0)
            continue;
        EQUAL(meant, expected(counter));
        seen++;
    }
    printf("%d counters, each by its own register\n", seen);
    if (!seen)
        SKIP("counters may be read here at any time: nothing tells which one was");
    return 0;
#else
    SKIP("counters are read by read(2) on this machine");
#endif
}

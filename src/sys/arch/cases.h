/*
 * Counters whose number is in the instruction: a case for each of those that arm64 and riscv64 both have, by the
 * includer's PMC_CASE_(n).
 */
#ifndef SYS_ARCH_CASES_H
#define SYS_ARCH_CASES_H

/* clang-format off */
#define PMC_CASES_2_TO_30_ \
    PMC_CASE_(2) PMC_CASE_(3) PMC_CASE_(4) PMC_CASE_(5) PMC_CASE_(6) PMC_CASE_(7) PMC_CASE_(8) \
    PMC_CASE_(9) PMC_CASE_(10) PMC_CASE_(11) PMC_CASE_(12) PMC_CASE_(13) PMC_CASE_(14) PMC_CASE_(15) \
    PMC_CASE_(16) PMC_CASE_(17) PMC_CASE_(18) PMC_CASE_(19) PMC_CASE_(20) PMC_CASE_(21) PMC_CASE_(22) \
    PMC_CASE_(23) PMC_CASE_(24) PMC_CASE_(25) PMC_CASE_(26) PMC_CASE_(27) PMC_CASE_(28) PMC_CASE_(29) \
    PMC_CASE_(30)
/* clang-format on */

#endif

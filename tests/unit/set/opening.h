/* What the tests of opening have in common: targets, and what was asked of the fake kernel. */
#ifndef OPENING_H
#define OPENING_H

#include "fake_kernel.h"
#include "set/policy.h"
#include "set/private.h"
#include "target/target.h"

#include <reckon/record.h>

#define USER "paranoid-2-user"
#define ROOT "bare-metal"

__attribute__((unused)) static struct rk_target *self(void)
{
    return target_new(TARGET_SELF, 0);
}

__attribute__((unused)) static struct rk_target *command(void)
{
    return target_new(TARGET_COMMAND, 4242);
}

__attribute__((unused)) static struct rk_target *cpus(const int32_t *numbers, size_t n)
{
    struct rk_target *target = target_new(TARGET_CPUS, -1);

    target->cpus = malloc(n * sizeof *numbers);
    memcpy(target->cpus, numbers, n * sizeof *numbers);
    target->n_cpus = n;
    return target;
}

__attribute__((unused)) static const struct perf_attr *attr_of(int index)
{
    return &kernel.opened[index].attr;
}

__attribute__((unused)) static bool has(const struct perf_attr *attr, uint64_t flag)
{
    return attr->flags & flag;
}

__attribute__((unused)) static const struct set_note *only_note(const struct rk_set *set)
{
    assert_int_equal(set->notes.n, 1);
    return &set->notes.items[0];
}

#endif

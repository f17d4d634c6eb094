/* What is looked up for a sample: markers, return addresses, the sampled address itself. */
#include "profile/chain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define K UINT64_C(0xffffffff81000000)
#define U UINT64_C(0x550000)
#define MODE_KERNEL 1
#define MODE_USER 2

static void check(bool has_ip, uint64_t ip, uint16_t misc, const uint64_t *chain, size_t chain_n,
                  const uint64_t *expected, size_t n)
{
    uint64_t out[64];
    struct rk_sample s = {.size = sizeof s,
                          .present = (has_ip ? RK_SAMPLE_IP : 0) | RK_SAMPLE_CALLCHAIN,
                          .ip = ip,
                          .chain = chain,
                          .chain_n = chain_n};
    assert_int_equal(chain_addresses(&s, misc, false, false, out), n);
    assert_memory_equal(out, expected, n * sizeof *out);
}
#define LIST(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / 8

static void return_addresses_are_looked_up_one_earlier(void **state)
{
    (void)state;
    check(true, U, MODE_USER, LIST(RK_CHAIN_USER, U, U + 16, U + 32), LIST(U, U + 15, U + 31));
}

static void kernel_comes_before_user(void **state)
{
    (void)state;
    check(true, K, MODE_KERNEL, LIST(RK_CHAIN_KERNEL, K, K + 8, RK_CHAIN_USER, U, U + 16),
          LIST(K, K + 7, U, U + 15));
    /* a kernel part of one entry must not swallow the user part's first */
    check(true, K, MODE_KERNEL, LIST(RK_CHAIN_KERNEL, K, RK_CHAIN_USER, U), LIST(K, U));
}

static void the_sampled_address_is_innermost(void **state)
{
    (void)state;
    /* precise: the chain begins where the interrupt came */
    check(true, U + 4, MODE_USER, LIST(RK_CHAIN_USER, U + 9, U + 16), LIST(U + 4, U + 15));
    /* the chain has no kernel part */
    check(true, K, MODE_KERNEL, LIST(RK_CHAIN_USER, U, U + 16), LIST(K, U, U + 15));
    /* no marker at all */
    check(true, U, 0, LIST(U, U + 16), LIST(U, U + 15));
    /* the address was not sampled */
    check(false, 0, MODE_USER, LIST(RK_CHAIN_USER, U, U + 16), LIST(U, U + 15));
}

/* The kernel's part, then where user code was, then the calls; calls are looked up where they are. */
static void branches_are_callers(void **state)
{
    const struct rk_branch branches[] = {
        {U + 100, U, 0}, {U + 200, U + 96, 0}, {0, 0, 0}, {U + 300, U + 196, 0}};
    uint64_t kernel[] = {RK_CHAIN_KERNEL, K, K + 8, RK_CHAIN_USER, U + 4, U + 16}, words[16], out[16];
    struct rk_sample s = {.size = sizeof s,
                          .present = RK_SAMPLE_IP | RK_SAMPLE_CALLCHAIN | RK_SAMPLE_BRANCH_STACK,
                          .ip = K,
                          .chain = kernel,
                          .chain_n = 6,
                          .branches = branches,
                          .branch_n = 4};
    (void)state;
    size_t n = chain_of_branches(&s, words);
    const uint64_t whole[] = {RK_CHAIN_KERNEL, K, K + 8, RK_CHAIN_USER, U + 4, U + 100, U + 200, U + 300};
    assert_int_equal(n, 8);
    assert_memory_equal(words, whole, sizeof whole);
    s.chain = words;
    s.chain_n = n;
    const uint64_t looked_up[] = {K, K + 7, U + 4, U + 100, U + 200, U + 300};
    assert_int_equal(chain_addresses(&s, MODE_KERNEL, true, false, out), 6);
    assert_memory_equal(out, looked_up, sizeof looked_up);

    /* no chain of the kernel's: the function that was called last */
    s.present = RK_SAMPLE_IP | RK_SAMPLE_BRANCH_STACK;
    s.branch_n = 1;
    assert_int_equal(chain_of_branches(&s, words), 3);
    assert_true(words[0] == RK_CHAIN_USER && words[1] == U && words[2] == U + 100);
    /* user code alone */
    s.present |= RK_SAMPLE_CALLCHAIN;
    s.chain = kernel + 3;
    s.chain_n = 3;
    assert_int_equal(chain_of_branches(&s, words), 3);
    assert_true(words[0] == RK_CHAIN_USER && words[1] == U + 4 && words[2] == U + 100);
    /* a kernel thread has none */
    s.branch_n = 0;
    assert_int_equal(chain_of_branches(&s, words), 0);
    s.branches = NULL;
    s.branch_n = 1;
    assert_int_equal(chain_of_branches(&s, words), 0);
}

static void without_a_chain_the_address_alone(void **state)
{
    uint64_t out[4];
    struct rk_sample s = {.size = sizeof s, .present = RK_SAMPLE_IP, .ip = U};
    (void)state;

    check(true, U, MODE_USER, NULL, 0, LIST(U));
    check(true, U, MODE_USER, LIST(RK_CHAIN_USER), LIST(U));
    s.chain_n = 3; /* not present, so not looked at */
    assert_int_equal(chain_addresses(&s, MODE_USER, false, false, out), 1);
    s.present = 0;
    assert_int_equal(chain_addresses(&s, MODE_USER, false, false, out), 0);
}

/* A user part that was unwound is ready to be looked up; the kernel's never is. */
static void unwound_addresses_are_taken_as_they_are(void **state)
{
    uint64_t chain[] = {RK_CHAIN_KERNEL, K, K + 8, RK_CHAIN_USER, U, U + 16, U + 32}, out[8];
    struct rk_sample s = {.size = sizeof s,
                          .present = RK_SAMPLE_IP | RK_SAMPLE_CALLCHAIN,
                          .ip = K,
                          .chain = chain,
                          .chain_n = 7};
    (void)state;

    assert_int_equal(chain_addresses(&s, MODE_KERNEL, true, false, out), 5);
    assert_memory_equal(out, ((uint64_t[]){K, K + 7, U, U + 16, U + 32}), 5 * sizeof *out);
}

static void what_is_no_address_is_dropped(void **state)
{
    (void)state;
    /* a cookie follows the deferred marker; 0 is no return address, and 0 - 1 no kernel address */
    check(true, K, MODE_KERNEL, LIST(RK_CHAIN_KERNEL, K, RK_CHAIN_USER_DEFERRED, 77), LIST(K));
    check(true, U, MODE_USER, LIST(RK_CHAIN_USER, U, U + 16, 0), LIST(U, U + 15));
    check(true, K, MODE_KERNEL, LIST(RK_CHAIN_KERNEL, K, RK_CHAIN_USER_DEFERRED), LIST(K));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(return_addresses_are_looked_up_one_earlier),
        cmocka_unit_test(kernel_comes_before_user),
        cmocka_unit_test(the_sampled_address_is_innermost),
        cmocka_unit_test(branches_are_callers),
        cmocka_unit_test(without_a_chain_the_address_alone),
        cmocka_unit_test(unwound_addresses_are_taken_as_they_are),
        cmocka_unit_test(what_is_no_address_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

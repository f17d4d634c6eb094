/*
 * A counter read in user space agrees with read(2), and costs no system call.
 *
 * Two sets count the same thing, one read by each way. They are not the same counter, so what is
 * compared are intervals: between two rounds of the same code both must have seen the same instructions.
 * That no system call was made is shown by a third set, which counts what the kernel runs meanwhile.
 */
#include "live.h"

#define READS 200

struct pair {
    struct rk_set *user, *call;
};

/* Reads both; the code between a round's two reads is the same in every round. */
__attribute__((noinline)) static void read_both(const struct pair *p, struct rk_value *user,
                                                struct rk_value *call)
{
    EQUAL(rk_set_read(p->user, 0, user, NULL, 1), 0);
    EQUAL(rk_set_read(p->call, 0, call, NULL, 1), 0);
}

/* each: how many a single instruction counts; 0: not known */
static void check_agree(struct rk_host *host, const char *event, uint64_t each)
{
    struct rk_set_options options = {.size = sizeof options, .flags = RK_SET_NO_INHERIT};
    struct pair p = {.user = live_self(host, event, &options)};
    struct rk_value user[4], call[4];
    options.flags |= RK_SET_NO_USER_READ;
    p.call = live_self(host, event, &options);

    EQUAL(rk_set_enable(p.user), 0);
    EQUAL(rk_set_enable(p.call), 0);
    read_both(&p, &user[0], &call[0]);
    read_both(&p, &user[0], &call[0]);
    for (int i = 1; i < 4; i++) {
        spin(i == 3 ? 3000000 : 1000000);
        read_both(&p, &user[i], &call[i]);
        SAME_COUNT(user[i].value - user[i - 1].value, call[i].value - call[i - 1].value);
        CHECK(user[i].running > user[i - 1].running);
        EQUAL(user[i].running - user[i - 1].running, user[i].enabled - user[i - 1].enabled);
        int64_t apart = (int64_t)(user[i].enabled - user[i - 1].enabled) -
                        (int64_t)(call[i].enabled - call[i - 1].enabled);
        CHECK(llabs(apart) < 1000000); /* ns: the same clock, read a little apart */
    }
    /* The last two intervals differ by two million rounds and nothing else. */
    if (each)
        SAME_COUNT(user[3].value - user[2].value - (user[2].value - user[1].value), 4000000 * each);

    /* Stopped, both stand still, and what they say is final. */
    EQUAL(rk_set_disable(p.user), 0);
    EQUAL(rk_set_disable(p.call), 0);
    read_both(&p, &user[0], &call[0]);
    spin(1000);
    read_both(&p, &user[1], &call[1]);
    EQUAL(user[1].value, user[0].value);
    EQUAL(call[1].value, call[0].value);
    CHECK(user[0].value > user[3].value);
    rk_set_free(p.user);
    rk_set_free(p.call);
}

/* Instructions that the kernel ran during so many reads of the set. */
static int64_t kernel_work(struct rk_set *kernel, struct rk_set *set, int reads)
{
    struct rk_value before, after, v;
    EQUAL(rk_set_read(kernel, 0, &before, NULL, 1), 0);
    for (int i = 0; i < reads; i++)
        EQUAL(rk_set_read(set, 0, &v, NULL, 1), 0);
    EQUAL(rk_set_read(kernel, 0, &after, NULL, 1), 0);
    return (int64_t)(after.value - before.value);
}

/* … during READS of them. Two counters at a time: some machines have no more. */
static int64_t reads_cost(struct rk_host *host, uint32_t no_user_read)
{
    struct rk_set_options options = {.size = sizeof options,
                                     .flags = RK_SET_NO_INHERIT | RK_SET_NO_USER_READ};
    struct rk_set *kernel = live_self(host, "instructions:k", &options);
    options.flags = RK_SET_NO_INHERIT | (no_user_read ? RK_SET_NO_USER_READ : 0);
    struct rk_set *set = live_self(host, "instructions:u", &options);
    rk_set_enable(kernel);
    rk_set_enable(set);
    int64_t none = kernel_work(kernel, set, 0);
    int64_t cost = kernel_work(kernel, set, READS) - none;
    rk_set_free(set);
    rk_set_free(kernel);
    return cost;
}

static void check_no_call(struct rk_host *host)
{
    int64_t by_call = reads_cost(host, 1), by_user = reads_cost(host, 0);
    /* A system call is some hundred instructions at the least; an interrupt or two may come in between. */
    if (by_call < READS * 100 || by_user * 4 > by_call)
        FAIL("%d reads cost the kernel %" PRId64 " instructions by read(2) and %" PRId64 " in user space",
             READS, by_call, by_user);
}

int main(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = NULL;
    OK(rk_host_open(NULL, &host, &e));
#if defined(__aarch64__) || defined(__riscv)
    int64_t allowed = 0;
    if (rk_host_limit(host, RK_LIMIT_USER_ACCESS, &allowed) < 0 || allowed == 0)
        SKIP("kernel.perf_user_access is not 1");
#endif
    live_leaves_kernel_out(host);
    check_agree(host, "instructions:u", 1);
    check_agree(host, "cycles:u", live_exact() ? 2 : 0);
    check_no_call(host);
    rk_host_free(host);
    return 0;
}

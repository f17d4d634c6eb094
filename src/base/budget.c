#include "base/budget.h"

#include <errno.h>
#include <stdlib.h>

enum { UNIT_MB = 512, UNIT_MB_MAX = 1 << 20 };

#define QUESTION_BYTES (UINT64_C(256) << 10) /* what one is good for */

static uint64_t unit_here(void)
{
    const char *text = secure_getenv("RECKON_BUDGET");
    char *end = NULL;
    unsigned long mb = text ? strtoul(text, &end, 10) : 0;

    if (!end || end == text || *end || mb == 0)
        mb = UNIT_MB;
    return (uint64_t)(mb < UNIT_MB_MAX ? mb : UNIT_MB_MAX) << 20;
}

static void fill(struct budget *budget, uint64_t unit, uint64_t read, uint64_t steps)
{
    budget->unit = unit;
    atomic_init(&budget->read, (int64_t)(read * unit));
    atomic_init(&budget->steps, (int64_t)(steps * unit));
}

void budget_session(struct budget *budget, uint64_t bytes)
{
    *budget = (struct budget){0};
    fill(budget, bytes ? bytes : unit_here(), 32, 16);
    atomic_init(&budget->held, (int64_t)budget->unit);
}

void budget_module(struct budget *budget, struct budget *session)
{
    *budget = (struct budget){.session = session};
    fill(budget, session ? session->unit : unit_here(), 8, 4);
    atomic_init(&budget->held, (int64_t)(budget->unit / 4 * 3));
}

static void add_up_to(_Atomic int64_t *left, uint64_t more, uint64_t most)
{
    int64_t old = atomic_load_explicit(left, memory_order_relaxed), now;

    do {
        now =
            old >= (int64_t)most || (int64_t)most - old < (int64_t)more ? (int64_t)most : old + (int64_t)more;
    } while (
        !atomic_compare_exchange_weak_explicit(left, &old, now, memory_order_relaxed, memory_order_relaxed));
}

void budget_refill(struct budget *module, uint64_t n)
{
    if (!module || atomic_load_explicit(&module->spent, memory_order_relaxed))
        return;
    uint64_t unit = module->unit, more = n < 32 * unit / QUESTION_BYTES ? n * QUESTION_BYTES : 32 * unit;
    add_up_to(&module->read, 8 * unit, 8 * unit);
    add_up_to(&module->steps, 4 * unit, 4 * unit);
    if (module->session) {
        add_up_to(&module->session->read, more, 32 * unit);
        add_up_to(&module->session->steps, more, 16 * unit);
    }
}

static bool is_stopped(const struct budget *budget)
{
    const struct budget *session = budget->session ? budget->session : budget;

    return session->stop && atomic_load_explicit(session->stop, memory_order_relaxed);
}

/* What is not spent is paid; more than is left spends it all. */
static bool take(_Atomic int64_t *left, uint64_t n)
{
    return n <= INT64_MAX && atomic_fetch_sub_explicit(left, (int64_t)n, memory_order_relaxed) >= (int64_t)n;
}

static int spend(struct budget *budget)
{
    atomic_store_explicit(&budget->spent, true, memory_order_relaxed);
    return -EDQUOT;
}

int budget_read(struct budget *budget, uint64_t bytes)
{
    if (!budget)
        return 0;
    if (is_stopped(budget) || atomic_load_explicit(&budget->spent, memory_order_relaxed) ||
        !take(&budget->read, bytes) || (budget->session && !take(&budget->session->read, bytes)))
        return spend(budget);
    return 0;
}

int budget_step(struct budget *budget, uint64_t steps)
{
    if (!budget)
        return 0;
    if (is_stopped(budget) || atomic_load_explicit(&budget->spent, memory_order_relaxed) ||
        !take(&budget->steps, steps) || (budget->session && !take(&budget->session->steps, steps)))
        return spend(budget);
    return 0;
}

uint64_t budget_room(const struct budget *budget)
{
    if (!budget)
        return UINT64_MAX;
    int64_t left = atomic_load_explicit(&budget->held, memory_order_relaxed);
    if (budget->session) {
        int64_t outer = atomic_load_explicit(&budget->session->held, memory_order_relaxed);
        left = outer < left ? outer : left;
    }
    return left > 0 ? (uint64_t)left : 0;
}

uint64_t budget_readable(const struct budget *budget)
{
    int64_t left = budget ? atomic_load_explicit(&budget->read, memory_order_relaxed) : INT64_MAX;

    return left > 0 ? (uint64_t)left : 0;
}

int budget_fits(struct budget *budget, uint64_t bytes)
{
    return bytes <= budget_room(budget) ? 0 : spend(budget);
}

int budget_hold(struct budget *budget, uint64_t bytes)
{
    int rc = budget_fits(budget, bytes);

    if (budget && rc == 0) {
        atomic_fetch_sub_explicit(&budget->held, (int64_t)bytes, memory_order_relaxed);
        if (budget->session)
            atomic_fetch_sub_explicit(&budget->session->held, (int64_t)bytes, memory_order_relaxed);
    }
    return rc;
}

void budget_give_back(struct budget *budget, uint64_t bytes)
{
    if (budget) {
        atomic_fetch_add_explicit(&budget->held, (int64_t)bytes, memory_order_relaxed);
        if (budget->session)
            atomic_fetch_add_explicit(&budget->session->held, (int64_t)bytes, memory_order_relaxed);
    }
}

bool budget_spent(const struct budget *budget)
{
    return budget && atomic_load_explicit(&budget->spent, memory_order_relaxed);
}

#include "profile/waits.h"

#include "profile/builder.h"

#include <errno.h>

static struct waits_thread *find(const struct waits *waits, int32_t tid)
{
    uint32_t number = table_get(&waits->thread_of, (uint32_t)tid);

    return number == TABLE_NONE ? NULL : &waits->threads.items[number];
}

/* The wait is over, or is given up: a sample that weighs so much. */
static int settle(struct rk_profile_builder *b, struct waits_thread *thread, uint64_t weight)
{
    uint64_t since = thread->since;
    uint32_t how = thread->preempted ? WAITS_PREEMPTED : WAITS_BLOCKED;

    thread->since = 0;
    int64_t turn = pairs_add(&b->waits.turns, thread->origin, how);
    if (turn < 0 || turn >= WAITS_CELL)
        return turn < 0 ? (int)turn : -EOVERFLOW;
    int64_t cell = pairs_add(&b->cells, thread->stack, (uint32_t)turn | WAITS_CELL);
    return cell < 0 ? (int)cell : builder_add(b, (uint32_t)cell, since, (struct amount){weight, 1});
}

static int back(struct rk_profile_builder *builder, struct waits_thread *thread, uint64_t time)
{
    return settle(builder, thread, time > thread->since ? time - thread->since : 0);
}

int waits_begin(struct rk_profile_builder *b, int32_t tid, uint32_t stack, uint32_t origin, uint64_t time)
{
    struct waits *waits = &b->waits;
    struct waits_thread *thread = find(waits, tid), idle = {time, stack, origin, false};

    if (tid == 0)
        return settle(b, &idle, 0);
    if (!thread) {
        if (vector_reserve(&waits->threads, 1) < 0 ||
            table_put(&waits->thread_of, (uint32_t)tid, (uint32_t)waits->threads.n) < 0)
            return -ENOMEM;
        thread = &waits->threads.items[waits->threads.n++];
        *thread = (struct waits_thread){0};
    }
    int rc = thread->since ? settle(b, thread, 0) : 0; /* when it was back is not known */
    *thread = (struct waits_thread){time, stack, origin, false};
    return rc;
}

int waits_feed(struct rk_profile_builder *builder, const struct rk_record *record)
{
    struct waits *waits = &builder->waits;
    struct rk_switch change = {.size = sizeof change};
    struct rk_task task = {.size = sizeof task};

    if (record->type == RK_RECORD_EXIT && waits->threads.n && rk_record_task(record, &task) == 0) {
        struct waits_thread *thread = find(waits, task.tid);
        return thread && thread->since ? settle(builder, thread, 0) : 0;
    }
    if (rk_record_switch(record, &change) < 0)
        return 0;
    waits->seen = true;
    if (!(record->present & RK_SAMPLE_TIME))
        return 0;
    waits->last = record->time > waits->last ? record->time : waits->last;
    struct waits_thread *thread = record->present & RK_SAMPLE_TID ? find(waits, record->tid) : NULL;
    if (!thread || !thread->since)
        return 0;
    thread->preempted |= change.out && change.preempted;
    return change.out ? 0 : back(builder, thread, record->time);
}

int waits_end(struct rk_profile_builder *builder)
{
    struct waits *waits = &builder->waits;
    uint64_t end = waits->last > builder->summary.last_time ? waits->last : builder->summary.last_time;
    int rc = 0;

    for (size_t i = 0; i < waits->threads.n && rc == 0; i++)
        if (waits->threads.items[i].since)
            rc = back(builder, &waits->threads.items[i], waits->seen ? end : 0);
    return rc;
}

void waits_free(struct waits *waits)
{
    vector_free(&waits->threads);
    table_free(&waits->thread_of);
    pairs_free(&waits->turns);
}

static bool begins(const char *symbol, const char *const *with)
{
    for (; *with; with++)
        if (strncmp(symbol, *with, strlen(*with)) == 0)
            return true;
    return false;
}

bool waits_is_scheduler(const char *symbol, enum waits_how how)
{
    /* Whole names, or up to where they go on with '_' or '.': schedule_timeout, __schedule.isra.0. */
    static const char *const own[] = {"schedule",         "io_schedule",    "futex_wait",
                                      "preempt_schedule", "context_switch", NULL};
    static const char *const others[] = {
        "do_wait_for_common", "wait_for_common", "futex_do_wait", "cond_resched",
        "might_resched",      "bit_wait",        "wait_on_bit",   NULL};
    /* From what was interrupted to the scheduler: of x86, arm64, riscv. */
    static const char *const entry[] = {"irqentry_",
                                        "raw_irqentry_",
                                        "exit_to_user_mode",
                                        "syscall_exit_",
                                        "asm_",
                                        "sysvec_",
                                        "dynamic_irqentry",
                                        "common_interrupt",
                                        "do_notify_resume",
                                        "ret_to_user",
                                        "ret_from_",
                                        "el0_",
                                        "el0t_",
                                        "el1_",
                                        "el1h_",
                                        "arm64_",
                                        "do_irq",
                                        "handle_riscv_irq",
                                        "resume_userspace",
                                        "entry_SYSCALL_64_after",
                                        "do_syscall_64",
                                        NULL};
    symbol += strspn(symbol, "_");
    for (size_t i = 0; own[i]; i++) {
        size_t n = strlen(own[i]);
        if (strncmp(symbol, own[i], n) == 0 && (!symbol[n] || symbol[n] == '_' || symbol[n] == '.'))
            return true;
    }
    return begins(symbol, others) || (how == WAITS_PREEMPTED && begins(symbol, entry));
}

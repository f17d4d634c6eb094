#include "profile/waits.h"

#include "profile/builder.h"

#include <errno.h>

static struct waits_thread *find(const struct waits *waits, int32_t tid)
{
    uint32_t number = table_get(&waits->thread_of, (uint32_t)tid);

    return number == TABLE_NONE ? NULL : &waits->threads.items[number];
}

int waits_begin(struct waits *waits, int32_t tid, uint32_t cell, uint64_t time)
{
    struct waits_thread *thread = find(waits, tid);

    if (!thread) {
        if (vector_reserve(&waits->threads, 1) < 0 ||
            table_put(&waits->thread_of, (uint32_t)tid, (uint32_t)waits->threads.n) < 0)
            return -ENOMEM;
        thread = &waits->threads.items[waits->threads.n++];
    }
    *thread = (struct waits_thread){time, cell};
    return 0;
}

static int back(struct rk_profile_builder *builder, struct waits_thread *thread, uint64_t time)
{
    uint64_t since = thread->since;

    thread->since = 0;
    if (time <= since)
        return 0;
    return builder_add(builder, thread->cell, since, (struct amount){.weight = time - since});
}

int waits_feed(struct rk_profile_builder *builder, const struct rk_record *record)
{
    struct waits *waits = &builder->waits;
    struct rk_switch change = {.size = sizeof change};
    struct rk_task task = {.size = sizeof task};

    if (record->type == RK_RECORD_EXIT && waits->threads.n && rk_record_task(record, &task) == 0) {
        struct waits_thread *thread = find(waits, task.tid);
        if (thread)
            thread->since = 0;
    }
    if (rk_record_switch(record, &change) < 0)
        return 0;
    waits->seen = true;
    if (!(record->present & RK_SAMPLE_TIME))
        return 0;
    waits->last = record->time > waits->last ? record->time : waits->last;
    struct waits_thread *thread =
        change.out || !(record->present & RK_SAMPLE_TID) ? NULL : find(waits, record->tid);
    return thread && thread->since ? back(builder, thread, record->time) : 0;
}

int waits_end(struct rk_profile_builder *builder)
{
    struct waits *waits = &builder->waits;
    uint64_t end = waits->last > builder->summary.last_time ? waits->last : builder->summary.last_time;
    int rc = 0;

    for (size_t i = 0; i < waits->threads.n && waits->seen && rc == 0; i++)
        if (waits->threads.items[i].since)
            rc = back(builder, &waits->threads.items[i], end);
    return rc;
}

void waits_free(struct waits *waits)
{
    vector_free(&waits->threads);
    table_free(&waits->thread_of);
}

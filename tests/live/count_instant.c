/* rk_sets_read(): several sets as one row, each value between the two times, in the order of the sets. */
#include "session.h"

int main(void)
{
    struct session a = session_open("page-faults,task-clock", NULL, NULL),
                   b = session_open("task-clock", NULL, NULL);
    struct rk_set *sets[2] = {a.set, b.set}, *with_none[2] = {a.set, NULL};
    struct rk_value v[3] = {{0}}, before[3], kept[3];
    uint32_t states[4] = {77, 77, 77, 77};
    struct rk_instant when = RK_INIT(when), unset = {.size = 0};

    CHECK(rk_set_enable(a.set) == 0 && rk_set_enable(b.set) == 0);
    uint64_t from = now_ns();
    CHECK(rk_sets_read(sets, 2, before, NULL, 3, &when) == 0);
    CHECK(from <= when.from_ns && when.from_ns <= when.to_ns && when.to_ns <= now_ns());
    uint64_t first = when.from_ns;
    touch(500);
    busy_ms(1);
    uint64_t last = now_ns();
    CHECK(rk_sets_read(sets, 2, v, states, 3, &when) == 0 && last <= when.from_ns);
    CHECK(v[0].value - before[0].value >= 500);
    uint64_t span = when.to_ns - first; /* what counts this thread's time has counted no more */
    CHECK(v[1].value > before[1].value && v[1].value - before[1].value <= span);
    CHECK(v[2].value > before[2].value && v[2].value - before[2].value <= span);
    for (int i = 0; i < 3; i++)
        EQUAL(states[i], RK_STATE_COUNTED);
    CHECK(states[3] == 77); /* there is no fourth event */
    memcpy(kept, v, sizeof v);
    EQUAL(rk_sets_read(sets, 2, v, states, 2, &when), -EINVAL);
    EQUAL(rk_sets_read(sets, 0, v, states, 3, &when), -EINVAL);
    EQUAL(rk_sets_read(sets, 2, v, states, 3, &unset), -EINVAL);
    EQUAL(rk_sets_read(with_none, 2, v, states, 3, &when), -EINVAL);
    CHECK(memcmp(kept, v, sizeof v) == 0);
    pid_t pid = fork();
    if (pid == 0)
        _exit(rk_sets_read(sets, 2, v, states, 3, &when) == -ESTALE ? 0 : 1);
    int status = -1;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    session_close(&a);
    session_close(&b);
    return 0;
}

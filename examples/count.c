/*
 * Counts what a region of this thread does, in five lines.
 */
#include <reckon/reckon.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void work(void)
{
    char *block = calloc(100, 4096);
    for (size_t i = 0; block && i < 100; i++)
        ((volatile char *)block)[i * 4096] = 1;
    free(block);
}

int main(void)
{
    struct rk_error e = RK_INIT(e);
    struct rk_value v[2];
    struct rk_set *set;

    if (rk_set_self("task-clock,page-faults", &set, &e) < 0)
        return fprintf(stderr, "%s\n%s\n", e.what, e.remedy), 1;
    rk_set_enable(set);
    work();
    rk_set_disable(set);
    rk_set_total(set, v, NULL, 2);
    rk_set_free(set);

    printf("%" PRIu64 " ns, %" PRIu64 " page faults\n", v[0].value, v[1].value);
    return 0;
}

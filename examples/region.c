/*
 * Counts what a region of this thread does, in five lines:
 *
 *     region [EVENTS]          by default "task-clock,page-faults"
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

int main(int argc, char **argv)
{
    const char *events = argc > 1 ? argv[1] : "task-clock,page-faults";
    struct rk_error e = {.size = sizeof e};
    struct rk_value v[16];
    struct rk_set *set;

    if (rk_set_self(events, &set, &e) < 0 || rk_set_event_count(set) > 16) {
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
        return 1;
    }
    rk_set_enable(set);
    work();
    rk_set_disable(set);
    rk_set_total(set, v, NULL, rk_set_event_count(set));

    for (size_t i = 0; i < rk_set_event_count(set); i++) {
        struct rk_event event = {.size = sizeof event};
        rk_set_event_get(set, i, &event);
        if (v[i].running)
            printf("%12" PRIu64 " %s %s\n", v[i].value, event.unit, event.name);
        else
            printf("%12s %s\n", "not counted", event.name);
    }
    rk_set_free(set);
    return 0;
}

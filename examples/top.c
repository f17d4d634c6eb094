/*
 * What a process does that runs already: its hottest functions, in one second of it.
 *
 *     top PID
 */
#include <reckon/reckon.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct rk_set_options often = RK_INIT(often, .frequency = 999, .records = RK_RECORDS_PROFILE);
    struct rk_profile_options second = RK_INIT(second, .wait_ns = 1000000000);
    struct rk_error e = RK_INIT(e);
    struct rk_set *set;
    struct rk_stream *stream;
    struct rk_profile *profile;
    struct rk_aggregate *top;

    if (rk_set_process(argc > 1 ? atoi(argv[1]) : 0, "cpu-clock", &often, &set, &e) < 0 ||
        rk_stream_live(set, &stream, &e) < 0 || rk_set_enable(set) < 0 ||
        rk_profile_stream(stream, &second, &profile, NULL, &e) < 0 ||
        rk_profile_aggregate(profile, RK_PER_FUNCTION, &top, &e) < 0)
        return fprintf(stderr, "%s\n%s\n", e.what, e.remedy), 1;
    for (size_t i = 0; i < top->n && i < 10; i++)
        printf("%5.1f%%  %s\n", 100.0 * (double)top->self[i] / (double)top->weight, top->name[i]);
    return 0; /* which frees all of it */
}

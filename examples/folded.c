/*
 * A recording as folded stacks, for a flame graph.
 *
 *     folded [FILE] >stacks.txt      by default perf.data, perf's or reckon's; - is standard input
 */
#include <reckon/reckon.h>

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rk_profile_options functions = RK_INIT(functions, .flags = RK_PROFILE_NO_LINES);
    struct rk_error e = RK_INIT(e);
    struct rk_profile *profile = NULL;
    const char *path = argc > 1 ? argv[1] : "perf.data";

    int rc = rk_profile_file(path, &functions, &profile, NULL, &e);
    if (rc == 0)
        rc = rk_profile_export_fd(profile, "folded", STDOUT_FILENO, &e);
    if (rc < 0)
        fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
    rk_profile_free(profile);
    return rc < 0;
}

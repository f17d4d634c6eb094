/* Profiles of others, read: pprof, packed and plain, and folded stacks; what report, diff, merge and export then make of
 * them. */
#include "profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define STACKS "main;parse;[libc.so.6] 3\nmain;parse;read_[k] 4\nmain;run;add_[i] 5\nmain;run 1\nidle 2\n"

static int put(void *context, const void *data, size_t n)
{
    return fwrite(data, 1, n, context) == n ? 0 : -EIO;
}

/* stacks.folded, and the same as a.pprof (packed, where libdeflate is here) and plain.pprof. */
static int make_files(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *profile = NULL;
    FILE *folded = fopen("stacks.folded", "w"), *pprof = fopen("a.pprof", "w");
    struct rk_sink sink = {sizeof sink, 0, put, pprof};
    int rc = folded && pprof && fputs(STACKS, folded) >= 0 && fclose(folded) == 0 ? 0 : -EIO;

    if (rc == 0 && ((rc = rk_profile_file("stacks.folded", NULL, &profile, NULL, &e)) < 0 ||
                    (rc = rk_profile_export(profile, "pprof", &sink, &e)) < 0))
        printf("%s\n", e.what);
    rk_profile_free(profile);
    if (pprof && fclose(pprof))
        rc = -EIO;
    return rc < 0 ? rc : system("gzip -dc <a.pprof >plain.pprof") ? -EIO : 0;
}

static int make_more(const struct rk_profile *profile, const struct rk_profile *other, uint64_t *digest)
{
    struct rk_sink sink = {sizeof sink, 0, fold, digest};
    struct rk_profile_filter filter = {
        .size = sizeof filter, .symbol = "main", .callees = "run|parse", .flags = RK_SELECT_NO_INLINE};
    struct rk_profile_filter back = {.size = sizeof back, .callers = "add", .flags = RK_SELECT_REVERSE};
    struct rk_profile *merged = NULL, *part = NULL, *reversed = NULL;
    struct rk_profile_diff *diff = NULL;
    struct rk_aggregate *rows = NULL;
    int rc = 0;

    NEW(merged, rk_profile_merge((const struct rk_profile *[]){profile, other}, (const char *[]){"a", "b"}, 2,
                                 &merged, e));
    NEW(part, rk_profile_select(merged, &filter, &part, e));
    NEW(reversed, rk_profile_select(merged, &back, &reversed, e));
    NEW(diff, rk_profile_diff(profile, part, RK_PER_FUNCTION, RK_NORMALISE_WEIGHT, &diff, e));
    NEW(rows, rk_profile_aggregate(merged, RK_PER_SOURCE, &rows, e));
    *digest = fault_fold(*digest, rows->self, rows->n * sizeof *rows->self);
    for (uint32_t i = 0; rk_profile_format_name(i); i++)
        TRY(rk_profile_export(merged, rk_profile_format_name(i), &sink, e));
    TRY(rk_profile_export(reversed, "folded", &sink, e));
end:
    rk_aggregate_free(rows);
    rk_profile_diff_free(diff);
    rk_profile_free(reversed);
    rk_profile_free(part);
    rk_profile_free(merged);
    return rc;
}

static int scenario(uint64_t *digest)
{
    struct rk_profile *folded = NULL, *packed = NULL, *plain = NULL;
    uint64_t damaged = 0;
    int rc = 0;

    NEW(folded, rk_profile_file("stacks.folded", NULL, &folded, &damaged, e));
    NEW(packed, rk_profile_file("a.pprof", NULL, &packed, &damaged, e));
    NEW(plain, rk_profile_file("plain.pprof", NULL, &plain, &damaged, e));
    EXPECT(damaged == 0);
    rc = make_more(packed, folded, digest);
end:
    rk_profile_free(plain);
    rk_profile_free(packed);
    rk_profile_free(folded);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "files",
                                               .prepare = make_files,
                                               .run = scenario,
                                               .absorbed_memory = 2}, /* no libdeflate: not packed */
                      argc, argv);
}

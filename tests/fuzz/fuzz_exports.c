/*
 * Every format from a profile: the input is pprof, not packed, as fuzz_pprof reads it; a sum of its bytes says which format is
 * written. Each is text that ends with its line, JSON of balanced brackets, or bytes; and it is the same bytes again.
 */
#include "profile.h"

#include "profile/file.h"

#include <reckon/export.h>

#include <errno.h>
#include <string.h>

struct written {
    uint64_t n, hash;
    char first, last;
};

static int take(void *context, const void *data, size_t n)
{
    struct written *w = context;
    const unsigned char *bytes = data;

    if (n == 0)
        return 0;
    if (w->n == 0)
        w->first = (char)bytes[0];
    for (size_t i = 0; i < n; i++)
        w->hash = (w->hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    w->n += n;
    w->last = (char)bytes[n - 1];
    return 0;
}

static void one_format(const struct rk_profile *p, const char *format)
{
    struct written w[2] = {0};

    for (int i = 0; i < 2; i++) {
        struct rk_sink sink = {sizeof sink, 0, take, &w[i]};
        struct rk_error e = {.size = sizeof e};
        int rc = rk_profile_export(p, format, &sink, &e);
        HOLDS(rc == 0 || (rc == -EOVERFLOW && e.what[0]) || (rc == -EINVAL && e.what[0]));
    }
    HOLDS(w[0].n == w[1].n && w[0].hash == w[1].hash);
    if (strcmp(format, "json") == 0 || strcmp(format, "speedscope") == 0 || strcmp(format, "firefox") == 0)
        HOLDS(w[0].n == 0 || (w[0].first == '{' && (w[0].last == '}' || w[0].last == '\n')));
}

/* Of its rows, and of two profiles: the whole and a part of it. */
static void other_forms(const struct rk_profile *p, uint32_t choice)
{
    static const char *const rows[] = {"csv", "json"};
    struct rk_profile_filter filter = {.size = sizeof filter, .flags = RK_SELECT_COUNTS};
    struct rk_aggregate *a = NULL;
    struct rk_profile *part = NULL, *both = NULL;
    struct rk_profile_diff *diff = NULL;
    struct written w = {0};
    struct rk_sink sink = {sizeof sink, 0, take, &w};
    struct rk_error e = {.size = sizeof e};
    uint32_t per = choice % (RK_PER_SOURCE + 1);

    HOLDS(rk_profile_aggregate(p, per, &a, NULL) == 0);
    int rc = rk_aggregate_export(p, a, rows[choice / 16 % 2], &sink, &e);
    HOLDS(rc == 0 || e.what[0]);
    rk_aggregate_free(a);
    HOLDS(rk_profile_select(p, &filter, &part, NULL) == 0);
    fuzz_profile(part);
    if (choice % 8 == 0) {
        rc = rk_profile_pair_export(part, p, choice / 8 % 3, "html", &sink, &e);
        HOLDS(rc == 0 || e.what[0]);
    }
    rc = rk_profile_diff(part, p, choice % 2 ? RK_PER_FUNCTION : RK_PER_LINE, choice / 8 % 3, &diff, &e);
    HOLDS(rc == 0 || e.what[0]);
    rk_profile_diff_free(diff);
    const struct rk_profile *list[] = {p, part};
    rc = rk_profile_merge(list, NULL, 2, &both, &e);
    HOLDS(rc == 0 || e.what[0]);
    if (rc == 0)
        fuzz_profile(both);
    rk_profile_free(both);
    rk_profile_free(part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_profile *p = NULL;
    uint64_t damaged = 0;
    uint32_t sum = 0, formats = 0;

    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + data[i];
    while (rk_profile_format_name(formats))
        formats++;
    HOLDS(formats > 0);
    if (pprof_read(data, size, &p, &damaged, NULL) == 0) {
        if (sum % 4 == 0)
            other_forms(p, sum / 4);
        else
            one_format(p, rk_profile_format_name(sum / 4 % formats));
    }
    rk_profile_free(p);
    return 0;
}

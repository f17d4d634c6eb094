#include "unnamed.h"

#include "print.h"

#include <reckon/symbol.h>

#define ROWS_MOST 10

void unnamed_print(const struct rk_profile *profile, const char *whose)
{
    struct rk_profile_summary s = {.size = sizeof s};
    char count[40], module[256];

    rk_profile_summary(profile, &s);
    if (!s.unnamed)
        return;
    printf("\n%s%s could not be named (%.1f %%):\n", whose,
           print_some(s.unnamed, "sample", count, sizeof count),
           s.samples ? 100.0 * (double)s.unnamed / (double)s.samples : 0);
    for (size_t i = 0; i < rk_profile_unnamed_count(profile) && i < ROWS_MOST; i++) {
        struct rk_unnamed u = {.size = sizeof u};
        rk_profile_unnamed_get(profile, i, &u);
        printf("  %8s  %s: %s\n", print_count(u.samples, count, sizeof count),
               print_safe(u.module, module, sizeof module), rk_miss_text(u.miss));
    }
    unnamed_fixes(profile);
}

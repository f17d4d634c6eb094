/* Folded stacks: what is read stands together, and is written again with the same sums. */
#include "profile.h"

#include "profile/file.h"

#include <reckon/export.h>

#include <errno.h>
#include <string.h>

static int count(void *context, const void *data, size_t n)
{
    fuzz_touch(data, n);
    *(size_t *)context += n;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_profile *p = NULL;
    uint64_t damaged = 0;
    size_t bytes = 0;
    struct rk_sink sink = {sizeof sink, 0, count, &bytes};

    folded_is((const char *)data, size);
    int rc = folded_read((const char *)data, size, &p, &damaged);
    HOLDS(rc == 0 || rc == -EBADMSG);
    HOLDS(damaged <= size);
    if (rc == 0) {
        fuzz_profile(p);
        HOLDS(rk_profile_export(p, "folded", &sink, NULL) == 0);
        HOLDS(rk_profile_export(p, "pprof", &sink, NULL) == 0);
    }
    rk_profile_free(p);
    return 0;
}

/* pprof, not packed: what is read stands together; written as pprof and read again, its sums are the same. */
#include "profile.h"

#include "codec/deflate.h"
#include "profile/file.h"

#include <reckon/export.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct text {
    unsigned char *bytes;
    size_t n, room;
};

static int keep(void *context, const void *data, size_t n)
{
    struct text *text = context;
    if (text->n + n > text->room) {
        text->room = 2 * (text->n + n) + 4096;
        text->bytes = realloc(text->bytes, text->room);
        HOLDS(text->bytes);
    }
    memcpy(text->bytes + text->n, data, n);
    text->n += n;
    return 0;
}

static void again(const struct rk_profile *p)
{
    struct rk_profile_summary before = {.size = sizeof before}, after = {.size = sizeof after};
    struct rk_profile *twin = NULL;
    struct text text = {0};
    struct rk_sink sink = {sizeof sink, 0, keep, &text};
    void *unpacked = NULL;
    size_t n = 0;
    uint64_t damaged = 0;

    HOLDS(rk_profile_export(p, "pprof", &sink, NULL) == 0);
    rk_profile_summary(p, &before);
    if (before.samples && gzip_decode(text.bytes, text.n, 1 << 30, &unpacked, &n) == 0) {
        HOLDS(pprof_read(unpacked, n, &twin, &damaged, NULL) == 0);
        HOLDS(rk_profile_summary(twin, &after) == 0);
        HOLDS(damaged || (before.weight == after.weight && before.samples == after.samples));
    }
    rk_profile_free(twin);
    free(unpacked);
    free(text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rk_profile *p = NULL;
    uint64_t damaged = 0;
    int rc = pprof_read(data, size, &p, &damaged, NULL);

    HOLDS(rc == 0 || rc == -EBADMSG);
    if (rc == 0) {
        fuzz_profile(p);
        again(p);
    }
    rk_profile_free(p);
    return 0;
}

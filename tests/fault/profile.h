/*
 * tests/fault/profile.h: perf.data made into a profile, with names, and written out.
 */
#ifndef FAULT_PROFILE_H
#define FAULT_PROFILE_H

#include "fault.h"

#define PAGES 2 /* of a scenario: where libdeflate can't be loaded, they are not packed */

static inline int fold(void *context, const void *data, size_t n)
{
    *(uint64_t *)context = fault_fold(*(uint64_t *)context, data, n);
    return 0;
}

static inline int profile_scenario(uint64_t *digest)
{
    struct rk_stream *stream = NULL;
    struct rk_profile_builder *builder = NULL;
    struct rk_profile *profile = NULL;
    const struct rk_record *record;
    struct rk_sink sink = {sizeof sink, 0, fold, digest};
    int rc = 0;

    NEW(stream, rk_stream_file("perf.data", &stream, e));
    /* Without lines: they would be read from every debug file that is installed here. */
    struct rk_profile_options options = {.size = sizeof options,
                                         .flags = RK_PROFILE_NO_INLINE | RK_PROFILE_NO_LINES};
    NEW(builder, rk_profile_builder_open(&options, &builder, e));
    while ((rc = rk_stream_next(stream, &record)) == 1) {
        HOT(rk_profile_builder_feed(builder, stream, record));
        HOT(rk_stream_release(stream));
    }
    if (rc < 0)
        goto end;
    NEW(profile, rk_profile_builder_finish(builder, stream, &profile, e));
    for (const char *const *format = (const char *const[]){"folded", "csv", "json", "html", NULL}; *format;
         format++)
        TRY(rk_profile_export(profile, *format, &sink, e));
    TRY(rk_profile_pair_export(profile, profile, RK_NORMALISE_WEIGHT, "html", &sink, e));
end:
    EXPECT(rk_profile_free(profile) == NULL);
    EXPECT(rk_profile_builder_free(builder) == NULL);
    EXPECT(rk_stream_free(stream) == NULL);
    return rc;
}

#endif

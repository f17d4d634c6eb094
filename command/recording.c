#include "recording.h"

#include "handles.h"
#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct rk_profile *recording_profile(const char *verb, const char *path)
{
    handle_stream struct rk_stream *stream = NULL;
    struct rk_profile_builder *builder = NULL;
    struct rk_profile *profile = NULL;
    struct rk_error e = {.size = sizeof e};
    const struct rk_record *record;
    uint64_t damaged = 0;
    int rc;

    if (rk_stream_file(path ? path : RECORDING_DEFAULT, &stream, &e) < 0 ||
        rk_profile_builder_open(NULL, &builder, &e) < 0) {
        print_error(verb, &e);
        return NULL;
    }
    while ((rc = rk_stream_next(stream, &record)) == 1) {
        rc = rk_profile_feed(builder, stream, record);
        if (rc == -EBADMSG)
            damaged++;
        else if (rc < 0)
            break;
        rk_stream_release(stream);
    }
    if (rc == -ENOMEM) {
        fprintf(stderr, "reckon %s: out of memory\n", verb);
        rk_profile_builder_close(builder);
        return NULL;
    }
    if (rc < 0 && rk_stream_explain(stream, &e) == 0)
        print_error(verb, &e); /* what was read before it is still shown */
    if (damaged)
        fprintf(stderr, "reckon %s: %ju damaged records were left out\n", verb, (uintmax_t)damaged);
    if (rk_profile_finish(builder, stream, &profile, &e) < 0)
        print_error(verb, &e);
    return profile;
}

void recording_print_loss(FILE *to, const struct rk_loss *loss)
{
    char kept[40], lost[40], skipped[40];

    fprintf(to, "%s kept, %s lost, %s skipped", print_some(loss->kept, "sample", kept, sizeof kept),
            loss->present & RK_LOSS_LOST ? print_count(loss->lost, lost, sizeof lost) : "an unknown number",
            loss->present & RK_LOSS_SKIPPED ? print_count(loss->skipped, skipped, sizeof skipped)
                                            : "an unknown number");
}

/* `reckon dump`: a recording read record by record, each one decoded and exported. */
#include "fault.h"
#include "recording.h"

static int fold(void *context, const void *data, size_t n)
{
    *(uint64_t *)context = fault_fold(*(uint64_t *)context, data, n);
    return 0;
}

static int scenario(uint64_t *digest)
{
    struct rk_stream *stream = NULL;
    const struct rk_record *record;
    struct rk_sink sink = {sizeof sink, 0, fold, digest};
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_stream_info info = {.size = sizeof info};
    uint64_t records = 0;
    int rc = 0;

    NEW(stream, rk_stream_file("perf.data", &stream, e));
    HOT(rk_stream_info(stream, &info));
    while ((rc = rk_stream_next(stream, &record)) == 1) {
        TRY(rk_record_export(stream, record, "json", &sink, NULL, e));
        TRY(rk_record_export(stream, record, "text", &sink, NULL, e));
        HOT(rk_stream_release(stream));
        records++;
    }
    if (rc < 0) {
        struct rk_error why = {.size = sizeof why};
        EXPECT(rk_stream_explain(stream, &why) == 0 && why.code == rc && why.what[0]);
        goto end;
    }
    HOT(rk_stream_loss(stream, RK_NO_EVENT, &loss));
    *digest = fault_fold(*digest, &records, sizeof records);
    *digest = fault_fold(*digest, &loss.kept, sizeof loss.kept);
end:
    EXPECT(rk_stream_free(stream) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "read", .prepare = make_recording, .run = scenario},
                      argc, argv);
}

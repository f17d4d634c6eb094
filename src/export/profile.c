/*
 * A profile, by the name of a format.
 */
#include "base/error.h"
#include "base/sink.h"
#include "export/formats.h"

static const char *const names[] = {"folded",  "csv",         "json", "pprof", "speedscope",
                                    "firefox", "perf-script", "html", NULL};
static void (*const writers[])(const struct rk_profile *, struct output *) = {
    export_folded,     export_csv,     export_json,        export_pprof,
    export_speedscope, export_firefox, export_perf_script, export_html};

const char *rk_profile_format_name(uint32_t index)
{
    return index < sizeof names / sizeof *names ? names[index] : NULL;
}

int rk_profile_export(const struct rk_profile *profile, const char *format, const struct rk_sink *sink,
                      struct rk_error *e)
{
    int which = export_format("profiles", names, format, sink, e);
    if (which < 0)
        return which;
    if (!profile)
        return fail_null(e, RK_STAGE_EXPORT, "rk_profile_export", "profile");

    struct output out = output_to(sink);
    writers[which](profile, &out);
    return export_end(&out, e);
}

int rk_profile_export_fd(const struct rk_profile *profile, const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_profile_export(profile, format, &sink, e);
}

int rk_profile_export_path(const struct rk_profile *profile, const char *format, const char *path,
                           struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc : sink_file_close(&file, rk_profile_export(profile, format, &file.sink, e), e);
}

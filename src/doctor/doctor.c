#include "doctor/doctor.h"

#include "base/error.h"
#include "base/json.h"
#include "base/sink.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * "… sysctl -w a.b=1 c.d=2   # …" → the same for /etc/sysctl.d, which is read at every start. One way to say a setting
 * is enough: the remedy is what has it.
 */
static void keep(struct doctor_check *check)
{
    const char *at = strstr(check->remedy, "sysctl -w "), *file = "/etc/sysctl.d/99-reckon.conf";
    char settings[sizeof check->keep / 2];
    size_t n = 0;

    if (!at)
        return;
    for (at += strlen("sysctl -w "); n < sizeof settings;) {
        size_t word = strcspn(at, " "), key = strcspn(at, "= ");
        if (word == 0 || key == word) /* the settings end */
            break;
        n += (size_t)snprintf(settings + n, sizeof settings - n, "%.*s = %.*s\\n", (int)key, at,
                              (int)(word - key - 1), at + key + 1);
        at += word + (at[word] == ' ');
    }
    if (n > 0 && n < sizeof settings)
        snprintf(check->keep, sizeof check->keep, "printf '%s' | sudo tee -a %s", settings, file);
}

int rk_doctor_run(struct rk_host *host, struct rk_doctor **ret, struct rk_error *e)
{
    if (!host || !ret)
        return fail_argument(e, RK_STAGE_HOST, "no host");
    struct rk_doctor *doctor = calloc(1, sizeof *doctor + doctor_tryings_n * sizeof *doctor->checks);
    if (!doctor)
        return fail_memory(e, RK_STAGE_HOST);
    snprintf(doctor->kernel, sizeof doctor->kernel, "%s", rk_host_kernel(host));
    for (size_t i = 0; i < doctor_tryings_n; i++) {
        struct doctor_check *check = &doctor->checks[doctor->n++];
        check->name = doctor_tryings[i].name;
        check->title = doctor_tryings[i].title;
        doctor_tryings[i].run(host, check);
        keep(check);
    }
    *ret = doctor;
    return 0;
}

struct rk_doctor *rk_doctor_free(struct rk_doctor *doctor)
{
    free(doctor);
    return NULL;
}

size_t rk_doctor_check_count(const struct rk_doctor *doctor)
{
    return doctor ? doctor->n : 0;
}

int rk_doctor_check_get(const struct rk_doctor *doctor, size_t index, struct rk_check *ret)
{
    if (!doctor)
        return -EINVAL;
    if (index >= doctor->n)
        return -ERANGE;
    const struct doctor_check *check = &doctor->checks[index];
    struct rk_check ours = {
        .size = sizeof ours,
        .verdict = check->verdict,
        .cause = check->cause,
        .name = check->name,
        .title = check->title,
        .what = check->what,
        .remedy = check->remedy,
        .keep = check->keep,
    };
    return result_give(ret, &ours, sizeof ours);
}

static void write_check(struct json *j, const struct doctor_check *check)
{
    static const char *const verdicts[] = {
        [RK_VERDICT_YES] = "yes", [RK_VERDICT_PARTLY] = "partly", [RK_VERDICT_NO] = "no"};

    json_open(j, NULL, '{');
    json_text(j, "name", check->name);
    json_text(j, "title", check->title);
    json_text(j, "verdict", verdicts[check->verdict]);
    json_text(j, "what", check->what);
    if (check->verdict != RK_VERDICT_YES) {
        json_text(j, "cause", rk_cause_name(check->cause));
        json_text(j, "remedy", check->remedy);
        json_text(j, "keep", check->keep);
    }
    json_close(j, '}');
}

int rk_doctor_export(const struct rk_doctor *doctor, const char *format, const struct rk_sink *sink,
                     struct rk_error *e)
{
    if (!doctor || !sink || sink->size < sizeof *sink || !sink->write)
        return fail_argument(e, RK_STAGE_EXPORT,
                             "no diagnosis, or a sink without a write function or its size");
    if (!format || strcmp(format, "json") != 0)
        return fail_argument(e, RK_STAGE_EXPORT, "no format '%.40s' for a diagnosis; there is: json",
                             format ? format : "(null)");

    struct output out = output_to(sink);
    struct json j = json_to(&out);
    json_open(&j, NULL, '{');
    json_text(&j, "version", RK_VERSION);
    json_text(&j, "kernel", doctor->kernel);
    json_open(&j, "checks", '[');
    for (size_t i = 0; i < doctor->n; i++)
        write_check(&j, &doctor->checks[i]);
    json_close(&j, ']');
    json_close(&j, '}');
    output_bytes(&out, "\n", 1);
    return output_fail(output_end(&out), e);
}

int rk_doctor_export_fd(const struct rk_doctor *doctor, const char *format, int fd, struct rk_error *e)
{
    const struct rk_sink sink = sink_fd(fd);

    return rk_doctor_export(doctor, format, &sink, e);
}

int rk_doctor_export_path(const struct rk_doctor *doctor, const char *format, const char *path,
                          struct rk_error *e)
{
    struct sink_file file;
    int rc = sink_file_open(&file, path, e);

    return rc < 0 ? rc : sink_file_close(&file, rk_doctor_export(doctor, format, &file.sink, e), e);
}

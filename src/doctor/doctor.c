#include "doctor/doctor.h"

#include "base/error.h"
#include "base/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    }
    *ret = doctor;
    return 0;
}

struct rk_doctor *rk_doctor_free(struct rk_doctor *doctor)
{
    free(doctor);
    return NULL;
}

size_t rk_doctor_checks(const struct rk_doctor *doctor)
{
    return doctor ? doctor->n : 0;
}

int rk_doctor_check(const struct rk_doctor *doctor, size_t index, struct rk_check *ret)
{
    if (!doctor || index >= doctor->n)
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

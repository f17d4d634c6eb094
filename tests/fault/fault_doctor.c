/* `reckon doctor`: finds out by trying, so that most faults are findings, and none may end it without a word. */
#include "fault.h"

static int discard(void *context, const void *data, size_t n)
{
    (void)context, (void)data, (void)n;
    return 0;
}

static int scenario(uint64_t *digest)
{
    struct rk_host *host = NULL;
    struct rk_doctor *doctor = NULL;
    struct rk_sink sink = {sizeof sink, 0, discard, NULL};
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(doctor, rk_doctor_run(host, &doctor, e));
    EXPECT(rk_doctor_check_count(doctor) >= 4);
    for (size_t i = 0; i < rk_doctor_check_count(doctor); i++) {
        struct rk_check c = {.size = sizeof c};
        HOT(rk_doctor_check_get(doctor, i, &c));
        EXPECT(c.name[0] && c.title[0] && (c.verdict == RK_VERDICT_YES || c.what[0]));
        *digest = fault_fold(*digest, &c.verdict, sizeof c.verdict);
    }
    TRY(rk_doctor_export(doctor, "json", &sink, e));
end:
    EXPECT(rk_doctor_free(doctor) == NULL);
    EXPECT(rk_host_free(host) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "doctor",
                                               .run = scenario,
                                               .absorbed_memory = UINT32_MAX,
                                               .repeats = 1,
                                               .one_error = true},
                      argc, argv);
}

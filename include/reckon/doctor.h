/*
 * reckon/doctor.h: finds out what can be measured here, and what to do about the rest.
 *
 * Each verdict is found by trying. The checks come in the order of what people want: count my program,
 * sample it, see the kernel, other users' programs, the whole machine, hardware events, reads without a
 * system call, tracepoints, symbols.
 *
 *     rk_doctor_run(host, &d, &e);
 *     for (size_t i = 0; i < rk_doctor_check_count(d); i++) {
 *         struct rk_check c = RK_INIT(c);
 *         rk_doctor_check_get(d, i, &c);
 *         printf("%s: %s\n", c.title, c.verdict == RK_VERDICT_YES ? "yes" : c.what);
 *     }
 *     rk_doctor_free(d);
 */
#ifndef RECKON_DOCTOR_H
#define RECKON_DOCTOR_H

#include <reckon/error.h>
#include <reckon/host.h>
#include <reckon/sink.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_doctor;

enum rk_verdict {
    RK_VERDICT_YES,
    RK_VERDICT_PARTLY, /* `what` says what is missing */
    RK_VERDICT_NO,
};

/* What was tried, and the result. Strings live as long as the doctor, none is NULL. */
struct rk_check {
    uint32_t size;    /* set by the caller */
    uint32_t verdict; /* enum rk_verdict */
    uint32_t cause;   /* enum rk_cause, where not YES */
    uint32_t reserved;
    const char *name;   /* stable word: "count", "sample", "kernel", "others", "machine", "hardware" … */
    const char *title;  /* "count what my program does" */
    const char *what;   /* what was tried, and what happened */
    const char *remedy; /* a command to paste, or "" */
    /* If the remedy is a kernel setting: the command that makes it permanent, in /etc/sysctl.d. Else "". */
    const char *keep;
};

RK_API int rk_doctor_run(struct rk_host *host, struct rk_doctor **ret, struct rk_error *e);
RK_API struct rk_doctor *rk_doctor_free(struct rk_doctor *doctor);
RK_API size_t rk_doctor_check_count(const struct rk_doctor *doctor);
RK_API int rk_doctor_check_get(const struct rk_doctor *doctor, size_t index, struct rk_check *ret);

/* Writes the checks as "json", to a sink, a descriptor or a file (reckon/sink.h). Returns 0 or -errno. */
RK_API int rk_doctor_export(const struct rk_doctor *doctor, const char *format, const struct rk_sink *sink,
                            struct rk_error *e);
RK_API int rk_doctor_export_fd(const struct rk_doctor *doctor, const char *format, int fd,
                               struct rk_error *e);
RK_API int rk_doctor_export_path(const struct rk_doctor *doctor, const char *format, const char *path,
                                 struct rk_error *e);

#ifdef __cplusplus
}
#endif
#endif

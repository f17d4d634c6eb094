/*
 * A diagnosis: the checks in their order, each with its verdict and what was found. Texts are the
 * check's own.
 */
#ifndef DOCTOR_DOCTOR_H
#define DOCTOR_DOCTOR_H

#include <reckon/doctor.h>

struct doctor_check {
    const char *name, *title; /* static */
    uint32_t verdict, cause;
    char what[256], remedy[256], keep[320];
};

struct doctor_trying {
    const char *name, *title;
    void (*run)(struct rk_host *host, struct doctor_check *check);
};

/* What is tried, in order. */
extern const struct doctor_trying doctor_tryings[];
extern const size_t doctor_tryings_n;

struct rk_doctor {
    char kernel[96];
    size_t n;
    struct doctor_check checks[];
};

#endif

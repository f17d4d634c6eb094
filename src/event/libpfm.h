/*
 * libpfm4: the vendors' names. The only file that knows it; loaded at the first question, by the process once.
 */
#ifndef EVENT_LIBPFM_H
#define EVENT_LIBPFM_H

#include "base/abi.h"

#include <stdbool.h>
#include <stddef.h>

enum libpfm_answer {
    LIBPFM_ENCODED = 0,
    LIBPFM_MISSING, /* the library is not installed, or can't start */
    LIBPFM_NO_NAME, /* it knows no such event for this processor */
    LIBPFM_NO_PMU,  /* it knows the event, and the kernel shows it no PMU for it */
    LIBPFM_WRONG,   /* it knows the event, and not what stands behind: umask, modifier */
};

/* Encodes a name with umasks and modifiers, "skl::INST_RETIRED:ANY_P:u": of *ret, type, config … config2 and the
 * exclude and precise flags. LIBPFM_WRONG: *ret_why says what is, in libpfm4's words. */
enum libpfm_answer libpfm_encode(const char *name, struct perf_attr *ret, const char **ret_why);

/* What libpfm4 calls the PMU of that name, which it takes this machine to have (*ret_here) or not; NULL: it has none of
 * that name, or is missing. */
const char *libpfm_pmu(const char *name, size_t n, bool *ret_here);

/* An event of one of the PMUs that libpfm4 takes this machine to have. Texts are libpfm4's and stay. */
struct libpfm_event {
    const char *pmu, *name, *description;
    int index, attributes; /* for libpfm_umask() */
    bool core;             /* counted by a core PMU */
};

/* The number-th attribute of the event, number < event->attributes: true and its texts where that is a umask. Umasks
 * come before what else there is, and each call costs libpfm4 a walk over all of them. */
struct libpfm_umask {
    const char *name, *description;
};
bool libpfm_umask(const struct libpfm_event *event, int number, struct libpfm_umask *ret);

/* Calls `each` for every event until it returns non-zero, which is returned; 0, or -ENOENT: the library is missing.
 * That libpfm4 lists a PMU does not mean that the kernel has it. */
int libpfm_each(int (*each)(void *context, const struct libpfm_event *event), void *context);

#endif

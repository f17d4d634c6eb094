/*
 * reckon/error.h: what failed, why, and the smallest fix.
 *
 * Every function that can fail returns 0 or a positive count on success and -errno on failure;
 * the global errno is not part of the interface. Results (`ret_…`, `ret`) are untouched on failure.
 *
 * Calls that are not hot take an optional, caller-owned `struct rk_error` as their last argument.
 * It may be NULL. The library fills it only on failure:
 *
 *     struct rk_error e = RK_INIT(e);
 *     if (rk_events_parse(host, "cycels", &events, &e) < 0)
 *         fprintf(stderr, "%s\n%s\n", e.what, e.remedy);
 *
 * Hot calls (read, next, release) take none; a cold call on the same handle explains them
 * afterwards (rk_set_explain).
 */
#ifndef RECKON_ERROR_H
#define RECKON_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RK_VERSION "0.1.0"
#define RK_VERSION_NUMBER 1000 /* major × 1,000,000 + minor × 1,000 + patch */

/*
 * Sets `size`, and the members that follow, of any struct that begins with it. The rest is zero, the default:
 *
 *     struct rk_error e = RK_INIT(e);
 *     struct rk_set_options o = RK_INIT(o, .frequency = 999);
 */
#define RK_INIT(...) RK_INIT_(__VA_ARGS__, )
#define RK_INIT_(name, ...)               \
    {                                     \
        .size = sizeof(name), __VA_ARGS__ \
    }

#if defined(__GNUC__)
#define RK_API __attribute__((visibility("default")))
#else
#define RK_API
#endif

/* Where it failed: the room that met the error. */
enum rk_stage {
    RK_STAGE_NONE,
    RK_STAGE_HOST,    /* asking the machine what it has */
    RK_STAGE_EVENT,   /* reading an event's name */
    RK_STAGE_TARGET,  /* finding or starting what is measured */
    RK_STAGE_OPEN,    /* perf_event_open(2) */
    RK_STAGE_MAP,     /* mmap(2) of a ring or a counter page */
    RK_STAGE_CONTROL, /* ioctl(2): enable, disable, filter … */
    RK_STAGE_READ,    /* read(2) of a counter */
    RK_STAGE_STREAM,  /* reading records, live or from a file */
    RK_STAGE_CAPTURE, /* writing a recording */
    RK_STAGE_IMAGE,   /* mappings and modules */
    RK_STAGE_SYMBOL,  /* names */
    RK_STAGE_PROFILE, /* building a profile */
    RK_STAGE_EXPORT,  /* writing a result out */
};

/* Why it failed. rk_cause_name() gives the lower-case word used in JSON ("paranoid", "no-pmu" …). */
enum rk_cause {
    RK_CAUSE_UNKNOWN,         /* the kernel's word (errno) is all that is known */
    RK_CAUSE_ARGUMENT,        /* an invalid argument: a bug in the caller */
    RK_CAUSE_SYNTAX,          /* text that does not parse; `position` says where */
    RK_CAUSE_NO_EVENT,        /* no such event is known */
    RK_CAUSE_NO_PMU,          /* the event is known; this machine has no PMU for it */
    RK_CAUSE_UNSUPPORTED,     /* this PMU is unable to do it */
    RK_CAUSE_KERNEL_OLD,      /* this kernel does not know the feature */
    RK_CAUSE_PARANOID,        /* kernel.perf_event_paranoid forbids it */
    RK_CAUSE_CAPABILITY,      /* a capability is missing, whatever the paranoid level */
    RK_CAUSE_SECCOMP,         /* perf_event_open is filtered away (container) */
    RK_CAUSE_NO_PROCESS,      /* no such process or thread, or it has ended */
    RK_CAUSE_NOT_YOURS,       /* the process belongs to another user or is not dumpable */
    RK_CAUSE_NO_CPU,          /* no such CPU, or it is offline */
    RK_CAUSE_DESCRIPTORS,     /* RLIMIT_NOFILE */
    RK_CAUSE_MLOCK,           /* kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK */
    RK_CAUSE_RATE,            /* kernel.perf_event_max_sample_rate */
    RK_CAUSE_MEMORY,          /* out of memory */
    RK_CAUSE_BUSY,            /* another user holds the PMU exclusively */
    RK_CAUSE_STARVED,         /* pinned, and no counter of the PMU was free */
    RK_CAUSE_FORKED,          /* a handle used in a forked child (-ESTALE) */
    RK_CAUSE_NO_FILE,         /* a file that is missing or unreadable */
    RK_CAUSE_BAD_FILE,        /* a damaged file, or one of another kind; `what` gives the offset */
    RK_CAUSE_NO_SPACE,        /* disk full, or a closed pipe */
    RK_CAUSE_NO_COMMAND,      /* command not found or not executable */
    RK_CAUSE_MISSING_LIBRARY, /* a library loaded on demand is not installed */
    RK_CAUSE_RACE,            /* something started or ended while it was examined */
};

/*
 * Filled on failure. The caller sets `size`; the library writes no byte beyond it.
 * The three texts are single sentences without a final newline, never NULL, maybe empty.
 */
struct rk_error {
    uint32_t size;     /* sizeof(struct rk_error), set by the caller */
    int32_t code;      /* -errno, the same as the call returned */
    uint32_t stage;    /* enum rk_stage */
    uint32_t cause;    /* enum rk_cause */
    int32_t pid, cpu;  /* what was being opened; -1 where it does not apply */
    uint32_t position; /* byte in the event text, for RK_CAUSE_SYNTAX and RK_CAUSE_NO_EVENT */
    uint32_t reserved;
    char event[128];  /* the event's name, or "" */
    char what[256];   /* what failed and why: "cycles: no hardware PMU on this machine …" */
    char remedy[256]; /* the smallest fix, a command to paste where there is one; or "" */
};

/* The version of the library that runs. RK_VERSION is the one that the program was built against. */
RK_API const char *rk_version(void);

/* The same as a number, to be compared with RK_VERSION_NUMBER: 1000 for "0.1.0". */
RK_API uint32_t rk_version_number(void);

/* "no-pmu" for RK_CAUSE_NO_PMU, "unknown" for what this release does not know. Never NULL. */
RK_API const char *rk_cause_name(uint32_t cause);

/* "open" for RK_STAGE_OPEN. Never NULL. */
RK_API const char *rk_stage_name(uint32_t stage);

#ifdef __cplusplus
}
#endif
#endif

/*
 * A PMU from inside: one directory below /sys/bus/event_source/devices.
 *
 *     type            attr.type
 *     format/NAME     where the field NAME lies: "config:0-7,32-35", "config1:0-63"
 *     events/NAME     an alias: a name for some terms, "event=0x3c,umask=0x01"
 *     events/NAME.scale, NAME.unit, NAME.per-pkg, NAME.snapshot    what an alias' count means
 *     cpus            a core PMU: the CPUs that have it
 *     cpumask         any other: the CPUs to open it on
 *     caps/NAME       what it can do
 *
 * Names of fields and aliases are read with one look at their directory; the text of each when it is asked for,
 * once. What was handed out lives as long as the host.
 */
#ifndef HOST_PMU_H
#define HOST_PMU_H

#include "base/vector.h"

#include <reckon/host.h>
#include <stdbool.h>

/* An answer that may be missing: asked tells that `rc` holds; rc 0: `value` does too. */
struct host_answer {
    bool asked;
    int rc;
    int64_t value;
};

#define PMU_WORDS 5 /* config, config1 … config4 */

struct pmu_format {
    char *name;
    struct host_answer read; /* rc only; what follows holds where it is 0 */
    uint32_t word;           /* 0: config, 1: config1 … */
    uint64_t mask;           /* its bits, in which the value's bits lie in ascending order */
};

struct pmu_alias {
    char *name;
    struct host_answer read; /* rc only; what follows holds where it is 0 */
    char *terms;             /* "event=0x3c,umask=0x01" */
    char *unit;              /* "" */
    double scale;            /* 1.0 */
    bool per_package;        /* one count per socket, whatever CPU it is opened on */
    bool snapshot;           /* a level, not a sum: no deltas */
};

struct host_pmu {
    char *name;
    struct host_answer type;
    struct host_answer core; /* 1 or 0 */
    struct host_answer formats_read, aliases_read, cpus_read;
    VECTOR(struct pmu_format) formats; /* by name */
    VECTOR(struct pmu_alias) aliases;  /* by name */
    struct {
        int32_t *items;
        size_t n;
    } cpus;
};

/* The PMU of that name, or NULL with the reason in *ret_rc (-ENOENT: no such PMU, or no sysfs). */
struct host_pmu *host_pmu_find(struct rk_host *host, const char *name, int *ret_rc);

/* The index-th by name; index < host_pmus(). */
struct host_pmu *host_pmu_at(struct rk_host *host, size_t index);

/* The PMU with that attr.type, or NULL. Reads the type of each PMU up to it. */
struct host_pmu *host_pmu_of_type(struct rk_host *host, uint32_t type);

/* perf_event_attr.type of the PMU: 0 or -errno. */
int host_pmu_type(struct rk_host *host, struct host_pmu *pmu, uint32_t *ret);

/* 1 where the PMU counts what a core does, 0, or -errno. */
int host_pmu_core(struct rk_host *host, struct host_pmu *pmu);

/*
 * The core PMUs, by type: several on hybrid CPUs, each with its own kind of core. How many, 0 also where there is no
 * sysfs to tell, or -errno. Opens the directory and a file or two, however many PMUs there are.
 */
int host_cores(struct rk_host *host, struct host_pmu *const **ret);

/* The field of n bytes of name: 0, -ENOENT, or -errno where its text can't be read (-EBADMSG: or understood). */
int host_pmu_format(struct rk_host *host, struct host_pmu *pmu, const char *name, size_t n,
                    const struct pmu_format **ret);
/* How many fields, or -errno; the index-th, whether its text can be read or not. */
int host_pmu_formats(struct rk_host *host, struct host_pmu *pmu);
const struct pmu_format *host_pmu_format_at(struct rk_host *host, struct host_pmu *pmu, size_t index);

/* The same for aliases. */
int host_pmu_alias(struct rk_host *host, struct host_pmu *pmu, const char *name, size_t n,
                   const struct pmu_alias **ret);
int host_pmu_aliases(struct rk_host *host, struct host_pmu *pmu);
const struct pmu_alias *host_pmu_alias_at(struct rk_host *host, struct host_pmu *pmu, size_t index);

/* The CPUs in `cpus` or `cpumask`: 0; -ENOENT: the PMU has neither, it can be opened on any; -errno. */
int host_pmu_cpus(struct rk_host *host, struct host_pmu *pmu, const int32_t **ret, size_t *ret_n);

/* caps/NAME as text: its length, -ENOENT, or -errno. Not remembered. */
int host_pmu_cap(struct rk_host *host, const struct host_pmu *pmu, const char *name, char *buffer,
                 size_t size);

/* Bits of a field's text, "config1:0-7,32": 0 or -EBADMSG. */
int pmu_format_parse(const char *text, uint32_t *ret_word, uint64_t *ret_mask);

/* Within host/: frees a PMU's parts; a file of a PMU, its path below the root. */
void host_pmu_done(struct host_pmu *pmu);
#define PMU_PATH 512
int host_pmu_path(const struct host_pmu *pmu, const char *directory, const char *name, const char *suffix,
                  char path[static PMU_PATH]);

#endif

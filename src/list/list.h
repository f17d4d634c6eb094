/*
 * A list from inside, and the gathering of it.
 *
 * Each source (generic.c, pmus.c, tracepoints.c, probes.c) makes entries on the stack with strings of its own, asks
 * whether they are wanted, tries them, and adds them: gather_add() copies the strings. So nothing is opened that is
 * not shown, and a source knows nothing of words or memory.
 */
#ifndef LIST_LIST_H
#define LIST_LIST_H

#include "base/arena.h"
#include "base/vector.h"

#include <reckon/list.h>
#include <stdbool.h>

struct rk_list {
    struct arena arena;
    VECTOR(struct rk_list_entry) entries;
    char kernel[96];
};

struct gather {
    struct rk_host *host;
    struct rk_list *list;
    struct rk_list_options options;
    bool all, searching;
    struct rk_error why; /* of the last trial: entries point into it until they are added */
};

/* An entry with nothing but empty strings. */
struct rk_list_entry entry_new(const char *group, const char *name, const char *about);
void entry_encode(struct rk_list_entry *entry, uint32_t type, uint64_t config);

/* Whether the entry has all of the words. */
bool gather_wanted(const struct gather *g, const struct rk_list_entry *entry);

/* Whether --pmu takes this one; true where it was not said. */
bool gather_pmu(const struct gather *g, const char *pmu);

/* Copies the entry into the list: 0 or -ENOMEM. */
int gather_add(struct gather *g, const struct rk_list_entry *entry);

/* Where an event is opened. */
struct trial_place {
    int32_t cpu;      /* -1: on this thread; else whatever runs on that CPU */
    uint32_t bp_type; /* breakpoints */
    uint64_t period;  /* of sampling, or 0 */
    int also;         /* an errno that comes only behind the check of rights, and so means yes; 0: none */
};

/* Opens the encoded entry and closes it again: fills able, cause, what, remedy. */
void trial_run(struct gather *g, struct rk_list_entry *entry, const struct trial_place *place);

/* The same answer for another entry. */
void trial_copy(struct rk_list_entry *entry, const struct rk_list_entry *from);

/* The sources: 0, or -errno (out of memory, descriptors) with nothing said yet. */
int gather_hardware(struct gather *g);
int gather_cache(struct gather *g);
int gather_software(struct gather *g);
int gather_pmus(struct gather *g);
int gather_tracepoints(struct gather *g);
int gather_probes(struct gather *g);
int gather_vendor(struct gather *g);

/* What a name of a vendor's or of sysfs is known to mean, or "". */
const char *alias_about(const char *name);

#endif

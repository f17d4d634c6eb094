/*
 * The structs are libpfm4's, which has kept them since 4.0 and checks the size that it is given.
 */
#include "event/libpfm.h"

#include "sys/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum {
    PFM_SUCCESS = 0,
    PFM_NO_SUPPORT = -1,
    PFM_UMASK = -6,
    PFM_FEATURES = -5,
    PFM_ATTRIBUTE = -8, /* … -12: what stands behind the name */
    PFM_TOO_SMALL = -12,
    PFM_OS_NONE = 0,
    PFM_OS_PERF_EXT = 2,
    PFM_ATTRIBUTE_UMASK = 1,
    PFM_PMU_CORE = 1,
    PFM_PLM_ALL = 0x01 | 0x08 | 0x10, /* kernel, user, hypervisor */
    PFM_PMU_MAX = 1024,               /* more than there are */
};

struct pfm_encode {
    void *attr;
    char **text;
    size_t size;
    int index, cpu, flags, pad;
};

struct pfm_pmu {
    const char *name, *description;
    size_t size;
    int pmu, type, events, first, encoding, counters, fixed;
    unsigned flags; /* bit 0: libpfm4 thinks that it is here */
};

struct pfm_event {
    const char *name, *description, *same_as;
    size_t size;
    uint64_t code;
    int pmu, data, index, attributes, reserved;
    unsigned flags;
};

struct pfm_attribute {
    const char *name, *description, *same_as;
    size_t size;
    uint64_t code;
    int type, index, control;
    unsigned flags;
    uint64_t value;
};

/* Filled once, before anyone reads it. */
static struct {
    bool started;
    int (*encode)(const char *text, int levels, int os, void *argument);
    int (*pmu)(int pmu, struct pfm_pmu *ret);
    int (*event)(int index, int os, struct pfm_event *ret);
    int (*next)(int index);
    int (*attribute)(int event, int index, int os, struct pfm_attribute *ret);
    const char *(*error)(int code);
} pfm;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void start(void)
{
    void *library = sys_library("libpfm.so.4");
    int (*initialize)(void);

    if (!library)
        return;
    /* POSIX: a function's address comes as an object's. */
    *(void **)&initialize = sys_library_function(library, "pfm_initialize");
    *(void **)&pfm.encode = sys_library_function(library, "pfm_get_os_event_encoding");
    *(void **)&pfm.pmu = sys_library_function(library, "pfm_get_pmu_info");
    *(void **)&pfm.event = sys_library_function(library, "pfm_get_event_info");
    *(void **)&pfm.next = sys_library_function(library, "pfm_get_event_next");
    *(void **)&pfm.attribute = sys_library_function(library, "pfm_get_event_attr_info");
    *(void **)&pfm.error = sys_library_function(library, "pfm_strerror");
    pfm.started = initialize && pfm.encode && pfm.pmu && pfm.event && pfm.next && pfm.attribute &&
                  pfm.error && initialize() == PFM_SUCCESS;
}

enum libpfm_answer libpfm_encode(const char *name, struct perf_attr *ret, const char **ret_why)
{
    union {
        struct perf_attr attr;
        unsigned char room[512]; /* libpfm4's may be longer one day */
    } filled = {.room = {0}};
    struct pfm_encode argument = {.attr = &filled, .size = sizeof argument};

    pthread_once(&once, start);
    if (!pfm.started)
        return LIBPFM_MISSING;
    int rc = pfm.encode(name, PFM_PLM_ALL, PFM_OS_PERF_EXT, &argument);
    if (rc == PFM_SUCCESS) {
        *ret = filled.attr;
        return LIBPFM_ENCODED;
    }
    if (rc == PFM_NO_SUPPORT)
        return LIBPFM_NO_PMU;
    if (rc == PFM_UMASK || rc == PFM_FEATURES || (rc <= PFM_ATTRIBUTE && rc >= PFM_TOO_SMALL)) {
        *ret_why = pfm.error(rc);
        return LIBPFM_WRONG;
    }
    return LIBPFM_NO_NAME;
}

const char *libpfm_pmu(const char *name, size_t n, bool *ret_here)
{
    pthread_once(&once, start);
    for (int i = 0; pfm.started && i < PFM_PMU_MAX; i++) {
        struct pfm_pmu pmu = {.size = sizeof pmu};
        if (pfm.pmu(i, &pmu) != PFM_SUCCESS || strlen(pmu.name) != n || memcmp(pmu.name, name, n) != 0)
            continue;
        *ret_here = pmu.flags & 1;
        return pmu.description;
    }
    return NULL;
}

int libpfm_each(int (*each)(void *context, const struct libpfm_event *event), void *context)
{
    int rc = 0;

    pthread_once(&once, start);
    if (!pfm.started)
        return -ENOENT;
    for (int i = 0; i < PFM_PMU_MAX && rc == 0; i++) {
        struct pfm_pmu pmu = {.size = sizeof pmu};
        if (pfm.pmu(i, &pmu) != PFM_SUCCESS || !(pmu.flags & 1))
            continue;
        for (int k = pmu.first; k >= 0 && rc == 0; k = pfm.next(k)) {
            struct pfm_event event = {.size = sizeof event};
            if (pfm.event(k, PFM_OS_NONE, &event) == PFM_SUCCESS)
                rc = each(context, &(struct libpfm_event){pmu.name, event.name, event.description, k,
                                                          event.attributes, pmu.type == PFM_PMU_CORE});
        }
    }
    return rc;
}

bool libpfm_umask(const struct libpfm_event *event, int number, struct libpfm_umask *ret)
{
    struct pfm_attribute attribute = {.size = sizeof attribute};

    if (pfm.attribute(event->index, number, PFM_OS_NONE, &attribute) != PFM_SUCCESS ||
        attribute.type != PFM_ATTRIBUTE_UMASK)
        return false;
    *ret = (struct libpfm_umask){attribute.name, attribute.description};
    return true;
}

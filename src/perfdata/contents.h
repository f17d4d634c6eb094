/*
 * What a perf.data says about itself: events, build-ids, and the features as texts. Filled from the
 * sections of a file or the records of a pipe, which hold the same bytes. Its memory is bounded
 * (CONTENTS_BYTES_MAX) whatever comes, since a pipe may repeat itself without end.
 */
#ifndef PERFDATA_CONTENTS_H
#define PERFDATA_CONTENTS_H

#include "perfdata/reader.h"

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"

#define CONTENTS_BYTES_MAX (UINT64_C(64) << 20)
#define CONTENTS_EVENTS_MAX 16384u
#define CONTENTS_ATTR_MIN 64u
#define CONTENTS_ATTR_MAX 4096u

struct contents {
    struct arena arena; /* all texts, ids and events */
    VECTOR(struct perfdata_event *) events;
    VECTOR(struct perfdata_build_id) build_ids;
    struct table by_id; /* event id → index */
    struct perfdata_info info;
    const char *tracing; /* what trace-cmd's format says of tracepoints, as it stands; NULL: nothing */
    size_t tracing_n;
    const void *names; /* stored names, as they stand; NULL: none */
    size_t names_n;
};

/* Every text is there, if empty. */
void contents_init(struct contents *contents);
void contents_free(struct contents *contents);

/*
 * All return 0, -ENOMEM, or -EBADMSG where the bytes are not what they should be or too many; what was there
 * before is then unchanged.
 */

/* An attr of `n` bytes (its own size field may say less) and its ids, whose bytes need not be aligned. */
int contents_attr(struct contents *contents, const void *bytes, size_t n, const void *ids, size_t ids_n);

/* The bytes of a feature. Those that we don't use are skipped. */
int contents_feature(struct contents *contents, unsigned bit, const void *bytes, size_t n);

/* A BUILD_ID record, header first; the feature is a sequence of them. */
int contents_build_id(struct contents *contents, const void *record, size_t n);

/* An EVENT_UPDATE record's body: { u64 type, id; … }. */
int contents_update(struct contents *contents, const void *body, size_t n);

/* The format of a tracepoint in the tracing data (tracing.c); NULL: none. */
const char *contents_format(const struct contents *contents, uint64_t number, size_t *ret_n);

/* "sched:sched_switch", of that tracepoint, by the tracing data. 0, -ENOENT: it does not say; -errno. */
int contents_tracepoint(struct contents *contents, uint64_t number, const char **ret);

/* What an event is called where nothing was recorded: perf's words for the kernel's own events, else numbers.
 * `buffer` has EVENT_NAME_BYTES. */
#define EVENT_NAME_BYTES 80
const char *contents_event_name(const struct perf_attr *attr, char *buffer);

#endif

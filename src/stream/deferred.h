/*
 * Chains that come in two parts (Linux 6.19): a sample taken in the kernel has the kernel's part and a cookie; the user's
 * part follows in a CALLCHAIN_DEFERRED record, written when the thread goes back to user space.
 *
 *     S1(cookie 7)  MMAP  S2  D(7)        from the source
 *     S1 + D        MMAP  S2  D           to the reader
 *
 * While a sample waits, it and all behind it are held back, copied, so that the order stays; the deferred record completes
 * every sample of its thread with its cookie. A sample stops waiting when its thread ends, at the end of the source, and
 * when too much is held: it then goes out as it came. Streams whose events defer nothing never come here.
 */
#ifndef STREAM_DEFERRED_H
#define STREAM_DEFERRED_H

#include "record/layout.h"

#define DEFERRED_LIMIT ((size_t)4 << 20) /* bytes held */

struct deferred;

struct deferred *deferred_new(void);
struct deferred *deferred_free(struct deferred *deferred);

/* The next that waits for nothing, or NULL. Valid until the next call of next(). */
const struct rk_record *deferred_next(struct deferred *deferred);

/* Takes a record: 1 it was copied and will come from next(); 0 it may go out at once; -ENOMEM. `layout` is that of its
 * event, NULL where it has none. */
int deferred_take(struct deferred *deferred, const struct layout *layout, const struct rk_record *record);

/* Nothing more comes: nobody waits. */
void deferred_end(struct deferred *deferred);

#endif

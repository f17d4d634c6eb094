/*
 * Answers that cost a file or a library, kept by the host for whoever asks again: the number of a tracepoint, where a
 * function lies in a file, what libpfm4 makes of a name. A text is the key, a few numbers are the answer; `stamp` is for
 * whoever must see that the answer still holds.
 *
 * At most MEMO_MOST are kept: what comes then is asked for each time, as without.
 */
#ifndef HOST_MEMO_H
#define HOST_MEMO_H

#include "base/arena.h"
#include "base/table.h"
#include "base/vector.h"

#include <reckon/host.h>
#include <stdbool.h>

#define MEMO_MOST 4096
#define MEMO_KEY 512 /* longer ones are not kept */

struct memo {
    uint64_t stamp[4], value[4];
    uint64_t seen; /* sys_tick() when the stamp was last looked at */
};

struct host_memos {
    struct table index; /* hash of a key → its place in `list` */
    VECTOR(struct {
        const char *key; /* in the arena */
        struct memo memo;
    })
    list;
    struct arena arena;
};

/* Whether there is one: then it is in *ret. */
bool host_memo_get(const struct rk_host *host, const char *key, struct memo *ret);

/* Keeps it, or changes what is kept: 0 or -ENOMEM. */
int host_memo_put(struct rk_host *host, const char *key, const struct memo *memo);

void host_memos_free(struct host_memos *memos);

#endif

#include "host/memo.h"

#include "host/host.h"

#include <string.h>

static uint32_t find(const struct host_memos *memos, const char *key, uint64_t *ret_hash)
{
    *ret_hash = hash_bytes(key, strlen(key));
    uint32_t at = table_get(&memos->index, *ret_hash);
    return at != TABLE_NONE && strcmp(memos->list.items[at].key, key) == 0 ? at : TABLE_NONE;
}

bool host_memo_get(const struct rk_host *host, const char *key, struct memo *ret)
{
    uint64_t hash;
    uint32_t at = find(&host->memos, key, &hash);

    if (at == TABLE_NONE)
        return false;
    *ret = host->memos.list.items[at].memo;
    return true;
}

int host_memo_put(struct rk_host *host, const char *key, const struct memo *memo)
{
    struct host_memos *memos = &host->memos;
    uint64_t hash;
    uint32_t at = find(memos, key, &hash);
    size_t n = strlen(key);

    if (at != TABLE_NONE) {
        memos->list.items[at].memo = *memo;
        return 0;
    }
    if (memos->list.n == MEMO_MOST || n >= MEMO_KEY)
        return 0;
    const char *copy = arena_text(&memos->arena, key, n);
    if (!copy || !vector_push(&memos->list))
        return -ENOMEM;
    at = (uint32_t)memos->list.n - 1;
    memos->list.items[at].key = copy;
    memos->list.items[at].memo = *memo;
    if (table_put(&memos->index, hash, at) < 0) {
        memos->list.n--;
        return -ENOMEM;
    }
    return 0;
}

void host_memos_free(struct host_memos *memos)
{
    table_free(&memos->index);
    vector_free(&memos->list);
    arena_free(&memos->arena);
}

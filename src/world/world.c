#include "world/world.h"

#include "base/cleanup.h"
#include "target/target.h"

#include <errno.h>

int world_put(struct world *w, int encoded)
{
    if (encoded == -EMSGSIZE)
        return 0;
    if (encoded < 0)
        return encoded;
    w->records++;
    return w->error = w->put(w->context, (const void *)w->buffer);
}

int world_unless_hidden(int rc)
{
    return rc == -ENOENT || rc == -ESRCH || rc == -EACCES || rc == -EPERM || rc == -EFBIG ? 0 : rc;
}

int world_tree(struct world *w, int32_t pid)
{
    struct rk_target tree = {.kind = TARGET_TREE, .pid = pid, .pidfd = -1, .channel = -1};
    _cleanup_free_ int32_t *ids = NULL;
    size_t n;

    int r = target_ids(&tree, &ids, &n, NULL);
    if (r < 0)
        return world_unless_hidden(r);
    for (size_t i = 0; i < n && r == 0; i++)
        r = world_leader(w, ids[i]);
    return r;
}

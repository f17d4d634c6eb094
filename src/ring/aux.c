#include "ring/aux.h"

#include "sys/barrier.h"
#include "sys/perf.h"

#include <errno.h>
#include <string.h>

int aux_init(struct aux *aux, struct perf_page *page, const unsigned char *data, size_t bytes, bool snapshot)
{
    if (bytes < 8 || bytes & (bytes - 1))
        return -EINVAL;
    *aux = (struct aux){.page = page, .data = data, .size = bytes, .snapshot = snapshot};
    aux->position = aux->released = page->aux_tail;
    return 0;
}

int aux_map(struct aux *aux, int fd, struct perf_page *page, size_t ring_bytes, size_t bytes, bool snapshot)
{
    void *data;

    if (bytes < sys_page_size() || bytes & (bytes - 1))
        return -EINVAL;
    page->aux_offset = sys_page_size() + ring_bytes; /* the kernel takes both from the page */
    page->aux_size = bytes;
    int r = sys_perf_map_aux(fd, bytes, page->aux_offset, !snapshot, &data);
    if (r < 0)
        return r;
    r = aux_init(aux, page, data, bytes, snapshot);
    aux->mapped = bytes;
    return r;
}

void aux_unmap(struct aux *aux)
{
    if (aux->mapped)
        sys_perf_unmap_aux((void *)(uintptr_t)aux->data, aux->mapped);
    aux->mapped = 0;
}

int aux_next(struct aux *aux, struct aux_run *ret)
{
    uint64_t head = barrier_load_head(&aux->page->aux_head), left = head - aux->position;

    if (left == 0)
        return 0;
    if (head - aux->released > aux->size) {
        aux->skipped += left;
        aux->position = head;
        return -EBADMSG;
    }
    uint64_t at = aux->position & (aux->size - 1);
    uint64_t n = left < aux->size - at ? left : aux->size - at;
    *ret = (struct aux_run){aux->data + at, (size_t)n, aux->position};
    aux->position += n;
    return 1;
}

void aux_release(struct aux *aux)
{
    if (aux->snapshot || aux->released == aux->position)
        return;
    barrier_store_tail(&aux->page->aux_tail, aux->position);
    aux->released = aux->position;
}

/* Whether something was written behind head, which some PMUs keep below the size: the kernel gives the area zeroed. */
static bool written_behind(const struct aux *aux, uint64_t head)
{
    uint64_t from = aux->size > 512 && head < aux->size - 512 ? aux->size - 512 : head;

    for (uint64_t i = from; i < aux->size; i++)
        if (aux->data[i])
            return true;
    return false;
}

int aux_snapshot(struct aux *aux, struct aux_run ret[2])
{
    uint64_t head = barrier_load_head(&aux->page->aux_head), at = head & (aux->size - 1);
    int n = 0;

    if (head >= aux->size || written_behind(aux, head))
        ret[n++] = (struct aux_run){aux->data + at, (size_t)(aux->size - at), head - aux->size};
    if (at)
        ret[n++] = (struct aux_run){aux->data, (size_t)at, head - at};
    return n;
}

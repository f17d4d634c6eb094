/*
 * From a set to a stream over its rings: they are mapped, all of one size, and the output of every descriptor is sent into the
 * ring of its CPU. Where the limit on locked memory is in the way, rings that nobody asked to be so large are made smaller, and
 * the set's notes say so.
 */
#include "base/error.h"
#include "stream/live.h"
#include "sys/file.h"
#include "sys/perf.h"
#include "sys/ready.h"

#include <errno.h>
#include <stdio.h>

static void unmap_all(struct stream_live *live)
{
    for (uint32_t i = 0; i < live->n; i++)
        live->rings[i].ring = ring_unmap(live->rings[i].ring);
}

struct stream_live *live_close(struct stream_live *live)
{
    if (!live)
        return NULL;
    set_stream_end(live->set);
    vector_free(&live->world.bytes);
    if (live_forked(live)) {
        /* The kernel did not copy the mappings to this process: something else may lie there. */
        for (uint32_t i = 0; i < live->n; i++)
            if (live->rings[i].ring)
                live->rings[i].ring->mapped = 0;
    }
    unmap_all(live);
    if (live->epoll >= 0)
        sys_close(live->epoll);
    free(live->values);
    rk_set_free(live->set);
    free(live);
    return NULL;
}

static int map_all(struct stream_live *live, size_t bytes, uint32_t *ret_failed)
{
    for (uint32_t i = 0; i < live->n; i++) {
        int r = (live->overwrite ? ring_map_backward : ring_map)(set_ring(live->set, i)->fd, bytes,
                                                                 &live->rings[i].ring);
        if (r < 0) {
            *ret_failed = i;
            unmap_all(live);
            return r;
        }
    }
    return 0;
}

/* Smaller than meant is told, once, with the limit that would do. */
static int note_smaller(struct stream_live *live, size_t bytes)
{
    struct rk_set *set = live->set;
    const int32_t *cpus;
    size_t n_cpus = 0;
    char remedy[96];

    if (rk_host_cpus(set_host(set), &cpus, &n_cpus) < 0 || n_cpus == 0)
        n_cpus = 1;
    uint32_t wanted = set_ring_bytes(set).wanted;
    uint64_t all = (uint64_t)(wanted + sys_page_size()) * live->n, kib = UINT64_C(1024) * n_cpus;
    snprintf(remedy, sizeof remedy, "sudo sysctl -w kernel.perf_event_mlock_kb=%ju",
             (uintmax_t)((all + kib - 1) / kib));
    return set_note_add(set, UINT32_MAX, RK_CAUSE_MLOCK, false, remedy,
                        "rings have %zu KiB each, not %u: the limit on locked memory (perf_event_mlock_kb, "
                        "RLIMIT_MEMLOCK) allows no more",
                        bytes >> 10, wanted >> 10);
}

/* Rings of the size that was asked for; where the mlock limit is in the way and the size was not the caller's
 * choice, of half as much, and so on; all the same size. */
static int map_rings(struct stream_live *live, struct rk_error *e)
{
    struct rk_set *set = live->set;
    size_t bytes = set_ring_bytes(set).now, page = sys_page_size();
    uint32_t failed = 0;
    int r;

    while ((r = map_all(live, bytes, &failed)) == -EPERM && !set_ring_bytes(set).fixed && bytes > page)
        bytes /= 2;
    if (r < 0)
        return set_fail(set, RK_STAGE_MAP, set_ring(set, failed)->slot, set_ring(set, failed)->event, r,
                        (uint64_t)(bytes + page) * live->n, e);
    if (bytes != set_ring_bytes(set).wanted && note_smaller(live, bytes) < 0)
        return fail_memory(e, RK_STAGE_MAP);
    set_ring_mapped(set, (uint32_t)bytes);
    for (uint32_t i = 0; i < live->n; i++) {
        uint32_t slot, event;
        r = set_ring_redirect(set, i, &slot, &event);
        if (r < 0)
            return set_fail(set, RK_STAGE_CONTROL, slot, event, r, 0, e);
    }
    return 0;
}

static int add_events(struct rk_stream *st, struct rk_set *set, struct rk_error *e)
{
    for (uint32_t i = 0; i < set_n_events(set); i++) {
        const char *name = set_event(set, i)->name;
        int r = stream_event_add(st, set_attr(set, i), name);
        if (r == -ENOMEM)
            return fail_memory(e, RK_STAGE_STREAM);
        if (r < 0)
            return fail(e, r, RK_STAGE_STREAM, RK_CAUSE_ARGUMENT, NULL,
                        "%s: its sample fields exclude each other", name);
        for (uint32_t slot = 0; slot < set_n_slots(set); slot++)
            if (set_fd(set, slot, i) >= 0 && stream_id_add(st, set_id(set, slot, i), i) < 0)
                return fail_memory(e, RK_STAGE_STREAM);
    }
    return 0;
}

int rk_stream_live(struct rk_set *set, struct rk_stream **ret, struct rk_error *e)
{
    if (!set || !ret)
        return fail_null(e, RK_STAGE_STREAM, "rk_stream_live", set ? "ret" : "set");
    if (set_forked(set))
        return fail(e, -ESTALE, RK_STAGE_STREAM, RK_CAUSE_FORKED, "open a set in the child itself",
                    "this set belongs to the process that forked this one");
    if (set_n_rings(set) == 0)
        return fail_argument(e, RK_STAGE_STREAM,
                             "the set only counts: give rk_set_options a period or a frequency");
    if (!set_stream_begin(set))
        return fail(e, -EBUSY, RK_STAGE_STREAM, RK_CAUSE_ARGUMENT, "close that one, or open another set",
                    "the set has a stream or a capture already: its rings have one reader");

    struct rk_stream *st = stream_new();
    struct stream_live *live = st ? calloc(1, sizeof *live + set_n_rings(set) * sizeof live->rings[0]) : NULL;
    if (!live || !(live->values = calloc(set_n_events(set), sizeof *live->values))) {
        free(live);
        rk_stream_free(st);
        set_stream_end(set);
        return fail_memory(e, RK_STAGE_STREAM);
    }
    st->live = live;
    live->set = set_keep(set);
    live->n = set_n_rings(set);
    live->overwrite = set_options(set)->flags & RK_SET_OVERWRITE;
    live->epoll = sys_epoll_open();
    int r = live->epoll;
    if (r < 0)
        fail(e, r, RK_STAGE_STREAM, r == -EMFILE || r == -ENFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_UNKNOWN,
             NULL, "epoll_create1: %s", strerror(-r));
    if (r >= 0)
        r = add_events(st, set, e);
    if (r >= 0)
        r = map_rings(live, e);
    for (uint32_t i = 0; i < live->n && r >= 0; i++)
        if ((r = live_watch(live, i)) < 0)
            fail(e, r, RK_STAGE_STREAM, r == -ENOMEM ? RK_CAUSE_MEMORY : RK_CAUSE_UNKNOWN, NULL,
                 "epoll_ctl: %s", strerror(-r));
    if (r < 0) {
        rk_stream_free(st);
        return r;
    }
    for (uint32_t i = 0; i < live->n && live->overwrite; i++)
        backward_init(&live->rings[i].backward, live->rings[i].ring);
    live_ways(st);
    if (st->refill) {
        /* A pass brings at most all rings, and two of them may wait. */
        st->order.limit = (size_t)set_ring_bytes(set).now * live->n * 4;
        if (st->order.limit < ORDER_LIMIT)
            st->order.limit = ORDER_LIMIT;
    }
    r = live_world_begin(st);
    if (r < 0) {
        rk_stream_free(st);
        return live_world_explain(r, e);
    }
    *ret = st;
    return 0;
}

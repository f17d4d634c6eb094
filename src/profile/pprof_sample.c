/* A pprof file's samples: locations become nodes of the tree, labels say whose a sample is. */
#include "profile/pprof.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define LINES_MOST 4096u    /* functions inlined into one place */
#define FRAMES_MOST 8u      /* frames of all stacks, for each byte of the file … */
#define FRAMES_EXTRA 65536u /* … and these */

/* One line of a location: the frame of its function. */
static int64_t frame_of(struct pprof *p, uint64_t mapping, uint64_t function, uint64_t line, uint32_t flags)
{
    uint32_t at = table_get(&p->function_of, function), module = table_get(&p->mapping_of, mapping);
    struct maker_frame frame = {.flags = flags, .line = line > INT32_MAX ? 0 : (uint32_t)line};
    int64_t path = module == TABLE_NONE ? 0 : pprof_text_of(p, p->mappings.items[module]);
    const char *name = path < 0 ? "" : intern_text(&p->m.profile->texts, (uint32_t)path),
               *slash = strrchr(name, '/');
    int64_t base = path < 0 ? path : maker_text(&p->m, slash && slash[1] ? slash + 1 : name);
    int64_t symbol = at == TABLE_NONE ? 0 : pprof_text_of(p, p->functions.items[at].name);
    int64_t file = at == TABLE_NONE ? 0 : pprof_text_of(p, p->functions.items[at].file);

    if (symbol == 0 ||
        (symbol > 0 && strcmp(intern_text(&p->m.profile->texts, (uint32_t)symbol), "[unknown]") == 0)) {
        symbol = maker_text(&p->m, "[unknown]");
        frame.miss = RK_MISS_NO_SYMBOL;
        if (at != TABLE_NONE &&
            sscanf(pprof_chars_of(p, p->functions.items[at].system), "[unknown] %" SCNu32, &frame.miss) ==
                1 &&
            (frame.miss == RK_MISS_NONE || frame.miss > RK_MISS_NOT_YOURS))
            frame.miss = RK_MISS_NO_SYMBOL;
    }
    if (base < 0 || symbol < 0 || file < 0)
        return -ENOMEM;
    if (name[0] == '[' && strncmp(name, "[kernel", 7) == 0)
        frame.flags |= RK_FRAME_KERNEL;
    frame.symbol = (uint32_t)symbol;
    frame.module = (uint32_t)base;
    frame.path = (uint32_t)path;
    frame.file = (uint32_t)file;
    frame.line = file ? frame.line : 0;
    return maker_frame(&p->m, &frame);
}

/* The node of a location's functions inside of `outer`: the last line is the function, those before are inlined. */
static int64_t location_build(struct pprof *p, uint32_t outer, uint32_t at)
{
    uint64_t mapping = at == TABLE_NONE ? 0 : p->locations.items[at].mapping;
    struct cursor c = at == TABLE_NONE ? cursor_of(NULL, 0) : p->locations.items[at].bytes;
    struct field f;

    p->lines.n = 0;
    p->frames++;
    while (wire_next(&c, &f)) {
        uint64_t function, line, unused;
        if (f.number != 4 || f.wire != WIRE_BYTES || p->lines.n >= LINES_MOST)
            continue;
        pprof_numbers_of(f.bytes, 1, 2, &unused, &function, &line);
        int64_t frame = frame_of(p, mapping, function, line, RK_FRAME_INLINE);
        uint32_t *row = frame < 0 ? NULL : vector_push(&p->lines);
        if (!row)
            return frame < 0 ? frame : -ENOMEM;
        *row = (uint32_t)frame;
        p->frames++;
    }
    int64_t node = outer;
    if (p->lines.n == 0) {
        int64_t frame = frame_of(p, mapping, 0, 0, 0);
        return frame < 0 ? frame : maker_node(&p->m, outer, (uint32_t)frame);
    }
    for (size_t i = p->lines.n; i-- > 0 && node >= 0;) {
        const uint64_t *key = unique_key(&p->m.frames, p->lines.items[i]);
        int64_t frame = p->lines.items[i];
        if (i + 1 == p->lines.n) /* the function itself: the same frame, but for the flag */
            frame = unique_add(&p->m.frames,
                               (uint64_t[]){key[0], key[1], key[2], key[3] & ~(uint64_t)RK_FRAME_INLINE});
        node = frame < 0 ? frame : maker_node(&p->m, (uint32_t)node, (uint32_t)frame);
    }
    return node;
}

/* The same, built once. */
static int64_t location_add(struct pprof *p, uint32_t outer, uint64_t id)
{
    uint32_t at = table_get(&p->location_of, id);
    int64_t place = pairs_add(&p->placed, outer, at);

    if (place < 0 || (size_t)place < p->node_of.n)
        return place < 0 ? place : p->node_of.items[place];
    int64_t node = location_build(p, outer, at);
    uint32_t *row = node < 0 ? NULL : vector_push(&p->node_of);
    if (!row)
        return node < 0 ? node : -ENOMEM;
    *row = (uint32_t)node;
    return node;
}

/* What labels say of a sample. */
struct labels {
    const char *thread, *cgroup, *source;
    int64_t pid, tid, cpu;
    uint64_t time;
};

static void label_of(struct pprof *p, struct cursor c, struct labels *ret)
{
    uint64_t key = 0, text = 0, number = 0;
    struct field f;

    while (wire_next(&c, &f)) {
        key = f.number == 1 ? f.value : key;
        text = f.number == 2 ? f.value : text;
        number = f.number == 3 ? f.value : number;
    }
    const char *name = pprof_chars_of(p, key);
    int64_t id = number <= INT32_MAX ? (int64_t)number : -1;
    if (strcmp(name, "thread") == 0)
        ret->thread = pprof_chars_of(p, text);
    else if (strcmp(name, "cgroup") == 0)
        ret->cgroup = pprof_chars_of(p, text);
    else if (strcmp(name, "source") == 0)
        ret->source = pprof_chars_of(p, text);
    else if (strcmp(name, "pid") == 0)
        ret->pid = id;
    else if (strcmp(name, "tid") == 0)
        ret->tid = id;
    else if (strcmp(name, "cpu") == 0)
        ret->cpu = id;
    else if (strcmp(name, "time") == 0)
        ret->time = number;
}

/* A sample's ids, values and labels: 0, -EBADMSG, -ENOMEM. */
static int sample_parse(struct pprof *p, struct cursor c, struct labels *ret)
{
    struct field f;
    uint64_t number;

    *ret = (struct labels){"", "", "", -1, -1, -1, 0};
    p->ids.n = p->values.n = 0;
    while (wire_next(&c, &f)) {
        bool first = true;
        if (f.number == 3 && f.wire == WIRE_BYTES)
            label_of(p, f.bytes, ret);
        while (f.number <= 2 && wire_number(&f, &first, &number)) {
            uint64_t *row = f.number == 1 ? vector_push(&p->ids) : vector_push(&p->values);
            if (!row)
                return -ENOMEM;
            *row = number;
        }
        if (f.number <= 2 && f.wire == WIRE_BYTES && f.bytes.bad)
            return -EBADMSG;
    }
    return c.bad || p->values.n < p->value_types.n || p->ids.n == 0 ? -EBADMSG : 0;
}

/* Few bytes that say much: made to do harm. */
bool pprof_overdone(const struct pprof *p)
{
    return p->frames / FRAMES_MOST > cursor_left(&p->all) + FRAMES_EXTRA;
}

/* Whether the sample's values are no less than 0 (a difference of two profiles is no profile), and the sums no more than can
 * be summed. */
static bool fits(struct pprof *p)
{
    for (size_t i = 0; i < p->types.n; i++) {
        const struct type *t = &p->types.items[i];
        uint64_t weight = p->values.items[t->weight],
                 count = t->count == UINT32_MAX ? 1 : p->values.items[t->count];
        if (weight > INT64_MAX || count > INT64_MAX || __builtin_mul_overflow(weight, t->scale, &weight) ||
            __builtin_add_overflow(p->weight, weight, &p->weight) ||
            __builtin_add_overflow(p->count, count ? count : 1, &p->count) || p->weight > INT64_MAX ||
            p->count > INT64_MAX)
            return false;
    }
    return true;
}

/* 1: added, 0: damaged, -errno. */
int pprof_sample_add(struct pprof *p, struct cursor c, uint64_t slice_ns)
{
    struct labels l;
    int rc = sample_parse(p, c, &l);

    if (rc < 0)
        return rc == -EBADMSG ? 0 : rc;
    if (!fits(p))
        return 0;
    int64_t node = RK_NO_NODE;
    for (size_t i = p->ids.n; i-- > 0 && node >= 0 && !pprof_overdone(p);)
        node = location_add(p, (uint32_t)node, p->ids.items[i]);
    if (pprof_overdone(p))
        return 0;
    int64_t source = node < 0 ? node : maker_source(&p->m, l.source);
    int64_t thread =
        source < 0 ? source : maker_thread(&p->m, (uint32_t)source, (int32_t)l.pid, (int32_t)l.tid, l.thread);
    int64_t cgroup = thread < 0 ? thread : maker_cgroup(&p->m, 0, l.cgroup);
    if (cgroup < 0)
        return (int)cgroup;
    if (l.time) {
        p->summary.first_time =
            p->summary.first_time && p->summary.first_time < l.time ? p->summary.first_time : l.time;
        p->summary.last_time = p->summary.last_time > l.time ? p->summary.last_time : l.time;
    }
    for (size_t i = 0; i < p->types.n; i++) {
        const struct type *t = &p->types.items[i];
        uint64_t weight = p->values.items[t->weight],
                 count = t->count == UINT32_MAX ? 1 : p->values.items[t->count];
        if ((weight == 0 && (count == 0 || t->count == UINT32_MAX)) || count > INT64_MAX)
            continue;
        rc = maker_sample(&p->m, &(struct maker_sample){.node = (uint32_t)node,
                                                        .thread = (uint32_t)thread,
                                                        .event = t->event,
                                                        .cpu = l.cpu < 0 ? RK_NO_CPU : (uint32_t)l.cpu,
                                                        .cgroup = (uint32_t)cgroup,
                                                        .time = l.time / slice_ns * slice_ns,
                                                        .amount = {weight * t->scale, count ? count : 1}});
        if (rc < 0)
            return rc;
    }
    return 1;
}

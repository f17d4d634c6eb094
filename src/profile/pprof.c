/*
 * pprof's profile.proto, read. Two passes over the message: the first numbers strings, functions, mappings and locations,
 * which may stand anywhere; the second takes samples.
 *
 * A field's key is (number << 3 | wire type): 0 a varint, 1 eight bytes, 2 a length and so many bytes, 5 four bytes. A
 * message that ends inside of a field is damaged, and what stands before it is kept.
 *
 * Of sample types, ("samples" or "…-samples", "count") counts for the type behind it, as CPU profiles have it; any other is
 * an event of its own. Times become nanoseconds. Labels thread, pid, tid, cpu, cgroup, source, time and comments that begin
 * with "reckon" are what reckon export writes, and come back.
 */
#include "base/cursor.h"
#include "profile/file.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define LINES_MOST 4096u    /* functions inlined into one place */
#define TYPES_MOST 256u     /* sample types */
#define FRAMES_MOST 8u      /* frames of all stacks, for each byte of the file … */
#define FRAMES_EXTRA 65536u /* … and these */

enum { WIRE_NUMBER, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

struct field {
    uint32_t number, wire;
    uint64_t value;      /* NUMBER */
    struct cursor bytes; /* BYTES */
};

/* The next field; false at the end, or where the bytes don't hold it (bad is set then). */
static bool next(struct cursor *c, struct field *ret)
{
    if (c->bad || cursor_left(c) == 0)
        return false;
    uint64_t key = cursor_uleb(c), n;
    *ret = (struct field){.number = (uint32_t)(key >> 3), .wire = key & 7};
    switch (ret->wire) {
    case WIRE_NUMBER:
        ret->value = cursor_uleb(c);
        break;
    case WIRE_64:
        ret->value = cursor_u64(c);
        break;
    case WIRE_32:
        ret->value = cursor_u32(c);
        break;
    case WIRE_BYTES:
        n = cursor_uleb(c);
        if (c->bad || n > cursor_left(c)) {
            c->bad = true;
            return false;
        }
        ret->bytes = cursor_of(cursor_bytes(c, n), n);
        break;
    default:
        c->bad = true;
    }
    return !c->bad;
}

/* What a repeated number holds: packed, or one value. False: no more. */
static bool next_number(struct field *f, bool *first, uint64_t *ret)
{
    if (f->wire == WIRE_NUMBER) {
        *ret = f->value;
        return *first && !(*first = false);
    }
    if (f->wire != WIRE_BYTES || cursor_left(&f->bytes) == 0)
        return false;
    *ret = cursor_uleb(&f->bytes);
    return !f->bytes.bad;
}

struct type {
    uint32_t count, weight; /* values; UINT32_MAX: 1 for each sample */
    uint64_t scale;
    uint32_t event;
};

struct function {
    uint64_t name, file, system; /* strings */
};

struct location {
    uint64_t mapping;
    struct cursor bytes;
};

struct value_type {
    uint64_t type, unit; /* strings */
};

struct pprof {
    struct maker m;
    struct cursor all;
    VECTOR(struct cursor) strings;
    struct table function_of, mapping_of, location_of; /* id → index */
    VECTOR(struct function) functions;
    VECTOR(uint64_t) mappings; /* string of the path */
    VECTOR(struct location) locations;
    VECTOR(struct value_type) value_types;
    VECTOR(struct type) types;
    VECTOR(uint64_t) comments;
    uint64_t time, duration;
    VECTOR(uint64_t) ids, values; /* scratch: one sample */
    VECTOR(uint32_t) lines;       /* scratch: one location's frames */
    struct pairs placed;          /* (outer node, location) … */
    VECTOR(uint32_t) node_of;     /* … and the node of its innermost function there */
    uint64_t frames, good, damaged;
    uint64_t weight, count; /* of all so far, which must fit 63 bits */
    struct rk_profile_summary summary;
};

static void pprof_free(struct pprof *p)
{
    maker_free(&p->m);
    vector_free(&p->strings);
    table_free(&p->function_of);
    table_free(&p->mapping_of);
    table_free(&p->location_of);
    vector_free(&p->functions);
    vector_free(&p->mappings);
    vector_free(&p->locations);
    vector_free(&p->value_types);
    vector_free(&p->types);
    vector_free(&p->comments);
    vector_free(&p->ids);
    vector_free(&p->values);
    vector_free(&p->lines);
    pairs_free(&p->placed);
    vector_free(&p->node_of);
}

/* A string's text, up to a NUL; "" where there is none of that number. */
static int64_t text_of(struct pprof *p, uint64_t string)
{
    if (string >= p->strings.n)
        return 0;
    const struct cursor *c = &p->strings.items[string];
    size_t n = cursor_left(c);
    const char *at = (const char *)c->at, *nul = n ? memchr(at, 0, n) : NULL;
    return n ? intern_add(&p->m.profile->texts, at, nul ? (size_t)(nul - at) : n) : 0;
}

static const char *chars_of(struct pprof *p, uint64_t string)
{
    int64_t text = text_of(p, string);
    return text < 0 ? "" : intern_text(&p->m.profile->texts, (uint32_t)text);
}

/* The first two numbers that a message has under fields a and b, and its id (field 1). */
static void numbers_of(struct cursor c, uint32_t a, uint32_t b, uint64_t *ret_id, uint64_t *ret_a,
                       uint64_t *ret_b)
{
    struct field f;

    *ret_id = *ret_a = *ret_b = 0;
    while (next(&c, &f)) {
        if (f.wire != WIRE_NUMBER)
            continue;
        if (f.number == 1)
            *ret_id = f.value;
        if (f.number == a)
            *ret_a = f.value;
        if (f.number == b)
            *ret_b = f.value;
    }
}

static int remember(struct pprof *p, const struct field *f)
{
    uint64_t id, a, b;

    if (f->number == 6 && f->wire == WIRE_BYTES) {
        struct cursor *string = vector_push(&p->strings);
        if (string)
            *string = f->bytes;
        return string ? 0 : -ENOMEM;
    }
    if (f->wire == WIRE_NUMBER) {
        uint64_t *comment = f->number == 13 ? vector_push(&p->comments) : NULL;
        if (comment)
            *comment = f->value;
        p->time = f->number == 9 ? f->value : p->time;
        p->duration = f->number == 10 ? f->value : p->duration;
        return f->number == 13 && !comment ? -ENOMEM : 0;
    }
    if (f->wire != WIRE_BYTES)
        return 0;
    if (f->number == 13) { /* packed */
        struct field packed = *f;
        bool first = true;
        while (next_number(&packed, &first, &a)) {
            uint64_t *comment = vector_push(&p->comments);
            if (!comment)
                return -ENOMEM;
            *comment = a;
        }
    } else if (f->number == 1) {
        numbers_of(f->bytes, 1, 2, &id, &a, &b);
        struct value_type *type = p->value_types.n < TYPES_MOST ? vector_push(&p->value_types) : NULL;
        if (!type)
            return p->value_types.n < TYPES_MOST ? -ENOMEM : -EBADMSG;
        *type = (struct value_type){a, b};
    } else if (f->number == 3) {
        numbers_of(f->bytes, 5, 5, &id, &a, &b);
        uint64_t *mapping = vector_push(&p->mappings);
        if (!mapping || table_put(&p->mapping_of, id, (uint32_t)p->mappings.n - 1) < 0)
            return -ENOMEM;
        *mapping = a;
    } else if (f->number == 4) {
        numbers_of(f->bytes, 2, 2, &id, &a, &b);
        struct location *location = vector_push(&p->locations);
        if (!location || table_put(&p->location_of, id, (uint32_t)p->locations.n - 1) < 0)
            return -ENOMEM;
        *location = (struct location){a, f->bytes};
    } else if (f->number == 5) {
        uint64_t system, unused;
        numbers_of(f->bytes, 2, 4, &id, &a, &b);
        numbers_of(f->bytes, 3, 3, &id, &system, &unused);
        struct function *function = vector_push(&p->functions);
        if (!function || table_put(&p->function_of, id, (uint32_t)p->functions.n - 1) < 0)
            return -ENOMEM;
        *function = (struct function){a, b, system};
    }
    return 0;
}

static bool is_count(struct pprof *p, const struct value_type *type)
{
    const char *name = chars_of(p, type->type);
    size_t n = strlen(name);

    return strcmp(chars_of(p, type->unit), "count") == 0 &&
           (strcmp(name, "samples") == 0 || (n > 8 && strcmp(name + n - 8, "-samples") == 0));
}

/* What is known of an event from a comment of reckon's. */
static void loss_of(struct pprof *p, const char *event, struct rk_loss *ret)
{
    *ret = (struct rk_loss){.size = sizeof *ret};
    for (size_t i = 0; i < p->comments.n; i++) {
        const char *text = chars_of(p, p->comments.items[i]);
        struct rk_loss l = {.size = sizeof l};
        int at = 0;
        if (sscanf(text,
                   "reckon loss: kept %" SCNu64 " lost %" SCNu64 " skipped %" SCNu64 " throttled %" SCNu64
                   " records_lost %" SCNu64 " known %" SCNu32 " event %n",
                   &l.kept, &l.lost, &l.skipped, &l.throttled, &l.records_lost, &l.present, &at) == 6 &&
            at && strcmp(text + at, event) == 0)
            *ret = l;
    }
    ret->present &= RK_LOSS_LOST | RK_LOSS_SKIPPED;
}

static int type_add(struct pprof *p, uint32_t count, uint32_t weight)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {
        {"nanoseconds", 1}, {"microseconds", 1000}, {"milliseconds", 1000000}, {"seconds", 1000000000}};
    const struct value_type *its = &p->value_types.items[weight];
    const char *unit = chars_of(p, its->unit), *name = chars_of(p, its->type);
    struct type type = {count, weight, 1, 0};
    struct rk_loss loss;

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(unit, units[i].name) == 0) {
            type.scale = units[i].ns;
            unit = "ns";
        }
    loss_of(p, name, &loss);
    loss_add(&p->summary.loss, &loss);
    int64_t event = maker_event(&p->m, name, strcmp(unit, "count") == 0 ? "" : unit, &loss);
    struct type *row = event < 0 ? NULL : vector_push(&p->types);
    if (!row)
        return -ENOMEM;
    type.event = (uint32_t)event;
    *row = type;
    return 0;
}

/* Whether the i-th type counts the samples of the one behind it, though that looks like a count itself: as reckon export
 * writes an event that is called "samples". */
static bool counts_for(struct pprof *p, uint32_t i)
{
    const char *name = chars_of(p, p->value_types.items[i].type),
               *event = chars_of(p, p->value_types.items[i + 1].type);
    size_t n = strlen(event);

    return (p->value_types.n == 2 && strcmp(name, "samples") == 0) ||
           (strncmp(name, event, n) == 0 && strcmp(name + n, "-samples") == 0);
}

static int types_add(struct pprof *p)
{
    int rc = 0;

    for (uint32_t i = 0; i < p->value_types.n && rc == 0; i++) {
        bool counts = is_count(p, &p->value_types.items[i]);
        bool more = i + 1 < p->value_types.n;
        bool own = strcmp(chars_of(p, p->value_types.items[i].unit), "count") == 0;
        if (counts && more && (!is_count(p, &p->value_types.items[i + 1]) || counts_for(p, i))) {
            rc = type_add(p, i, i + 1);
            i++;
        } else {
            rc = type_add(p, own ? i : UINT32_MAX, i);
        }
    }
    return rc;
}

/* One line of a location: the frame of its function. */
static int64_t frame_of(struct pprof *p, uint64_t mapping, uint64_t function, uint64_t line, uint32_t flags)
{
    uint32_t at = table_get(&p->function_of, function), module = table_get(&p->mapping_of, mapping);
    struct maker_frame frame = {.flags = flags, .line = line > INT32_MAX ? 0 : (uint32_t)line};
    int64_t path = module == TABLE_NONE ? 0 : text_of(p, p->mappings.items[module]);
    const char *name = path < 0 ? "" : intern_text(&p->m.profile->texts, (uint32_t)path),
               *slash = strrchr(name, '/');
    int64_t base = path < 0 ? path : maker_text(&p->m, slash && slash[1] ? slash + 1 : name);
    int64_t symbol = at == TABLE_NONE ? 0 : text_of(p, p->functions.items[at].name);
    int64_t file = at == TABLE_NONE ? 0 : text_of(p, p->functions.items[at].file);

    if (symbol == 0 ||
        (symbol > 0 && strcmp(intern_text(&p->m.profile->texts, (uint32_t)symbol), "[unknown]") == 0)) {
        symbol = maker_text(&p->m, "[unknown]");
        frame.miss = RK_MISS_NO_SYMBOL;
        if (at != TABLE_NONE &&
            sscanf(chars_of(p, p->functions.items[at].system), "[unknown] %" SCNu32, &frame.miss) == 1 &&
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
    while (next(&c, &f)) {
        uint64_t function, line, unused;
        if (f.number != 4 || f.wire != WIRE_BYTES || p->lines.n >= LINES_MOST)
            continue;
        numbers_of(f.bytes, 1, 2, &unused, &function, &line);
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

    while (next(&c, &f)) {
        key = f.number == 1 ? f.value : key;
        text = f.number == 2 ? f.value : text;
        number = f.number == 3 ? f.value : number;
    }
    const char *name = chars_of(p, key);
    int64_t id = number <= INT32_MAX ? (int64_t)number : -1;
    if (strcmp(name, "thread") == 0)
        ret->thread = chars_of(p, text);
    else if (strcmp(name, "cgroup") == 0)
        ret->cgroup = chars_of(p, text);
    else if (strcmp(name, "source") == 0)
        ret->source = chars_of(p, text);
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
    while (next(&c, &f)) {
        bool first = true;
        if (f.number == 3 && f.wire == WIRE_BYTES)
            label_of(p, f.bytes, ret);
        while (f.number <= 2 && next_number(&f, &first, &number)) {
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
static bool overdone(const struct pprof *p)
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
static int sample_add(struct pprof *p, struct cursor c, uint64_t slice_ns)
{
    struct labels l;
    int rc = sample_parse(p, c, &l);

    if (rc < 0)
        return rc == -EBADMSG ? 0 : rc;
    if (!fits(p))
        return 0;
    int64_t node = RK_NO_NODE;
    for (size_t i = p->ids.n; i-- > 0 && node >= 0 && !overdone(p);)
        node = location_add(p, (uint32_t)node, p->ids.items[i]);
    if (overdone(p))
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

/* What a comment of reckon's says of stacks; the width of slices, 1 without one. */
static uint64_t stacks_of(struct pprof *p)
{
    struct rk_profile_summary *s = &p->summary;
    uint64_t slice_ns = 1;

    for (size_t i = 0; i < p->comments.n; i++)
        if (sscanf(chars_of(p, p->comments.items[i]),
                   "reckon stacks: whole %" SCNu64 " cut %" SCNu64 " broken %" SCNu64
                   " recording_cut %" SCNu32 " slice_ns %" SCNu64,
                   &s->stacks_whole, &s->stacks_cut, &s->stacks_broken, &s->cut, &slice_ns) != 5)
            slice_ns = slice_ns ? slice_ns : 1;
    return slice_ns && (slice_ns & (slice_ns - 1)) == 0 ? slice_ns : 1;
}

static int read_all(struct pprof *p)
{
    struct cursor c = p->all;
    struct field f;
    int rc = 0;

    while (rc == 0 && next(&c, &f))
        rc = remember(p, &f);
    p->damaged += c.bad;
    if (rc == 0 && (p->value_types.n == 0 || p->strings.n == 0))
        rc = -EBADMSG;
    if (rc == 0)
        rc = types_add(p);
    uint64_t slice_ns = rc == 0 ? stacks_of(p) : 1;
    for (c = p->all; rc == 0 && next(&c, &f);) {
        if (f.number != 2 || f.wire != WIRE_BYTES)
            continue;
        int added = sample_add(p, f.bytes, slice_ns);
        rc = added < 0 ? added : 0;
        p->good += added == 1;
        p->damaged += added == 0;
        if (overdone(p))
            break;
    }
    p->summary.slice_ns = p->summary.last_time ? slice_ns : 0;
    if (rc == 0 && p->good == 0 && p->damaged)
        rc = -EBADMSG;
    return rc;
}

int pprof_read(const void *bytes, size_t n, struct rk_profile **ret, uint64_t *ret_damaged)
{
    struct pprof p = {.all = cursor_of(bytes, n), .summary.size = sizeof p.summary};
    int rc = maker_begin(&p.m);

    if (rc == 0)
        rc = read_all(&p);
    if (rc == 0) {
        if (!p.summary.first_time && p.time <= INT64_MAX &&
            p.duration <= INT64_MAX) { /* of the whole profile alone */
            p.summary.first_time = p.time;
            p.summary.last_time = p.time + p.duration;
        }
        uint64_t damaged = p.damaged;
        rc = maker_end(&p.m, &p.summary, ret);
        if (rc == 0)
            *ret_damaged = damaged;
    }
    pprof_free(&p);
    return rc;
}

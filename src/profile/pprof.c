/*
 * pprof's profile.proto, read. Two passes over the message: the first numbers strings, functions, mappings and locations,
 * which may stand anywhere; the second takes samples.
 *
 * pprof_sample.c has the latter. A message that ends inside of a field is damaged, and what stands before it is kept.
 *
 * Of sample types, ("samples" or "…-samples", "count") counts for the type behind it, as CPU profiles have it; any other is
 * an event of its own. Times become nanoseconds. Labels thread, pid, tid, cpu, cgroup, source, time and comments that begin
 * with "reckon" are what reckon export writes, and come back.
 */
#include "profile/pprof.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define TYPES_MOST 256u /* sample types */
#define COMMENTS_MOST 1024u
#define COMMENT_BYTES_MOST 65536u

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
    vector_free(&p->path);
    free(p->negative);
}

/* A string's text, up to a NUL; "" where there is none of that number. */
int64_t pprof_text_of(struct pprof *p, uint64_t string)
{
    if (string >= p->strings.n)
        return 0;
    struct pprof_string *s = &p->strings.items[string];
    size_t n = cursor_left(&s->bytes);
    if (s->text || n == 0)
        return n ? (int64_t)s->text - 1 : 0;
    const char *at = (const char *)s->bytes.at, *nul = memchr(at, 0, n);
    int64_t text = intern_add(&p->m.profile->texts, at, nul ? (size_t)(nul - at) : n);
    if (text >= 0 && text < UINT32_MAX)
        s->text = (uint32_t)text + 1;
    return text;
}

const char *pprof_chars_of(struct pprof *p, uint64_t string)
{
    int64_t text = pprof_text_of(p, string);
    return text < 0 ? "" : intern_text(&p->m.profile->texts, (uint32_t)text);
}

/* The first two numbers that a message has under fields a and b, and its id (field 1). */
void pprof_numbers_of(struct cursor c, uint32_t a, uint32_t b, uint64_t *ret_id, uint64_t *ret_a,
                      uint64_t *ret_b)
{
    struct field f;

    *ret_id = *ret_a = *ret_b = 0;
    while (wire_next(&c, &f)) {
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
        struct pprof_string *string = vector_push(&p->strings);
        if (string)
            *string = (struct pprof_string){.bytes = f->bytes};
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
        while (wire_number(&packed, &first, &a)) {
            uint64_t *comment = vector_push(&p->comments);
            if (!comment)
                return -ENOMEM;
            *comment = a;
        }
    } else if (f->number == 1) {
        pprof_numbers_of(f->bytes, 1, 2, &id, &a, &b);
        struct value_type *type = p->value_types.n < TYPES_MOST ? vector_push(&p->value_types) : NULL;
        if (!type)
            return p->value_types.n < TYPES_MOST ? -ENOMEM : -EBADMSG;
        *type = (struct value_type){a, b};
    } else if (f->number == 3) {
        pprof_numbers_of(f->bytes, 5, 5, &id, &a, &b);
        uint64_t start, end, offset, build_id;
        pprof_numbers_of(f->bytes, 2, 3, &id, &start, &end);
        pprof_numbers_of(f->bytes, 4, 6, &id, &offset, &build_id);
        struct pprof_mapping *mapping = vector_push(&p->mappings);
        if (!mapping || table_put(&p->mapping_of, id, (uint32_t)p->mappings.n - 1) < 0)
            return -ENOMEM;
        *mapping = (struct pprof_mapping){a, build_id, start, end, offset, 0};
    } else if (f->number == 4) {
        pprof_numbers_of(f->bytes, 2, 3, &id, &a, &b);
        struct location *location = vector_push(&p->locations);
        if (!location || table_put(&p->location_of, id, (uint32_t)p->locations.n - 1) < 0)
            return -ENOMEM;
        *location = (struct location){.mapping = a, .address = b, .bytes = f->bytes};
    } else if (f->number == 5) {
        uint64_t system, unused;
        pprof_numbers_of(f->bytes, 2, 4, &id, &a, &b);
        pprof_numbers_of(f->bytes, 3, 3, &id, &system, &unused);
        struct function *function = vector_push(&p->functions);
        if (!function || table_put(&p->function_of, id, (uint32_t)p->functions.n - 1) < 0)
            return -ENOMEM;
        *function = (struct function){a, b, system};
    }
    return 0;
}

static bool is_count(struct pprof *p, const struct value_type *type)
{
    const char *name = pprof_chars_of(p, type->type);
    size_t n = strlen(name);

    return strcmp(pprof_chars_of(p, type->unit), "count") == 0 &&
           (strcmp(name, "samples") == 0 || (n > 8 && strcmp(name + n - 8, "-samples") == 0));
}

/* Leaves of the comments those of reckon's: one for each type, and one of stacks. */
static void keep_comments(struct pprof *p)
{
    size_t n = 0;

    for (size_t i = 0; i < p->comments.n && n < COMMENTS_MOST; i++) {
        const char *text = pprof_chars_of(p, p->comments.items[i]);
        if (strncmp(text, "reckon ", 7) == 0 && strnlen(text, COMMENT_BYTES_MOST) < COMMENT_BYTES_MOST)
            p->comments.items[n++] = p->comments.items[i];
    }
    p->comments.n = n;
}

/* What is known of an event from a comment of reckon's. */
static void loss_of(struct pprof *p, const char *event, struct rk_loss *ret)
{
    *ret = (struct rk_loss){.size = sizeof *ret};
    for (size_t i = 0; i < p->comments.n; i++) {
        const char *text = pprof_chars_of(p, p->comments.items[i]);
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
    const char *unit = pprof_chars_of(p, its->unit), *name = pprof_chars_of(p, its->type);
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
    const char *name = pprof_chars_of(p, p->value_types.items[i].type),
               *event = pprof_chars_of(p, p->value_types.items[i + 1].type);
    size_t n = strlen(event);

    return (p->value_types.n == 2 && strcmp(name, "samples") == 0) ||
           (strncmp(name, event, n) == 0 && strcmp(name + n, "-samples") == 0);
}

/* Whether a type, or what counts for it, has values below 0; it is then left out. */
static bool is_left(struct pprof *p, uint32_t count, uint32_t weight)
{
    bool left = p->negative[weight] || (count != UINT32_MAX && p->negative[count]);

    if (left && p->left.n++ == 0)
        snprintf(p->left.first, sizeof p->left.first, "%s",
                 pprof_chars_of(p, p->value_types.items[weight].type));
    return left;
}

static int types_add(struct pprof *p)
{
    int rc = 0;

    for (uint32_t i = 0; i < p->value_types.n && rc == 0; i++) {
        bool counts = is_count(p, &p->value_types.items[i]);
        bool more = i + 1 < p->value_types.n;
        bool own = strcmp(pprof_chars_of(p, p->value_types.items[i].unit), "count") == 0;
        if (counts && more && (!is_count(p, &p->value_types.items[i + 1]) || counts_for(p, i))) {
            rc = is_left(p, i, i + 1) ? 0 : type_add(p, i, i + 1);
            i++;
        } else {
            rc = is_left(p, UINT32_MAX, i) ? 0 : type_add(p, own ? i : UINT32_MAX, i);
        }
    }
    return rc == 0 && p->types.n == 0 && p->left.n ? -EDOM : rc;
}

/* What a comment of reckon's says of stacks; the width of slices, 1 without one. */
static uint64_t stacks_of(struct pprof *p)
{
    struct rk_profile_summary *s = &p->summary;
    uint64_t slice_ns = 1;

    for (size_t i = 0; i < p->comments.n; i++)
        if (sscanf(pprof_chars_of(p, p->comments.items[i]),
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

    while (rc == 0 && wire_next(&c, &f))
        rc = remember(p, &f);
    p->damaged += c.bad;
    if (rc == 0 && (p->value_types.n == 0 || p->strings.n == 0))
        rc = -EBADMSG;
    if (rc == 0 && !(p->negative = zeroed(p->value_types.n, sizeof *p->negative)))
        rc = -ENOMEM;
    for (c = p->all; rc == 0 && wire_next(&c, &f);)
        if (f.number == 2 && f.wire == WIRE_BYTES)
            pprof_sample_signs(p, f.bytes);
    if (rc == 0) {
        keep_comments(p);
        rc = types_add(p);
    }
    uint64_t slice_ns = rc == 0 ? stacks_of(p) : 1;
    for (c = p->all; rc == 0 && wire_next(&c, &f);) {
        if (f.number != 2 || f.wire != WIRE_BYTES)
            continue;
        int added = pprof_sample_add(p, f.bytes, slice_ns);
        rc = added < 0 ? added : 0;
        p->good += added == 1;
        p->damaged += added == 0;
        if (pprof_overdone(p))
            break;
    }
    p->summary.slice_ns = p->summary.last_time ? slice_ns : 0;
    if (rc == 0 && p->good == 0 && p->damaged)
        rc = -EBADMSG;
    return rc;
}

bool pprof_is(const void *bytes, size_t n)
{
    enum { FIELD_MOST = 14, TYPES = 1, STRINGS = 6 };
    struct cursor c = cursor_of(bytes, n);
    bool seen[FIELD_MOST + 1] = {false};
    struct field f;

    while (wire_next(&c, &f)) {
        if (f.number == 0 || f.number > FIELD_MOST)
            return false;
        seen[f.number] = true;
    }
    return !c.bad && seen[TYPES] && seen[STRINGS];
}

int pprof_read(const void *bytes, size_t n, struct rk_profile **ret, uint64_t *ret_damaged,
               struct pprof_left *ret_left)
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
        p.summary.duration = p.summary.last_time && p.duration <= INT64_MAX ? p.duration : 0;
        p.summary.made = p.time <= INT64_MAX ? p.time : 0;
        uint64_t damaged = p.damaged;
        rc = maker_end(&p.m, &p.summary, ret);
        if (rc == 0)
            *ret_damaged = damaged;
    }
    if (ret_left)
        *ret_left = p.left;
    pprof_free(&p);
    return rc;
}

/* A pprof file's samples: locations become frames of stacks, labels say whose a sample is. */
#include "profile/pprof.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define LINES_MOST 4096u    /* functions inlined into one place */
#define FRAMES_MOST 8u      /* frames that are kept, for each byte of the file … */
#define WORK_MOST 256u      /* … and those of all stacks, however often they come … */
#define FRAMES_EXTRA 65536u /* … as if it had so many bytes more */

/* Why a function has no name: export/pprof.c writes it as its system name. */
static uint32_t miss_of(struct pprof *p, uint32_t function, const char *name)
{
    const char *system = function == TABLE_NONE ? "" : pprof_chars_of(p, p->functions.items[function].system);
    uint32_t miss;

    if (sscanf(system, "[unknown] %" SCNu32, &miss) == 1 && miss > RK_MISS_NONE && miss <= RK_MISS_NOT_YOURS)
        return miss;
    return strcmp(name, "[unknown]") == 0 ? RK_MISS_NO_SYMBOL : RK_MISS_NONE;
}

/* The image of a location that says where it lies: number + 1, 0: it does not, or -errno. */
static int64_t image_of(struct pprof *p, const struct location *location)
{
    uint32_t module = table_get(&p->mapping_of, location->mapping);
    struct pprof_mapping *m = module == TABLE_NONE ? NULL : &p->mappings.items[module];

    if (!m || !location->address || location->address < m->start || location->address >= m->end)
        return 0;
    if (m->image)
        return m->image;
    int64_t path = pprof_text_of(p, m->path), build_id = path < 0 ? path : pprof_text_of(p, m->build_id);
    int64_t image = build_id < 0
                        ? build_id
                        : maker_image(&p->m, &(struct profile_image){(uint32_t)path, (uint32_t)build_id,
                                                                     m->start, m->end, m->offset});
    if (image < 0)
        return image;
    const struct profile_image *its = &p->m.profile->images.items[image];
    if (its->start - its->offset != m->start - m->offset) /* the same file twice, elsewhere */
        return 0;
    return m->image = (uint32_t)image + 1;
}

/* One line of a location: the frame of its function. */
static int64_t frame_of(struct pprof *p, const struct location *location, uint64_t function, uint64_t line,
                        uint32_t flags)
{
    uint32_t at = table_get(&p->function_of, function), module = table_get(&p->mapping_of, location->mapping);
    struct maker_frame frame = {.flags = flags, .line = line > INT32_MAX ? 0 : (uint32_t)line};
    int64_t path = module == TABLE_NONE ? 0 : pprof_text_of(p, p->mappings.items[module].path);
    const char *name = path < 0 ? "" : intern_text(&p->m.profile->texts, (uint32_t)path),
               *slash = strrchr(name, '/');
    int64_t base = path < 0 ? path : maker_text(&p->m, slash && slash[1] ? slash + 1 : name);
    int64_t symbol = at == TABLE_NONE ? 0 : pprof_text_of(p, p->functions.items[at].name);
    int64_t file = at == TABLE_NONE ? 0 : pprof_text_of(p, p->functions.items[at].file);

    if (symbol == 0)
        symbol = maker_text(&p->m, "[unknown]");
    if (symbol >= 0)
        frame.miss = miss_of(p, at, intern_text(&p->m.profile->texts, (uint32_t)symbol));
    int64_t image = image_of(p, location);
    if (base < 0 || symbol < 0 || file < 0 || image < 0)
        return -ENOMEM;
    if (name[0] == '[' && strncmp(name, "[kernel", 7) == 0)
        frame.flags |= RK_FRAME_KERNEL;
    frame.symbol = (uint32_t)symbol;
    frame.module = (uint32_t)base;
    frame.path = (uint32_t)path;
    frame.file = (uint32_t)file;
    frame.line = file ? frame.line : 0;
    frame.image = (uint32_t)image;
    frame.address = location->address;
    return maker_frame(&p->m, &frame);
}

static int line_push(struct pprof *p, int64_t frame)
{
    if (frame < 0 || vector_reserve(&p->lines, 1) < 0)
        return frame < 0 ? (int)frame : -ENOMEM;
    p->lines.items[p->lines.n++] = (uint32_t)frame;
    return 0;
}

/* The frames of a location, outermost first: in the file the last line is the function, those before are inlined. */
static int location_build(struct pprof *p, struct location *location)
{
    struct cursor c = location->bytes;
    size_t first = p->lines.n;
    struct field f;
    int rc = 0;

    while (rc == 0 && wire_next(&c, &f)) {
        uint64_t function, line, unused;
        if (f.number != 4 || f.wire != WIRE_BYTES || p->lines.n - first >= LINES_MOST)
            continue;
        pprof_numbers_of(f.bytes, 1, 2, &unused, &function, &line);
        rc = line_push(p, frame_of(p, location, function, line, RK_FRAME_INLINE));
    }
    if (rc == 0 && p->lines.n == first) {
        rc = line_push(p, frame_of(p, location, 0, 0, 0));
    } else if (rc == 0) { /* the function itself: the same frame, but for the flag */
        const uint64_t *key = unique_key(&p->m.frames, p->lines.items[p->lines.n - 1]);
        int64_t frame = unique_add(
            &p->m.frames, (uint64_t[]){key[0], key[1], key[2], key[3] & ~(uint64_t)RK_FRAME_INLINE, key[4]});
        p->lines.items[p->lines.n - 1] = (uint32_t)frame;
        rc = frame < 0 ? (int)frame : 0;
    }
    if (rc < 0)
        return rc;
    for (size_t i = first, k = p->lines.n - 1; i < k; i++, k--) {
        uint32_t inner = p->lines.items[i];
        p->lines.items[i] = p->lines.items[k];
        p->lines.items[k] = inner;
    }
    location->first = (uint32_t)first;
    location->n = (uint32_t)(p->lines.n - first);
    struct profile_place place = {.outer = PAIRS_NONE, .address = location->address};
    int64_t number = image_of(p, location);
    place.image = number > 0 ? (uint32_t)number : 0;
    for (size_t i = first; number > 0 && place.image && i < p->lines.n; i++) {
        place.frame = p->lines.items[i];
        if ((number = maker_place(&p->m, &place)) < 0)
            break;
        place.outer = (uint32_t)number;
        number = place.image;
    }
    return number < 0 ? (int)number : 0;
}

/* Appends a location's frames to the path; one that there is not is a frame without a name. */
static int location_add(struct pprof *p, uint64_t id)
{
    uint32_t at = table_get(&p->location_of, id);
    struct location none = {.bytes = cursor_of(NULL, 0)}, *location = &none;
    int rc = 0;

    if (at != TABLE_NONE)
        location = &p->locations.items[at];
    if (location->n == 0)
        rc = location_build(p, location);
    if (rc < 0 || vector_reserve(&p->path, location->n) < 0)
        return rc < 0 ? rc : -ENOMEM;
    memcpy(p->path.items + p->path.n, p->lines.items + location->first, location->n * sizeof *p->path.items);
    p->path.n += location->n;
    p->frames += location->n;
    if (location == &none)
        p->lines.n = none.first;
    return 0;
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

void pprof_sample_signs(struct pprof *p, struct cursor c)
{
    struct field f;
    uint64_t value;
    size_t n = 0;

    while (wire_next(&c, &f))
        for (bool first = true; f.number == 2 && wire_number(&f, &first, &value); n++)
            if (n < p->value_types.n && value > INT64_MAX)
                p->negative[n] = true;
}

/* Few bytes that say much: made to do harm. */
bool pprof_overdone(const struct pprof *p)
{
    uint64_t bytes = cursor_left(&p->all) + FRAMES_EXTRA, kept = p->m.stacks.words.n + p->lines.n;

    return kept / FRAMES_MOST > bytes || (p->frames + p->path.n) / WORK_MOST > bytes;
}

/* Whether the sums are no more than can be summed; what is below 0 is left out, a type at a time. */
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
    p->path.n = 0;
    for (size_t i = p->ids.n; i-- > 0 && rc == 0 && !pprof_overdone(p);)
        rc = location_add(p, p->ids.items[i]);
    if (pprof_overdone(p))
        return 0;
    int64_t stack = rc < 0 ? rc : stacks_add(&p->m.stacks, p->path.items, p->path.n);
    int64_t source = stack < 0 ? stack : maker_source(&p->m, l.source);
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
        rc = maker_sample(&p->m, &(struct maker_sample){.stack = (uint32_t)stack,
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

/*
 * Folded stacks, read: "outermost;…;sampled N" a line, as stackcollapse-*.pl, inferno, py-spy, async-profiler and reckon
 * export write them. Every part is a frame, the first too, though it is a thread's name in some: the format does not
 * tell. "[name]" is a function without a name in that module; "_[k]" behind a name is the kernel's, "_[i]" an inlined
 * function. There are no times, no threads; a sample weighs 1.
 */
#include "profile/file.h"

#include <reckon/symbol.h>

#include <ctype.h>
#include <errno.h>

/* The count at a line's end: its length with the space, 0: there is none. A fraction is cut off. */
static size_t count_of(const char *line, size_t n, uint64_t *ret)
{
    size_t at = n, end;
    uint64_t count = 0;

    while (at > 0 && ((line[at - 1] >= '0' && line[at - 1] <= '9') || line[at - 1] == '.'))
        at--;
    for (end = at; end < n && line[end] != '.'; end++)
        if (__builtin_mul_overflow(count, 10, &count) ||
            __builtin_add_overflow(count, (uint64_t)(line[end] - '0'), &count))
            return 0;
    if (at == 0 || end == at || line[at - 1] != ' ')
        return 0;
    *ret = count;
    return n - at + 1;
}

/* The line's end without its carriage return and blanks. */
static size_t trim(const char *line, size_t n)
{
    while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    return n;
}

bool folded_is(const char *bytes, size_t n)
{
    const char *end = n ? memchr(bytes, '\n', n) : NULL;
    size_t line = trim(bytes, end ? (size_t)(end - bytes) : n);
    uint64_t count;

    for (size_t i = 0; i < line; i++)
        if ((unsigned char)bytes[i] < ' ' && bytes[i] != '\t')
            return false;
    return line > 2 && count_of(bytes, line, &count) > 0;
}

static bool ends_with(const char *name, size_t n, const char *tail)
{
    size_t bytes = strlen(tail);

    return n > bytes && memcmp(name + n - bytes, tail, bytes) == 0;
}

/* How much of "prog+0x1130" is the module's; 0: it is no such place. */
static size_t module_bytes(const char *name, size_t n)
{
    size_t at = n;

    while (at && isxdigit((unsigned char)name[at - 1]))
        at--;
    return at > 3 && at < n && memcmp(name + at - 3, "+0x", 3) == 0 ? at - 3 : 0;
}

static int64_t frame_of(struct maker *m, const char *name, size_t n)
{
    struct maker_frame frame = {0};
    bool unnamed = n > 2 && name[0] == '[' && name[n - 1] == ']';

    if (ends_with(name, n, "_[k]"))
        frame.flags = RK_FRAME_KERNEL;
    else if (ends_with(name, n, "_[i]"))
        frame.flags = RK_FRAME_INLINE;
    n -= frame.flags ? 4 : 0;
    size_t base = unnamed ? module_bytes(name + 1, n - 2) : 0;
    if (base) {
        name++;
        n -= 2;
    }
    bool nowhere = unnamed && !base;
    int64_t symbol =
        intern_add(&m->profile->texts, nowhere ? "[unknown]" : name, nowhere ? strlen("[unknown]") : n);
    int64_t module = unnamed ? intern_add(&m->profile->texts, name, base ? base : n) : 0;
    if (symbol < 0 || module < 0)
        return -ENOMEM;
    frame.symbol = (uint32_t)symbol;
    frame.module = frame.path = (uint32_t)module;
    frame.miss = unnamed ? RK_MISS_NO_SYMBOL : RK_MISS_NONE;
    return maker_frame(m, &frame);
}

/* The stack's number; `path` is scratch. */
static int64_t stack_of(struct maker *m, const char *stack, size_t n, struct stacks_words *path)
{
    path->n = 0;
    for (size_t at = 0; at <= n;) {
        const char *end = at < n ? memchr(stack + at, ';', n - at) : NULL;
        size_t bytes = end ? (size_t)(end - stack) - at : n - at;
        int64_t frame = frame_of(m, stack + at, bytes);
        if (frame < 0 || vector_reserve(path, 1) < 0)
            return frame < 0 ? frame : -ENOMEM;
        path->items[path->n++] = (uint32_t)frame;
        at += bytes + 1;
    }
    return stacks_add(&m->stacks, path->items, path->n);
}

/* One line: 1 added, 0 damaged, -errno. */
static int line_add(struct maker *m, const char *line, size_t n, uint64_t *sum, struct stacks_words *path)
{
    uint64_t count;
    size_t tail = count_of(line, n, &count);

    if (!tail || n == tail || memchr(line, 0, n) || count > INT64_MAX - *sum)
        return 0;
    *sum += count;
    int64_t stack = stack_of(m, line, n - tail, path);
    if (stack < 0)
        return (int)stack;
    if (count == 0)
        return 1;
    int rc = maker_sample(
        m, &(struct maker_sample){.stack = (uint32_t)stack, .cpu = RK_NO_CPU, .amount = {count, count}});
    return rc < 0 ? rc : 1;
}

static int lines_add(struct maker *m, const char *bytes, size_t n, uint64_t *ret_good, uint64_t *ret_damaged)
{
    struct stacks_words path = {0};
    uint64_t sum = 0;
    int rc = 0;

    for (size_t at = 0; at < n && rc >= 0;) {
        const char *end = memchr(bytes + at, '\n', n - at);
        size_t line = end ? (size_t)(end - bytes) - at : n - at, used = trim(bytes + at, line);
        rc = used && bytes[at] != '#' ? line_add(m, bytes + at, used, &sum, &path) : 1;
        *ret_damaged += rc == 0;
        *ret_good += rc && used;
        at += line + 1;
    }
    vector_free(&path);
    return rc < 0 ? rc : 0;
}

int folded_read(const char *bytes, size_t n, struct rk_profile **ret, uint64_t *ret_damaged)
{
    struct rk_profile_summary summary = {.size = sizeof summary};
    uint64_t good = 0, damaged = 0;
    struct maker m;
    int rc = maker_begin(&m);
    int64_t source = rc < 0 ? rc : maker_source(&m, "");
    int64_t thread = source < 0 ? source : maker_thread(&m, (uint32_t)source, -1, -1, "");
    int64_t event = thread < 0 ? thread : maker_event(&m, "samples", "", NULL);

    rc = event < 0 ? (int)event : lines_add(&m, bytes, n, &good, &damaged);
    if (rc == 0 && good == 0)
        rc = -EBADMSG;
    if (rc < 0) {
        maker_free(&m);
        return rc;
    }
    rc = maker_end(&m, &summary, ret);
    if (rc == 0)
        *ret_damaged = damaged;
    return rc;
}

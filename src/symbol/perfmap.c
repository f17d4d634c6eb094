#include "symbol/perfmap.h"

#include "symbol/demangle.h"
#include "symbol/owner.h"
#include "sys/file.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

enum {
    BLOCK = 1 << 18,
    NAME_MAX_BYTES = 1 << 14,
    LINES_MAX = 1 << 24,
};

static const char *parse_hex(const char *at, const char *end, uint64_t *ret)
{
    uint64_t value = 0;

    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        at += 2;
    const char *first = at;
    for (; at < end && *at != ' '; at++) {
        unsigned digit = *at >= '0' && *at <= '9'   ? (unsigned)(*at - '0')
                         : *at >= 'a' && *at <= 'f' ? (unsigned)(*at - 'a') + 10
                         : *at >= 'A' && *at <= 'F' ? (unsigned)(*at - 'A') + 10
                                                    : 16;
        if (digit > 15 || value >> 60)
            return NULL;
        value = value << 4 | digit;
    }
    *ret = value;
    return at > first && at < end ? at + 1 : NULL;
}

/* 1 taken, 0 skipped, -ENOMEM. */
static int take_line(struct perfmap *map, const char *at, const char *end, struct intern *names)
{
    uint64_t start, bytes;

    at = parse_hex(at, end, &start);
    if (at)
        at = parse_hex(at, end, &bytes);
    if (!at || at == end || bytes == 0 || bytes > UINT32_MAX || bytes > UINT64_MAX - start ||
        end - at > NAME_MAX_BYTES || memchr(at, '\0', (size_t)(end - at)) || map->lines.n == LINES_MAX)
        return 0;
    int64_t name = intern_add(names, at, (size_t)(end - at));
    struct perfmap_line *line = name < 0 ? NULL : vector_push(&map->lines);
    if (!line)
        return -ENOMEM;
    uint32_t mangled = looks_mangled(intern_text(names, (uint32_t)name)) ? NAME_MANGLED : 0;
    *line = (struct perfmap_line){start, start + bytes, (uint32_t)name | mangled};
    return 1;
}

int64_t perfmap_parse(struct perfmap *map, const char *text, size_t n, struct intern *names)
{
    const char *at = text, *end;

    for (; (end = memchr(at, '\n', n - (size_t)(at - text))); at = end + 1) {
        int rc = take_line(map, at, end, names);
        if (rc < 0)
            return rc;
    }
    return at - text;
}

static int by_address(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Where the address stands in the sorted cuts. */
static uint32_t cut_of(const uint64_t *cuts, uint32_t n, uint64_t address)
{
    uint32_t from = 0;

    while (n > 1) {
        uint32_t half = n / 2;
        if (cuts[from + half] <= address)
            from += half;
        n -= half;
    }
    return from;
}

/* The first piece from `i` on that nobody has: `next` leads there, and is shortened on the way. */
static uint32_t free_piece(uint32_t *next, uint32_t i)
{
    while (next[i] != i) {
        next[i] = next[next[i]];
        i = next[i];
    }
    return i;
}

/* All starts and ends, sorted, each once: between two of them lies a piece. */
static uint32_t make_cuts(const struct perfmap *map, uint64_t *cuts)
{
    uint32_t n = 0, unique = 0;

    for (size_t i = 0; i < map->lines.n; i++) {
        cuts[n++] = map->lines.items[i].start;
        cuts[n++] = map->lines.items[i].end;
    }
    qsort(cuts, n, sizeof *cuts, by_address);
    for (uint32_t i = 0; i < n; i++)
        if (unique == 0 || cuts[unique - 1] != cuts[i])
            cuts[unique++] = cuts[i];
    return unique;
}

/* The last line takes all its pieces, the one before it what is left of its own, and so on. */
static uint32_t divide(const struct perfmap *map, const uint64_t *cuts, uint32_t cut_n, uint32_t *next,
                       uint32_t *owner, struct candidate *ret)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < cut_n; i++)
        next[i] = i;
    for (size_t i = map->lines.n; i-- > 0;) {
        const struct perfmap_line *line = &map->lines.items[i];
        uint32_t end = cut_of(cuts, cut_n, line->end);
        for (uint32_t piece = free_piece(next, cut_of(cuts, cut_n, line->start)); piece < end;
             piece = free_piece(next, piece)) {
            owner[piece] = (uint32_t)i + 1;
            next[piece] = piece + 1;
        }
    }
    for (uint32_t i = 0; i + 1 < cut_n; i++) {
        if (!owner[i])
            continue;
        if (i && owner[i] == owner[i - 1])
            ret[n - 1].end = cuts[i + 1];
        else
            ret[n++] = (struct candidate){cuts[i], cuts[i + 1], map->lines.items[owner[i] - 1].name,
                                          RANK_GLOBAL | RANK_FUNCTION | RANK_SIZED};
    }
    return n;
}

int perfmap_index(struct perfmap *map)
{
    size_t n = 2 * map->lines.n;
    struct index index = {0};

    if (n == 0)
        return 0;
    _cleanup_free_ uint64_t *cuts = reallocarray(NULL, n, sizeof *cuts);
    _cleanup_free_ uint32_t *next = reallocarray(NULL, n, sizeof *next);
    _cleanup_free_ uint32_t *owner = calloc(n, sizeof *owner);
    _cleanup_free_ struct candidate *candidates = reallocarray(NULL, n, sizeof *candidates);
    if (!cuts || !next || !owner || !candidates)
        return -ENOMEM;
    uint32_t cut_n = make_cuts(map, cuts);
    n = divide(map, cuts, cut_n, next, owner, candidates);
    int rc = index_build(&index, candidates, (uint32_t)n, ""); /* no two at one start: no name is looked at */
    if (rc == 0) {
        index_free(&map->index);
        map->index = index;
        map->indexed = map->lines.n;
    }
    return rc;
}

/* The process's number in its own namespace, as the last of NSpid: says. */
static int32_t own_pid(int root, int32_t pid)
{
    char path[64], text[4096];

    snprintf(path, sizeof path, "proc/%d/status", pid);
    if (sys_file_text(root, path, text, sizeof text) < 0)
        return pid;
    const char *line = strstr(text, "\nNSpid:");
    if (!line)
        return pid;
    line++;
    const char *last = line + strcspn(line, "\n");
    while (last > line && last[-1] != '\t' && last[-1] != ' ')
        last--;
    long value = strtol(last, NULL, 10);
    return value > 0 && value <= INT32_MAX ? (int32_t)value : pid;
}

static int open_map(int root, int32_t pid)
{
    enum { FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };
    char path[96];

    snprintf(path, sizeof path, "proc/%d/root/tmp/perf-%d.map", pid, own_pid(root, pid));
    int fd = sys_open_at(root, path, FLAGS, 0);
    if (fd >= 0 || fd == -EMFILE || fd == -ENFILE)
        return fd;
    snprintf(path, sizeof path, "tmp/perf-%d.map", pid);
    return sys_open_at(root, path, FLAGS, 0);
}

/* What was appended, block by block; a line that is longer than a block makes no sense and ends the reading. */
static int read_new(struct perfmap *map, int fd, uint64_t size, struct intern *names)
{
    _cleanup_free_ char *block = malloc(BLOCK);

    if (!block)
        return -ENOMEM;
    while (map->taken < size) {
        int64_t got = sys_read_at(fd, block, BLOCK, map->taken);
        if (got <= 0)
            return 0; /* it has shrunk, or can't be read: what is there stays */
        int64_t taken = perfmap_parse(map, block, (size_t)got, names);
        if (taken <= 0)
            return (int)taken;
        map->taken += (uint64_t)taken;
    }
    return 0;
}

int perfmap_update(struct perfmap *map, int root, struct intern *names)
{
    struct sys_status status;
    _cleanup_close_ int fd = open_map(root, map->pid);

    if (fd == -EMFILE || fd == -ENFILE)
        return fd;
    if (fd < 0 || sys_file_status(fd, &status) < 0 || !status.regular) {
        map->miss = map->lines.n ? RK_MISS_NO_SYMBOL : RK_MISS_ANONYMOUS;
        return 0;
    }
    if (!owner_is_trusted(root, map->pid, status.owner)) {
        map->miss = RK_MISS_NOT_YOURS;
        return 0;
    }
    map->miss = RK_MISS_NO_SYMBOL;
    if (status.size < map->taken) { /* begun anew */
        map->taken = 0;
        map->lines.n = map->indexed = 0;
        index_free(&map->index);
    }
    int rc = status.size > map->taken ? read_new(map, fd, status.size, names) : 0;
    return rc < 0 || map->lines.n == map->indexed ? rc : perfmap_index(map);
}

void perfmap_free(struct perfmap *map)
{
    vector_free(&map->lines);
    index_free(&map->index);
}

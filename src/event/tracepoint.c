/*
 * system:event, by name or by pattern. Its number is in tracefs: events/SYSTEM/EVENT/id.
 *
 * A user who may not look into tracefs is told that, not that there is no such event.
 */
#include "event/tracepoint.h"

#include "base/abi.h"
#include "base/error.h"
#include "base/text.h"
#include "event/glob.h"
#include "event/nearest.h"
#include "host/host.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define NAME_BYTES 255 /* as a file's */
#define PLACE_BYTES 4352
#define FORMAT_BYTES (1 << 20)

/* system and event of n and m bytes at p->at, or false. */
static bool shape(const struct parser *p, size_t *ret_n, size_t *ret_m)
{
    size_t n = name_bytes(p->at);

    if (n == 0 || p->at[n] != ':' || p->at[n + 1] == ':')
        return false;
    size_t m = name_bytes(p->at + n + 1);
    if (m == 0 || p->at[0] == '.' || p->at[n + 1] == '.')
        return false;
    if ((n > NAME_BYTES && !glob_is(p->at, n)) || (m > NAME_BYTES && !glob_is(p->at + n + 1, m)))
        return false;
    *ret_n = n;
    *ret_m = m;
    return true;
}

/* Where tracefs is: 0, or why not: -EACCES, -ENOENT (not mounted) … */
static int find_place(struct rk_host *host, const char **ret)
{
    return rk_host_mount(host, RK_MOUNT_TRACEFS, ret);
}

static int read_number(const struct rk_host *host, const char *place, const char *system, size_t n,
                       const char *event, size_t m, uint64_t *ret)
{
    char path[PLACE_BYTES + 2 * NAME_BYTES];
    int64_t id;

    if ((size_t)snprintf(path, sizeof path, "%s/events/%.*s/%.*s/id", place, (int)n, system, (int)m, event) >=
        sizeof path)
        return -ENAMETOOLONG;
    int rc = sys_file_number(host->root, path, &id);
    if (rc == 0 && (id < 0 || id > UINT32_MAX))
        rc = -EBADMSG;
    if (rc == 0)
        *ret = (uint64_t)id;
    return rc;
}

/* The number, which the host keeps. */
static int number_of(struct rk_host *host, const char *place, const char *system, size_t n, const char *event,
                     size_t m, uint64_t *ret)
{
    char key[MEMO_KEY + 1];
    struct memo memo = {0};

    snprintf(key, sizeof key, "tracepoint:%.*s:%.*s", (int)n, system, (int)m, event);
    if (host_memo_get(host, key, &memo)) {
        *ret = memo.value[0];
        return 0;
    }
    int rc = read_number(host, place, system, n, event, m, &memo.value[0]);
    if (rc == 0)
        rc = host_memo_put(host, key, &memo);
    if (rc == 0)
        *ret = memo.value[0];
    return rc;
}

static int add(struct parser *p, const char *system, size_t n, const char *event, size_t m, uint64_t id,
               bool shown)
{
    int rc;
    struct event_item *item = parse_add(p, &rc);

    if (!item)
        return rc;
    item->event.type = PERF_TRACEPOINT;
    item->event.config = id;
    item->body = parse_text(p, "%.*s:%.*s", (int)n, system, (int)m, event);
    if (shown)
        item->shown = item->body;
    return item->body ? 0 : -ENOMEM;
}

/* Names of a directory that fit a pattern, sorted; they are in the parser's arena. */
struct names {
    struct parser *p;
    const char *pattern;
    size_t n;
    VECTOR(const char *) list;
};

static int take_name(void *context, const char *name)
{
    struct names *names = context;

    if (!glob_match(names->pattern, names->n, name))
        return 0;
    const char **at = vector_push(&names->list);
    if (!at || !(*at = arena_text(&names->p->events->arena, name, strlen(name))))
        return -ENOMEM;
    return 0;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int list_names(struct names *names, const char *path)
{
    int rc = sys_dir_each(names->p->host->root, path, take_name, names);

    if (names->list.n > 1)
        qsort(names->list.items, names->list.n, sizeof *names->list.items, by_text);
    return rc;
}

/* The events of one system that fit: how many, or -errno with p->e filled. */
static int of_system(struct parser *p, const char *place, const char *system, const char *pattern, size_t m)
{
    struct names events = {p, pattern, m, {0}};
    char path[PLACE_BYTES + NAME_BYTES];
    uint64_t id = 0;
    int found = 0;

    snprintf(path, sizeof path, "%s/events/%.255s", place, system);
    int rc = list_names(&events, path);
    if (rc == -ENOMEM)
        fail_memory(p->e, RK_STAGE_EVENT);
    else if (rc < 0) /* a file beside the systems, or one that vanished */
        rc = 0;
    for (size_t i = 0; rc == 0 && i < events.list.n; i++) {
        const char *event = events.list.items[i];
        if (number_of(p->host, place, system, strlen(system), event, strlen(event), &id) < 0)
            continue;
        rc = add(p, system, strlen(system), event, strlen(event), id, true);
        found++;
    }
    vector_free(&events.list);
    return rc < 0 ? rc : found;
}

static int list_systems(struct names *names, const char *place)
{
    char path[PLACE_BYTES];

    snprintf(path, sizeof path, "%s/events", place);
    return list_names(names, path);
}

static int by_pattern(struct parser *p, const char *place, size_t n, size_t m)
{
    struct names systems = {p, p->at, n, {0}};
    int rc = list_systems(&systems, place), found = 0;

    if (rc == -ENOMEM)
        fail_memory(p->e, RK_STAGE_EVENT);
    for (size_t i = 0; rc >= 0 && i < systems.list.n; i++) {
        rc = of_system(p, place, systems.list.items[i], p->at + n + 1, m);
        found += rc > 0 ? rc : 0;
    }
    vector_free(&systems.list);
    return rc == -ENOMEM || rc == -E2BIG ? rc : found > 0;
}

int read_tracepoint(struct parser *p)
{
    size_t n, m;
    uint64_t id = 0;
    int rc;

    if (!shape(p, &n, &m))
        return 0;
    if (n > NAME_BYTES || m > NAME_BYTES)
        return parse_fail(p, n > NAME_BYTES ? p->at : p->at + n + 1,
                          "the pattern is too long: a name has at most %d bytes", NAME_BYTES);
    const char *place = NULL;
    if (find_place(p->host, &place) < 0)
        return 0;
    if (glob_is(p->at, n) || glob_is(p->at + n + 1, m)) {
        rc = by_pattern(p, place, n, m);
    } else {
        rc = number_of(p->host, place, p->at, n, p->at + n + 1, m, &id);
        if (rc == -ENOMEM)
            return fail_memory(p->e, RK_STAGE_EVENT);
        if (rc < 0)
            return 0;
        rc = add(p, p->at, n, p->at + n + 1, m, id, false);
        rc = rc < 0 ? rc : 1;
    }
    if (rc > 0)
        p->at += n + 1 + m;
    return rc;
}

static int untold(struct parser *p, int rc, const char *shown)
{
    const char *place = "/sys/kernel/tracing";
    char remedy[256];

    find_place(p->host, &place);
    host_tracefs_remedy(p->host, rc, 1, remedy, sizeof remedy);
    if (rc == -ENOENT)
        return parse_refuse(p, p->at, rc, RK_CAUSE_NO_FILE, remedy,
                            "%s: tracefs is not mounted, so that no tracepoint can be found", shown);
    if (rc == -EACCES || rc == -EPERM)
        return parse_refuse(p, p->at, rc, RK_CAUSE_CAPABILITY, remedy,
                            "%s: this user can't read %.100s, so that no tracepoint can be found", shown,
                            place);
    return parse_refuse(p, p->at, rc, RK_CAUSE_NO_FILE, NULL, "%s: cannot read %.100s/events: %s", shown,
                        place, strerror(-rc));
}

/* One that can be opened: it has a number, which what lies beside them has not, nor the tracers' own records. */
static void offer(struct parser *p, const char *place, size_t n, struct nearest *nearest, const char *name)
{
    struct nearest before = *nearest;
    uint64_t id;
    bool taken = false;

    nearest_offer(nearest, name);
    for (size_t i = 0; i < nearest->n; i++)
        taken = taken || nearest->best[i].name == name;
    if (taken && number_of(p->host, place, p->at, n, name, strlen(name), &id) < 0)
        *nearest = before;
}

static bool is_there(struct parser *p, const char *place, size_t n, size_t m, const char *file)
{
    char path[PLACE_BYTES + 2 * NAME_BYTES];

    snprintf(path, sizeof path, "%s/events/%.*s%s%.*s/%s", place, (int)n, p->at, m ? "/" : "", (int)m,
             p->at + n + 1, file);
    int fd = sys_open_at(p->host->root, path, O_RDONLY, 0);
    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

bool tracepoint_system(struct parser *p)
{
    size_t n = name_bytes(p->at);
    const char *place = NULL;

    return n > 0 && n <= NAME_BYTES && p->at[0] != '.' && find_place(p->host, &place) == 0 &&
           is_there(p, place, n, 0, ".");
}

int tracepoint_missing(struct parser *p)
{
    char shown[100], remedy[256], path[PLACE_BYTES + NAME_BYTES];
    struct names systems = {p, "*", 1, {0}}, events = {p, "*", 1, {0}};
    struct nearest nearest;
    size_t n, m;
    uint64_t id = 0;

    if (!shape(p, &n, &m))
        return 0;
    text_show(shown, sizeof shown, p->at, n + 1 + m);
    const char *place = NULL;
    int rc = find_place(p->host, &place);
    if (rc < 0)
        return untold(p, rc, shown);
    rc = number_of(p->host, place, p->at, n, p->at + n + 1, m, &id);
    if (rc < 0 && rc != -ENOENT && rc != -ENOTDIR)
        return untold(p, rc, shown);
    if (is_there(p, place, n, m, "format"))
        return parse_refuse(p, p->at + n + 1, -EOPNOTSUPP, RK_CAUSE_UNSUPPORTED, NULL,
                            "%s: a record of the kernel's own tracer, which has no number to be opened by",
                            shown);
    snprintf(path, sizeof path, "%s/events/%.*s", place, (int)n, p->at);
    bool known = list_names(&events, path) == 0 && events.list.n > 0;
    nearest_start(&nearest, known ? p->at + n + 1 : p->at, known ? m : n);
    if (!known)
        list_systems(&systems, place);
    for (size_t i = 0; known && i < events.list.n; i++)
        offer(p, place, n, &nearest, events.list.items[i]);
    for (size_t i = 0; i < systems.list.n; i++)
        nearest_offer(&nearest, systems.list.items[i]);
    nearest_remedy(&nearest, remedy, sizeof remedy);
    vector_free(&events.list);
    vector_free(&systems.list);
    return parse_refuse(p, known ? p->at + n + 1 : p->at, -ENOENT, RK_CAUSE_NO_EVENT, remedy,
                        known ? "%s: this kernel has no such tracepoint"
                              : "%s: no such event, and this kernel has no tracepoints of that system",
                        shown);
}

int tracepoint_format(struct parser *p, const char *name, char **ret, size_t *ret_n)
{
    char path[PLACE_BYTES + 2 * NAME_BYTES];
    const char *place = NULL, *colon = strchr(name, ':');
    _cleanup_free_ char *text = NULL;
    size_t n = 0;
    int rc = colon ? find_place(p->host, &place) : -EINVAL;

    if (rc < 0)
        return rc;
    if ((size_t)snprintf(path, sizeof path, "%s/events/%.*s/%s/format", place, (int)(colon - name), name,
                         colon + 1) >= sizeof path)
        return -ENAMETOOLONG;
    rc = sys_file_load(p->host->root, path, FORMAT_BYTES, &text, &n);
    if (rc < 0)
        return rc;
    *ret = arena_text(&p->events->arena, text, n);
    *ret_n = n;
    return *ret ? 0 : -ENOMEM;
}

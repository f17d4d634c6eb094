/*
 * Tracepoints, as tracefs has them: available_events with a line SYSTEM:NAME for each, events/SYSTEM/NAME/{id,format}.
 *
 * A kernel has some thousand, so that what is read goes by what is shown: their names, from the one file or, where a
 * user may read the directories alone, from the hundred of these; number and fields (`format`) where they are asked for,
 * and the fields of what was searched for where that is not much.
 *
 * The system ftrace is not in that file. Its directories are the tracers' own records, of which two can be opened: those
 * that have a number (`id`).
 *
 * Closing a tracepoint costs the kernel some 40 ms: it waits until no CPU can be in the probe any more. So none is
 * opened here. What is asked for is a number that no tracepoint has: a user without the right to count is refused before
 * the number is looked for (EACCES), one with it after (EINVAL).
 */
#include "base/abi.h"
#include "base/cleanup.h"
#include "host/host.h"
#include "list/list.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>

#define FORMAT_MOST (1 << 16)
#define AVAILABLE_MOST (16 << 20)
#define FIELDS_MOST 64 /* formats that a search reads unasked: some 15 us each */
#define NAME_MOST 255  /* a name in a directory */
#define FULL_BYTES (2 * NAME_MOST + 2)
#define PATH_BYTES 4800 /* tracefs, events, two names */

struct point {
    const char *system, *name;
};

struct tracing {
    struct gather *g;
    const char *path;              /* of tracefs */
    struct rk_list_entry answered; /* whether this user may count them */
    const char *system;            /* whose directory is being read */
    VECTOR(struct point) points;
    bool fields; /* are read */
};

static int add_point(struct tracing *t, const char *system, const char *name)
{
    struct point *point = vector_push(&t->points);

    if (!point)
        return -ENOMEM;
    *point = (struct point){system, name};
    return 0;
}

/* Directories alone: files like `enable` and `filter` lie beside them. */
static bool is_file(const char *name)
{
    static const char *const files[] = {"enable", "filter", "header_page", "header_event",
                                        "format", "id",     "trigger"};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(name, files[i]) == 0)
            return true;
    return false;
}

static int take_name(void *context, const char *name)
{
    struct tracing *t = context;
    struct arena *arena = &t->g->list->arena;
    char path[PATH_BYTES];
    int64_t id;

    if (is_file(name))
        return 0;
    snprintf(path, sizeof path, "%s/events/ftrace/%s/id", t->path, name);
    if (strcmp(t->system, "ftrace") == 0 && sys_file_number(t->g->host->root, path, &id) < 0)
        return 0;
    name = arena_text(arena, name, strlen(name));
    return name ? add_point(t, t->system, name) : -ENOMEM;
}

/* The tracepoints of a system by its directory: 0 or -errno. */
static int read_system(struct tracing *t, const char *system)
{
    char path[PATH_BYTES];

    t->system = system;
    snprintf(path, sizeof path, "%s/events/%s", t->path, system);
    int rc = sys_dir_each(t->g->host->root, path, take_name, t);
    return host_transient(rc) ? rc : 0; /* gone, or closed to this user */
}

static int take_system(void *context, const char *name)
{
    struct tracing *t = context;

    if (is_file(name))
        return 0;
    name = arena_text(&t->g->list->arena, name, strlen(name));
    return name ? read_system(t, name) : -ENOMEM;
}

/* From the one file, whose text becomes the list's. */
static int read_available(struct tracing *t)
{
    _cleanup_free_ char *text = NULL;
    char path[PATH_BYTES];
    size_t n;

    snprintf(path, sizeof path, "%s/available_events", t->path);
    int rc = sys_file_load(t->g->host->root, path, AVAILABLE_MOST, &text, &n);
    if (rc < 0)
        return rc;
    char *line = arena_text(&t->g->list->arena, text, n), *next;
    if (!line)
        return -ENOMEM;
    for (; rc == 0 && *line; line = next) {
        size_t end = strcspn(line, "\n"), colon = strcspn(line, ":\n");
        next = line + end + (line[end] != '\0');
        if (colon == 0 || colon + 1 >= end)
            continue;
        line[colon] = line[end] = '\0';
        rc = add_point(t, line, line + colon + 1);
    }
    return rc < 0 ? rc : read_system(t, "ftrace");
}

/* "sched:sched_switch". */
static const char *join(const struct point *point, char to[FULL_BYTES])
{
    size_t n = strlen(point->system), more = strlen(point->name);

    if (n > NAME_MOST)
        n = NAME_MOST;
    if (more > NAME_MOST)
        more = NAME_MOST;
    memcpy(to, point->system, n);
    to[n] = ':';
    memcpy(to + n + 1, point->name, more);
    to[n + 1 + more] = '\0';
    return to;
}

/* Only those that have the words. */
static void keep_wanted(struct tracing *t)
{
    char full[FULL_BYTES];
    size_t n = 0;

    for (size_t i = 0; i < t->points.n; i++) {
        struct rk_list_entry entry = entry_new("tracepoint", join(&t->points.items[i], full), "");
        if (gather_wanted(t->g, &entry))
            t->points.items[n++] = t->points.items[i];
    }
    t->points.n = n;
}

static int by_name(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    int order = strcmp(x->system, y->system);

    return order ? order : strcmp(x->name, y->name);
}

/* All of them, sorted: 0 or -errno. */
static int read_points(struct tracing *t)
{
    char path[PATH_BYTES];
    int rc = read_available(t);

    if (rc < 0 && !host_transient(rc)) {
        snprintf(path, sizeof path, "%s/events", t->path);
        rc = sys_dir_each(t->g->host->root, path, take_system, t);
    }
    if (rc == 0 && t->g->searching)
        keep_wanted(t);
    t->fields = t->g->options.flags & RK_LIST_LONG || (t->g->searching && t->points.n <= FIELDS_MOST);
    if (rc == 0 && t->points.n > 1)
        qsort(t->points.items, t->points.n, sizeof *t->points.items, by_name);
    return rc;
}

/* "prev_comm, prev_pid": the fields of a format's text, behind those that all have. */
static void name_fields(const char *text, char *to, size_t size)
{
    size_t at = 0;

    to[0] = '\0';
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const char *field = line + strspn(line, " \t");
        if (strncmp(field, "field:", 6) != 0)
            continue;
        size_t end = strcspn(field, ";\n"), begin = end;
        size_t bracket = strcspn(field, "[");
        if (bracket < end) /* char comm[16] */
            end = begin = bracket;
        while (begin > 6 && field[begin - 1] != ' ' && field[begin - 1] != '*')
            begin--;
        if (strncmp(field + begin, "common_", 7) == 0)
            continue;
        int n = snprintf(to + at, size - at, "%s%.*s", at ? ", " : "", (int)(end - begin), field + begin);
        if (n < 0 || at + (size_t)n >= size) {
            snprintf(to + (at ? at : 0), size - at, "…");
            return;
        }
        at += (size_t)n;
    }
}

/* Number and fields from `format`: 0 or -errno. */
static int read_format(const struct tracing *t, const char *system, const char *name, int64_t *ret_id,
                       char *fields, size_t size)
{
    _cleanup_free_ char *text = NULL;
    char path[PATH_BYTES];
    size_t n;

    snprintf(path, sizeof path, "%s/events/%s/%s/format", t->path, system, name);
    int rc = sys_file_load(t->g->host->root, path, FORMAT_MOST, &text, &n);
    if (rc < 0)
        return rc;
    const char *id = strstr(text, "\nID:");
    char *end;
    *ret_id = id ? strtoll(id + 4, &end, 10) : 0;
    if (!id || end == id + 4 || *ret_id < 0)
        return -EBADMSG;
    name_fields(text, fields, size);
    return 0;
}

static void ask(struct tracing *t)
{
    t->answered = entry_new("", "", "");
    entry_encode(&t->answered, PERF_TRACEPOINT, UINT32_MAX);
    trial_run(t->g, &t->answered, &(struct trial_place){.cpu = -1, .also = EINVAL});
}

/* Newer kernels give the function tracer's event to nobody. As a sampling event with the user's call chain it is refused
 * by all (EINVAL) behind that check, and nothing was set up that closing would have to wait for. */
static void ask_function(struct tracing *t, struct rk_list_entry *entry)
{
    struct rk_list_entry function = entry_new("", "", "");

    entry_encode(&function, PERF_TRACEPOINT, TRACEPOINT_FUNCTION);
    trial_run(t->g, &function, &(struct trial_place){.cpu = -1, .also = EINVAL, .period = 1});
    trial_copy(entry, &function);
}

static int add_tracepoint(struct tracing *t, const char *system, const char *name)
{
    struct gather *g = t->g;
    char full[FULL_BYTES], fields[600], encoding[64];
    int64_t id = 0;
    struct rk_list_entry entry = entry_new("tracepoint", join(&(struct point){system, name}, full), "");

    if (t->fields) {
        int rc = read_format(t, system, name, &id, fields, sizeof fields);
        if (host_transient(rc))
            return rc;
        if (rc == 0) {
            snprintf(encoding, sizeof encoding, "tracepoint/config=%#jx/", (uintmax_t)id);
            entry_encode(&entry, PERF_TRACEPOINT, (uint64_t)id);
            entry.encoding = encoding;
            entry.about = fields;
        }
    }
    if (t->answered.able == RK_ABLE_YES && strcmp(system, "ftrace") == 0 && strcmp(name, "function") == 0)
        ask_function(t, &entry);
    else
        trial_copy(&entry, &t->answered);
    return gather_add(g, &entry);
}

/* The tracepoints from `first` to `end`, which are of one system. */
static int add_system(struct tracing *t, const struct point *first, const struct point *end)
{
    struct gather *g = t->g;
    size_t n = (size_t)(end - first);
    char name[300], about[64];
    int rc = 0;

    if (g->all || g->searching) {
        for (; rc == 0 && first < end; first++)
            rc = add_tracepoint(t, first->system, first->name);
        return rc;
    }
    snprintf(name, sizeof name, "%.255s:*", first->system);
    snprintf(about, sizeof about, "%zu tracepoint%s", n, n == 1 ? "" : "s");
    struct rk_list_entry entry = entry_new("tracepoint", name, about);
    trial_copy(&entry, &t->answered);
    return gather_add(g, &entry);
}

/* Tracepoints can't be named: one form stands for them, with the reason. */
static int add_none(struct gather *g, int rc, const char *path)
{
    struct rk_list_entry entry = entry_new("tracepoint", "SYSTEM:NAME", "tracepoints of the kernel");
    char what[300], remedy[400];

    entry.able = RK_ABLE_NO;
    entry.cause = RK_CAUSE_NO_FILE;
    entry.form = 1;
    if (rc == -EACCES)
        snprintf(what, sizeof what, "this user can't read %.200s", path);
    else
        snprintf(what, sizeof what, "tracefs is not mounted here");
    host_tracefs_remedy(g->host, rc, 1, remedy, sizeof remedy);
    entry.what = what;
    entry.remedy = remedy;
    return gather_add(g, &entry); /* whatever the words: what could not be searched is said */
}

int gather_tracepoints(struct gather *g)
{
    struct tracing t = {.g = g};

    if (!gather_pmu(g, "tracepoint"))
        return 0;
    int rc = rk_host_mount(g->host, RK_MOUNT_TRACEFS, &t.path);
    if (rc == 0)
        rc = read_points(&t);
    if (rc < 0) {
        vector_free(&t.points);
        return host_transient(rc) ? rc : add_none(g, rc, t.path);
    }
    ask(&t);
    const struct point *point = t.points.items, *last = point + t.points.n, *end;
    for (; rc == 0 && point < last; point = end) {
        for (end = point + 1; end < last && strcmp(end->system, point->system) == 0;)
            end++;
        rc = add_system(&t, point, end);
    }
    vector_free(&t.points);
    return rc;
}

#include "measured.h"

#include "handles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct rk_error *e)
{
    e->code = -ENOMEM;
    e->cause = RK_CAUSE_MEMORY;
    snprintf(e->what, sizeof e->what, "out of memory");
    return -ENOMEM;
}

/* The next word of a list, copied; NULL: none is left, or no memory (errno). */
static char *next_word(const char **at)
{
    size_t n = strcspn(*at, ",");
    char *word = strndup(*at, n);

    *at += n + ((*at)[n] == ',');
    return word;
}

static int bad_number(const char *word, const char *noun, struct rk_error *e)
{
    e->code = -EINVAL;
    e->cause = RK_CAUSE_ARGUMENT;
    snprintf(e->what, sizeof e->what, "'%.60s' is not the number of a %s", word, noun);
    snprintf(e->remedy, sizeof e->remedy, "%s", "ps -eLo pid,tid,comm lists what runs");
    return -EINVAL;
}

static int numbered(const char *word, bool thread, struct rk_target **ret, struct rk_error *e)
{
    char *end;
    long id = strtol(word, &end, 10);

    if (end == word || *end || id <= 0 || id > INT32_MAX)
        return bad_number(word, thread ? "thread" : "process", e);
    return thread ? rk_target_thread((int32_t)id, ret, e) : rk_target_process((int32_t)id, ret, e);
}

/* All cgroups are one target. */
static int cgroups(const struct stat_options *o, struct rk_host *host, struct rk_target **ret,
                   struct rk_error *e)
{
    char *text = strdup(o->cgroups);
    size_t n = 1;

    for (const char *c = o->cgroups; *c; c++)
        n += *c == ',';
    const char **paths = calloc(n, sizeof *paths);
    if (!text || !paths) {
        free(text);
        free(paths);
        return no_memory(e);
    }
    n = 0;
    for (char *rest = text, *word; (word = strsep(&rest, ","));)
        paths[n++] = word;
    int rc = rk_target_cgroups(host, paths, n, o->cpus, ret, e);
    free(text);
    free(paths);
    return rc;
}

int measured_target(const struct stat_options *o, struct rk_host *host, const char **at,
                    struct rk_target **ret, struct rk_error *e)
{
    bool tasks = o->processes || o->threads;

    if (!tasks && (o->all || o->cpus || o->cgroups)) {
        if (*at)
            return 1;
        *at = "";
        return o->cgroups ? cgroups(o, host, ret, e) : rk_target_cpus(host, o->cpus, ret, e);
    }
    if (!*at)
        *at = o->processes ? o->processes : o->threads;
    else if (!**at)
        return 1;
    char *word = *at ? next_word(at) : NULL;
    if (!word)
        return no_memory(e);
    int rc = numbered(word, o->threads != NULL, ret, e);
    free(word);
    if (rc == 0 && o->cpus && (rc = rk_target_on_cpus(*ret, host, o->cpus, e)) < 0)
        *ret = rk_target_free(*ret);
    return rc;
}

static struct measured_part *add_part(struct measured *m)
{
    struct measured_part *longer = realloc(m->parts, (m->n + 1) * sizeof *longer);

    if (!longer)
        return NULL;
    m->parts = longer;
    m->parts[m->n] = (struct measured_part){0};
    return &m->parts[m->n++];
}

/* A process or thread that is named twice, or by the ids of two of its threads, counts once. */
static bool is_there(const struct measured *m, const struct rk_target *target)
{
    for (size_t i = 0; i < m->n; i++)
        if (rk_target_pid(target) > 0 && rk_target_pid(m->parts[i].target) == rk_target_pid(target))
            return true;
    return false;
}

/* A command that is counted later than from its first instruction is a process that begins disabled. */
static int find_targets(struct measured *m, const struct stat_options *o, struct rk_host *host,
                        const struct rk_events *events, struct rk_error *e)
{
    struct measured_part *part;
    const char *at = NULL;
    bool attached = o->processes || o->threads || o->cpus || o->cgroups || o->all;

    if (!attached) {
        m->command_counts = true;
        m->started = o->delay_ms == 0;
        if (!(part = add_part(m)))
            return no_memory(e);
        if (m->started)
            return 0;
        /* What can't be counted from its exec on can't be counted later either, and is told the same. */
        struct rk_set_options options = {.size = sizeof options,
                                         .flags = RK_SET_KEEP | (o->no_inherit ? RK_SET_NO_INHERIT : 0)};
        struct rk_plan unused = {.size = sizeof unused};
        int rc = rk_set_plan(host, events, m->command, &options, &unused, e);
        return rc < 0 ? rc : rk_target_process(rk_target_pid(m->command), &part->target, e);
    }
    for (;;) {
        struct rk_target *target = NULL;
        int rc = measured_target(o, host, &at, &target, e);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        if (is_there(m, target)) {
            rk_target_free(target);
            continue;
        }
        if (!(part = add_part(m))) {
            rk_target_free(target);
            return no_memory(e);
        }
        part->target = target;
    }
}

int measured_open(struct measured *m, const struct stat_options *o, struct rk_host *host,
                  const struct rk_events *events, struct rk_error *e)
{
    struct rk_set_options options = {.size = sizeof options,
                                     .flags = RK_SET_KEEP | (o->no_inherit ? RK_SET_NO_INHERIT : 0) |
                                              (o->freeze ? RK_SET_FREEZE : 0)};
    int rc = 0;

    /* To switch counters on later may pass over threads that are being born (set.h): a first reading is subtracted. */
    m->counts_already = (o->processes || o->threads) && o->delay_ms == 0;
    options.flags |= m->counts_already ? RK_SET_ENABLED : 0;
    if (o->command && (rc = rk_target_command(o->command, NULL, &m->command, e)) < 0)
        return rc;
    if (!events)
        return 0;
    rc = find_targets(m, o, host, events, e);
    m->sum = o->by == RK_BY_ALL;
    m->host = host;
    m->by = o->by;
    for (size_t i = 0; rc == 0 && i < m->n; i++) {
        struct measured_part *part = &m->parts[i];
        rc = rk_set_open(host, events, part->target ? part->target : m->command, &options, &part->set, e);
        part->slots = rk_set_slot_count(part->set);
        if (rc == 0)
            rc = rk_rows_open(host, part->set, o->by, &part->rows, e);
        if (rc < 0)
            return rc;
        if (m->sum && i > 0)
            continue;
        m->n_rows += rk_rows_count(part->rows);
        m->n_values += rk_rows_count(part->rows) * rk_set_event_count(part->set);
    }
    return rc < 0 ? rc : 0;
}

int measured_enable(struct measured *m)
{
    int rc = 0;

    for (size_t i = 0; i < m->n; i++) {
        int one = rk_set_enable(m->parts[i].set);
        rc = rc ? rc : one;
    }
    return rc;
}

int measured_disable(struct measured *m)
{
    int rc = 0;

    for (size_t i = 0; i < m->n; i++) {
        int one = rk_set_disable(m->parts[i].set);
        rc = rc ? rc : one;
    }
    return rc;
}

uint32_t measured_join(uint32_t a, uint32_t b)
{
    if (a == RK_STATE_ABSENT || b == RK_STATE_ABSENT)
        return RK_STATE_ABSENT;
    if (a == RK_STATE_COUNTED || b == RK_STATE_COUNTED)
        return RK_STATE_COUNTED;
    return a == RK_STATE_STARVED || b == RK_STATE_STARVED ? RK_STATE_STARVED : a > b ? a : b;
}

/* Several processes make one sum. What could not be read in one of them is then not known of all. */
static int read_sum(struct measured *m, struct rk_value *ret, uint32_t *ret_states)
{
    size_t n = m->n_values;
    struct rk_value *one = calloc(n + 1, sizeof *one);
    uint32_t *states = calloc(n + 1, sizeof *states);
    int rc = one && states ? 0 : -ENOMEM;

    memset(ret, 0, n * sizeof *ret);
    for (size_t p = 0; rc == 0 && p < m->n; p++) {
        rc = rk_set_total(m->parts[p].set, one, states, n);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            ret[i].value += one[i].value;
            ret[i].enabled += one[i].enabled;
            ret[i].running += one[i].running;
            ret_states[i] = p ? measured_join(ret_states[i], states[i]) : states[i];
        }
    }
    free(one);
    free(states);
    return rc;
}

/* A table of the rows `old` as one of the rows `now`, of which the old ones are some, in the same order. */
static struct rk_value *spread(const struct rk_value *table, const struct rk_rows *old,
                               const struct rk_rows *now, size_t events)
{
    struct rk_value *wider = calloc(rk_rows_count(now) * events + 1, sizeof *wider);
    struct rk_row a = {.size = sizeof a}, b = {.size = sizeof b};

    for (size_t i = 0, at = 0; wider && i < rk_rows_count(old); at++) {
        if (rk_rows_get(now, at, &b) < 0)
            break;
        rk_rows_get(old, i, &a);
        if (strcmp(a.name, b.name) == 0)
            memcpy(wider + at * events, table + i++ * events, events * sizeof *wider);
    }
    return wider;
}

/* Only CPUs come, and they are one part. All or nothing: a table that can't grow leaves everything as it was. */
static int add_rows(struct measured *m, struct rk_value **tables[], size_t n)
{
    struct measured_part *part = &m->parts[0];
    size_t events = rk_set_event_count(part->set);
    struct rk_value *wider[4] = {NULL};
    struct rk_rows *rows = NULL;
    size_t made = 0;

    if (n > sizeof wider / sizeof *wider || rk_rows_open(m->host, part->set, m->by, &rows, NULL) < 0)
        return -1;
    while (made < n && (wider[made] = spread(*tables[made], part->rows, rows, events)))
        made++;
    if (made < n) {
        while (made > 0)
            free(wider[--made]);
        rk_rows_free(rows);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        free(*tables[i]);
        *tables[i] = wider[i];
    }
    rk_rows_free(part->rows);
    part->rows = rows;
    part->slots = rk_set_slot_count(part->set);
    m->n_rows = rk_rows_count(rows);
    m->n_values = m->n_rows * events;
    return 0;
}

int measured_follow(struct measured *m, struct rk_value **tables[], size_t n)
{
    size_t came = 0;

    for (size_t p = 0; p < m->n; p++) {
        if (rk_target_pid(m->parts[p].target) < 0) /* -i is about threads: they are not followed */
            rk_set_refresh(m->parts[p].set,
                           NULL); /* what can't be opened is missing, and what was open stays */
        came += rk_set_slot_count(m->parts[p].set) - m->parts[p].slots;
    }
    m->unplaced = 0;
    if (m->sum || came == 0)
        return 0;
    if (m->n == 1 && add_rows(m, tables, n) == 0)
        return 1;
    m->unplaced = came;
    return 0;
}

int measured_read(struct measured *m, struct rk_value *ret, uint32_t *ret_states)
{
    if (m->sum && m->n == 1)
        return rk_set_total(m->parts[0].set, ret, ret_states, m->n_values);
    if (m->sum && m->n > 1)
        return read_sum(m, ret, ret_states);
    for (size_t p = 0; p < m->n; p++) {
        size_t n = rk_rows_count(m->parts[p].rows) * rk_set_event_count(m->parts[p].set);
        int rc = rk_rows_read(m->parts[p].rows, ret, ret_states, n);
        if (rc < 0)
            return rc;
        ret += n;
        ret_states += n;
    }
    return 0;
}

void measured_rows(const struct measured *m, const struct rk_value *values, const uint32_t *states,
                   struct rk_counts_row *ret)
{
    size_t at = 0;

    for (size_t p = 0; p < m->n && at < m->n_rows; p++)
        for (size_t r = 0; r < rk_rows_count(m->parts[p].rows) && at < m->n_rows; r++, at++) {
            struct rk_row row = {.size = sizeof row, .name = ""};
            rk_rows_get(m->parts[p].rows, r, &row);
            ret[at] = (struct rk_counts_row){
                .set = m->parts[p].set,
                .values = values,
                .states = states,
                .where = m->sum ? NULL : row.name,
                .slots = row.slots,
                .slot = row.by == RK_BY_ALL ? UINT64_MAX : row.slot,
            };
            values += rk_set_event_count(m->parts[p].set);
            states += rk_set_event_count(m->parts[p].set);
        }
}

const struct rk_set *measured_set(const struct measured *m)
{
    return m->n ? m->parts[0].set : NULL;
}

void measured_close(struct measured *m)
{
    for (size_t i = 0; i < m->n; i++) {
        rk_rows_free(m->parts[i].rows);
        rk_set_free(m->parts[i].set);
        rk_target_free(m->parts[i].target);
    }
    free(m->parts);
    rk_target_free(m->command);
    *m = (struct measured){0};
}

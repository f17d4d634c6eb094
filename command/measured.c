#include "measured.h"

#include "handles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

int measured_target(const struct stat_options *o, struct rk_host *host, const char **at,
                    struct rk_target **ret, char **ret_name, struct rk_error *e)
{
    const char *list = o->processes ? o->processes : o->threads ? o->threads : o->cgroups;

    *ret_name = NULL;
    if (o->all || (o->cpus && !o->cgroups)) {
        if (*at)
            return 1;
        *at = "";
        return rk_target_cpus(host, o->cpus, ret, e);
    }
    if (!*at)
        *at = list;
    else if (!**at)
        return 1;
    char *word = next_word(at);
    if (!word) {
        e->code = -ENOMEM;
        return -ENOMEM;
    }
    int rc = numbered(word, o->threads != NULL, ret, e);
    free(word);
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

static int no_memory(struct rk_error *e)
{
    e->code = -ENOMEM;
    e->cause = RK_CAUSE_MEMORY;
    snprintf(e->what, sizeof e->what, "out of memory");
    return -ENOMEM;
}

/* A command that is counted later than from its first instruction is a process that begins disabled. */
static int find_targets(struct measured *m, const struct stat_options *o, struct rk_host *host,
                        struct rk_error *e)
{
    struct measured_part *part;
    const char *at = NULL;
    bool attached = o->processes || o->threads || o->cpus || o->cgroups || o->all;

    if (!attached) {
        m->command_counts = true;
        m->started = o->delay_ms == 0;
        if (!(part = add_part(m)))
            return no_memory(e);
        return m->started ? 0 : rk_target_process(rk_target_pid(m->command), &part->target, e);
    }
    for (;;) {
        struct rk_target *target = NULL;
        char *name = NULL;
        int rc = measured_target(o, host, &at, &target, &name, e);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        if (!(part = add_part(m))) {
            rk_target_free(target);
            free(name);
            return no_memory(e);
        }
        part->target = target;
        part->name = name;
    }
}

/* Rows of several parts need names that say both. */
static int join_names(struct measured *m, struct rk_error *e)
{
    size_t at = 0;

    if (m->n < 2 || m->sum || !m->parts[0].name)
        return 0;
    m->names = calloc(m->n_rows, sizeof *m->names);
    if (!m->names)
        return no_memory(e);
    for (size_t p = 0; p < m->n; p++)
        for (size_t r = 0; r < rk_rows_count(m->parts[p].rows); r++) {
            struct rk_row row = {.size = sizeof row, .name = ""};
            rk_rows_row(m->parts[p].rows, r, &row);
            if (asprintf(&m->names[at], "%s%s%s", m->parts[p].name, row.name[0] ? " " : "", row.name) < 0) {
                m->names[at] = NULL;
                return no_memory(e);
            }
            at++;
        }
    return 0;
}

int measured_open(struct measured *m, const struct stat_options *o, struct rk_host *host,
                  const struct rk_events *events, struct rk_error *e)
{
    struct rk_set_options options = {.size = sizeof options, .keep = 1, .no_inherit = o->no_inherit};
    int rc = 0;

    if (o->command && (rc = rk_target_command(o->command, NULL, &m->command, e)) < 0)
        return rc;
    if (!events)
        return 0;
    rc = find_targets(m, o, host, e);
    m->sum = o->by == RK_BY_ALL && !o->cgroups;
    for (size_t i = 0; rc == 0 && i < m->n; i++) {
        struct measured_part *part = &m->parts[i];
        rc = rk_set_open(host, events, part->target ? part->target : m->command, &options, &part->set, e);
        if (rc == 0)
            rc = rk_rows_make(host, part->set, o->by, &part->rows, e);
        if (rc < 0)
            return rc;
        if (m->sum && i > 0)
            continue;
        m->n_rows += rk_rows_count(part->rows);
        m->n_values += rk_rows_count(part->rows) * rk_set_events(part->set);
    }
    return rc < 0 ? rc : join_names(m, e);
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

/* Several processes make one sum. What could not be read in one of them is then not known of all. */
static int read_sum(struct measured *m, struct rk_value *ret)
{
    size_t n = m->n_values;
    struct rk_value *one = calloc(n ? n : 1, sizeof *one);
    int rc = one ? 0 : -ENOMEM;

    memset(ret, 0, n * sizeof *ret);
    for (size_t p = 0; rc == 0 && p < m->n; p++) {
        rc = rk_set_total(m->parts[p].set, one, n);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            ret[i].value += one[i].value;
            ret[i].enabled += one[i].enabled;
            ret[i].running += one[i].running;
        }
    }
    free(one);
    return rc;
}

int measured_read(struct measured *m, struct rk_value *ret)
{
    if (m->sum && m->n == 1)
        return rk_set_total(m->parts[0].set, ret, m->n_values);
    if (m->sum && m->n > 1)
        return read_sum(m, ret);
    for (size_t p = 0; p < m->n; p++) {
        size_t n = rk_rows_count(m->parts[p].rows) * rk_set_events(m->parts[p].set);
        int rc = rk_rows_read(m->parts[p].rows, ret, n);
        if (rc < 0)
            return rc;
        ret += n;
    }
    return 0;
}

void measured_rows(const struct measured *m, const struct rk_value *values, struct rk_counts_row *ret)
{
    size_t at = 0;

    for (size_t p = 0; p < m->n && at < m->n_rows; p++)
        for (size_t r = 0; r < rk_rows_count(m->parts[p].rows) && at < m->n_rows; r++, at++) {
            struct rk_row row = {.size = sizeof row, .name = ""};
            rk_rows_row(m->parts[p].rows, r, &row);
            ret[at] = (struct rk_counts_row){
                .set = m->parts[p].set,
                .values = values,
                .where = m->names              ? m->names[at]
                         : m->sum              ? NULL
                         : row.by == RK_BY_ALL ? m->parts[p].name
                                               : row.name,
                .slots = row.slots,
                .slot = row.by == RK_BY_ALL ? UINT64_MAX : row.slot,
            };
            values += rk_set_events(m->parts[p].set);
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
        rk_set_close(m->parts[i].set);
        rk_target_free(m->parts[i].target);
        free(m->parts[i].name);
    }
    for (size_t i = 0; m->names && i < m->n_rows; i++)
        free(m->names[i]);
    free(m->names);
    free(m->parts);
    rk_target_free(m->command);
    *m = (struct measured){0};
}

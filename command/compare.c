/*
 * reckon compare: run commands again and again in random order, and say whether they differ.
 *
 * options → parameters → subjects (words split, hooks) → rounds → figures → one of four writers.
 */
#include "compare.h"

#include "command.h"
#include "compare_words.h"
#include "options.h"
#include "print.h"
#include "run.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* Few, since each makes the others' proof harder. Operands of a ratio in one group. */
#define DEFAULT_EVENTS "page-faults,{cycles,instructions},{branches,branch-misses}"
#define DEFAULT_TIME_NS UINT64_C(3000000000)
#define DEFAULT_LEAST 10 /* runs of each, where neither -r nor --time is given */
#define LEAST 3          /* … with --time */
#define MOST_SUBJECTS 10000

enum {
    ID_TIME = 256,
    ID_SETUP,
    ID_PREPARE,
    ID_CLEANUP,
    ID_IGNORE,
    ID_REFERENCE,
    ID_INPUT,
    ID_SHOW,
    ID_SHELL,
    ID_SEED,
    ID_JSON,
    ID_CSV,
    ID_MARKDOWN,
};

static const struct option table[] = {
    {'r', 'r', "runs", "N", "run each command N times (default: 3 s each, and at least 10 times)"},
    {ID_TIME, 0, "time", "TIME", "run each for so long: 5s, 500ms, 2m; at least 3 times"},
    {'w', 'w', "warmup", "N", "run each N times before, unmeasured"},
    {'e', 'e', "event", "LIST", "events to count; {a,b} is a group; may be repeated"},
    {ID_REFERENCE, 0, "reference", "WHICH",
     "compare with this: a number, name or command (default: the first)"},
    {'n', 'n', "names", "LIST", "names of the commands, comma-separated; may be repeated"},
    {'L', 'L', "parameter-list", "NAME LIST", "run with {NAME} replaced by each value of a,b,c"},
    {'P', 'P', "parameter-scan", "NAME MIN MAX", "run with {NAME} from MIN to MAX"},
    {'D', 'D', "parameter-step", "DELTA", "step of the -P before it (default: 1)"},
    {ID_SETUP, 0, "setup", "COMMAND", "run once for each command, before its first run"},
    {ID_PREPARE, 0, "prepare", "COMMAND",
     "run before each run; once for all, or given once for each command"},
    {ID_CLEANUP, 0, "cleanup", "COMMAND", "run once for each command, after its last run"},
    {ID_IGNORE, 0, "ignore-failure", NULL, "a command may fail; its runs count all the same"},
    {ID_SHELL, 0, "shell", NULL, "run every command through sh -c; its start is measured too"},
    {ID_INPUT, 0, "input", "FILE", "standard input of the commands (default: none)"},
    {ID_SHOW, 0, "show-output", NULL, "show what the commands write, on stderr"},
    {ID_SEED, 0, "seed", "N", "the order of runs as in an earlier comparison"},
    {ID_JSON, 0, "json", NULL, "print one JSON object with every run"},
    {ID_CSV, 0, "csv", NULL, "print CSV, a row for each command and quantity"},
    {ID_MARKDOWN, 0, "markdown", NULL, "print a table in markdown"},
    {0},
};

/* What the options say, before it is made into subjects. */
struct asked {
    char *events, *names;
    const char *reference, *setup, *cleanup;
    const char **prepare;
    size_t prepare_n;
    struct scan {
        const char *name, *min, *max, *delta, *list;
    } * parameters;
    size_t parameter_n;
};

static void asked_free(struct asked *a)
{
    free(a->events);
    free(a->names);
    free(a->prepare);
    free(a->parameters);
}

static void compare_free(struct compare *c)
{
    for (size_t i = 0; i < c->n; i++) {
        struct subject *s = &c->subjects[i];
        for (size_t k = 0; k < s->n; k++)
            free(s->runs[k].values);
        free(s->runs);
        free(s->figures);
        free(s->name);
        free(s->text);
        free(s->words);
        free(s->setup);
        free(s->prepare);
        free(s->cleanup);
    }
    free(c->subjects);
    for (size_t i = 0; i < c->quantity_n; i++) {
        free(c->quantities[i].name);
        free(c->quantities[i].unit);
        free(c->quantities[i].reason);
        free(c->quantities[i].remedy);
    }
    free(c->quantities);
    for (size_t i = 0; i < c->note_n; i++)
        free(c->notes[i]);
    free(c->notes);
    for (size_t i = 0; i < c->parameter_n; i++)
        parameter_free(&c->parameters[i]);
    free(c->parameters);
    rk_events_free(c->event_list);
    rk_host_close(c->host);
    if (c->errors >= 0)
        close(c->errors);
}

static int no_memory(void)
{
    fputs("reckon compare: out of memory\n", stderr);
    return STATUS_FAILED;
}

/* ---- subjects ---- */

static int make_words(const struct compare *c, const char *text, char ***ret)
{
    struct words_error e = {0};
    int rc = c->shell ? words_shell(text, ret) : words_split(text, ret, &e);

    if (rc >= 0)
        return 0;
    if (rc == -ENOMEM)
        return no_memory();
    /* With the same caret as a mistake in an event. */
    struct rk_error shown = {.size = sizeof shown, .code = rc, .position = (uint32_t)e.position};
    snprintf(shown.what, sizeof shown.what, "%s", e.what);
    return print_event_error("compare", text, &shown);
}

/* A hook's text with the parameters of a subject, split. NULL stays NULL. */
static int make_hook(const struct compare *c, const char *text, size_t combination, char ***ret)
{
    if (!text)
        return 0;
    char *own =
        parameter_replace(text, c->parameters, combination == SIZE_MAX ? 0 : c->parameter_n, combination);
    if (!own)
        return no_memory();
    int rc = make_words(c, own, ret);
    free(own);
    return rc;
}

static int add_subject(struct compare *c, const struct asked *a, const char *text, const char *name,
                       const char *prepare, size_t combination)
{
    struct subject *more = realloc(c->subjects, (c->n + 1) * sizeof *more);
    size_t n = combination == SIZE_MAX ? 0 : c->parameter_n;

    if (!more)
        return no_memory();
    c->subjects = more;
    struct subject *s = &c->subjects[c->n++];
    *s = (struct subject){.combination = combination};
    s->text = parameter_replace(text, c->parameters, n, combination);
    s->name = parameter_replace(name ? name : text, c->parameters, n, combination);
    if (!s->text || !s->name)
        return no_memory();
    int rc = make_words(c, s->text, &s->words);
    if (rc == 0)
        rc = make_hook(c, a->setup, combination, &s->setup);
    if (rc == 0)
        rc = make_hook(c, prepare, combination, &s->prepare);
    return rc ? rc : make_hook(c, a->cleanup, combination, &s->cleanup);
}

static bool uses_parameter(const struct compare *c, const char *text)
{
    return text && parameter_used(text, c->parameters, c->parameter_n);
}

static int make_subjects(struct compare *c, const struct asked *a, const struct options *o)
{
    char *names = a->names;
    size_t combinations = parameter_combinations(c->parameters, c->parameter_n, MOST_SUBJECTS),
           count = (size_t)o->rest_n;
    int rc = 0;

    if (!combinations || combinations * count > MOST_SUBJECTS)
        return options_wrong(o, "more than %d combinations of parameters", MOST_SUBJECTS);
    if (a->prepare_n > 1 && a->prepare_n != count)
        return options_wrong(o, "--prepare is given once, or once for each of the %zu commands", count);
    for (size_t i = 0; i < count && rc == 0; i++) {
        const char *name = names ? strsep(&names, ",") : NULL, *text = o->rest[i];
        const char *prepare = a->prepare_n == 0 ? NULL : a->prepare[a->prepare_n > 1 ? i : 0];
        bool uses = uses_parameter(c, text) || uses_parameter(c, a->setup) || uses_parameter(c, prepare) ||
                    uses_parameter(c, a->cleanup);
        if (!uses)
            rc = add_subject(c, a, text, name, prepare, SIZE_MAX);
        for (size_t k = 0; uses && k < combinations && rc == 0; k++)
            rc = add_subject(c, a, text, name, prepare, k);
    }
    if (rc == 0 && names)
        return options_wrong(o, "--names has more names than there are commands");
    return rc;
}

/* A number, a name, a command's text; else a further command, which becomes the first. */
static int find_reference(struct compare *c, const struct asked *a)
{
    char *end;

    if (!a->reference)
        return 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(a->reference, c->subjects[i].name) == 0 ||
            strcmp(a->reference, c->subjects[i].text) == 0) {
            c->reference = i;
            return 0;
        }
    unsigned long number = strtoul(a->reference, &end, 10);
    if (end != a->reference && !*end && number >= 1 && number <= c->n) {
        c->reference = number - 1;
        return 0;
    }
    int rc = add_subject(c, a, a->reference, NULL, a->prepare_n == 1 ? a->prepare[0] : NULL, SIZE_MAX);
    if (rc)
        return rc;
    struct subject last = c->subjects[c->n - 1];
    memmove(c->subjects + 1, c->subjects, (c->n - 1) * sizeof *c->subjects);
    c->subjects[0] = last;
    return 0;
}

/* ---- quantities ---- */

static enum kind kind_of(const struct rk_event *event)
{
    if (strcmp(event->unit, "ns") == 0)
        return KIND_TIME;
    return event->scale != 1.0 || event->unit[0] ? KIND_OTHER : KIND_COUNT;
}

static int make_quantities(struct compare *c)
{
    static const struct {
        const char *name, *word, *unit;
        enum kind kind;
    } always[EVENTS] = {
        [WALL] = {"wall time", "wall", "ns", KIND_TIME},
        [USER] = {"user time", "user", "ns", KIND_TIME},
        [SYSTEM] = {"system time", "system", "ns", KIND_TIME},
        [MEMORY] = {"peak memory", "peak_rss", "bytes", KIND_BYTES},
    };
    struct rk_error e = {.size = sizeof e};

    if (rk_host_open(NULL, &c->host, &e) < 0)
        return print_error("compare", &e);
    if (rk_events_parse(c->host, c->events, &c->event_list, &e) < 0)
        return print_event_error("compare", c->events, &e);
    size_t n = EVENTS + rk_events_count(c->event_list);
    if (!(c->quantities = calloc(n, sizeof *c->quantities)))
        return no_memory();
    for (c->quantity_n = 0; c->quantity_n < n;) {
        size_t i = c->quantity_n++;
        struct quantity *q = &c->quantities[i];
        struct rk_event event = {.size = sizeof event};
        if (i >= EVENTS)
            rk_events_get(c->event_list, i - EVENTS, &event);
        q->name = strdup(i < EVENTS ? always[i].name : event.name);
        q->unit = strdup(i < EVENTS ? always[i].unit : event.unit);
        q->word = i < EVENTS ? always[i].word : q->name;
        q->kind = i < EVENTS ? always[i].kind : kind_of(&event);
        q->scale = i < EVENTS ? 1 : event.scale;
        if (!q->name || !q->unit)
            return no_memory();
    }
    return 0;
}

/* ---- flow ---- */

static int show(struct compare *c)
{
    static int (*const writers[])(const struct compare *, FILE *) = {
        [FORMAT_TABLE] = compare_table,
        [FORMAT_JSON] = compare_json,
        [FORMAT_CSV] = compare_csv,
        [FORMAT_MARKDOWN] = compare_markdown,
    };
    if (compare_figures(c) < 0 || writers[c->format](c, stdout) < 0)
        return no_memory();
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "reckon compare: stdout: %s\n", strerror(errno));
    return STATUS_FAILED;
}

static bool any_run(const struct compare *c)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->subjects[i].n)
            return true;
    return false;
}

static int measure(struct compare *c)
{
    c->errors = memfd_create("stderr", MFD_CLOEXEC);
    if (c->errors < 0 || fcntl(c->errors, F_SETFL, O_APPEND) < 0) {
        fprintf(stderr, "reckon compare: no file in memory: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    int rc = compare_rounds(c);
    if (rc > 0)
        return rc;
    if (!any_run(c)) {
        fputs("reckon compare: interrupted before the first run was finished\n", stderr);
        return 128 + run_last_signal();
    }
    rc = show(c);
    return rc == 0 && c->stopped ? 128 + run_last_signal() : rc;
}

static int make_parameters(struct compare *c, const struct asked *a, const struct options *o)
{
    const char *what = "";

    c->parameters = calloc(a->parameter_n + 1, sizeof *c->parameters);
    if (!c->parameters)
        return no_memory();
    for (size_t i = 0; i < a->parameter_n; i++) {
        const struct scan *s = &a->parameters[i];
        for (size_t k = 0; k < i; k++)
            if (strcmp(a->parameters[k].name, s->name) == 0)
                return options_wrong(o, "two parameters have the name '%s'", s->name);
        struct parameter *p = &c->parameters[c->parameter_n];
        int rc = s->list ? parameter_list(s->name, s->list, p, &what)
                         : parameter_scan(s->name, s->min, s->max, s->delta, p, &what);
        if (rc == -ENOMEM)
            return no_memory();
        if (rc < 0)
            return options_wrong(o, "parameter '%s': %s", s->name, what);
        c->parameter_n++;
    }
    return 0;
}

/* "5s", "500ms", "1.5m", "5". */
static int take_time(const struct options *o, uint64_t *ret)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    char *end;
    double value = strtod(o->value, &end);

    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (end != o->value && strcmp(end, units[i].unit) == 0 && value > 0 && value * units[i].ns < 1e17) {
            *ret = (uint64_t)(value * units[i].ns) + 1;
            return 0;
        }
    options_wrong(o, "--time: '%s' is not a time such as 5s, 500ms or 2m", o->value);
    return OPTIONS_BAD;
}

/* -L NAME LIST, -P NAME MIN MAX: more than one word, as hyperfine has them. */
static int take_parameter(struct options *o, struct asked *a, bool scan)
{
    struct scan *more = realloc(a->parameters, (a->parameter_n + 1) * sizeof *more);

    if (!more)
        return no_memory();
    a->parameters = more;
    struct scan *s = &a->parameters[a->parameter_n];
    *s = (struct scan){.name = o->value};
    if (scan) {
        s->min = options_word(o, "-P wants NAME MIN MAX");
        s->max = s->min ? options_word(o, "-P wants NAME MIN MAX") : NULL;
    } else {
        s->list = options_word(o, "-L wants NAME LIST");
    }
    if (!(scan ? s->max : s->list))
        return OPTIONS_BAD;
    a->parameter_n++;
    return 0;
}

static int take_prepare(struct asked *a, const char *text)
{
    const char **more = realloc(a->prepare, (a->prepare_n + 1) * sizeof *more);

    if (!more)
        return no_memory();
    a->prepare = more;
    a->prepare[a->prepare_n++] = text;
    return 0;
}

/* 0, or negative: as options_next(). */
static int take_option(struct options *o, int id, struct asked *a, struct compare *c)
{
    switch (id) {
    case 'r':
        return options_number(o, "--runs", 1, 1000000, &c->runs);
    case 'w':
        return options_number(o, "--warmup", 0, 1000000, &c->warmup);
    case 'e':
        return text_join(&a->events, o->value);
    case 'n':
        return text_join(&a->names, o->value);
    case 'L':
    case 'P':
        return take_parameter(o, a, id == 'P');
    case 'D':
        if (a->parameter_n && a->parameters[a->parameter_n - 1].min) {
            a->parameters[a->parameter_n - 1].delta = o->value;
            return 0;
        }
        options_wrong(o, "-D stands behind the -P that it belongs to");
        return OPTIONS_BAD;
    case ID_TIME:
        c->least_runs = LEAST;
        return take_time(o, &c->time_ns);
    case ID_SEED:
        return options_number(o, "--seed", 0, UINT64_MAX, &c->seed);
    case ID_PREPARE:
        return take_prepare(a, o->value);
    case ID_SETUP:
        a->setup = o->value;
        break;
    case ID_CLEANUP:
        a->cleanup = o->value;
        break;
    case ID_REFERENCE:
        a->reference = o->value;
        break;
    case ID_INPUT:
        c->input = o->value;
        break;
    case ID_IGNORE:
        c->ignore_failure = true;
        break;
    case ID_SHOW:
        c->show_output = true;
        break;
    case ID_SHELL:
        c->shell = true;
        break;
    case ID_JSON:
        c->format = FORMAT_JSON;
        break;
    case ID_CSV:
        c->format = FORMAT_CSV;
        break;
    case ID_MARKDOWN:
        c->format = FORMAT_MARKDOWN;
        break;
    }
    return 0;
}

static int prepare_and_measure(struct options *o, const struct asked *a, struct compare *c)
{
    if (o->rest_n == 0)
        return options_wrong(o, "no command to run");
    if (c->runs && c->least_runs == LEAST)
        return options_wrong(o, "-r and --time exclude each other");
    c->events = a->events ? a->events : DEFAULT_EVENTS;
    int rc = make_parameters(c, a, o);
    if (rc == 0)
        rc = make_subjects(c, a, o);
    if (rc == 0)
        rc = find_reference(c, a);
    if (rc == 0)
        rc = make_quantities(c);
    return rc ? rc : measure(c);
}

int verb_compare(int argc, char **argv)
{
    struct options o = {
        .verb = "compare",
        .usage = "[options] COMMAND...",
        .about =
            "Runs each COMMAND (one text each, its words quoted as in sh, no shell) many times in random\n"
            "order, and says by how much they differ, if they do. One COMMAND is summed up alone.",
        .table = table,
    };
    __attribute__((cleanup(asked_free))) struct asked a = {0};
    __attribute__((cleanup(compare_free))) struct compare c = {
        .time_ns = DEFAULT_TIME_NS, .least_runs = DEFAULT_LEAST, .errors = -1};
    uint32_t seed = 0;
    int id, rc = 0;

    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed)
        c.seed = seed;
    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0 && rc == 0)
        rc = take_option(&o, id, &a, &c);
    if (rc > 0)
        return rc;
    if (id < 0 || rc < 0)
        return options_status(id < 0 ? id : rc);
    return prepare_and_measure(&o, &a, &c);
}

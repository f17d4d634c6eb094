/*
 * reckon compare's options: what each says, before it is made into subjects.
 */
#include "command.h"
#include "compare.h"
#include "options.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Few, since each makes the others' proof harder. Operands of a ratio in one group. */
#define DEFAULT_EVENTS "task-clock,page-faults,{cycles,instructions},{branches,branch-misses}"
#define DEFAULT_TIME_NS UINT64_C(3000000000)
#define DEFAULT_LEAST 10 /* runs of each, where neither -r nor --time is given */
#define LEAST 3          /* … with --time */

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

void asked_free(struct asked *a)
{
    free(a->events);
    free(a->names);
    free(a->prepare);
    free(a->parameters);
}

static int no_memory(void)
{
    fputs("reckon compare: out of memory\n", stderr);
    return STATUS_FAILED;
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
        options_wrong(o, "-D stands after the -P that it belongs to");
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
        a->formats++;
        break;
    case ID_CSV:
        c->format = FORMAT_CSV;
        a->formats++;
        break;
    case ID_MARKDOWN:
        c->format = FORMAT_MARKDOWN;
        a->formats++;
        break;
    }
    return 0;
}

int compare_options(int argc, char **argv, struct options *o, struct asked *a, struct compare *c)
{
    uint32_t seed = 0;
    int id, rc = 0;

    *o = (struct options){
        .verb = "compare",
        .usage = "[options] COMMAND...",
        .about =
            "Runs each COMMAND (one text each, its words quoted as in sh, no shell) many times in random\n"
            "order, and says by how much they differ, if they do. One COMMAND is summed up alone.",
        .table = table,
    };
    c->time_ns = DEFAULT_TIME_NS;
    c->least_runs = DEFAULT_LEAST;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) == sizeof seed)
        c->seed = seed;
    options_begin(o, argc, argv);
    while ((id = options_next(o)) > 0 && rc == 0)
        rc = take_option(o, id, a, c);
    if (rc > 0)
        return rc;
    if (id == OPTIONS_HELP && rc == 0)
        return COMPARE_HELPED;
    if (id < 0 || rc < 0)
        return options_status(id < 0 ? id : rc);
    if (o->rest_n == 0)
        return options_wrong(o, "no command to run");
    if (c->runs && c->least_runs == LEAST)
        return options_wrong(o, "-r and --time exclude each other");
    if (a->formats > 1)
        return options_wrong(o, "--json, --csv, --markdown: one of them");
    c->events = a->events ? a->events : DEFAULT_EVENTS;
    return 0;
}

/*
 * What is compared: each command's text with each combination of the parameters put in, split into words, and its hooks.
 */
#include "command.h"
#include "compare.h"
#include "compare_words.h"
#include "options.h"
#include "print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SUBJECTS 10000

static int no_memory(void)
{
    fputs("reckon compare: out of memory\n", stderr);
    return STATUS_FAILED;
}

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

/* A parameter that is nowhere put in is a name misspelt. */
static int check_parameters(const struct compare *c, const struct asked *a, const struct options *o)
{
    for (size_t i = 0; i < c->parameter_n; i++) {
        const struct parameter *p = &c->parameters[i];
        bool used =
            (a->setup && parameter_used(a->setup, p, 1)) || (a->cleanup && parameter_used(a->cleanup, p, 1));
        for (size_t k = 0; k < a->prepare_n && !used; k++)
            used = parameter_used(a->prepare[k], p, 1);
        for (int k = 0; k < o->rest_n && !used; k++)
            used = parameter_used(o->rest[k], p, 1);
        if (!used)
            return options_wrong(o, "parameter '%s' is used nowhere: write {%s} in a command", p->name,
                                 p->name);
    }
    return 0;
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
static int find_reference(struct compare *c, const struct asked *a, const struct options *o)
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
    if (end != a->reference && !*end) {
        if (number < 1 || number > c->n)
            return options_wrong(o, "--reference %s: the commands are numbered from 1 to %zu", a->reference,
                                 c->n);
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

int compare_subjects(struct compare *c, const struct asked *a, const struct options *o)
{
    int rc = make_parameters(c, a, o);

    if (rc == 0)
        rc = check_parameters(c, a, o);
    if (rc == 0)
        rc = make_subjects(c, a, o);
    return rc ? rc : find_reference(c, a, o);
}

#include "options.h"

#include "command.h"
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 26         /* columns of an option in the help */
#define AGAIN_MOST 4000 /* bytes of a command that is shown again */

static const struct option help_option = {'h', 'h', "help", NULL, "show this help"};

void options_begin(struct options *o, int argc, char **argv)
{
    o->at = o->words = argv;
    o->rest = o->last = argv + argc;
    o->rest_n = 0;
    o->in = NULL;
}

int options_wrong(const struct options *o, const char *format, ...)
{
    va_list list;

    fprintf(stderr, "reckon %s: ", o->verb);
    va_start(list, format);
    vfprintf(stderr, format, list); // NOLINT(clang-analyzer-valist.Uninitialized): clang-tidy 14 is wrong
    va_end(list);
    fprintf(stderr, "\n  help: reckon %s --help\n", o->verb);
    return STATUS_USAGE;
}

static void print_option(const struct option *option)
{
    char left[64];
    int n = 0;

    if (option->letter)
        n = snprintf(left, sizeof left, "-%c%s", option->letter, option->name ? ", " : "");
    else
        n = snprintf(left, sizeof left, "    ");
    if (option->name)
        n += snprintf(left + n, sizeof left - (size_t)n, "--%s", option->name);
    if (option->argument)
        n += snprintf(left + n, sizeof left - (size_t)n, " %s", option->argument);
    if (n >= LEFT) /* too long: the help on a line of its own */
        printf("  %s\n  %-*s %s\n", left, LEFT, "", option->help);
    else
        printf("  %-*s %s\n", LEFT, left, option->help);
}

static int print_help(const struct options *o)
{
    printf("usage: reckon %s %s\n\n%s\n\n", o->verb, o->usage, o->about);
    for (const struct option *option = o->table; option->id; option++)
        print_option(option);
    print_option(&help_option);
    if (fflush(stdout) == 0)
        return OPTIONS_HELP;
    fprintf(stderr, "reckon %s --help: %s\n", o->verb, strerror(errno));
    return OPTIONS_FAILED;
}

static const struct option *by_letter(const struct options *o, char letter)
{
    for (const struct option *option = o->table; option->id; option++)
        if (option->letter == letter)
            return option;
    return letter == 'h' ? &help_option : NULL;
}

static const struct option *by_name(const struct options *o, const char *name, size_t n)
{
    for (const struct option *option = o->table; option->id; option++)
        if (option->name && strlen(option->name) == n && memcmp(option->name, name, n) == 0)
            return option;
    return n == 4 && memcmp(name, "help", 4) == 0 ? &help_option : NULL;
}

/* Gives the option its value: `inside` the same word, or the next word. */
static int take(struct options *o, const struct option *option, const char *inside)
{
    if (option == &help_option)
        return print_help(o);
    o->value = NULL;
    if (!option->argument)
        return option->id;
    if (inside) {
        o->value = inside;
    } else if (o->at < o->rest) {
        o->value = *o->at++;
    } else {
        options_wrong(o, "--%s wants a value: %s", option->name, option->argument);
        return OPTIONS_BAD;
    }
    return option->id;
}

static int next_letter(struct options *o)
{
    const struct option *option = by_letter(o, *o->in);

    if (!option) {
        options_wrong(o, "no option -%c", *o->in);
        return OPTIONS_BAD;
    }
    o->in++;
    if (option->argument) {
        const char *inside = *o->in ? o->in : NULL;
        o->in = NULL;
        return take(o, option, inside);
    }
    if (!*o->in)
        o->in = NULL;
    return take(o, option, NULL);
}

static int next_name(struct options *o, const char *word)
{
    const char *equals = strchr(word, '=');
    const struct option *option = by_name(o, word, equals ? (size_t)(equals - word) : strlen(word));

    if (!option) {
        options_wrong(o, "no option --%s", word);
        return OPTIONS_BAD;
    }
    if (equals && !option->argument) {
        options_wrong(o, "--%s takes no value", option->name);
        return OPTIONS_BAD;
    }
    return take(o, option, equals ? equals + 1 : NULL);
}

/* The next word goes behind all others: from `rest` on are those that are no options. */
static void put_off(struct options *o)
{
    char *word = *o->at;

    memmove(o->at, o->at + 1, (size_t)(o->last - o->at - 1) * sizeof *o->at);
    o->last[-1] = word;
    o->rest--;
}

static int end(struct options *o)
{
    while (o->mixed && o->at < o->rest)
        put_off(o);
    o->rest = o->mixed ? o->rest : o->at;
    o->rest_n = (int)(o->last - o->rest);
    return OPTIONS_END;
}

int options_next(struct options *o)
{
    if (o->in)
        return next_letter(o);
    while (o->mixed && o->at < o->rest && ((*o->at)[0] != '-' || (*o->at)[1] == '\0'))
        put_off(o);
    if (o->at == o->rest)
        return end(o);
    const char *word = *o->at;
    if (word[0] != '-' || word[1] == '\0')
        return end(o);
    o->at++;
    if (word[1] != '-') {
        o->in = word + 1;
        return next_letter(o);
    }
    return word[2] ? next_name(o, word + 2) : end(o);
}

const char *options_word(struct options *o, const char *missing)
{
    if (o->at < o->rest)
        return *o->at++;
    options_wrong(o, "%s", missing);
    return NULL;
}

char *options_again(const struct options *o)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);

    if (!to)
        return strdup("");
    fprintf(to, "reckon %s%s", o->verb, o->words < o->last ? " " : "");
    print_words(to, o->words, AGAIN_MOST);
    return fclose(to) == 0 ? text : strdup("");
}

int options_status(int answer)
{
    return answer == OPTIONS_HELP ? 0 : answer == OPTIONS_FAILED ? STATUS_FAILED : STATUS_USAGE;
}

int options_number(const struct options *o, const char *what, uint64_t min, uint64_t max, uint64_t *ret)
{
    char *end_of;

    errno = 0;
    unsigned long long value = strtoull(o->value, &end_of, 10);
    if (errno || end_of == o->value || *end_of || o->value[0] == '-' || value < min || value > max) {
        options_wrong(o, "%s: '%s' is not a number from %" PRIu64 " to %" PRIu64, what, o->value, min, max);
        return OPTIONS_BAD;
    }
    *ret = value;
    return 0;
}

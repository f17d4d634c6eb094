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

#define WORD_MOST 32 /* bytes of a name that can be mistyped */

/* The letters that were left out, added, changed or swapped, each row of the matrix as it is needed. */
static unsigned edits(const char *word, size_t n, const char *name, size_t name_n)
{
    unsigned before[WORD_MOST + 1], last[WORD_MOST + 1], now[WORD_MOST + 1];

    for (unsigned k = 0; k <= name_n; k++)
        last[k] = before[k] = k;
    for (size_t i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (size_t k = 1; k <= name_n; k++) {
            unsigned least = last[k - 1] + (word[i - 1] != name[k - 1]);
            least = last[k] + 1 < least ? last[k] + 1 : least;
            least = now[k - 1] + 1 < least ? now[k - 1] + 1 : least;
            if (i > 1 && k > 1 && word[i - 1] == name[k - 2] && word[i - 2] == name[k - 1] &&
                before[k - 2] + 1 < least)
                least = before[k - 2] + 1;
            now[k] = least;
        }
        memcpy(before, last, sizeof before);
        memcpy(last, now, sizeof last);
    }
    return last[name_n];
}

unsigned options_apart(const char *word, size_t n, const char *name)
{
    size_t name_n = strlen(name);

    if (n < 2 || n > WORD_MOST || name_n > WORD_MOST)
        return 0;
    if (n >= 3 && name_n >= 3 && memcmp(word, name, n < name_n ? n : name_n) == 0)
        return 1; /* the one begins the other */
    unsigned far = edits(word, n, name, name_n);
    return far <= 1 + (n > 5) ? far + 1 : 0;
}

/* An option that there is not, with the nearest that there is. */
static int unknown_name(const struct options *o, const char *word, size_t n)
{
    const char *best = NULL;
    unsigned best_apart = 0;

    for (const struct option *option = o->table; option->id; option++) {
        unsigned apart = option->name ? options_apart(word, n, option->name) : 0;
        if (apart && (!best || apart < best_apart)) {
            best = option->name;
            best_apart = apart;
        }
    }
    if (best)
        options_wrong(o, "no option --%.*s; did you mean --%s?", (int)n, word, best);
    else
        options_wrong(o, "no option --%.*s", (int)n, word);
    return OPTIONS_BAD;
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
    size_t n = equals ? (size_t)(equals - word) : strlen(word);
    const struct option *option = by_name(o, word, n);

    if (!option)
        return unknown_name(o, word, n);
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

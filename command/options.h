/*
 * Options of a verb: one table is what is parsed and what --help prints.
 *
 *     static const struct option table[] = {
 *         {'e', 'e', "event", "LIST", "events to count; may be repeated"},
 *         {'j', 0, "json", NULL, "print JSON"},
 *         {0},
 *     };
 *     struct options o = {.verb = "stat", .usage = "[options] COMMAND [ARGUMENT…]", .about = "…", .table = table};
 *     options_begin(&o, argc, argv);
 *     while ((id = options_next(&o)) > 0) switch (id) { case 'e': use(o.value); … }
 *     if (id < 0) return options_status(id);
 *
 * The first word that is no option ends them, so that a measured command keeps its own; so does `--`. A verb whose words
 * are files sets `mixed`: they may stand before options too.
 */
#ifndef COMMAND_OPTIONS_H
#define COMMAND_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option {
    int id;               /* what options_next() returns; > 0 */
    char letter;          /* -e, or 0 */
    const char *name;     /* --event */
    const char *argument; /* its value's name in the help; NULL: takes none */
    const char *help;     /* one line */
};

struct options {
    const char *verb, *usage, *about;
    const struct option *table; /* ends with an id of 0 */
    bool mixed;

    const char *value; /* of the option just returned */
    char **words;      /* all of them */
    char **rest;       /* after the end: the words that are no options, NULL-terminated */
    int rest_n;

    char **at, **last; /* the next word; behind the last one */
    const char *in;    /* inside a word of letters: the next one */
};

enum { OPTIONS_END = 0, OPTIONS_BAD = -1, OPTIONS_HELP = -2, OPTIONS_FAILED = -3 };

void options_begin(struct options *o, int argc, char **argv);

/* The next option's id, or one of the above; the message or the help is printed already. */
int options_next(struct options *o);

/* A further word of an option that takes several (-P NAME MIN MAX); NULL with `missing` printed. */
const char *options_word(struct options *o, const char *missing);

/* "reckon VERB WORD...", quoted for a shell, to be typed again with further options. The caller frees it; "" without memory. */
char *options_again(const struct options *o);

/* The exit status for a negative answer of options_next(). */
int options_status(int answer);

/* o->value as a number from min to max: 0, or OPTIONS_BAD with the message printed. */
int options_number(const struct options *o, const char *what, uint64_t min, uint64_t max, uint64_t *ret);

/* Whether somebody who typed `word` (n bytes) may have meant `name`: how far they are apart, less is nearer; 0: too far. */
unsigned options_apart(const char *word, size_t n, const char *name);

/* Prints "reckon VERB: …" and where the help is; returns STATUS_USAGE. */
int options_wrong(const struct options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif

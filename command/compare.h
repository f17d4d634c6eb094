/*
 * reckon compare, its nouns:
 *
 *     compare            what was asked, and all that came of it
 *       subject[n]       a command with its parameters put in: its words, its runs
 *         run[…]         status, and values[quantity_n] each
 *         figure[q]      what the runs say of a quantity (compare_figures.c)
 *       quantity[q]      wall time, user, system, peak memory, then the events
 *
 *     compare.c          quantities and flow               compare_options.c     what was asked
 *     compare_subjects.c commands, parameters, hooks, the reference
 *     compare_words.c    a command's text → words          compare_parameter.c   {name} → its values
 *     compare_run.c      one run: fork, count, wait        compare_rounds.c      which run is next, how long still
 *     compare_figures.c  runs → figures                    compare_table.c       figures for people
 *     compare_export.c   figures and runs for machines
 */
#ifndef COMMAND_COMPARE_H
#define COMMAND_COMPARE_H

#include "compare_parameter.h"

#include <reckon/reckon.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum kind { KIND_TIME, KIND_BYTES, KIND_COUNT, KIND_OTHER };
enum { WALL, USER, SYSTEM, MEMORY, EVENTS }; /* indexes of quantities; events follow */

struct quantity {
    char *name;       /* as printed */
    const char *word; /* in JSON and CSV */
    enum kind kind;
    double scale;
    char *unit;
    char *reason, *remedy; /* why it was not counted; NULL: it was, or was not asked yet */
};

struct figure {
    struct rk_summary summary; /* n is 0 where it was not counted */
    struct rk_difference difference;
    double adjusted; /* p, of the whole family */
};

struct run {
    uint32_t round, place; /* place: the how-manieth of all measured runs */
    int32_t status, signal;
    double *values; /* NaN: not counted */
};

struct subject {
    char *name, *text;                           /* parameters put in */
    char **words, **setup, **prepare, **cleanup; /* argv each, or NULL */
    size_t combination;                          /* of the parameters */
    struct run *runs;
    size_t n, room, failures;
    struct figure *figures;
    bool is_set_up;
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
    int formats; /* how many were named */
};

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };

struct compare {
    /* asked */
    const char *events, *input;
    uint64_t runs, time_ns, least_runs, warmup, seed;
    bool shell, ignore_failure, show_output;
    enum format format;
    struct parameter *parameters;
    size_t parameter_n;

    /* made of it */
    struct subject *subjects;
    size_t n, reference;
    struct quantity *quantities;
    size_t quantity_n;
    char **notes; /* steps down, each sentence once */
    size_t note_n;
    bool no_events; /* none can be opened: not tried again */
    bool stopped;   /* by a signal */
    bool failed;    /* ended early, by a command or hook that failed; or in the end, by a cleanup */

    struct rk_host *host;
    struct rk_events *event_list;
    int errors; /* a file in memory: what the running command says on stderr */
};

/* compare_options.c: fills `o`, `a` and what `c` says of it. 0, an exit status with the message printed, or
 * COMPARE_HELPED: --help has been printed, and that is all. */
#define COMPARE_HELPED (-1)
struct options;
int compare_options(int argc, char **argv, struct options *o, struct asked *a, struct compare *c);
void asked_free(struct asked *a);

/* compare_subjects.c: 0, or an exit status with the message printed. */
int compare_subjects(struct compare *c, const struct asked *a, const struct options *o);

/* compare_run.c. 0, or the exit status to end with: the message is printed. COMPARE_STOPPED: a signal came. */
#define COMPARE_STOPPED (-1)
int compare_hook(struct compare *c, char **words, const char *what, const struct subject *subject);
int compare_run(struct compare *c, struct subject *subject, struct run *ret);

/* compare_rounds.c: all hooks, warm-up and runs. As above. */
int compare_rounds(struct compare *c);

/* compare_figures.c. 0 or -ENOMEM. */
int compare_figures(struct compare *c);

/* How many runs of each could tell what these were too few for; 0: there is no such. */
size_t compare_few(const struct compare *c);

/* The unit that fits a figure, and what to divide by; all numbers of its row are given in it. */
struct scale {
    double by;
    const char *unit;
};
struct scale compare_scale(const struct quantity *q, double value);

/* compare_table.c, compare_export.c: to `to`. 0 or -ENOMEM. */
int compare_table(const struct compare *c, FILE *to);
int compare_markdown(const struct compare *c, FILE *to);
int compare_json(const struct compare *c, FILE *to);
int compare_csv(const struct compare *c, FILE *to);

/* The verdict on a figure in words, or "" for the reference and what can't be compared. `noun`: say it. */
char *compare_verdict(const struct compare *c, size_t subject, size_t quantity, bool noun, char *text,
                      size_t size);

#endif

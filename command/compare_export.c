/*
 * Figures and runs for machines: one object of JSON with every run, or a row of CSV for each command and quantity.
 * What is not known is null, or empty; a number is a number.
 */
#include "compare.h"
#include "print.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shortest that reads back the same. */
static const char *number(double value, char *text, size_t size)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return text;
}

/* ---- JSON ---- */

static void json_number(FILE *to, const char *key, double value)
{
    char text[40];

    fprintf(to, ",\"%s\":%s", key, isfinite(value) ? number(value, text, sizeof text) : "null");
}

static const char *const outcomes[] = {"unknown", "same", "too few runs", "less", "more"};

static const char *outcome(const struct figure *f)
{
    int rc = rk_stats_verdict(&f->difference, f->adjusted, "", 0, NULL, 0);

    return rc >= 0 ? outcomes[rc] : outcomes[0];
}

static void json_figure(const struct compare *c, FILE *to, size_t subject, size_t quantity)
{
    const struct quantity *q = &c->quantities[quantity];
    const struct figure *f = &c->subjects[subject].figures[quantity];
    const struct rk_summary *s = &f->summary;
    const struct rk_difference *d = &f->difference;
    char text[120];

    fputs("{\"quantity\":", to);
    print_json_text(to, q->word);
    fputs(",\"unit\":", to);
    print_json_text(to, q->unit);
    fprintf(to, ",\"n\":%" PRIu64, s->n);
    if (s->n == 0) {
        fputs(",\"mean\":null,\"reason\":", to);
        print_json_text(to, q->reason);
        fputs(",\"remedy\":", to);
        print_json_text(to, q->remedy);
        fputc('}', to);
        return;
    }
    json_number(to, "mean", s->mean);
    json_number(to, "bound", s->bound);
    json_number(to, "sd", s->sd);
    json_number(to, "min", s->min);
    json_number(to, "q1", s->q1);
    json_number(to, "median", s->median);
    json_number(to, "q3", s->q3);
    json_number(to, "max", s->max);
    fprintf(to, ",\"outliers\":%" PRIu64, s->outliers);
    if (subject != c->reference) {
        json_number(to, "difference", d->difference);
        json_number(to, "difference_low", d->difference_low);
        json_number(to, "difference_high", d->difference_high);
        json_number(to, "ratio", d->ratio);
        json_number(to, "ratio_low", d->ratio_low);
        json_number(to, "ratio_high", d->ratio_high);
        json_number(to, "t", d->t);
        json_number(to, "df", d->df);
        json_number(to, "p_welch", d->p_welch);
        json_number(to, "p", d->p);
        json_number(to, "p_adjusted", f->adjusted);
        fprintf(to, ",\"outcome\":\"%s\",\"verdict\":", outcome(f));
        print_json_text(to, compare_verdict(c, subject, quantity, true, text, sizeof text));
    }
    fputc('}', to);
}

static void json_runs(const struct compare *c, FILE *to, const struct subject *s)
{
    char text[40];

    fputs(",\"runs\":[", to);
    for (size_t i = 0; i < s->n; i++) {
        const struct run *run = &s->runs[i];
        fprintf(to,
                "%s\n   {\"place\":%" PRIu32 ",\"round\":%" PRIu32
                ",\"exit_status\":%d,\"signal\":%d,\"values\":[",
                i ? "," : "", run->place, run->round, run->status, run->signal);
        for (size_t q = 0; q < c->quantity_n; q++)
            fprintf(to, "%s%s", q ? "," : "",
                    isfinite(run->values[q]) ? number(run->values[q], text, sizeof text) : "null");
        fputs("]}", to);
    }
    fputc(']', to);
}

static void json_subject(const struct compare *c, FILE *to, size_t i)
{
    const struct subject *s = &c->subjects[i];

    fputs("{\"name\":", to);
    print_json_text(to, s->name);
    fputs(",\"command\":", to);
    print_json_text(to, s->text);
    fputs(",\"words\":[", to);
    for (size_t k = 0; s->words[k]; k++) {
        fputs(k ? "," : "", to);
        print_json_text(to, s->words[k]);
    }
    fputs("],\"parameters\":{", to);
    for (size_t k = 0; k < c->parameter_n && s->combination != SIZE_MAX; k++) {
        fputs(k ? "," : "", to);
        print_json_text(to, c->parameters[k].name);
        fputc(':', to);
        print_json_text(to, parameter_value(c->parameters, c->parameter_n, s->combination, k));
    }
    fprintf(to, "},\"reference\":%s,\"failures\":%zu,\n  \"figures\":[", i == c->reference ? "true" : "false",
            s->failures);
    for (size_t q = 0; q < c->quantity_n; q++) {
        fputs(q ? ",\n   " : "\n   ", to);
        json_figure(c, to, i, q);
    }
    fputs("],\n  \"quantities\":[", to);
    for (size_t q = 0; q < c->quantity_n; q++) {
        fputs(q ? "," : "", to);
        print_json_text(to, c->quantities[q].word);
    }
    fputc(']', to);
    json_runs(c, to, s);
    fputc('}', to);
}

int compare_json(const struct compare *c, FILE *to)
{
    /* A seed has more digits than JavaScript's numbers. */
    fprintf(to, "{\"version\":1,\"seed\":\"%" PRIu64 "\",\"interrupted\":%s,\"shell\":%s,\n \"commands\":[",
            c->seed, c->stopped ? "true" : "false", c->shell ? "true" : "false");
    for (size_t i = 0; i < c->n; i++) {
        fputs(i ? ",\n  " : "\n  ", to);
        json_subject(c, to, i);
    }
    fputs("],\n \"notes\":[", to);
    for (size_t i = 0; i < c->note_n; i++) {
        fputs(i ? "," : "", to);
        print_json_text(to, c->notes[i]);
    }
    fputs("]}\n", to);
    return 0;
}

static void csv_number(FILE *to, double value)
{
    char text[40];

    fprintf(to, ",%s", isfinite(value) ? number(value, text, sizeof text) : "");
}

static void csv_row(const struct compare *c, FILE *to, size_t subject, size_t quantity)
{
    const struct subject *s = &c->subjects[subject];
    const struct quantity *q = &c->quantities[quantity];
    const struct figure *f = &s->figures[quantity];
    const struct rk_summary *m = &f->summary;
    const struct rk_difference *d = &f->difference;
    bool counted = m->n > 0, compared = counted && subject != c->reference;
    char text[120];

    print_csv_text(to, s->name);
    for (size_t k = 0; k < c->parameter_n; k++) {
        fputc(',', to);
        if (s->combination != SIZE_MAX)
            print_csv_text(to, parameter_value(c->parameters, c->parameter_n, s->combination, k));
    }
    fputc(',', to);
    print_csv_text(to, q->word);
    fputc(',', to);
    print_csv_text(to, q->unit);
    fprintf(to, ",%" PRIu64, m->n);
    const double figures[] = {m->mean, m->bound, m->sd, m->min, m->q1, m->median, m->q3, m->max};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        csv_number(to, counted ? figures[i] : NAN);
    csv_number(to, counted ? (double)m->outliers : NAN);
    csv_number(to, compared ? d->ratio : NAN);
    csv_number(to, compared ? d->ratio_low : NAN);
    csv_number(to, compared ? d->ratio_high : NAN);
    csv_number(to, compared ? d->p : NAN);
    csv_number(to, compared ? f->adjusted : NAN);
    fprintf(to, ",%s,", compared ? outcome(f) : "");
    print_csv_text(to, compare_verdict(c, subject, quantity, true, text, sizeof text));
    fputc(',', to);
    print_csv_text(to, q->reason && !counted ? q->reason : "");
    fputc('\n', to);
}

int compare_csv(const struct compare *c, FILE *to)
{
    fputs("command", to);
    for (size_t k = 0; k < c->parameter_n; k++) {
        fputs(",parameter_", to);
        print_csv_text(to, c->parameters[k].name);
    }
    fputs(",quantity,unit,n,mean,bound,sd,min,q1,median,q3,max,outliers,ratio,ratio_low,ratio_high,p,p_"
          "adjusted,"
          "outcome,verdict,reason\n",
          to);
    for (size_t i = 0; i < c->n; i++)
        for (size_t q = 0; q < c->quantity_n; q++)
            csv_row(c, to, i, q);
    return 0;
}

/*
 * reckon doctor: can I measure here, and if not, what is the smallest fix?
 */
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct option table[] = {
    {'j', 0, "json", NULL, "print JSON"},
    {0},
};

static void print_check(const struct rk_check *check)
{
    struct colours c = print_colours(stdout);
    const char *word = check->verdict == RK_VERDICT_YES      ? "yes"
                       : check->verdict == RK_VERDICT_PARTLY ? "partly"
                                                             : "no";
    const char *colour = check->verdict == RK_VERDICT_YES      ? c.good
                         : check->verdict == RK_VERDICT_PARTLY ? c.fair
                                                               : c.bad;

    printf("  %s%-6s%s  %s%s%s\n", colour, word, c.plain, c.strong, check->title, c.plain);
    if (check->what[0])
        printf("          %s\n", check->what);
    if (!check->remedy[0])
        return;
    /* "this   # or that": that is a line of its own, for people */
    const char *other = strstr(check->remedy, "   # or ");
    int n = other ? (int)(other - check->remedy) : (int)strlen(check->remedy);
    printf("          fix: %.*s\n", n, check->remedy);
    if (other)
        printf("          %s\n", other + strlen("   # "));
    if (check->keep[0])
        printf("          to keep it: %s\n", check->keep);
}

int verb_doctor(int argc, char **argv)
{
    struct options o = {
        .verb = "doctor",
        .usage = "[--json]",
        .about = "Tries what people want to measure, and says for each: yes, partly or no, why, and the\n"
                 "smallest fix. The exit status is 0 where a program can be counted and sampled, else 1.",
        .table = table,
    };
    handle_host struct rk_host *host = NULL;
    handle_doctor struct rk_doctor *doctor = NULL;
    struct rk_error e = {.size = sizeof e};
    bool json = false, able = true;
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        json = true;
    if (id < 0)
        return options_status(id);
    if (o.rest_n)
        return options_wrong(&o, "takes no word: '%s'", o.rest[0]);
    if (rk_host_open(NULL, &host, &e) < 0 || rk_doctor_run(host, &doctor, &e) < 0)
        return print_error("doctor", &e);
    for (size_t i = 0; i < rk_doctor_check_count(doctor); i++) {
        struct rk_check check = {.size = sizeof check};
        rk_doctor_check_get(doctor, i, &check);
        bool basic = strcmp(check.name, "count") == 0 || strcmp(check.name, "sample") == 0;
        able = able && !(basic && check.verdict == RK_VERDICT_NO);
        if (!json)
            print_check(&check);
    }
    if (json) {
        struct rk_sink sink = print_sink(stdout);
        if (rk_doctor_export(doctor, "json", &sink, &e) < 0)
            return print_error("doctor", &e);
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "reckon doctor: writing failed: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    return able ? 0 : STATUS_FAILED;
}

/*
 * reckon list: what can be counted here.
 */
#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_WIDTH 34 /* a longer name pushes its description to the right */
#define LINE_WIDTH 100

static const struct option table[] = {
    {'p', 0, "pmu", "NAME", "only what this PMU counts; a pattern with * is a name too"},
    {'a', 0, "all", NULL, "each tracepoint, each instance of a PMU, the vendors' names (libpfm4)"},
    {'l', 0, "long", NULL, "how each is encoded, and the fields of tracepoints"},
    {'j', 0, "json", NULL, "print JSON"},
    {0},
};

/* What is printed, and what was said already. */
struct page {
    const struct rk_list *list;
    struct colours c;
    bool full; /* what can't be opened has a line each too */
    bool encodings;
    bool searching;
    const char *fixes[8]; /* that were printed */
    size_t fixes_n;
};

static const char *heading(const char *group)
{
    static const struct {
        const char *group, *heading;
    } headings[] = {
        {"hardware", "hardware: counted by the cores, the same name on every processor"},
        {"cache", "cache: the same for caches, TLBs and branches"},
        {"software", "software: counted by the kernel"},
        {"tracepoint", "tracepoint: places in the kernel; `reckon list WORD` searches them"},
        {"raw", "raw: by number"},
        {"probe", "probe: made where you want it"},
    };

    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        if (strcmp(group, headings[i].group) == 0)
            return headings[i].heading;
    return group;
}

static struct rk_list_entry entry_at(const struct rk_list *list, size_t index)
{
    struct rk_list_entry entry = {.size = sizeof entry};

    rk_list_get(list, index, &entry);
    return entry;
}

/* As wide as a terminal shows it. */
static int width(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* Some thousand lines: printf would take a quarter of the time of the whole list. */
static void print_name_and_about(const struct colours *c, const struct rk_list_entry *entry)
{
    static const char blanks[NAME_WIDTH + 3] = "                                    ";
    int wide = width(entry->name);

    fwrite(blanks, 1, 2, stdout);
    fputs(entry->able == RK_ABLE_NO ? c->faint : c->strong, stdout);
    fputs(entry->name, stdout);
    fputs(c->plain, stdout);
    if (entry->about[0])
        fwrite(blanks, 1, (size_t)(wide < NAME_WIDTH ? NAME_WIDTH - wide : 0) + 2, stdout);
    fputs(entry->about, stdout);
}

static void print_entry(const struct page *page, const struct rk_list_entry *entry)
{
    const struct colours *c = &page->c;

    print_name_and_about(c, entry);
    if (entry->unit[0])
        printf(" [%s]", entry->unit);
    if (entry->able == RK_ABLE_UNTRIED && !entry->form)
        printf(" %s(not tried: %s)%s", c->faint, entry->what, c->plain);
    putchar('\n');
    if (!page->encodings || !entry->encoded)
        return;
    const uint64_t more[] = {entry->config1, entry->config2, entry->config3, entry->config4};
    printf("  %*s  %stype %" PRIu32 ", config 0x%" PRIx64, NAME_WIDTH, "", c->faint, entry->type,
           entry->config);
    for (size_t i = 0; i < 4; i++)
        if (more[i])
            printf(", config%zu 0x%" PRIx64, i + 1, more[i]);
    if (entry->scale != 1.0)
        printf(", scale %.15g", entry->scale);
    printf("%s%s%s\n", entry->encoding[0] ? "   " : "", entry->encoding, c->plain);
}

/* The names alone, as many as fit on a line. */
static size_t print_name(size_t column, const struct rk_list_entry *entry)
{
    size_t n = strlen(entry->name);

    if (column > 0 && column + 2 + n > LINE_WIDTH) {
        fputs(",\n", stdout);
        column = 0;
    }
    column += (size_t)printf("%s%s", column ? ", " : "    ", entry->name);
    return column;
}

/* Whether the fix was printed already; it is now. */
static bool fixed(struct page *page, const char *remedy)
{
    for (size_t i = 0; i < page->fixes_n; i++)
        if (strcmp(page->fixes[i], remedy) == 0)
            return true;
    if (page->fixes_n < sizeof page->fixes / sizeof *page->fixes)
        page->fixes[page->fixes_n++] = remedy;
    return false;
}

/* The entries from `first` to `end` that can't be opened for the same reason as `why`. */
static void print_unable(struct page *page, size_t first, size_t end, const struct rk_list_entry *why)
{
    size_t column = 0;

    printf("  %scan't be opened here:%s %s\n", page->c.fair, page->c.plain, why->what);
    if (why->remedy[0] && !fixed(page, why->remedy))
        printf("  fix: %s\n", why->remedy);
    for (size_t i = first; i < end; i++) {
        struct rk_list_entry entry = entry_at(page->list, i);
        if (entry.able != RK_ABLE_NO || strcmp(entry.what, why->what) != 0)
            continue;
        if (page->full)
            print_entry(page, &entry);
        else
            column = print_name(column, &entry);
    }
    if (column)
        putchar('\n');
}

/* Whether an entry before this one, of the same group, had the same reason. */
static bool said(const struct page *page, size_t first, size_t index, const struct rk_list_entry *entry)
{
    for (size_t i = index; i > first; i--) {
        struct rk_list_entry before = entry_at(page->list, i - 1);
        if (before.able == RK_ABLE_NO && strcmp(before.what, entry->what) == 0)
            return true;
    }
    return false;
}

static void print_group(struct page *page, size_t first, size_t end)
{
    const char *group = entry_at(page->list, first).group;
    bool narrow = !page->full && strcmp(group, "tracepoint") == 0; /* a hundred systems */
    size_t column = 0;

    printf("%s%s%s\n", page->c.strong, heading(group), page->c.plain);
    for (size_t i = first; i < end; i++) {
        struct rk_list_entry entry = entry_at(page->list, i);
        if (entry.able == RK_ABLE_NO)
            continue;
        if (narrow)
            column = print_name(column, &entry);
        else
            print_entry(page, &entry);
    }
    if (column)
        putchar('\n');
    for (size_t i = first; i < end; i++) {
        struct rk_list_entry entry = entry_at(page->list, i);
        if (entry.able == RK_ABLE_NO && !said(page, first, i, &entry))
            print_unable(page, i, end, &entry);
    }
}

/* Whether it stands for a source in which the words could not be looked for. */
static bool unsearched(const struct page *page, const struct rk_list_entry *entry)
{
    return page->searching && entry->form && entry->able == RK_ABLE_NO &&
           (entry->cause == RK_CAUSE_NO_FILE || entry->cause == RK_CAUSE_MISSING_LIBRARY);
}

/* Returns how many entries were printed. */
static size_t print_list(struct page *page)
{
    size_t n = rk_list_count(page->list), printed = 0;

    for (size_t first = 0, end; first < n; first = end) {
        struct rk_list_entry entry = entry_at(page->list, first);
        for (end = first + 1; end < n && strcmp(entry_at(page->list, end).group, entry.group) == 0;)
            end++;
        if (unsearched(page, &entry))
            continue;
        if (printed)
            putchar('\n');
        print_group(page, first, end);
        printed += end - first;
    }
    return printed;
}

static void print_unsearched(const struct page *page)
{
    for (size_t i = 0; i < rk_list_count(page->list); i++) {
        struct rk_list_entry entry = entry_at(page->list, i);
        if (unsearched(page, &entry))
            fprintf(stderr, "reckon list: not searched: %s: %s\n  fix: %s\n", entry.about, entry.what,
                    entry.remedy);
    }
}

/* Options, and words between them: the words are moved to the front of argv. */
static int read_options(struct options *o, int argc, char **argv, struct rk_list_options *ret, bool *ret_json)
{
    char **words = argv;
    int id;

    options_begin(o, argc, argv);
    for (;;) {
        while ((id = options_next(o)) > 0)
            switch (id) {
            case 'p':
                ret->pmu = o->value;
                break;
            case 'a':
                ret->flags |= RK_LIST_ALL;
                break;
            case 'l':
                ret->flags |= RK_LIST_LONG;
                break;
            default:
                *ret_json = true;
                ret->flags |= RK_LIST_LONG;
            }
        if (id < 0 || !o->rest_n)
            break;
        words[ret->words_n++] = o->rest[0];
        options_begin(o, o->rest_n - 1, o->rest + 1);
    }
    ret->words = (const char *const *)words;
    return id;
}

static int nothing(const struct rk_list_options *options)
{
    char shown[104];

    fputs("reckon list: no event has", stderr);
    for (size_t i = 0; i < options->words_n; i++)
        fprintf(stderr, "%s '%s'", i ? " and" : "", print_safe(options->words[i], shown, sizeof shown));
    fputs(options->words_n ? " in its name or description" : " been found", stderr);
    if (options->pmu)
        fprintf(stderr, ", among those of %s", print_safe(options->pmu, shown, sizeof shown));
    fputs("\n", stderr);
    return STATUS_FAILED;
}

int verb_list(int argc, char **argv)
{
    struct options o = {
        .verb = "list",
        .usage = "[WORD...] [options]",
        .about =
            "What can be counted here, by group. What exists and does not open is shown with the reason,\n"
            "found by trying. With words: all events that have each of them in name or description.",
        .table = table,
    };
    struct rk_list_options options = {.size = sizeof options};
    handle_host struct rk_host *host = NULL;
    handle_list struct rk_list *list = NULL;
    struct rk_error e = {.size = sizeof e};
    bool json = false;
    int id = read_options(&o, argc, argv, &options, &json);

    if (id < 0)
        return options_status(id);
    if (rk_host_open(NULL, &host, &e) < 0 || rk_list_open(host, &options, &list, &e) < 0)
        return print_error("list", &e);
    if (json) {
        struct rk_sink sink = print_sink(stdout);
        if (rk_list_export(list, "json", &sink, &e) < 0)
            return print_error("list", &e);
    } else {
        struct page page = {
            .list = list,
            .c = print_colours(stdout),
            .full = options.words_n || options.flags,
            .encodings = options.flags & RK_LIST_LONG,
            .searching = options.words_n,
        };
        int rc = print_list(&page) ? 0 : nothing(&options);
        print_unsearched(&page);
        if (rc)
            return rc;
    }
    if (fflush(stdout) != 0) {
        fprintf(stderr, "reckon list: writing failed: %s\n", strerror(errno));
        return STATUS_FAILED;
    }
    return 0;
}

#include "base/cleanup.h"
#include "base/table.h"
#include "export/page.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_MOST 4096

void page_names_free(struct page_names *names)
{
    free(names->place);
    free(names->function);
    free(names->texts);
    free(names->module_of);
    free(names->module_like);
    *names = (struct page_names){0};
}

/* Modules, distinct by path, name and whose they are. */
static int number_modules(const struct rk_profile_columns *c, const struct page_tree *tree,
                          struct page_names *names)
{
    struct table table = {0};
    int rc = 0;

    names->module_of = malloc((tree->function_n + 1) * sizeof *names->module_of);
    names->module_like = malloc((tree->function_n + 1) * sizeof *names->module_like);
    if (!names->module_of || !names->module_like)
        return -ENOMEM;
    for (size_t f = 0; f < tree->function_n && rc == 0; f++) {
        uint32_t frame = tree->frames[tree->first[f]];
        uint64_t key = ((uint64_t)c->frame_path[frame] << 32 | c->frame_module[frame]) << 1 |
                       (c->frame_flags[frame] & RK_FRAME_KERNEL ? 1 : 0);
        names->module_of[f] = table_get(&table, key);
        if (names->module_of[f] != TABLE_NONE)
            continue;
        names->module_of[f] = (uint32_t)names->module_n;
        names->module_like[names->module_n] = frame;
        rc = table_put(&table, key, (uint32_t)names->module_n++);
    }
    table_free(&table);
    return rc;
}

static void mark_used(const struct rk_profile_columns *c, const struct page_tree *tree, uint32_t *used,
                      bool *function)
{
    if (c->text_n > 0)
        used[0] = 1; /* "" */
    for (size_t f = 0; f < tree->function_n; f++) {
        uint32_t frame = tree->frames[tree->first[f]];
        function[c->frame_symbol[frame]] = true;
        used[c->frame_symbol[frame]] = used[c->frame_module[frame]] = used[c->frame_path[frame]] = 1;
        used[c->frame_file[frame]] = 1;
    }
    for (size_t i = 0; i < c->thread_n; i++)
        used[c->thread_name[i]] = 1;
    for (size_t i = 0; i < c->source_n; i++)
        used[c->source_name[i]] = 1;
}

struct named {
    const char *text;
    uint32_t index;
};

static int compare(const void *left, const void *right)
{
    return strcmp(((const struct named *)left)->text, ((const struct named *)right)->text);
}

static int sort_texts(const struct rk_profile_columns *c, struct page_names *names)
{
    _cleanup_free_ struct named *list = calloc(c->text_n + 1, sizeof *list);

    names->texts = malloc((c->text_n + 1) * sizeof *names->texts);
    if (!list || !names->texts)
        return -ENOMEM;
    for (size_t i = 0; i < c->text_n; i++)
        if (names->place[i])
            list[names->n++] = (struct named){c->text[i], (uint32_t)i};
    qsort(list, names->n, sizeof *list, compare);
    for (size_t i = 0; i < names->n; i++) {
        names->texts[i] = list[i].index;
        names->place[list[i].index] = (uint32_t)i;
    }
    return 0;
}

int page_names_make(const struct rk_profile_columns *c, const struct page_tree *tree, struct page_names *ret)
{
    struct page_names names = {.place = calloc(c->text_n + 1, sizeof *names.place),
                               .function = calloc(c->text_n + 1, sizeof *names.function)};
    int rc = names.place && names.function ? number_modules(c, tree, &names) : -ENOMEM;

    if (rc == 0) {
        mark_used(c, tree, names.place, names.function);
        rc = sort_texts(c, &names);
    }
    if (rc < 0)
        page_names_free(&names);
    else
        *ret = names;
    return rc;
}

/* The short name of a function; NULL: what is not a function's, or short already. */
static const char *short_of(const struct rk_profile_columns *c, const struct page_names *names, size_t i,
                            char brief[SHORT_MOST])
{
    const char *text = c->text[names->texts[i]];

    if (!names->function[names->texts[i]] || rk_symbol_short(text, brief, SHORT_MOST) == text)
        return NULL;
    return brief;
}

void page_write_names(struct page_pen *pen, const struct rk_profile_columns *c,
                      const struct page_names *names)
{
    page_number(pen, names->n);
    for (size_t i = 0; i < names->n; i++)
        page_number(pen, strlen(c->text[names->texts[i]]));
    for (size_t i = 0; i < names->n; i++)
        page_bytes(pen, c->text[names->texts[i]], strlen(c->text[names->texts[i]]));
}

void page_write_short(struct page_pen *pen, const struct rk_profile_columns *c,
                      const struct page_names *names)
{
    char brief[SHORT_MOST];
    uint64_t n = 0;

    for (size_t i = 0; i < names->n; i++)
        n += short_of(c, names, i, brief) != NULL;
    page_number(pen, n);
    for (size_t i = 0, last = 0; i < names->n; i++)
        if (short_of(c, names, i, brief)) {
            page_number(pen, i - last);
            last = i;
        }
    for (size_t i = 0; i < names->n; i++)
        if (short_of(c, names, i, brief))
            page_number(pen, strlen(brief));
    for (size_t i = 0; i < names->n; i++)
        if (short_of(c, names, i, brief))
            page_bytes(pen, brief, strlen(brief));
}

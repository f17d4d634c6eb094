#include "symbol/kallsyms.h"

#include "base/vector.h"
#include "symbol/demangle.h"
#include "sys/file.h"

#include <errno.h>
#include <string.h>

enum {
    FILE_MAX = 1 << 28,
    PAGE = 4096,
    FUNCTION_MAX = 1 << 20,
};

struct line {
    uint64_t address;
    char type;
    const char *name;
    const char *module; /* "[ext4]", or NULL */
};

/* Hexadecimal digits up to a blank: what follows it, or NULL. */
static const char *parse_address(const char *at, uint64_t *ret)
{
    uint64_t value = 0;
    const char *start = at;

    for (;; at++) {
        unsigned c = (unsigned char)*at, digit = c - '0';
        if (digit > 9) {
            digit = (c | 0x20) - 'a' + 10;
            if (digit < 10 || digit > 15)
                break;
        }
        value = value << 4 | digit;
    }
    if (*at != ' ' || at == start || at - start > 16)
        return NULL;
    *ret = value;
    return at + 1;
}

/* One line; its newline stands at `end`, beyond which no address can be parsed. Ends the name in place. */
static bool parse_line(const char *at, char *end, struct line *ret)
{
    const char *type = parse_address(at, &ret->address);

    if (!type || end - type < 3 || type[1] != ' ')
        return false;
    ret->type = *type;
    ret->name = type + 2;
    ret->module = NULL;
    *end = '\0';
    if (end[-1] == ']') {
        char *tab = memrchr(ret->name, '\t', (size_t)(end - ret->name));
        if (tab) {
            *tab = '\0';
            ret->module = tab + 1;
        }
    }
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* What has no code behind it though its type says so. */
static bool is_end_mark(const char *name)
{
    return name[0] == '_' && name[1] == 'e' &&
           (strcmp(name, "_etext") == 0 || strcmp(name, "_einittext") == 0);
}

static struct candidate candidate_of(const struct line *line, const char *text)
{
    struct candidate c = {.start = line->address, .name = (uint32_t)(line->name - text)};

    if (looks_mangled(line->name)) /* Rust */
        c.name |= NAME_MANGLED;

    switch (line->type) {
    case 'T':
        c.rank = RANK_FUNCTION + RANK_GLOBAL;
        break;
    case 'W':
    case 'w':
        c.rank = RANK_FUNCTION + RANK_WEAK;
        break;
    case 't':
        c.rank = RANK_FUNCTION + RANK_LOCAL;
        break;
    default:
        c.rank = RANK_BOUNDARY;
    }
    if (is_end_mark(line->name))
        c.rank = RANK_BOUNDARY;
    c.end = c.start <= UINT64_MAX - FUNCTION_MAX ? c.start + FUNCTION_MAX : UINT64_MAX;
    return c;
}

typedef VECTOR(struct candidate) candidates;

struct lists {
    candidates kernel, modules;
    bool hidden; /* some address was zero */
};

/* A module's candidates, from `first` on, are complete: none reaches beyond the page of the last. */
static void end_module(candidates *all, size_t first)
{
    uint64_t last = 0;

    for (size_t i = first; i < all->n; i++)
        last = all->items[i].start > last ? all->items[i].start : last;
    uint64_t limit = (last | (PAGE - 1)) == UINT64_MAX ? UINT64_MAX : (last | (PAGE - 1)) + 1;
    for (size_t i = first; i < all->n; i++)
        if (all->items[i].end > limit)
            all->items[i].end = limit;
}

static int parse_lines(char *text, size_t n, struct lists *lists, struct kallsyms *kallsyms)
{
    const char *module = NULL;
    size_t first = 0;

    for (char *at = text, *end; at < text + n; at = end + 1) {
        struct line line;
        end = memchr(at, '\n', (size_t)(text + n - at));
        if (!end) /* it was cut, and kallsyms_module() needs a byte behind */
            break;
        if (!parse_line(at, end, &line))
            continue;
        if (line.address == 0 || line.address == UINT64_MAX) {
            lists->hidden = true;
            continue;
        }
        if (!same_text(line.module, module)) {
            end_module(&lists->modules, first);
            module = line.module;
            first = lists->modules.n;
        }
        if (line.type == 'T' && line.name[0] == '_') {
            if (strcmp(line.name, "_text") == 0)
                kallsyms->text = line.address;
            else if (strcmp(line.name, "_stext") == 0)
                kallsyms->stext = line.address;
        }
        struct candidate *c = vector_push(module ? &lists->modules : &lists->kernel);
        if (!c)
            return -ENOMEM;
        *c = candidate_of(&line, text);
    }
    end_module(&lists->modules, first);
    return 0;
}

int kallsyms_parse(char *text, size_t n, struct kallsyms *ret)
{
    _cleanup_free_ char *names = text;
    struct kallsyms kallsyms = {0};
    struct lists lists = {0};
    int rc = n > FILE_MAX ? -EFBIG : vector_reserve(&lists.kernel, n / 40); /* a line has some 45 bytes */

    if (rc == 0)
        rc = parse_lines(names, n, &lists, &kallsyms);
    if (rc == 0 && lists.kernel.n + lists.modules.n == 0)
        rc = lists.hidden ? -EACCES : -ENOENT;
    if (rc == 0)
        rc = index_build(&kallsyms.kernel, lists.kernel.items, (uint32_t)lists.kernel.n, names);
    if (rc == 0)
        rc = index_build(&kallsyms.modules, lists.modules.items, (uint32_t)lists.modules.n, names);
    vector_free(&lists.kernel);
    vector_free(&lists.modules);
    if (rc == 0) {
        kallsyms.names = TAKE_PTR(names);
        *ret = kallsyms;
    } else {
        kallsyms_free(&kallsyms);
    }
    return rc;
}

int kallsyms_load(int root, const char *path, struct kallsyms *ret)
{
    char *text;
    size_t n;
    int rc = sys_file_load(root, path, FILE_MAX, &text, &n);

    if (rc < 0)
        return rc == -EPERM ? -EACCES : rc;
    return kallsyms_parse(text, n, ret);
}

void kallsyms_free(struct kallsyms *kallsyms)
{
    index_free(&kallsyms->kernel);
    index_free(&kallsyms->modules);
    free(kallsyms->names);
    kallsyms->names = NULL;
}

#include "event/place.h"

#include "base/error.h"
#include "base/text.h"
#include "elf/symtab.h"
#include "event/nearest.h"
#include "event/number.h"
#include "host/host.h"
#include "sys/file.h"
#include "sys/maps.h"
#include "sys/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#define ENDS ",{}: \t\r\n"
#define MAPS_MAX (64 << 20)
#define KALLSYMS_MAX (256 << 20)

int part_take(struct parser *p, const char *at, const char *what, const char *more, struct part *ret)
{
    bool quoted = *at == '\'' || *at == '"';
    const char *text = at + quoted;
    size_t n = 0;

    while (text[n] && (quoted ? text[n] != *at : !strchr(ENDS, text[n]) && !strchr(more, text[n])))
        n++;
    if (quoted && !text[n])
        return parse_fail(p, at, "the quote is not closed");
    if (n == 0)
        return parse_fail(p, at, "expected %s", what);
    *ret = (struct part){text, n, text + n + quoted};
    return 0;
}

char *part_print(struct parser *p, const char *text, const char *more)
{
    bool plain = !strpbrk(text, ENDS) && !strpbrk(text, more) && *text != '\'' && *text != '"';
    const char *quote = plain ? "" : strchr(text, '\'') ? "\"" : "'";

    return parse_text(p, "%s%s%s", quote, text, quote);
}

size_t part_offset(const struct part *part, uint64_t *ret_offset)
{
    size_t n = part->n;

    *ret_offset = 0;
    while (n > 0 && part->text[n - 1] != '+')
        n--;
    if (n > 1 && number_parse(part->text + n, part->n - n, ret_offset) == 0)
        return n - 1;
    return part->n;
}

char *place_path(struct parser *p, const struct part *path, int *ret_rc)
{
    *ret_rc = -ENOMEM;
    if (path->text[0] == '/')
        return parse_text(p, "%.*s", (int)path->n, path->text);
    _cleanup_free_ char *directory = sys_directory(ret_rc);
    if (!directory) {
        *ret_rc = parse_refuse(p, path->text, *ret_rc, RK_CAUSE_NO_FILE, "write the whole path",
                               "cannot find the working directory: %s", strerror(-*ret_rc));
        return NULL;
    }
    *ret_rc = -ENOMEM;
    return parse_text(p, "%s/%.*s", directory, (int)path->n, path->text);
}

/* Names that are near are copied: the table they stand in is freed. */
struct offering {
    struct parser *p;
    struct nearest nearest;
};

static void offer_name(void *context, const char *name)
{
    struct offering *offering = context;
    struct nearest before = offering->nearest;

    nearest_offer(&offering->nearest, name);
    for (size_t i = 0; i < offering->nearest.n; i++)
        if (offering->nearest.best[i].name == name) {
            offering->nearest.best[i].name = arena_text(&offering->p->events->arena, name, strlen(name));
            if (!offering->nearest.best[i].name)
                offering->nearest = before;
            break;
        }
}

static int no_file(struct parser *p, const char *at, const char *path, int rc)
{
    char shown[120];

    text_show(shown, sizeof shown, path, strlen(path));
    if (rc == -ENOMEM)
        return fail_memory(p->e, RK_STAGE_EVENT);
    if (rc == -ENOEXEC || rc == -EBADMSG || rc == -EOPNOTSUPP)
        return parse_refuse(p, at, rc, RK_CAUSE_BAD_FILE, NULL, "%s: %s", shown,
                            rc == -ENOEXEC ? "not an ELF file"
                            : rc == -EBADMSG
                                ? "a damaged ELF file"
                                : "an ELF file of a kind that is not read: 32 bits or big-endian");
    return parse_refuse(p, at, rc, RK_CAUSE_NO_FILE, NULL, "%s: %s", shown, strerror(-rc));
}

static int find_in_file(struct parser *p, const char *path, const char *at, const char *symbol, size_t n,
                        struct place *ret)
{
    struct offering offering = {.p = p};
    struct elf_symbol found = {0};
    _cleanup_elf_ struct elf *elf = NULL;
    char shown[80], remedy[256], elsewhere[160];
    int rc = elf_open_at(p->host->root, path, &elf, NULL);

    if (rc < 0)
        return no_file(p, at, path, rc);
    nearest_start(&offering.nearest, symbol, n);
    rc = symtab_find(elf, symbol, n, &found, offer_name, &offering);
    if (rc == -ENOENT) {
        snprintf(elsewhere, sizeof elsewhere, "`readelf -Ws %.100s` shows its symbols", path);
        return parse_refuse(p, symbol, rc, RK_CAUSE_NO_EVENT,
                            nearest_or(&offering.nearest, elsewhere, remedy, sizeof remedy),
                            "%s: no such symbol in %.120s", text_show(shown, sizeof shown, symbol, n), path);
    }
    if (rc < 0)
        return no_file(p, at, path, rc);
    *ret =
        (struct place){.address = found.value, .size = found.size, .fixed = elf->type == ELF_TYPE_EXECUTABLE};
    ret->in_file = elf_offset(elf, found.value, &ret->offset) == 0;
    return 0;
}

/* "path:symbol", or false: it is too long to be kept. */
static bool make_key(char key[static MEMO_KEY], const char *path, const char *symbol, size_t n)
{
    size_t n_path = strlen(path);

    if (n_path + 1 + n >= MEMO_KEY)
        return false;
    memcpy(key, path, n_path);
    key[n_path] = ':';
    memcpy(key + n_path + 1, symbol, n);
    key[n_path + 1 + n] = '\0';
    return true;
}

/* The host keeps what was found, as long as the file is the same, which is looked at once in a tick: that a file may
 * change behind the look is so however often one looks. */
int place_in_file(struct parser *p, const char *path, const char *at, const char *symbol, size_t n,
                  struct place *ret)
{
    struct memo memo, now = {.seen = sys_tick()};
    char key[MEMO_KEY];
    bool kept = make_key(key, path, symbol, n), known = kept && host_memo_get(p->host, key, &memo);

    if (!known || memo.seen != now.seen) {
        kept = kept && sys_file_stamp(p->host->root, path, now.stamp) == 0;
        known = known && kept && memcmp(memo.stamp, now.stamp, sizeof now.stamp) == 0;
        if (known) {
            memo.seen = now.seen;
            host_memo_put(p->host, key, &memo); /* changes what is there */
        }
    }
    if (known) {
        *ret = (struct place){memo.value[0], memo.value[1], memo.value[2], memo.value[3] & 1,
                              memo.value[3] >> 1 & 1};
        return 0;
    }
    int rc = find_in_file(p, path, at, symbol, n, ret);
    if (rc < 0 || !kept)
        return rc;
    now.value[0] = ret->address;
    now.value[1] = ret->in_file ? ret->offset : 0;
    now.value[2] = ret->size;
    now.value[3] = (uint64_t)ret->in_file | (uint64_t)ret->fixed << 1;
    return host_memo_put(p->host, key, &now) < 0 ? fail_memory(p->e, RK_STAGE_EVENT) : 0;
}

/* What is linked lowest, as the loader maps it: the first loaded segment. */
static int first_segment(struct parser *p, const char *path, struct elf_segment *ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    int rc = elf_open_at(p->host->root, path, &elf, NULL);

    for (uint32_t i = 0; rc == 0 && i < elf->segment_n; i++)
        if (elf->segments[i].type == ELF_SEGMENT_LOAD) {
            *ret = elf->segments[i];
            return 0;
        }
    return rc < 0 ? rc : -EBADMSG;
}

int place_in_process(struct parser *p, const char *path, const char *at, const char *pid, size_t n,
                     const struct place *place, uint64_t *ret)
{
    char file[64], shown[40];
    _cleanup_free_ char *maps = NULL;
    struct elf_segment first = {0};
    struct maps_line line;
    size_t size;
    uint64_t number;
    int rc;

    text_show(shown, sizeof shown, pid, n);
    if (!(n == 4 && memcmp(pid, "self", 4) == 0) && (number_parse(pid, n, &number) < 0 || n > 10))
        return parse_fail(p, pid, "expected the number of a process after '@', got %s", shown);
    rc = first_segment(p, path, &first);
    if (rc < 0)
        return no_file(p, at, path, rc);
    snprintf(file, sizeof file, "proc/%.*s/maps", (int)n, pid);
    rc = sys_file_load(p->host->root, file, MAPS_MAX, &maps, &size);
    if (rc < 0)
        return parse_refuse(p, pid, rc,
                            rc == -EACCES || rc == -EPERM ? RK_CAUSE_NOT_YOURS
                            : rc == -ENOMEM               ? RK_CAUSE_MEMORY
                                                          : RK_CAUSE_NO_PROCESS,
                            NULL, "process %s: cannot read its mappings: %s", shown, strerror(-rc));
    /* The mapping of the path that begins the file's first segment. */
    for (char *next = maps; (rc = maps_next(&next, &line)) != 0;)
        if (rc > 0 && line.offset == (first.offset & ~UINT64_C(0xfff)) && strcmp(line.path, path) == 0) {
            *ret = place->address + line.start - (first.address & ~UINT64_C(0xfff));
            return 0;
        }
    return parse_refuse(p, pid, -ENOENT, RK_CAUSE_NO_PROCESS, NULL, "process %s has not mapped %.120s", shown,
                        path);
}

/* "ffffffff81000000 T _text", and for modules "…\t[ext4]" behind. */
int place_in_kernel(struct parser *p, const char *symbol, size_t n, uint64_t *ret)
{
    _cleanup_free_ char *text = NULL;
    char shown[80];
    size_t size;
    int rc = sys_file_load(p->host->root, "proc/kallsyms", KALLSYMS_MAX, &text, &size);

    text_show(shown, sizeof shown, symbol, n);
    if (rc == -ENOMEM)
        return fail_memory(p->e, RK_STAGE_EVENT);
    if (rc < 0)
        return parse_refuse(p, symbol, rc, RK_CAUSE_NO_FILE, "write its address",
                            "%s: cannot read the kernel's symbols: /proc/kallsyms: %s", shown, strerror(-rc));
    for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        uint64_t address;
        int name = 0;
        if (sscanf(line, "%16" SCNx64 " %*c %n", &address, &name) != 1 || name <= 0)
            continue;
        if (strncmp(line + name, symbol, n) != 0 || !strchr("\n\t ", line[(size_t)name + n]))
            continue;
        if (address == 0)
            return parse_refuse(p, symbol, -EACCES, RK_CAUSE_CAPABILITY,
                                "sudo sysctl -w kernel.kptr_restrict=0, or run as root",
                                "%s: the kernel hides its addresses from this user", shown);
        *ret = address;
        return 0;
    }
    return parse_refuse(p, symbol, -ENOENT, RK_CAUSE_NO_EVENT, "grep the name in /proc/kallsyms",
                        "%s: the kernel has no such symbol", shown);
}

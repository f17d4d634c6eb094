#include "dwarf/dwarf.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void find_code(struct dwarf *dwarf)
{
    dwarf->code_low = UINT64_MAX;
    for (uint32_t i = 0; i < dwarf->elf->section_n; i++) {
        const struct elf_section *s = &dwarf->elf->sections[i];
        if (!(s->flags & ELF_SECTION_EXECUTE) || s->bytes > UINT64_MAX - s->address)
            continue;
        dwarf->code_low = s->address < dwarf->code_low ? s->address : dwarf->code_low;
        dwarf->code_high =
            s->address + s->bytes > dwarf->code_high ? s->address + s->bytes : dwarf->code_high;
    }
}

static int open_views(struct dwarf *d)
{
    const struct {
        struct view *view;
        const char *name;
    } all[] = {
        {&d->info, ".debug_info"},
        {&d->abbrev, ".debug_abbrev"},
        {&d->line, ".debug_line"},
        {&d->str, ".debug_str"},
        {&d->line_str, ".debug_line_str"},
        {&d->ranges, ".debug_ranges"},
        {&d->rnglists, ".debug_rnglists"},
        {&d->addr, ".debug_addr"},
        {&d->str_offsets, ".debug_str_offsets"},
        {&d->aranges, ".debug_aranges"},
    };
    char name[32];

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        snprintf(name, sizeof name, "%s%s", all[i].name, d->split ? ".dwo" : "");
        int rc = view_open(all[i].view, d->elf, name, &d->lock);
        if (rc < 0)
            return rc;
    }
    return d->info.n && d->abbrev.n ? 0 : -ENOENT;
}

/* .gnu_debugaltlink: the path, its NUL, and the build-id of a file that dwz made of what several had in common. */
static void open_alt(struct dwarf *dwarf)
{
    const struct elf_section *section;
    _cleanup_free_ void *bytes = NULL;
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id wanted = {0}, own = {0};
    char path[4096];
    size_t n;

    if (elf_section_find(dwarf->elf, ".gnu_debugaltlink", &section) < 0 ||
        elf_section_load(dwarf->elf, section, 1 << 16, &bytes, &n) < 0)
        return;
    const char *name = bytes, *slash = strrchr(dwarf->path, '/');
    size_t length = strnlen(name, n);
    if (length == n)
        return;
    wanted.bytes =
        n - length - 1 < sizeof wanted.id ? (uint32_t)(n - length - 1) : (uint32_t)sizeof wanted.id;
    memcpy(wanted.id, name + length + 1, wanted.bytes);
    int written = name[0] == '/' || !slash
                      ? snprintf(path, sizeof path, "%s", name)
                      : snprintf(path, sizeof path, "%.*s/%s", (int)(slash - dwarf->path), dwarf->path, name);
    int rc = written < (int)sizeof path ? elf_open_at(dwarf->root, path, &elf, NULL) : -ENAMETOOLONG;
    if (rc < 0 && wanted.bytes)
        rc = elf_open_debug(dwarf->root, &wanted, &elf);
    if (rc < 0 || elf_build_id(elf, &own) < 0 || !build_id_same(&wanted, &own))
        return;
    dwarf_open(dwarf->root, path, TAKE_PTR(elf), &dwarf->alt);
}

static int open_any(int root, const char *path, struct elf *elf, bool split, struct dwarf **ret)
{
    struct dwarf *dwarf = calloc(1, sizeof *dwarf);

    if (!dwarf) {
        elf_close(elf);
        return -ENOMEM;
    }
    dwarf->elf = elf;
    dwarf->root = root;
    dwarf->path = path;
    dwarf->split = split;
    dwarf->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    dwarf->units.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    int rc = open_views(dwarf);
    if (rc == 0 && !split) {
        find_code(dwarf);
        rc = units_open(dwarf);
    }
    if (rc < 0) {
        dwarf_close(dwarf);
        return rc;
    }
    *ret = dwarf;
    return 0;
}

int dwarf_open(int root, const char *path, struct elf *elf, struct dwarf **ret)
{
    struct dwarf *dwarf = NULL;
    int rc = open_any(root, path, elf, false, &dwarf);

    if (rc < 0)
        return rc;
    open_alt(dwarf);
    dwarf->path = NULL; /* the caller's no longer */
    *ret = dwarf;
    return 0;
}

int dwarf_open_split(int root, const char *path, struct dwarf **ret)
{
    struct elf *elf = NULL;
    int rc = elf_open_at(root, path, &elf, NULL);

    return rc < 0 ? rc : open_any(root, path, elf, true, ret);
}

struct dwarf *dwarf_close(struct dwarf *d)
{
    if (!d)
        return NULL;
    dwarf_close(d->alt);
    units_close(&d->units);
    struct view *views[] = {&d->info,   &d->abbrev,   &d->line, &d->str,         &d->line_str,
                            &d->ranges, &d->rnglists, &d->addr, &d->str_offsets, &d->aranges};
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        view_close(views[i]);
    elf_close(d->elf);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->units.lock);
    free(d);
    return NULL;
}

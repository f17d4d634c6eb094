#include "dwarf/dwarf.h"

#include "elf/depot.h"
#include "elf/relocate.h"
#include "sys/file.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SPARE_ABBREVS = 16 << 20, SPARE_TIMES = 4, PATH_BYTES = 8192, LINKS_MAX = 16 };

/* A .dwo is opened for a few jobs, mostly one: what is spent on it goes by its size. */
void dwarf_refill(struct dwarf *dwarf)
{
    int64_t left = SPARE_TIMES * (int64_t)(dwarf->abbrev.n + dwarf->info.n);

    if (!dwarf->split || dwarf->package.units.n)
        left += SPARE_ABBREVS;
    atomic_store_explicit(&dwarf->abbrevs_left, left, memory_order_relaxed);
    if (dwarf->alt)
        dwarf_refill(dwarf->alt);
    pthread_mutex_lock(&dwarf->units.lock);
    if (dwarf->dwp)
        dwarf_refill(dwarf->dwp);
    pthread_mutex_unlock(&dwarf->units.lock);
}

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

/* The views of a dwarf, and the section of each. */
static const struct {
    size_t at;
    const char *name;
} sections[] = {
    {offsetof(struct dwarf, info), ".debug_info"},
    {offsetof(struct dwarf, abbrev), ".debug_abbrev"},
    {offsetof(struct dwarf, line), ".debug_line"},
    {offsetof(struct dwarf, str), ".debug_str"},
    {offsetof(struct dwarf, line_str), ".debug_line_str"},
    {offsetof(struct dwarf, ranges), ".debug_ranges"},
    {offsetof(struct dwarf, rnglists), ".debug_rnglists"},
    {offsetof(struct dwarf, addr), ".debug_addr"},
    {offsetof(struct dwarf, str_offsets), ".debug_str_offsets"},
    {offsetof(struct dwarf, aranges), ".debug_aranges"},
};
enum { SECTIONS = sizeof sections / sizeof *sections };

static struct view *view_of(struct dwarf *dwarf, size_t section)
{
    return (struct view *)((char *)dwarf + sections[section].at);
}

static int open_views(struct dwarf *d)
{
    char name[32];

    for (size_t i = 0; i < SECTIONS; i++) {
        snprintf(name, sizeof name, "%s%s", sections[i].name, d->split ? ".dwo" : "");
        int rc = view_open(view_of(d, i), d->elf, name, &d->lock);
        if (rc < 0)
            return rc;
    }
    return d->info.n && d->abbrev.n ? 0 : -ENOENT;
}

/* .gnu_debugaltlink: the path, its NUL, and the build-id. */
struct alt_link {
    char path[4096];
    struct build_id id;
};

static bool is_own_trouble(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EDQUOT;
}

/* Where the file itself is, if its name is a symbolic link, as those below /usr/lib/debug/.build-id may be. `path` is
 * changed to that. 0, or what is about this process. */
static int follow_links(int root, char path[PATH_BYTES])
{
    char to[PATH_BYTES / 2];

    for (unsigned i = 0; i < LINKS_MAX; i++) {
        int rc = sys_link_at(root, path + strspn(path, "/"), to, sizeof to);
        if (rc < 0)
            return is_own_trouble(rc) ? rc : 0;
        char *slash = strrchr(path, '/');
        size_t kept = to[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - path);
        if (kept + (size_t)rc >= PATH_BYTES)
            return 0;
        memcpy(path + kept, to, (size_t)rc + 1);
    }
    return 0;
}

/* From the section's bytes; a relative path is told from the file that has it. False: it makes no sense. */
static bool read_link(const char *bytes, size_t n, const char *file, struct alt_link *ret)
{
    size_t length = strnlen(bytes, n);
    const char *slash = strrchr(file, '/');

    if (length == n || length == 0)
        return false;
    ret->id.bytes =
        n - length - 1 < sizeof ret->id.id ? (uint32_t)(n - length - 1) : (uint32_t)sizeof ret->id.id;
    memcpy(ret->id.id, bytes + length + 1, ret->id.bytes);
    int written = bytes[0] == '/' || !slash
                      ? snprintf(ret->path, sizeof ret->path, "%s", bytes)
                      : snprintf(ret->path, sizeof ret->path, "%.*s/%s", (int)(slash - file), file, bytes);
    return written < (int)sizeof ret->path && ret->id.bytes;
}

static int open_any(int root, struct elf *elf, bool split, struct dwarf **ret);

/* What dwz moved out of several files into one, if that is there and is the one: by its path, else by its build-id.
 * Without it names are missing, no more. 0, or what is about this process. */
static int open_alt(struct dwarf *dwarf, const struct dwarf_place *place)
{
    const struct elf_section *section;
    _cleanup_free_ void *bytes = NULL;
    _cleanup_elf_ struct elf *elf = NULL;
    struct alt_link link = {0};
    struct build_id own = {0};
    char real[PATH_BYTES] = "";
    size_t n = 0;
    int rc = elf_section_find(dwarf->elf, ".gnu_debugaltlink", &section);

    if (rc == 0)
        rc = elf_section_load(dwarf->elf, section, 1 << 16, &bytes, &n);
    if (rc == 0 && place->file && snprintf(real, sizeof real, "%s", place->file) < (int)sizeof real)
        rc = follow_links(dwarf->root, real);
    if (rc < 0 || !bytes || !read_link(bytes, n, real, &link))
        return is_own_trouble(rc) ? rc : 0;
    rc = elf_open_paid(dwarf->root, link.path, dwarf->elf->budget, &elf, NULL);
    if (rc == 0)
        rc = elf_build_id(elf, &own);
    if (rc >= 0)
        rc = build_id_same(&link.id, &own) ? 0 : -ENOENT;
    if (rc < 0 && !is_own_trouble(rc)) {
        elf = elf_close(elf);
        rc = elf_open_debug(dwarf->root, &link.id, dwarf->elf->budget, &elf);
        if (rc < 0 && !is_own_trouble(rc) && place->depot)
            rc = depot_find(place->depot, &link.id, DEPOT_DEBUG, &elf);
        if (rc == 0)
            elf->budget = dwarf->elf->budget;
    }
    if (rc == 0) /* which has none itself: one that named another would be followed without end */
        rc = open_any(dwarf->root, TAKE_PTR(elf), false, &dwarf->alt);
    return is_own_trouble(rc) ? rc : 0;
}

static int open_package(struct dwarf *dwarf)
{
    struct view index = {0};
    int rc = view_open(&index, dwarf->elf, ".debug_cu_index", &dwarf->lock);

    if (rc == 0)
        rc = package_open(&dwarf->package, &index);
    view_close(&index);
    return rc;
}

static int open_any(int root, struct elf *elf, bool split, struct dwarf **ret)
{
    struct dwarf *dwarf = calloc(1, sizeof *dwarf);

    if (!dwarf) {
        elf_close(elf);
        return -ENOMEM;
    }
    dwarf->elf = elf;
    dwarf->root = root;
    dwarf->split = split;
    dwarf->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    dwarf->units.lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    int rc = split ? 0 : elf_place(elf);
    if (rc == 0)
        rc = open_views(dwarf);
    if (rc == 0 && split) {
        rc = open_package(dwarf);
    } else if (rc == 0) {
        find_code(dwarf);
        rc = units_open(dwarf);
    }
    if (rc < 0) {
        dwarf_close(dwarf);
        return rc;
    }
    dwarf_refill(dwarf);
    *ret = dwarf;
    return 0;
}

int dwarf_open(int root, const struct dwarf_place *place, struct elf *elf, struct dwarf **ret)
{
    struct dwarf *dwarf = NULL;
    int rc = open_any(root, elf, false, &dwarf);

    if (rc < 0)
        return rc;
    dwarf->program = place->program ? strdup(place->program) : NULL;
    rc = place->program && !dwarf->program ? -ENOMEM : open_alt(dwarf, place);
    if (rc < 0) {
        dwarf_close(dwarf);
        return rc;
    }
    *ret = dwarf;
    return 0;
}

int dwarf_open_split(int root, const char *path, struct budget *budget, struct dwarf **ret)
{
    struct elf *elf = NULL;
    int rc = elf_open_paid(root, path, budget, &elf, NULL);

    return rc < 0 ? rc : open_any(root, elf, true, ret);
}

int dwarf_package(struct dwarf *dwarf, struct dwarf **ret)
{
    char path[PATH_BYTES];
    int rc = 0;

    pthread_mutex_lock(&dwarf->units.lock);
    if (!dwarf->dwp_asked && dwarf->program &&
        snprintf(path, sizeof path, "%s.dwp", dwarf->program) < (int)sizeof path) {
        rc = dwarf_open_split(dwarf->root, path, dwarf->elf->budget, &dwarf->dwp);
        rc = is_own_trouble(rc) ? rc : 0;
    }
    dwarf->dwp_asked = rc == 0;
    *ret = dwarf->dwp;
    pthread_mutex_unlock(&dwarf->units.lock);
    return rc;
}

/* NOLINTNEXTLINE(misc-no-recursion): what dwz moved out, and a .dwp, have no more of these */
uint64_t dwarf_held(struct dwarf *d)
{
    if (!d)
        return 0;
    uint64_t held = dwarf_held(d->alt) + dwarf_held(d->dwp) +
                    d->units.ranges.n * sizeof *d->units.ranges.items +
                    d->units.offsets.n * sizeof *d->units.offsets.items;
    for (size_t i = 0; i < SECTIONS; i++)
        held += view_of(d, i)->held;
    return held;
}

struct dwarf *dwarf_close(struct dwarf *d)
{
    if (!d)
        return NULL;
    dwarf_close(d->alt);
    dwarf_close(d->dwp);
    free(d->program);
    package_close(&d->package);
    units_close(&d->units);
    for (size_t i = 0; i < SECTIONS; i++)
        view_close(view_of(d, i));
    elf_close(d->elf);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->units.lock);
    free(d);
    return NULL;
}

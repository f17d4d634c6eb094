#include "symbol/ko.h"

#include "elf/section.h"
#include "sys/file.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 1024, DEPTH_MAX = 12 };

/* Where they lie, release by release and below in folders. */
static const char *const places[] = {
    "usr/lib/debug/lib/modules",     /* Debian, Fedora */
    "usr/lib/debug/usr/lib/modules", /* with a merged /usr; Ubuntu */
    "lib/modules",                   /* a kernel of one's own, not stripped */
    "usr/lib/modules",
};

struct search {
    int root;
    struct budget *budget;
    const char *name; /* without brackets */
    size_t name_bytes;
    const struct build_id *id;
    struct elf *found;
    unsigned depth;
    char path[PATH_BYTES];
};

static bool is_own_trouble(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

/* snd-hda.ko is snd_hda. */
static bool is_file_of(const struct search *s, const char *file)
{
    for (size_t i = 0; i < s->name_bytes; i++)
        if (file[i] != s->name[i] && !(file[i] == '-' && s->name[i] == '_'))
            return false;
    return strcmp(file + s->name_bytes, ".ko") == 0 || strcmp(file + s->name_bytes, ".ko.debug") == 0;
}

static int try_file(struct search *s)
{
    _cleanup_elf_ struct elf *elf = NULL;
    const struct elf_section *info;
    struct build_id own = {0};
    int rc = elf_open_paid(s->root, s->path, s->budget, &elf, NULL);

    if (rc == 0)
        rc = elf_build_id(elf, &own);
    if (rc > 0)
        rc = build_id_same(&own, s->id) ? elf_section_find(elf, ".debug_info", &info) : -ENOENT;
    if (rc < 0)
        return is_own_trouble(rc) ? rc : 0;
    s->found = TAKE_PTR(elf);
    return 1;
}

/* 0: look on; 1: found; -errno: of this process. */
static int try_name(void *context, const char *name) // NOLINT(misc-no-recursion): DEPTH_MAX
{
    struct search *s = context;
    size_t before = strlen(s->path);
    bool file = is_file_of(s, name), folder = s->depth == 0 || (!strchr(name, '.') && s->depth < DEPTH_MAX);
    int rc = 0;

    if (strcmp(name, "build") == 0 || strcmp(name, "source") == 0) /* where it was built: all of its source */
        return 0;
    if ((!file && !folder) ||
        snprintf(s->path + before, sizeof s->path - before, "/%s", name) >= (int)(sizeof s->path - before)) {
        s->path[before] = '\0';
        return 0;
    }
    if (file) {
        rc = try_file(s);
    } else {
        s->depth++;
        rc = sys_dir_each(s->root, s->path + 1, try_name, s);
        s->depth--;
        rc = rc == 1 || is_own_trouble(rc) ? rc : 0;
    }
    if (rc != 1)
        s->path[before] = '\0';
    return rc;
}

static int find_file(struct search *s)
{
    int rc = elf_open_debug(s->root, s->id, s->budget, &s->found);

    if (rc == 0)
        elf_debug_path(s->id, s->path);
    for (size_t i = 0; !s->found && !is_own_trouble(rc) && i < sizeof places / sizeof *places; i++) {
        snprintf(s->path, sizeof s->path, "/%s", places[i]);
        rc = sys_dir_each(s->root, places[i], try_name, s);
    }
    return s->found ? 0 : is_own_trouble(rc) ? rc : -ENOENT;
}

int ko_open(int root, const char *name, const struct build_id *id, struct budget *budget, struct vmlinux *ret)
{
    struct search search = {.root = root, .budget = budget, .name = name + (name[0] == '['), .id = id};
    struct vmlinux module = {.id = *id};

    search.name_bytes = strcspn(search.name, "]");
    int rc = id->bytes && search.name_bytes ? find_file(&search) : -ENOENT;
    if (rc == 0)
        rc = dwarf_open(root, &(struct dwarf_place){.program = search.path, .file = search.path},
                        search.found, &module.lines.dwarf);
    if (is_own_trouble(rc))
        return rc;
    module.lines.miss = vmlinux_miss(rc);
    module.lines.asked = true;
    *ret = module;
    return 0;
}

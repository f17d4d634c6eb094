#include "symbol/vmlinux.h"

#include "elf/section.h"
#include "elf/symtab.h"
#include "sys/file.h"

#include <reckon/symbol.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 512 };

/* Where is looked beyond /usr/lib/debug/.build-id: directory/NAME behind, for each NAME that begins so. */
struct place {
    const char *directory, *begin, *behind;
};

static const struct place places[] = {
    {"usr/lib/debug/boot", "vmlinux", ""},         /* Debian, Ubuntu */
    {"usr/lib/debug/lib/modules", "", "/vmlinux"}, /* Fedora, RHEL */
    {"usr/lib/debug/usr/lib/modules", "",
     "/vmlinux"},            /* and with a merged /usr; openSUSE's is in .build-id */
    {"boot", "vmlinux", ""}, /* Alpine; one's own */
    {"usr/lib/modules", "", "/vmlinux"},
    {"usr/lib/modules", "", "/build/vmlinux"}, /* Arch; where it was built */
    {"lib/modules", "", "/build/vmlinux"},
};

struct search {
    int root;
    struct budget *budget;
    const struct place *place;
    const struct build_id *id;
    struct elf *found;
    char path[PATH_BYTES];
};

static bool is_own_trouble(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

/* 0: look on; 1: found; -errno: of this process. */
static int try_name(void *context, const char *name)
{
    struct search *s = context;
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id own = {0};

    if (strncmp(name, s->place->begin, strlen(s->place->begin)) != 0 ||
        snprintf(s->path, sizeof s->path, "/%s/%s%s", s->place->directory, name, s->place->behind) >=
            (int)sizeof s->path)
        return 0;
    int rc = elf_open_paid(s->root, s->path, s->budget, &elf, NULL);
    if (rc == 0)
        rc = elf_build_id(elf, &own);
    if (rc < 0 || !build_id_same(&own, s->id))
        return is_own_trouble(rc) ? rc : 0;
    s->found = TAKE_PTR(elf);
    return 1;
}

/* 0 or -ENOENT, -errno. */
static int find_file(struct search *s)
{
    int rc = elf_open_debug(s->root, s->id, s->budget, &s->found);

    if (rc == 0)
        elf_debug_path(s->id, s->path);
    for (size_t i = 0; !s->found && !is_own_trouble(rc) && i < sizeof places / sizeof *places; i++) {
        s->place = &places[i];
        rc = sys_dir_each(s->root, s->place->directory, try_name, s);
    }
    return s->found ? 0 : is_own_trouble(rc) ? rc : -ENOENT;
}

static int find_symbol(struct elf *elf, const char *name, uint64_t *ret)
{
    struct elf_symbol symbol;
    int rc = symtab_find(elf, name, strlen(name), &symbol, NULL, NULL);

    if (rc == 0)
        *ret = symbol.value;
    return is_own_trouble(rc) ? rc : 0;
}

uint32_t vmlinux_miss(int rc)
{
    return rc == 0             ? RK_MISS_NONE
           : rc == -EOPNOTSUPP ? RK_MISS_NO_LIBRARY
           : rc == -EBADMSG    ? RK_MISS_BAD_FILE
           : rc == -EDQUOT     ? RK_MISS_BUDGET
                               : RK_MISS_NO_LINES;
}

int vmlinux_open(int root, const struct build_id *id, struct budget *budget, struct vmlinux *ret)
{
    struct vmlinux vmlinux = {.id = *id};
    struct search search = {.root = root, .budget = budget, .id = id};
    int rc = id->bytes ? find_file(&search) : -ENOENT;

    if (rc == 0)
        rc = find_symbol(search.found, "_text", &vmlinux.text);
    if (rc == 0)
        rc = find_symbol(search.found, "_stext", &vmlinux.stext);
    if (rc == 0 && (vmlinux.text || vmlinux.stext))
        rc = dwarf_open(root, &(struct dwarf_place){.program = search.path, .file = search.path},
                        TAKE_PTR(search.found), &vmlinux.lines.dwarf);
    else if (rc == 0)
        rc = -ENOENT; /* it can't be told where it lies */
    elf_close(search.found);
    if (is_own_trouble(rc))
        return rc;
    vmlinux.lines.miss = vmlinux_miss(rc);
    vmlinux.lines.asked = true;
    *ret = vmlinux;
    return 0;
}

int vmlinux_open_path(const char *path, struct budget *budget, struct vmlinux *ret)
{
    _cleanup_close_ int root = sys_root_open(NULL);
    _cleanup_elf_ struct elf *elf = NULL;
    struct vmlinux v = {.lines.asked = true};
    int rc = root < 0 ? root : elf_open_paid(root, path, budget, &elf, NULL);

    if (rc == 0)
        rc = elf_build_id(elf, &v.id);
    if (elf && !is_own_trouble(rc))
        rc = find_symbol(elf, "_text", &v.text);
    if (rc == 0)
        rc = find_symbol(elf, "_stext", &v.stext);
    if (rc == 0)
        rc = functions_load(elf, ELF_SECTION_SYMTAB, &v.functions);
    v.miss = rc == 0             ? RK_MISS_NONE
             : rc == -ENOENT     ? RK_MISS_STRIPPED
             : rc == -EOPNOTSUPP ? RK_MISS_UNSUPPORTED
                                 : RK_MISS_BAD_FILE;
    if (rc == 0)
        rc = dwarf_open(root, &(struct dwarf_place){path, path}, TAKE_PTR(elf), &v.lines.dwarf);
    v.lines.miss = vmlinux_miss(rc);
    if (is_own_trouble(rc)) {
        vmlinux_close(&v);
        return rc;
    }
    *ret = v;
    return 0;
}

void vmlinux_close(struct vmlinux *vmlinux)
{
    functions_free(&vmlinux->functions);
    dwarf_close(vmlinux->lines.dwarf);
    *vmlinux = (struct vmlinux){0};
}

#include "symbol/module.h"

#include "elf/relocate.h"
#include "elf/section.h"
#include "symbol/plt.h"
#include "unwind/tables.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The reason for the user, or the -errno where it is not about this module. */
static int miss_of(int rc, uint32_t *ret)
{
    switch (rc) {
    case -ENOMEM:
    case -EMFILE:
    case -ENFILE:
        return rc;
    case -ENOEXEC:
    case -EBADMSG:
        *ret = RK_MISS_BAD_FILE;
        return 0;
    case -EDQUOT:
        *ret = RK_MISS_BUDGET;
        return 0;
    case -ESTALE:
        *ret = RK_MISS_CHANGED;
        return 0;
    case -EXDEV:
        *ret = RK_MISS_ELSEWHERE;
        return 0;
    case -EOPNOTSUPP:
        *ret = RK_MISS_UNSUPPORTED;
        return 0;
    default:
        *ret = RK_MISS_NO_FILE;
        return 0;
    }
}

static int copy_loads(const struct elf *elf, bool by_address, struct module *module)
{
    module->loads = calloc(elf->segment_n ? elf->segment_n : 1, sizeof *module->loads);
    if (!module->loads)
        return -ENOMEM;
    if (by_address) { /* each is where it says; a debug file's segments have nothing in the file */
        module->loads[module->load_n++] = (struct load){0, UINT64_MAX, 0};
        return 0;
    }
    for (int executable = 1; executable >= 0; executable--)
        for (uint32_t i = 0; i < elf->segment_n; i++) {
            const struct elf_segment *s = &elf->segments[i];
            if (s->type == ELF_SEGMENT_LOAD && !!(s->flags & ELF_SEGMENT_EXECUTE) == executable)
                module->loads[module->load_n++] = (struct load){s->offset, s->file_bytes, s->address};
        }
    return 0;
}

/* Loads one more table. 0, -ENOENT, -errno. */
static int add_table(struct module *module, struct elf *elf, uint32_t section_type)
{
    int rc = functions_load(elf, section_type, &module->tables[module->table_n]);

    if (rc == 0)
        module->table_n++;
    return rc;
}

/* Whether that is about this process, not about the file: there is no use in going on. */
static bool is_own_trouble(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

/* … or since its budget is spent. */
static bool ends_search(int rc)
{
    return is_own_trouble(rc) || rc == -EDQUOT;
}

/* By build-id alone, of a depot. */
static int find_stored(const struct module_search *search, const struct build_id *id, int what,
                       struct elf **ret)
{
    int rc = depot_find(search->depot, id, what, ret);

    if (rc == 0)
        (*ret)->budget = search->budget;
    return rc;
}

/* What is neither below the root nor beside the file: in a cache, or on a server. */
static int find_debug(const struct module_search *search, const char *path, const struct build_id *id,
                      struct elf **ret)
{
    return path[0] == '[' ? -ENOENT : find_stored(search, id, DEPOT_DEBUG, ret);
}

/* By the build-id, else by the name that the file gives. */
static int load_debug(const struct module_search *search, const char *path, struct elf *elf,
                      struct module *module)
{
    _cleanup_elf_ struct elf *debug = NULL;
    char file[DEBUGLINK_PATH_BYTES];
    int rc = elf_open_debug(search->root, &module->id, elf->budget, &debug);

    if (rc < 0 && !ends_search(rc))
        rc = elf_open_debuglink(search->root, path, elf, file, &debug);
    if (rc < 0 && !ends_search(rc))
        rc = find_debug(search, path, &module->id, &debug);
    return rc < 0 ? rc : add_table(module, debug, ELF_SECTION_SYMTAB);
}

/* What distributions leave in stripped files: the mini table, and what the file exports, of which neither has what the
 * other has. 0; 1: there is no mini table; -errno. */
static int load_mini(struct elf *elf, struct module *module)
{
    _cleanup_elf_ struct elf *mini = NULL;
    int rc = elf_open_debugdata(elf, &mini);

    if (rc < 0)
        return ends_search(rc) ? rc : 1;
    rc = functions_load_both(mini, ELF_SECTION_SYMTAB, elf, ELF_SECTION_DYNSYM,
                             &module->tables[module->table_n]);
    if (rc == 0)
        module->table_n++;
    return rc == -ENOENT ? 0 : rc;
}

/* The last of them is the file's own .dynsym where *ret_exported becomes true. */
static int load_functions(const struct module_search *search, const char *path, struct elf *elf,
                          struct module *module, bool *ret_exported)
{
    int rc = add_table(module, elf, ELF_SECTION_SYMTAB);

    module->elsewhere = RK_MISS_NO_SYMBOL;
    if (rc != -ENOENT)
        return rc;
    rc = load_debug(search, path, elf, module);
    if (rc == 0 || ends_search(rc))
        return rc;
    rc = load_mini(elf, module);
    if (rc <= 0)
        return rc;
    /* Only what it exports has a name: of the rest it must be said that the module is stripped. */
    module->elsewhere = RK_MISS_STRIPPED;
    rc = add_table(module, elf, ELF_SECTION_DYNSYM);
    *ret_exported = rc == 0;
    return rc == -ENOENT ? 0 : rc;
}

static int load_stubs(struct elf *elf, bool has_exported, struct module *module)
{
    static const struct functions none;
    const struct functions *named = module->table_n ? &module->tables[0] : &none;
    const struct functions *exported = has_exported ? &module->tables[module->table_n - 1] : NULL;
    int rc = plt_load(elf, named, exported, &module->tables[module->table_n]);

    if (rc == 0)
        module->table_n++;
    return is_own_trouble(rc) ? rc : 0; /* what is wrong with them does not spoil the rest */
}

/* 1: it has, 0: not, or what is about this process. */
static int has_lines(struct elf *elf)
{
    const struct elf_section *info;
    int rc = elf_section_find(elf, ".debug_info", &info);

    if (rc < 0)
        return is_own_trouble(rc) ? rc : 0;
    return info->type != ELF_SECTION_NOBITS && info->bytes;
}

/* In the debug file of its build-id, else in the one that it names: the latter is read whole to see that it is it. */
static int open_debug_lines(const struct module_search *search, const char *path, const struct build_id *id,
                            struct elf *own, struct dwarf **ret)
{
    char file[DEBUGLINK_PATH_BYTES];
    struct dwarf_place place = {.program = path, .file = file, .depot = search->depot};
    struct elf *debug = NULL;
    int rc = elf_open_debug(search->root, id, own->budget, &debug);

    if (rc == 0) {
        elf_debug_path(id, file);
        rc = dwarf_open(search->root, &place, debug, ret);
    }
    if (rc != -ENOENT)
        return rc;
    rc = elf_open_debuglink(search->root, path, own, file, &debug);
    if (rc == 0)
        rc = dwarf_open(search->root, &place, debug, ret);
    if (rc != -ENOENT)
        return rc;
    place.file = NULL;
    rc = find_debug(search, path, id, &debug);
    return rc < 0 ? rc : dwarf_open(search->root, &place, debug, ret);
}

/* Whether a file that was opened may be taken for what ran: `proof` is object_open()'s. */
static bool is_credible(const struct module_search *search, const struct rk_module *wanted, int proof)
{
    if (wanted->build_id_bytes) /* compared when it was opened */
        return true;
    if (wanted->kind == RK_MODULE_VDSO)
        return search->origin.kernel == ORIGIN_HERE;
    return search->origin.machine == ORIGIN_HERE || (search->origin.machine == ORIGIN_UNKNOWN && proof > 0);
}

/* Its own file: the one that was kept, else wherever it is, else a copy with the build-id that was mapped. -EXDEV: nothing
 * shows that what is there is what ran. */
static int open_own(const struct module_search *search, const struct rk_module *wanted,
                    char path[OBJECT_PATH_MAX], struct elf **ret, struct build_id *ret_id)
{
    struct build_id id = object_build_id(wanted);

    if (search->kept >= 0) {
        int rc = object_open_kept(search->kept, wanted, search->budget, path, ret, ret_id);
        if (rc >= 0 || ends_search(rc))
            return rc;
    }
    int rc = object_open(search->root, wanted, search->budget, path, ret, ret_id);
    if (rc >= 0 && !is_credible(search, wanted, rc)) {
        *ret = elf_close(*ret);
        rc = -EXDEV;
    }
    if (rc >= 0 || ends_search(rc))
        return rc;
    int found = find_stored(search, &id, wanted->kind == RK_MODULE_VDSO ? DEPOT_VDSO : DEPOT_PROGRAM, ret);
    if (found < 0)
        return is_own_trouble(found) ? found : rc;
    snprintf(path, OBJECT_PATH_MAX, "%s", wanted->path); /* what lies beside that is looked at closely */
    *ret_id = id;
    return 1;
}

/* The file again: its build-id says whether it is the same. */
static int open_again(const struct module_search *search, const struct rk_module *wanted,
                      const struct module *module, char path[OBJECT_PATH_MAX], struct elf **ret)
{
    _cleanup_elf_ struct elf *own = NULL;
    struct build_id id = {0};
    int rc = open_own(search, wanted, path, &own, &id);

    if (rc < 0)
        return rc;
    if (!build_id_same(&id, &module->id))
        return -ENOENT;
    *ret = TAKE_PTR(own);
    return 0;
}

static int open_lines(const struct module_search *search, const struct rk_module *wanted,
                      const struct module *module, struct dwarf **ret)
{
    _cleanup_elf_ struct elf *own = NULL;
    char path[OBJECT_PATH_MAX];
    int rc = open_again(search, wanted, module, path, &own);

    if (rc < 0)
        return rc;
    rc = has_lines(own);
    if (rc < 0)
        return rc;
    if (rc > 0)
        return dwarf_open(search->root, &(struct dwarf_place){path, path, search->depot}, TAKE_PTR(own), ret);
    return open_debug_lines(search, path, &module->id, own, ret);
}

int module_lines(const struct module_search *search, const struct rk_module *wanted, struct module *module)
{
    if (module->lines.asked)
        return 0;
    int rc = module->miss ? -ENOENT : open_lines(search, wanted, module, &module->lines.dwarf);
    if (is_own_trouble(rc))
        return rc;
    module->lines.miss = rc == 0             ? RK_MISS_NONE
                         : module->miss      ? module->miss
                         : rc == -EOPNOTSUPP ? RK_MISS_NO_LIBRARY
                         : rc == -EBADMSG    ? RK_MISS_BAD_FILE
                         : rc == -EDQUOT     ? RK_MISS_BUDGET
                                             : RK_MISS_NO_LINES;
    module->lines.asked = true;
    return 0;
}

/* Its unwind tables, from the file as it was when its names were read. */
static int read_tables(const struct module_search *search, const struct rk_module *wanted,
                       const struct module *module, struct tables **ret)
{
    _cleanup_elf_ struct elf *own = NULL;
    char path[OBJECT_PATH_MAX];
    int rc = open_again(search, wanted, module, path, &own);

    if (rc < 0)
        return rc;
    struct tables *tables = malloc(sizeof *tables);
    if (!tables)
        return -ENOMEM;
    rc = tables_read(tables, own);
    if (rc < 0)
        free(tables);
    else
        *ret = tables;
    return rc;
}

int module_describe(const struct module_search *search, const struct rk_module *wanted, struct module *module,
                    uint64_t address, uint64_t *ret_start, uint64_t *ret_end)
{
    struct table_range range;

    if (!module->described) {
        int rc = read_tables(search, wanted, module, &module->unwind);
        if (is_own_trouble(rc))
            return rc;
        module->described = true;
        if (rc == -EDQUOT)
            return rc;
    }
    if (!module->unwind || tables_function(module->unwind, address, &range) < 0)
        return -ENOENT;
    *ret_start = range.start;
    *ret_end = range.end;
    return 0;
}

int module_load(const struct module_search *search, const struct rk_module *wanted, bool by_address,
                struct module *ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    struct module module = {0};
    char path[OBJECT_PATH_MAX];
    bool exported = false;
    int rc = open_own(search, wanted, path, &elf, &module.id);

    if (rc >= 0)
        rc = copy_loads(elf, by_address, &module);
    if (rc == 0)
        rc = elf_place(elf);
    if (rc == 0)
        rc = load_functions(search, path, elf, &module, &exported);
    if (rc == 0)
        rc = load_stubs(elf, exported, &module);
    if (rc == 0 && module.table_n == 0)
        module.miss = RK_MISS_STRIPPED;
    if (rc < 0) {
        module_free(&module);
        rc = miss_of(rc, &module.miss);
    }
    if (rc == 0)
        *ret = module;
    return rc;
}

void module_free(struct module *module)
{
    for (uint32_t i = 0; i < module->table_n; i++)
        functions_free(&module->tables[i]);
    dwarf_close(module->lines.dwarf);
    if (module->unwind)
        tables_free(module->unwind);
    free(module->unwind);
    free(module->loads);
    *module = (struct module){0};
}

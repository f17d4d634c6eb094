#include "symbol/module.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
    return memcmp(a->id, b->id, sizeof a->id) == 0; /* unused bytes are zero */
}

struct build_id build_id_of(const struct rk_module *module)
{
    struct build_id id = {.bytes = module->build_id_bytes};

    if (id.bytes > sizeof id.id)
        id.bytes = sizeof id.id;
    memcpy(id.id, module->build_id, id.bytes);
    return id;
}

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
    case -EOPNOTSUPP:
        *ret = RK_MISS_UNSUPPORTED;
        return 0;
    default:
        *ret = RK_MISS_NO_FILE;
        return 0;
    }
}

static int copy_loads(const struct elf *elf, struct module *module)
{
    module->loads = calloc(elf->segment_n ? elf->segment_n : 1, sizeof *module->loads);
    if (!module->loads)
        return -ENOMEM;
    for (int executable = 1; executable >= 0; executable--)
        for (uint32_t i = 0; i < elf->segment_n; i++) {
            const struct elf_segment *s = &elf->segments[i];
            if (s->type == ELF_SEGMENT_LOAD && !!(s->flags & ELF_SEGMENT_EXECUTE) == executable)
                module->loads[module->load_n++] = (struct load){s->offset, s->file_bytes, s->address};
        }
    return 0;
}

/* The functions of /usr/lib/debug/.build-id/ab/cdef….debug, if that is there and is what it says. */
static int load_debug(int root, const struct build_id *id, struct functions *ret)
{
    char path[sizeof "usr/lib/debug/.build-id/" + 2 * BUILD_ID_MAX + sizeof "/.debug"];
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id own = {0};

    if (id->bytes < 2)
        return -ENOENT;
    int n = snprintf(path, sizeof path, "usr/lib/debug/.build-id/%02x/", id->id[0]);
    for (uint32_t i = 1; i < id->bytes; i++)
        n += snprintf(path + n, sizeof path - (size_t)n, "%02x", id->id[i]);
    snprintf(path + n, sizeof path - (size_t)n, ".debug");

    int rc = elf_open_at(root, path, &elf, NULL);
    if (rc == 0)
        rc = elf_build_id(elf, &own);
    if (rc < 0)
        return rc;
    return build_id_same(id, &own) ? functions_load(elf, ELF_SECTION_SYMTAB, ret) : -ENOENT;
}

static int load_functions(int root, struct elf *elf, const struct build_id *id, struct module *module)
{
    int rc = functions_load(elf, ELF_SECTION_SYMTAB, &module->functions);

    module->elsewhere = RK_MISS_NO_SYMBOL;
    if (rc != -ENOENT)
        return rc;
    rc = load_debug(root, id, &module->functions);
    if (rc == 0 || rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE)
        return rc;
    /* Only what it exports has a name: of the rest it must be said that the module is stripped. */
    module->elsewhere = RK_MISS_STRIPPED;
    rc = functions_load(elf, ELF_SECTION_DYNSYM, &module->functions);
    if (rc == -ENOENT) {
        module->miss = RK_MISS_STRIPPED;
        return 0;
    }
    return rc;
}

/* Whether the file is the one that ran, as far as that can be known: module->miss. 0 or -errno. */
static int judge(struct elf *elf, const struct rk_module *wanted, struct build_id *ret_own,
                 struct module *module)
{
    struct build_id asked = build_id_of(wanted);
    int rc = elf_build_id(elf, ret_own);

    if (rc == -ENOMEM || (rc < 0 && rc != -ENODATA && asked.bytes))
        return rc;
    if (asked.bytes)
        module->miss = rc > 0 && build_id_same(&asked, ret_own) ? RK_MISS_NONE : RK_MISS_CHANGED;
    else
        module->miss = wanted->deleted ? RK_MISS_NO_FILE : RK_MISS_NONE;
    return 0;
}

/* The vDSO is the running kernel's, mapped into this process too; the kernel made it, so its header is true. */
static int open_vdso(struct elf **ret)
{
    const unsigned char *at = (const unsigned char *)getauxval(AT_SYSINFO_EHDR); // NOLINT: an address
    uint64_t sections_at;
    uint16_t section_n;

    if (!at || memcmp(at, "\177ELF\2", 5) != 0)
        return -ENOENT;
    memcpy(&sections_at, at + 40, sizeof sections_at);
    memcpy(&section_n, at + 60, sizeof section_n);
    if (sections_at > 1 << 20) /* the sections' table ends the file */
        return -EBADMSG;
    return elf_open_memory(at, (size_t)sections_at + (size_t)section_n * 64, "[vdso]", ret, NULL);
}

int module_load(int root, const struct rk_module *wanted, struct module *ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    struct module module = {0};
    struct build_id own = {0};
    int rc = wanted->kind == RK_MODULE_VDSO ? open_vdso(&elf) : elf_open_at(root, wanted->path, &elf, NULL);

    if (rc == 0)
        rc = judge(elf, wanted, &own, &module);
    if (rc == 0 && module.miss == RK_MISS_NONE)
        rc = copy_loads(elf, &module);
    if (rc == 0 && module.miss == RK_MISS_NONE)
        rc = load_functions(root, elf, &own, &module);
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
    functions_free(&module->functions);
    free(module->loads);
    *module = (struct module){0};
}

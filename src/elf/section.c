#include "elf/section.h"

#include "base/cursor.h"
#include "codec/deflate.h"
#include "codec/xz.h"
#include "codec/zstd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>

enum {
    NAMES_MAX = 1 << 24,
    DEBUGDATA_MAX = 1 << 26, /* compressed: they are some hundred kilobytes */
    DEBUGDATA_OPEN_MAX = 1 << 28,
    COMPRESSED_ZLIB = 1,
    COMPRESSED_ZSTD = 2,
    ZLIB_RATIO = 1032, /* deflate can't do better */
};

static int load_names(struct elf *elf)
{
    void *names;
    int rc = elf_sections(elf);

    if (rc < 0 || elf->names || elf->section_n == 0)
        return rc;
    if (elf->names_section >= elf->section_n)
        return -EBADMSG;
    const struct elf_section *s = &elf->sections[elf->names_section];
    rc = elf_load(elf, s->offset, s->bytes, NAMES_MAX, &names);
    if (rc < 0)
        return rc;
    elf->names = names;
    elf->names_bytes = (size_t)s->bytes;
    return 0;
}

const char *elf_section_name(const struct elf *elf, const struct elf_section *section)
{
    return elf->names && section->name < elf->names_bytes ? elf->names + section->name : "";
}

/* ".debug_x" is the same as ".zdebug_x", gcc's older way to compress. */
static bool same_name(const char *own, const char *name)
{
    if (strncmp(own, ".zdebug_", 8) == 0 && strncmp(name, ".debug_", 7) == 0)
        return strcmp(own + 8, name + 7) == 0;
    return strcmp(own, name) == 0;
}

int elf_section_find(struct elf *elf, const char *name, const struct elf_section **ret)
{
    int rc = load_names(elf);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < elf->section_n; i++)
        if (same_name(elf_section_name(elf, &elf->sections[i]), name)) {
            *ret = &elf->sections[i];
            return 0;
        }
    return -ENOENT;
}

const struct elf_section *elf_section_next(const struct elf *elf, const struct elf_section *section)
{
    const char *name = elf_section_name(elf, section);

    for (section++; section < elf->sections + elf->section_n; section++)
        if (strcmp(elf_section_name(elf, section), name) == 0)
            return section;
    return NULL;
}

/* What the bytes are compressed by, and how long they were before. Passes the header. */
static int compression(struct cursor *c, bool old, uint32_t *ret_type, uint64_t *ret_bytes)
{
    if (old) {
        const unsigned char *magic = cursor_bytes(c, 4), *size = cursor_bytes(c, 8);
        if (!size || memcmp(magic, "ZLIB", 4) != 0)
            return -EBADMSG;
        *ret_type = COMPRESSED_ZLIB;
        *ret_bytes = 0;
        for (int i = 0; i < 8; i++)
            *ret_bytes = *ret_bytes << 8 | size[i];
        return 0;
    }
    *ret_type = cursor_u32(c);
    cursor_u32(c);
    *ret_bytes = cursor_u64(c);
    cursor_u64(c); /* alignment */
    return c->bad ? -EBADMSG : 0;
}

static int decompress(struct elf *elf, const void *from, size_t n, bool old, size_t limit, void **ret,
                      size_t *ret_n)
{
    struct cursor c = cursor_of(from, n);
    uint32_t type;
    uint64_t bytes;
    int rc = compression(&c, old, &type, &bytes);

    if (rc < 0)
        return rc;
    size_t left = cursor_left(&c);
    if (bytes > limit || (type == COMPRESSED_ZLIB && bytes / ZLIB_RATIO > left))
        return -EBADMSG;
    rc = budget_fits(elf->budget, bytes);
    if (rc == 0)
        rc = budget_step(elf->budget, bytes);
    if (rc < 0)
        return rc;
    _cleanup_free_ unsigned char *block = malloc((size_t)bytes + 1);
    if (!block)
        return -ENOMEM;
    rc = type == COMPRESSED_ZLIB   ? zlib_decode(c.at, left, block, (size_t)bytes)
         : type == COMPRESSED_ZSTD ? zstd_decode(c.at, left, block, (size_t)bytes)
                                   : -EOPNOTSUPP;
    if (rc < 0)
        return rc;
    block[bytes] = '\0';
    *ret = TAKE_PTR(block);
    *ret_n = (size_t)bytes;
    return 0;
}

int elf_section_load(struct elf *elf, const struct elf_section *section, size_t limit, void **ret,
                     size_t *ret_n)
{
    _cleanup_free_ void *block = NULL;
    bool old = strncmp(elf_section_name(elf, section), ".zdebug_", 8) == 0;

    if (section->type == ELF_SECTION_NOBITS) /* as in a debug file: the bytes are in the other one */
        return -ENOENT;
    int rc = elf_load(elf, section->offset, section->bytes, limit, &block);
    if (rc < 0)
        return rc;
    if (old || section->flags & ELF_SECTION_COMPRESSED)
        return decompress(elf, block, (size_t)section->bytes, old, limit, ret, ret_n);
    *ret = TAKE_PTR(block);
    *ret_n = (size_t)section->bytes;
    return 0;
}

int elf_open_debugdata(struct elf *elf, struct elf **ret)
{
    const struct elf_section *section;
    _cleanup_free_ void *packed = NULL;
    void *open = NULL;
    size_t n, open_n = 0;
    int rc = elf_section_find(elf, ".gnu_debugdata", &section);

    if (rc == 0)
        rc = elf_section_load(elf, section, DEBUGDATA_MAX, &packed, &n);
    if (rc == 0) {
        uint64_t room = budget_room(elf->budget);
        rc = xz_decode(packed, n, room < DEBUGDATA_OPEN_MAX ? (size_t)room : DEBUGDATA_OPEN_MAX, &open,
                       &open_n);
    }
    if (rc == 0)
        rc = budget_step(elf->budget, open_n);
    if (rc < 0) {
        free(open);
        return rc;
    }
    rc = elf_open_owned(open, open_n, ".gnu_debugdata", ret, NULL);
    if (rc == 0)
        (*ret)->budget = elf->budget;
    return rc;
}

void elf_debug_path(const struct build_id *id, char ret[DEBUG_PATH_BYTES])
{
    int n = snprintf(ret, DEBUG_PATH_BYTES, "/usr/lib/debug/.build-id/%02x/", id->id[0]);

    for (uint32_t i = 1; i < id->bytes; i++)
        n += snprintf(ret + n, DEBUG_PATH_BYTES - (size_t)n, "%02x", id->id[i]);
    snprintf(ret + n, DEBUG_PATH_BYTES - (size_t)n, ".debug");
}

int elf_open_debug(int root, const struct build_id *id, struct budget *budget, struct elf **ret)
{
    char path[DEBUG_PATH_BYTES];
    _cleanup_elf_ struct elf *elf = NULL;
    struct build_id own = {0};

    if (id->bytes < 2)
        return -ENOENT;
    elf_debug_path(id, path);
    int rc = elf_open_paid(root, path, budget, &elf, NULL);
    if (rc == 0)
        rc = elf_build_id(elf, &own);
    if (rc < 0)
        return rc;
    if (!build_id_same(id, &own))
        return -ENOENT;
    *ret = TAKE_PTR(elf);
    return 0;
}

/* The kernel made it, so its header is true; the sections' table ends the file. */
int elf_open_vdso(struct elf **ret)
{
    const unsigned char *at = (const unsigned char *)getauxval(AT_SYSINFO_EHDR); // NOLINT: an address
    uint64_t sections_at;
    uint16_t section_n;

    if (!at || memcmp(at, "\177ELF\2", 5) != 0)
        return -ENOENT;
    memcpy(&sections_at, at + 40, sizeof sections_at);
    memcpy(&section_n, at + 60, sizeof section_n);
    if (sections_at > 1 << 20)
        return -EBADMSG;
    return elf_open_memory(at, (size_t)sections_at + (size_t)section_n * 64, "[vdso]", ret, NULL);
}

/*
 * .gnu_debuglink: a file's name, zeros up to a multiple of four, and the CRC-32 of that file.
 */
#include "elf/section.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK = 1 << 18, NAME_LENGTH_MAX = 4096 };

/* Eight bytes at a time, each by a table of its own: tables[k] moves a byte k places further. */
static void make_tables(uint32_t tables[8][256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? UINT32_C(0xedb88320) : 0);
        tables[0][i] = c;
    }
    for (unsigned k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++)
            tables[k][i] = tables[0][tables[k - 1][i] & 255] ^ tables[k - 1][i] >> 8;
}

static uint32_t crc_of(uint32_t c, const unsigned char *at, size_t n, uint32_t t[8][256])
{
    for (; n >= 8; n -= 8, at += 8) {
        uint32_t low, high;
        memcpy(&low, at, 4);
        memcpy(&high, at + 4, 4);
        low ^= c;
        c = t[7][low & 255] ^ t[6][low >> 8 & 255] ^ t[5][low >> 16 & 255] ^ t[4][low >> 24] ^
            t[3][high & 255] ^ t[2][high >> 8 & 255] ^ t[1][high >> 16 & 255] ^ t[0][high >> 24];
    }
    for (; n; n--, at++)
        c = t[0][(c ^ *at) & 255] ^ c >> 8;
    return c;
}

static int has_checksum(const struct elf *elf, uint32_t wanted)
{
    uint32_t tables[8][256], c = UINT32_MAX;
    _cleanup_free_ unsigned char *block = malloc(BLOCK);

    if (!block)
        return -ENOMEM;
    make_tables(tables);
    for (uint64_t at = 0; at < elf->size;) {
        size_t n = elf->size - at < BLOCK ? (size_t)(elf->size - at) : BLOCK;
        int rc = elf_read(elf, at, block, n);
        if (rc == 0)
            rc = budget_step(elf->budget, n);
        if (rc < 0)
            return rc;
        c = crc_of(c, block, n, tables);
        at += n;
    }
    return ~c == wanted ? 0 : -ENOENT;
}

static int try_path(int root, const char *path, uint32_t checksum, struct budget *budget, struct elf **ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    int rc = elf_open_paid(root, path, budget, &elf, NULL);

    if (rc == 0)
        rc = has_checksum(elf, checksum);
    if (rc == 0)
        *ret = TAKE_PTR(elf);
    return rc;
}

int elf_open_debuglink(int root, const char *path, struct elf *elf, char ret_path[DEBUGLINK_PATH_BYTES],
                       struct elf **ret)
{
    static const struct {
        const char *before, *behind;
    } places[] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
    const struct elf_section *section;
    _cleanup_free_ void *bytes = NULL;
    uint32_t checksum;
    size_t n = 0;
    int rc = elf_section_find(elf, ".gnu_debuglink", &section);

    if (rc == 0)
        rc = elf_section_load(elf, section, NAME_LENGTH_MAX, &bytes, &n);
    if (rc < 0 || !bytes)
        return rc < 0 ? rc : -ENOENT;
    const char *name = bytes, *slash = strrchr(path, '/');
    size_t length = strnlen(name, n), at = (length + 4) & ~(size_t)3;
    if (length == 0 || at + 4 > n || strchr(name, '/') || !slash || slash - path > NAME_LENGTH_MAX)
        return -ENOENT;
    memcpy(&checksum, name + at, 4);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(ret_path, DEBUGLINK_PATH_BYTES, "%s%.*s%s%s", places[i].before, (int)(slash - path), path,
                 places[i].behind, name);
        if (strcmp(ret_path, path) == 0)
            continue;
        rc = try_path(root, ret_path, checksum, elf->budget, ret);
        if (rc == 0 || rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE || rc == -EDQUOT)
            return rc;
    }
    return -ENOENT;
}

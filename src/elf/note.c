#include "elf/note.h"

#include "base/cursor.h"
#include "sys/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    NOTE_BUILD_ID = 3,
    NOTES_MAX = 1 << 20, /* a bound for what is read at a time … */
    NOTES_SUM = 1 << 24, /* … and of a file */
};

bool build_id_same(const struct build_id *a, const struct build_id *b)
{
    return memcmp(a->id, b->id, sizeof a->id) == 0; /* unused bytes are zero */
}

/* Passes the padding behind n bytes of name or description, as far as there is any: the last note's may be cut.
 * Notes of 8-byte alignment (.note.gnu.property) may stand before the build-id in one segment; their sizes are
 * multiples of 8 anyway, so that going by 4 is right for both, as the kernel does it. */
static void skip_padding(struct cursor *c, uint32_t n)
{
    uint32_t pad = -n & 3;

    cursor_bytes(c, pad < cursor_left(c) ? pad : cursor_left(c));
}

int note_build_id(const void *notes, size_t n, struct build_id *ret)
{
    struct cursor c = cursor_of(notes, n);

    while (cursor_left(&c) >= 12) {
        uint32_t name_bytes = cursor_u32(&c), bytes = cursor_u32(&c), type = cursor_u32(&c);
        const unsigned char *name = cursor_bytes(&c, name_bytes);
        skip_padding(&c, name_bytes);
        const unsigned char *id = cursor_bytes(&c, bytes);
        skip_padding(&c, bytes);
        if (c.bad)
            return -EBADMSG;
        if (type == NOTE_BUILD_ID && name_bytes == 4 && memcmp(name, "GNU", 4) == 0 && bytes > 0) {
            *ret = (struct build_id){.bytes = bytes < BUILD_ID_MAX ? bytes : BUILD_ID_MAX};
            memcpy(ret->id, id, ret->bytes);
            return (int)ret->bytes;
        }
    }
    return -ENODATA;
}

static int notes_at(const struct elf *elf, uint64_t offset, uint64_t n, uint64_t *left, struct build_id *ret)
{
    _cleanup_free_ void *notes = NULL;
    int rc = elf_load(elf, offset, n, *left < NOTES_MAX ? (size_t)*left : NOTES_MAX, &notes);

    if (rc < 0)
        return rc;
    *left -= n;
    return note_build_id(notes, (size_t)n, ret);
}

static bool ends_search(int rc)
{
    return rc == -ENOMEM || rc == -EDQUOT;
}

int elf_build_id(struct elf *elf, struct build_id *ret)
{
    uint64_t left = NOTES_SUM;
    int found = -ENODATA, rc;

    for (uint32_t i = 0; i < elf->segment_n && found <= 0 && !ends_search(found); i++)
        if (elf->segments[i].type == ELF_SEGMENT_NOTE) {
            rc = notes_at(elf, elf->segments[i].offset, elf->segments[i].file_bytes, &left, ret);
            found = rc == -ENODATA ? found : rc;
        }
    if (found > 0 || ends_search(found))
        return found;
    /* No segment has it, or its offset is wrong, as it is in debug files: the sections tell. */
    rc = elf_sections(elf);
    if (rc < 0)
        return found == -ENODATA ? rc : found;
    for (uint32_t i = 0; i < elf->section_n && found <= 0 && !ends_search(found); i++)
        if (elf->sections[i].type == ELF_SECTION_NOTE) {
            rc = notes_at(elf, elf->sections[i].offset, elf->sections[i].bytes, &left, ret);
            found = rc == -ENODATA ? found : rc;
        }
    return found;
}

int elf_build_id_at(int root, const char *path, struct build_id *ret)
{
    _cleanup_elf_ struct elf *elf = NULL;
    int rc = elf_open_at(root, path, &elf, NULL);

    return rc < 0 ? rc : elf_build_id(elf, ret);
}

static int notes_of(int root, const char *path, struct build_id *ret)
{
    _cleanup_free_ char *notes = NULL;
    size_t n;
    int rc = sys_file_load(root, path, NOTES_MAX, &notes, &n);

    return rc < 0 ? rc : note_build_id(notes, n, ret);
}

int kernel_build_id(int root, struct build_id *ret)
{
    return notes_of(root, "sys/kernel/notes", ret);
}

int kernel_module_build_id(int root, const char *name, struct build_id *ret)
{
    char path[128];
    size_t n = strcspn(name + (name[0] == '['), "]/");

    name += name[0] == '[';
    int written = snprintf(path, sizeof path, "sys/module/%.*s/notes/.note.gnu.build-id", (int)n, name);
    return n && written < (int)sizeof path ? notes_of(root, path, ret) : -ENOENT;
}

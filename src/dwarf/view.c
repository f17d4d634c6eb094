#include "dwarf/view.h"

#include "base/cursor.h"
#include "dwarf/constants.h"
#include "elf/relocate.h"
#include "sys/memory.h"

#include <errno.h>
#include <string.h>

enum { SECTION_TIMES = 16, SECTION_MAX = 1 << 30, PACKED_TIMES = 100, SMALL_MAX = 64 << 20 };

/* Most that a section may be, unpacked. Debug information shrinks to a tenth: what says it shrank to less than a hundredth,
 * and is large, is a bomb. */
static size_t section_limit(const struct elf_section *section)
{
    uint64_t bytes = section->bytes < SECTION_MAX ? section->bytes * PACKED_TIMES : SECTION_MAX;

    bytes = bytes > SMALL_MAX ? bytes : SMALL_MAX;
    return (size_t)(bytes < SECTION_MAX ? bytes : SECTION_MAX);
}

static size_t region_bytes(uint64_t n)
{
    return ((size_t)n + VIEW_BLOCK - 1) & ~(size_t)(VIEW_BLOCK - 1);
}

static bool is_packed(const struct elf *elf, const struct elf_section *section)
{
    return section->flags & ELF_SECTION_COMPRESSED || strncmp(elf_section_name(elf, section), ".z", 2) == 0;
}

/* Whether its first unit describes a type: of version 5, by what its header says. */
static bool begins_with_type(const struct elf *elf, const struct elf_section *section)
{
    unsigned char head[16] = {0};
    struct cursor c = cursor_of(head, sizeof head);

    if (elf_read(elf, section->offset, head, section->bytes < sizeof head ? section->bytes : sizeof head) < 0)
        return false;
    if (cursor_u32(&c) == 0xffffffff)
        cursor_u64(&c);
    uint16_t version = cursor_u16(&c);
    uint8_t type = cursor_u8(&c);
    return version == 5 && (type == UNIT_TYPE || type == UNIT_SPLIT_TYPE);
}

/* The section of that name. A relocatable file (a .dwo is one) has a .debug_info for each type that others may have too,
 * and one for all the rest, the last one if compressed ones don't tell. */
static int find_section(struct elf *elf, const char *name, const struct elf_section **ret)
{
    int rc = elf_section_find(elf, name, ret);
    const struct elf_section *section = rc == 0 ? *ret : NULL;

    if (elf->type != ELF_TYPE_RELOCATABLE || strncmp(name, ".debug_info", 11) != 0)
        return rc;
    for (; section; section = elf_section_next(elf, section)) {
        *ret = section;
        if (!is_packed(elf, section) && !begins_with_type(elf, section))
            break;
    }
    return rc;
}

int view_open(struct view *view, struct elf *elf, const char *name, pthread_mutex_t *lock)
{
    const struct elf_section *section;
    void *bytes = NULL;
    size_t n = 0;
    int rc = find_section(elf, name, &section);

    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    if (section->type == ELF_SECTION_NOBITS || section->bytes == 0)
        return 0;
    bool packed = is_packed(elf, section), relocated = elf_is_relocated(elf, section);
    if (packed || relocated) {
        rc = elf_section_load(elf, section, section_limit(section), &bytes, &n);
        if (rc == 0 && relocated)
            rc = elf_relocate(elf, section, bytes, n);
        if (rc == 0)
            rc = budget_hold(elf->budget, n);
        if (rc == 0)
            *view = (struct view){.bytes = bytes, .n = n, .held = n, .budget = elf->budget};
        else
            free(bytes);
        return rc;
    }
    if (section->offset > elf->size || section->bytes > elf->size - section->offset)
        return -EBADMSG;
    if (section->bytes / SECTION_TIMES > budget_readable(elf->budget))
        return -EDQUOT;
    uint64_t blocks = (section->bytes + VIEW_BLOCK - 1) / VIEW_BLOCK;
    _Atomic uint64_t *filled = calloc(blocks / 64 + 1, sizeof *filled);
    unsigned char *region = sys_memory_new(region_bytes(section->bytes));
    if (!filled || !region) {
        free(filled);
        if (region)
            sys_memory_free(region, region_bytes(section->bytes));
        return filled && section->bytes > SECTION_MAX ? -EDQUOT : -ENOMEM;
    }
    view->bytes = region;
    view->n = section->bytes;
    view->elf = elf;
    view->budget = elf->budget;
    view->offset = section->offset;
    view->filled = filled;
    view->lock = lock;
    return 0;
}

void view_close(struct view *view)
{
    budget_give_back(view->budget, view->held);
    if (view->elf)
        sys_memory_free(view->bytes, region_bytes(view->n));
    else
        free(view->bytes);
    free(view->filled);
    *view = (struct view){0};
}

static bool is_filled(const struct view *view, uint64_t block)
{
    return atomic_load_explicit(&view->filled[block / 64], memory_order_acquire) >> block % 64 & 1;
}

/* Fills blocks first … last, each run of missing ones by one read. */
static bool fill(struct view *view, uint64_t first, uint64_t last)
{
    bool ok = true;

    pthread_mutex_lock(view->lock);
    for (uint64_t block = first, end; ok && block <= last; block = end) {
        end = block + 1;
        if (is_filled(view, block))
            continue;
        while (end <= last && !is_filled(view, end))
            end++;
        uint64_t at = block * VIEW_BLOCK, n = (end - block) * VIEW_BLOCK;
        n = n < view->n - at ? n : view->n - at;
        ok = budget_hold(view->budget, n) == 0;
        if (!ok)
            break;
        ok = elf_read(view->elf, view->offset + at, view->bytes + at, (size_t)n) == 0;
        view->held += n;
        for (uint64_t i = block; ok && i < end; i++)
            atomic_fetch_or_explicit(&view->filled[i / 64], UINT64_C(1) << i % 64, memory_order_release);
    }
    pthread_mutex_unlock(view->lock);
    return ok;
}

const unsigned char *view_get(struct view *view, uint64_t offset, uint64_t n)
{
    if (offset >= view->n || n > view->n - offset)
        return NULL;
    if (view->elf) {
        uint64_t first = offset / VIEW_BLOCK, last = (offset + n - 1) / VIEW_BLOCK;
        for (uint64_t block = first; block <= last; block++)
            if (!is_filled(view, block)) {
                if (!fill(view, block, last))
                    return NULL;
                break;
            }
    }
    return view->bytes + offset;
}

const char *view_text(struct view *view, uint64_t offset)
{
    uint64_t at = offset;

    while (at < view->n) {
        uint64_t end = view->elf ? (at / VIEW_BLOCK + 1) * VIEW_BLOCK : view->n;
        uint64_t n = (end < view->n ? end : view->n) - at;
        const unsigned char *bytes = view_get(view, at, n);
        if (!bytes)
            return NULL;
        if (memchr(bytes, 0, (size_t)n))
            return (const char *)view->bytes + offset;
        at += n;
    }
    return NULL;
}

int view_copy(const struct view *view, uint64_t offset, uint64_t n, struct scratch *scratch,
              const unsigned char **ret)
{
    if (offset >= view->n || n > view->n - offset)
        return -EBADMSG;
    if (!view->elf) {
        *ret = view->bytes + offset;
        return 0;
    }
    if (n > scratch->room) {
        if (budget_fits(view->budget, n) < 0)
            return -EDQUOT;
        unsigned char *bytes = malloc((size_t)n);
        if (!bytes)
            return -ENOMEM;
        free(scratch->bytes);
        scratch->bytes = bytes;
        scratch->room = (size_t)n;
    }
    int rc = elf_read(view->elf, view->offset + offset, scratch->bytes, (size_t)n);
    if (rc < 0)
        return rc == -EDQUOT ? rc : -EBADMSG;
    *ret = scratch->bytes;
    return 0;
}

#include "elf/elf.h"

#include "base/cursor.h"
#include "base/error.h"
#include "sys/file.h"

#include <errno.h>
#include <string.h>

enum {
    HEADER_BYTES = 64,
    SEGMENT_BYTES = 56,
    SECTION_BYTES = 64,
    SEGMENTS_MAX = 65534, /* 65535 means: see the first section; only core files have so many */
    SECTIONS_MAX = 1 << 20,

    DYNAMIC_BYTES_MAX = 8192, /* of pairs, of which a file has some tens */
    DYNAMIC_END = 0,
    DYNAMIC_NEEDED = 1, /* a library's name */
};

int elf_read(const struct elf *elf, uint64_t offset, void *to, size_t n)
{
    if (offset > elf->size || n > elf->size - offset)
        return -EBADMSG;
    if (elf->bytes) {
        if (n)
            memcpy(to, elf->bytes + offset, n);
        return 0;
    }
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < BUDGET_PIECE ? n - at : BUDGET_PIECE;
        int rc = budget_read(elf->budget, some);
        if (rc < 0)
            return rc;
        int64_t got = sys_read_at(elf->fd, (char *)to + at, some, offset + at);
        if (got < 0)
            return (int)got;
        if ((size_t)got != some)
            return -EBADMSG; /* it has shrunk since it was opened */
    }
    return 0;
}

int elf_load(const struct elf *elf, uint64_t offset, uint64_t n, size_t limit, void **ret)
{
    if (n > limit || offset > elf->size || n > elf->size - offset)
        return -EBADMSG;
    int rc = budget_fits(elf->budget, n);
    if (rc < 0)
        return rc;
    _cleanup_free_ unsigned char *block = malloc((size_t)n + 1);
    if (!block)
        return -ENOMEM;
    rc = elf_read(elf, offset, block, (size_t)n);
    if (rc < 0)
        return rc;
    block[n] = '\0';
    *ret = TAKE_PTR(block);
    return 0;
}

static int read_segments(struct elf *elf, uint64_t at, uint32_t n)
{
    _cleanup_free_ void *block = NULL;

    if (n == 0)
        return 0;
    if (n > SEGMENTS_MAX)
        return -EBADMSG;
    int rc = elf_load(elf, at, (uint64_t)n * SEGMENT_BYTES, SIZE_MAX, &block);
    if (rc < 0)
        return rc;
    elf->segments = calloc(n, sizeof *elf->segments);
    if (!elf->segments)
        return -ENOMEM;
    elf->segment_n = n;

    struct cursor c = cursor_of(block, (size_t)n * SEGMENT_BYTES);
    for (uint32_t i = 0; i < n; i++) {
        struct elf_segment *s = &elf->segments[i];
        s->type = cursor_u32(&c);
        s->flags = cursor_u32(&c);
        s->offset = cursor_u64(&c);
        s->address = cursor_u64(&c);
        cursor_u64(&c); /* physical address */
        s->file_bytes = cursor_u64(&c);
        s->memory_bytes = cursor_u64(&c);
        cursor_u64(&c); /* alignment */
    }
    return c.bad ? -EBADMSG : 0;
}

static int read_header(struct elf *elf, const char *name, struct rk_error *e)
{
    unsigned char header[HEADER_BYTES];
    static const char bad[] = "%s: not an ELF file that can be read: %s";
    const char *why = NULL;
    int rc = 0;

    if (elf->size < 4 || elf_read(elf, 0, header, 4) < 0 || memcmp(header, "\177ELF", 4) != 0)
        return fail(e, -ENOEXEC, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE, NULL, "%s: not an ELF file", name);
    rc = elf_read(elf, 0, header, sizeof header);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE, NULL, bad, name,
                    rc == -EBADMSG ? "it ends inside its header" : strerror(-rc));
    if (header[4] != 2)
        why = header[4] == 1 ? "32-bit programs are not supported" : "its class is unknown";
    else if (header[5] != 1)
        why = header[5] == 2 ? "big-endian programs are not supported" : "its byte order is unknown";
    if (why)
        return fail(e, -EOPNOTSUPP, RK_STAGE_SYMBOL, RK_CAUSE_UNSUPPORTED, NULL, bad, name, why);

    struct cursor c = cursor_of(header + 16, sizeof header - 16);
    elf->type = cursor_u16(&c);
    elf->machine = cursor_u16(&c);
    cursor_bytes(&c, 4); /* version */
    elf->entry = cursor_u64(&c);
    uint64_t segments_at = cursor_u64(&c);
    elf->sections_at = cursor_u64(&c);
    cursor_bytes(&c, 4 + 2); /* flags, header's size */
    uint16_t segment_bytes = cursor_u16(&c), segment_n = cursor_u16(&c);
    uint16_t section_bytes = cursor_u16(&c);
    elf->section_n = cursor_u16(&c);
    elf->names_section = cursor_u16(&c);

    if (segment_n && segment_bytes != SEGMENT_BYTES)
        why = "its segments have an odd size";
    else if (elf->sections_at && section_bytes != SECTION_BYTES && elf->section_n)
        why = "its sections have an odd size";
    rc = why ? -EBADMSG : read_segments(elf, segments_at, segment_n);
    if (rc == -ENOMEM)
        return fail_memory(e, RK_STAGE_SYMBOL);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE, NULL, bad, name,
                    why              ? why
                    : rc == -EBADMSG ? "its segments lie beyond its end"
                                     : strerror(-rc));
    return 0;
}

/* Takes `elf` with fd, bytes and size set, and frees it on failure. */
static int open_any(struct elf *from, const char *name, struct elf **ret, struct rk_error *e)
{
    _cleanup_elf_ struct elf *elf = malloc(sizeof *elf);

    if (!elf) {
        if (from->fd >= 0)
            sys_close(from->fd);
        return fail_memory(e, RK_STAGE_SYMBOL);
    }
    *elf = *from;
    int rc = read_header(elf, name, e);
    if (rc == 0)
        *ret = TAKE_PTR(elf);
    return rc;
}

int elf_open_fd_paid(int fd, const char *name, struct budget *budget, struct elf **ret, struct rk_error *e)
{
    struct elf elf = {.fd = fd, .budget = budget};
    bool regular = false;
    int rc = sys_file_size(fd, &elf.size, &regular);

    if (rc == 0 && regular)
        return open_any(&elf, name, ret, e);
    sys_close(fd);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL, RK_CAUSE_NO_FILE, NULL, "%s: %s", name, strerror(-rc));
    return fail(e, -ENOEXEC, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE, NULL, "%s: not a regular file", name);
}

int elf_open_fd(int fd, const char *name, struct elf **ret, struct rk_error *e)
{
    return elf_open_fd_paid(fd, name, NULL, ret, e);
}

int elf_open_paid(int root, const char *path, struct budget *budget, struct elf **ret, struct rk_error *e)
{
    int rc = sys_open_regular(root, path);

    if (rc == -ENODEV)
        return fail(e, -ENOEXEC, RK_STAGE_SYMBOL, RK_CAUSE_BAD_FILE, NULL, "%s: not a regular file", path);
    if (rc < 0)
        return fail(e, rc, RK_STAGE_SYMBOL,
                    rc == -EMFILE || rc == -ENFILE ? RK_CAUSE_DESCRIPTORS : RK_CAUSE_NO_FILE, NULL, "%s: %s",
                    path, strerror(-rc));
    return elf_open_fd_paid(rc, path, budget, ret, e);
}

int elf_open_at(int root, const char *path, struct elf **ret, struct rk_error *e)
{
    return elf_open_paid(root, path, NULL, ret, e);
}

int elf_open_memory(const void *bytes, size_t n, const char *name, struct elf **ret, struct rk_error *e)
{
    struct elf elf = {.fd = -1, .bytes = bytes, .size = n};

    return open_any(&elf, name, ret, e);
}

int elf_open_owned(void *bytes, size_t n, const char *name, struct elf **ret, struct rk_error *e)
{
    int rc = elf_open_memory(bytes, n, name, ret, e);

    if (rc < 0)
        free(bytes);
    else
        (*ret)->owned = bytes;
    return rc;
}

struct elf *elf_close(struct elf *elf)
{
    if (elf) {
        if (elf->fd >= 0)
            sys_close(elf->fd);
        free(elf->owned);
        free(elf->names);
        free(elf->segments);
        free(elf->sections);
        free(elf);
    }
    return NULL;
}

static struct elf_section read_section(struct cursor *c)
{
    struct elf_section s;

    s.name = cursor_u32(c);
    s.type = cursor_u32(c);
    s.flags = cursor_u64(c);
    s.address = cursor_u64(c);
    s.offset = cursor_u64(c);
    s.bytes = cursor_u64(c);
    s.link = cursor_u32(c);
    s.info = cursor_u32(c);
    s.alignment = cursor_u64(c);
    s.entry_bytes = cursor_u64(c);
    return s;
}

int elf_sections(struct elf *elf)
{
    _cleanup_free_ void *block = NULL;
    uint64_t n = elf->section_n;

    if (elf->sections)
        return 0;
    if (elf->sections_at == 0) {
        elf->section_n = 0;
        return 0;
    }
    if (n == 0) { /* more than fit 16 bits: the first section says how many */
        unsigned char first[SECTION_BYTES];
        int rc = elf_read(elf, elf->sections_at, first, sizeof first);
        if (rc < 0)
            return rc;
        struct cursor c = cursor_of(first, sizeof first);
        n = read_section(&c).bytes;
    }
    if (n == 0 || n > SECTIONS_MAX)
        return -EBADMSG;
    int rc = elf_load(elf, elf->sections_at, n * SECTION_BYTES, SIZE_MAX, &block);
    if (rc < 0)
        return rc;
    struct elf_section *sections = calloc((size_t)n, sizeof *sections);
    if (!sections)
        return -ENOMEM;
    struct cursor c = cursor_of(block, (size_t)n * SECTION_BYTES);
    for (uint32_t i = 0; i < n; i++)
        sections[i] = read_section(&c);
    elf->sections = sections;
    elf->section_n = (uint32_t)n;
    if (elf->names_section == ELF_SECTION_ELSEWHERE)
        elf->names_section = sections[0].link;
    return 0;
}

int elf_address(const struct elf *elf, uint64_t offset, uint64_t *ret)
{
    const struct elf_segment *found = NULL;

    for (uint32_t i = 0; i < elf->segment_n; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type != ELF_SEGMENT_LOAD || offset < s->offset || offset - s->offset >= s->file_bytes)
            continue;
        if (!found || (s->flags & ELF_SEGMENT_EXECUTE && !(found->flags & ELF_SEGMENT_EXECUTE)))
            found = s;
    }
    if (!found)
        return -ENOENT;
    *ret = offset - found->offset + found->address;
    return 0;
}

int elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret)
{
    for (uint32_t i = 0; i < elf->segment_n; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type != ELF_SEGMENT_LOAD || address < s->address || address - s->address >= s->file_bytes)
            continue;
        *ret = address - s->address + s->offset;
        return 0;
    }
    return -ENOENT;
}

/* Whether a dynamic section asks for no other file: the kernel can start it by itself, as it does dynamic loaders and
 * programs that relocate themselves. */
static bool needs_nothing(const struct elf *elf, const struct elf_segment *s)
{
    unsigned char words[16];

    for (uint64_t at = 0; at < s->file_bytes && at < DYNAMIC_BYTES_MAX; at += sizeof words) {
        if (s->offset > UINT64_MAX - at || elf_read(elf, s->offset + at, words, sizeof words) < 0)
            return false;
        struct cursor c = cursor_of(words, sizeof words);
        uint64_t tag = cursor_u64(&c);
        if (tag == DYNAMIC_END || tag == DYNAMIC_NEEDED)
            return tag == DYNAMIC_END;
    }
    return false;
}

int elf_entry(const struct elf *elf, uint64_t *ret)
{
    bool program = elf->type == ELF_TYPE_EXECUTABLE;

    for (uint32_t i = 0; i < elf->segment_n && !program && elf->type == ELF_TYPE_SHARED; i++) {
        const struct elf_segment *s = &elf->segments[i];
        program =
            s->type == ELF_SEGMENT_INTERPRETER || (s->type == ELF_SEGMENT_DYNAMIC && needs_nothing(elf, s));
    }
    if (!program || elf->entry == 0)
        return -ENOENT;
    *ret = elf->entry;
    return 0;
}

#include "perfdata/names.h"

#include "perfdata/section.h"
#include "sys/file.h"

#include <errno.h>
#include <string.h>

#define TAIL_MAX (UINT64_C(256) << 20) /* features: tracing data are the longest of them */

/* What is put in: a table of our own features with one entry. */
struct addition {
    uint64_t magic, n;
    struct perfdata_own entry;
};
_Static_assert(sizeof(struct addition) == 40, "no padding");

/* Behind which byte the table of features ends, and how many entries it has. */
static int find_table(int fd, struct perfdata_header *header, uint64_t size, uint64_t *ret_end)
{
    uint64_t bits = 0;
    int64_t n = sys_read_at(fd, header, sizeof *header, 0);

    if (n < 0)
        return (int)n;
    if (n < (int64_t)sizeof *header || header->magic != PERFDATA_MAGIC || header->size != sizeof *header ||
        header->data.size == 0 || header->data.offset > size ||
        header->data.size > size - header->data.offset)
        return -EBADMSG;
    for (size_t i = 0; i < sizeof header->features / sizeof *header->features; i++)
        bits += (uint64_t)__builtin_popcountll(header->features[i]);
    uint64_t end = header->data.offset + header->data.size + bits * sizeof(struct perfdata_section);
    if (bits == 0 || end > size || size - end > TAIL_MAX)
        return -EBADMSG;
    *ret_end = end;
    return 0;
}

/* Moves on what a section's offset says. */
static int shift_table(int fd, uint64_t from, uint64_t end)
{
    for (uint64_t at = from; at < end; at += sizeof(struct perfdata_section)) {
        struct perfdata_section section;
        int64_t n = sys_read_at(fd, &section, sizeof section, at);
        if (n < (int64_t)sizeof section)
            return n < 0 ? (int)n : -EBADMSG;
        if (section.offset < end)
            continue;
        section.offset += sizeof(struct addition);
        int rc = sys_write_at(fd, &section, sizeof section, at);
        if (rc < 0)
            return rc;
    }
    return 0;
}

int names_make_room(int fd)
{
    struct addition addition = {PERFDATA_OWN_MAGIC, 1, {.bit = FEATURE_NAMES}};
    struct perfdata_header header;
    uint64_t size, end = 0, first;
    bool regular = false;
    int rc = sys_file_size(fd, &size, &regular);

    if (rc == 0)
        rc = regular ? find_table(fd, &header, size, &end) : -EBADMSG;
    if (rc != 0)
        return rc;
    if (sys_read_at(fd, &first, sizeof first, end) == sizeof first && first == PERFDATA_OWN_MAGIC)
        return -EEXIST; /* reckon's, of before there were names */
    size_t n = (size_t)(size - end);
    _cleanup_free_ unsigned char *tail = malloc(n + 1);
    if (!tail)
        return -ENOMEM;
    int64_t got = sys_read_at(fd, tail, n, end);
    if (got < (int64_t)n)
        return got < 0 ? (int)got : -EBADMSG;
    rc = sys_write_at(fd, tail, n, end + sizeof addition);
    if (rc == 0)
        rc = shift_table(fd, header.data.offset + header.data.size, end);
    return rc == 0 ? sys_write_at(fd, &addition, sizeof addition, end) : rc;
}

#include "perfdata/names.h"

#include "perfdata/section.h"
#include "sys/file.h"

#include <errno.h>

size_t names_room(uint64_t recording_bytes)
{
    uint64_t room = recording_bytes > 1000000 ? recording_bytes / 10 : 64 << 10;

    return room < NAMES_BYTES_MAX ? (size_t)room : (size_t)NAMES_BYTES_MAX;
}

/* Where the entry stands. */
static int find_entry(const struct window *file, uint64_t *ret)
{
    struct perfdata_header header;
    int64_t n = sys_read_at(file->fd, &header, sizeof header, 0);

    if (n < 0)
        return (int)n;
    if (n < (int64_t)sizeof header || header.magic != PERFDATA_MAGIC || header.size != sizeof header ||
        header.data.size == 0 || header.data.offset > file->size ||
        header.data.size > file->size - header.data.offset)
        return -EBADMSG;
    int r = section_find_names(file, &header, header.data.offset + header.data.size, ret);
    return r == -ENOENT ? -ENOTSUP : r;
}

int names_append(int fd, const void *names, size_t n)
{
    struct window file = {.fd = fd};
    struct perfdata_own entry = {.bit = FEATURE_NAMES};
    uint64_t at = 0;
    int r = n > NAMES_BYTES_MAX ? -EFBIG : sys_file_size(fd, &file.size, &file.seekable);

    if (r == 0)
        r = file.seekable ? find_entry(&file, &at) : -EBADMSG;
    if (r < 0)
        return r;
    entry.section = (struct perfdata_section){(file.size + 7) & ~UINT64_C(7), n};
    r = sys_write_at(fd, names, n, entry.section.offset);
    return r == 0 ? sys_write_at(fd, &entry, sizeof entry, at) : r;
}

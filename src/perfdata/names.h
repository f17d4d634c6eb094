/*
 * Names for a recording that is complete.
 */
#ifndef PERFDATA_NAMES_H
#define PERFDATA_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* What names may take in a recording of so many bytes: a tenth of it, 64 KiB where that is less than 1 MB. */
size_t names_room(uint64_t recording_bytes);

/* Appends names to the recording behind a descriptor that can be read and written, in place of those that it has. It is as
 * it was until the last write, of 24 bytes. 0; -EBADMSG: not a recording in a file, or one that is cut; -ENOTSUP: one
 * without an entry for names, such as perf's; -EFBIG; or -errno. */
int names_append(int fd, const void *names, size_t n);

/* Makes room for that entry in a copy of a recording of perf's: what lies behind the table of features moves on. 0; -EEXIST:
 * it is reckon's own and lacks the entry; -EBADMSG: not a recording in a file, or one that is cut; or -errno, then the copy
 * is of no use. */
int names_make_room(int fd);

#endif

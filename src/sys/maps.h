/*
 * The text of /proc/PID/maps, line by line. Pure: the caller has read the file.
 *
 *     7f0000002000-7f0000009000 r-xp 00001000 fe:01 1234                /usr/lib/libc.so.6
 *     start        end          protection    │     inode               path
 *                                    offset   major:minor
 *
 * Paths come out as the kernel's MMAP2 records have them: a newline, which the kernel writes as "\012" here, is a newline
 * again, and a mapping without a path is "//anon". The kernel escapes nothing else, so a file whose name really has the
 * four characters "\012" can't be distinguished; any other backslash is one. " (deleted)" stays: records have it too.
 */
#ifndef SYS_MAPS_H
#define SYS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

struct maps_line {
    uint64_t start, end; /* start < end */
    uint64_t offset, inode;
    uint32_t major, minor;
    uint32_t protection; /* PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4 */
    bool shared;
    const char *path; /* in the text */
};

/* Parses the line at *text and moves *text to the next one; the text is written to. Returns 1; 0 at the text's NUL; or -EBADMSG
 * for a line of another form, or whose numbers are too large. */
int maps_next(char **text, struct maps_line *ret);

#endif

/*
 * What stands before a unit's line program: how its opcodes are to be read, and the tables of directories and files.
 */
#ifndef DWARF_LINE_HEADER_H
#define DWARF_LINE_HEADER_H

#include "base/cursor.h"
#include "base/vector.h"
#include "dwarf/unit.h"
#include "dwarf/view.h"

enum { LINE_TABLE_MAX = 1 << 22 }; /* entries, of a program that is not damaged */

struct line_file {
    const char *name;
    uint64_t directory;
};

struct lines {
    struct scratch scratch;
    /* The header's tables; texts live as long as the next program is not loaded. */
    VECTOR(const char *) directories;
    VECTOR(struct line_file) files;
    uint8_t version;
};

struct line_header {
    uint8_t version, minimum, operations, line_range, opcode_base, address_bytes;
    int8_t line_base;
    const unsigned char *lengths; /* of the standard opcodes' arguments, opcode_base - 1 */
    struct cursor program;
    struct unit shape; /* its own sizes of offsets and addresses, for forms */
};

/* Reads it, and the program into scratch. 0; -ENOMEM, -EBADMSG. */
int line_header_read(struct lines *lines, const struct unit *unit, struct line_header *h);

/* A file of the program that was read last: its path, as far as it is told, into the buffer; its length, or 0: there is
 * none, or it does not fit. */
size_t line_path(const struct lines *lines, const struct unit *unit, uint64_t number, char *buffer,
                 size_t bytes);

void lines_free(struct lines *lines);

#endif

#include "dwarf/line_header.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>

enum {
    CONTENT_PATH = 1,
    CONTENT_DIRECTORY = 2,
};

/* Up to version 4: texts until an empty one; then files, each with three numbers. */
static int read_old_tables(struct lines *lines, struct cursor *c)
{
    const char *text;

    const char **first = vector_push(&lines->directories); /* 0: where the unit was compiled */
    struct line_file *none = vector_push(&lines->files);   /* they are counted from 1 */
    if (!first || !none)
        return -ENOMEM;
    while ((text = cursor_text(c)) && *text) {
        if (lines->directories.n >= LINE_TABLE_MAX)
            return -EBADMSG;
        const char **directory = vector_push(&lines->directories);
        if (!directory)
            return -ENOMEM;
        *directory = text;
    }
    while ((text = cursor_text(c)) && *text) {
        if (lines->files.n >= LINE_TABLE_MAX)
            return -EBADMSG;
        struct line_file *file = vector_push(&lines->files);
        if (!file)
            return -ENOMEM;
        file->name = text;
        file->directory = cursor_uleb(c);
        cursor_uleb(c); /* time, size */
        cursor_uleb(c);
    }
    return c->bad ? -EBADMSG : 0;
}

/* From version 5 on: the tables say what their entries hold. */
static int read_new_table(struct lines *lines, struct cursor *c, const struct unit *shape, bool directories)
{
    unsigned n_formats = cursor_u8(c);
    struct cursor formats = *c;

    for (unsigned i = 0; i < n_formats; i++) {
        cursor_uleb(c);
        cursor_uleb(c);
    }
    uint64_t n = cursor_uleb(c);
    if (c->bad || n > LINE_TABLE_MAX || n > cursor_left(c) ||
        (n_formats == 0 && n)) /* an entry has a byte at least */
        return -EBADMSG;
    for (uint64_t i = 0; i < n; i++) {
        struct cursor format = formats;
        struct line_file file = {0};
        for (unsigned k = 0; k < n_formats; k++) {
            uint64_t content = cursor_uleb(&format), form = cursor_uleb(&format);
            struct value value;
            if (!form_read(c, shape, form, 0, &value))
                return -EBADMSG;
            if (content == CONTENT_PATH)
                file.name = value_text(shape, &value);
            else if (content == CONTENT_DIRECTORY)
                file.directory = value.n;
        }
        const char **directory = directories ? vector_push(&lines->directories) : NULL;
        struct line_file *own = directories ? NULL : vector_push(&lines->files);
        if (directories ? !directory : !own)
            return -ENOMEM;
        if (directories)
            *directory = file.name;
        else
            *own = file;
    }
    return 0;
}

int line_header_read(struct lines *lines, const struct unit *unit, struct line_header *h)
{
    struct view *view = &unit->file->line;
    unsigned char initial[12];
    uint64_t at = unit->statements, left = at < view->n ? view->n - at : 0, length = 0, before = 4;
    size_t n = left < sizeof initial ? (size_t)left : sizeof initial;
    const unsigned char *bytes = n >= 4 ? view_get(view, at, n) : NULL;

    if (!bytes)
        return -EBADMSG;
    memcpy(&length, bytes, 4);
    *h = (struct line_header){.shape = *unit};
    h->shape.offset_bytes = 4;
    if (length == 0xffffffff && n == 12) {
        memcpy(&length, bytes + 4, 8);
        h->shape.offset_bytes = 8;
        before = 12;
    }
    if (length == 0 || length > left - before)
        return -EBADMSG;
    int copied = view_copy(view, at + before, length, &lines->scratch, &bytes);
    if (copied < 0)
        return copied;
    struct cursor c = cursor_of(bytes, (size_t)length);
    uint16_t version = cursor_u16(&c);
    if (version < 2 || version > 5)
        return -EBADMSG;
    h->version = lines->version = (uint8_t)version;
    h->address_bytes = unit->address_bytes;
    if (version >= 5) {
        h->address_bytes = h->shape.address_bytes = cursor_u8(&c);
        cursor_u8(&c); /* segments */
    }
    uint64_t header_length = h->shape.offset_bytes == 8 ? cursor_u64(&c) : cursor_u32(&c);
    if (c.bad || header_length > cursor_left(&c))
        return -EBADMSG;
    h->program = cursor_of(c.at + header_length, cursor_left(&c) - (size_t)header_length);
    h->minimum = cursor_u8(&c);
    h->operations = version >= 4 ? cursor_u8(&c) : 1;
    cursor_u8(&c); /* default_is_stmt */
    h->line_base = (int8_t)cursor_u8(&c);
    h->line_range = cursor_u8(&c);
    h->opcode_base = cursor_u8(&c);
    h->lengths = cursor_bytes(&c, h->opcode_base ? h->opcode_base - 1u : 0u);
    if (c.bad || h->line_range == 0 || h->opcode_base == 0)
        return -EBADMSG;
    if (h->operations == 0)
        h->operations = 1;
    lines->directories.n = lines->files.n = 0;
    if (version < 5)
        return read_old_tables(lines, &c);
    int rc = read_new_table(lines, &c, &h->shape, true);
    return rc < 0 ? rc : read_new_table(lines, &c, &h->shape, false);
}

size_t line_path(const struct lines *lines, const struct unit *unit, uint64_t number, char *buffer,
                 size_t bytes)
{
    if (number >= lines->files.n || !lines->files.items[number].name)
        return 0;
    const struct line_file *file = &lines->files.items[number];
    const char *parts[3] = {NULL, NULL,
                            file->name};     /* where compiled / directory / name, from an absolute one on */
    bool first_is_own = lines->version >= 5; /* directory 0 is where it was compiled */
    if (file->name[0] != '/') {
        uint64_t d = file->directory;
        parts[1] = d < lines->directories.n ? lines->directories.items[d] : NULL;
        if ((!parts[1] || parts[1][0] != '/') && !(first_is_own && d == 0))
            parts[0] = unit->directory;
    }
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t length = parts[i] ? strlen(parts[i]) : 0;
        if (length == 0)
            continue;
        if (n + length + 2 > bytes)
            return 0;
        if (n && buffer[n - 1] != '/')
            buffer[n++] = '/';
        memcpy(buffer + n, parts[i], length);
        n += length;
    }
    buffer[n] = '\0';
    return n;
}

void lines_free(struct lines *lines)
{
    free(lines->scratch.bytes);
    vector_free(&lines->directories);
    vector_free(&lines->files);
}

#include "dwarf/line.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>
#include <stdio.h>

enum {
    TABLE_MAX = 1 << 22,

    OP_COPY = 1,
    OP_ADVANCE_PC = 2,
    OP_ADVANCE_LINE = 3,
    OP_SET_FILE = 4,
    OP_SET_COLUMN = 5,
    OP_NEGATE_STATEMENT = 6,
    OP_BASIC_BLOCK = 7,
    OP_CONST_ADD_PC = 8,
    OP_FIXED_ADVANCE_PC = 9,

    EXTENDED_END = 1,
    EXTENDED_ADDRESS = 2,
    EXTENDED_FILE = 3,

    CONTENT_PATH = 1,
    CONTENT_DIRECTORY = 2,
};

struct header {
    uint8_t version, minimum, operations, line_range, opcode_base, address_bytes;
    int8_t line_base;
    const unsigned char *lengths; /* of the standard opcodes' arguments, opcode_base - 1 */
    struct cursor program;
    struct unit shape; /* its own sizes of offsets and addresses, for forms */
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
        if (lines->directories.n >= TABLE_MAX)
            return -EBADMSG;
        const char **directory = vector_push(&lines->directories);
        if (!directory)
            return -ENOMEM;
        *directory = text;
    }
    while ((text = cursor_text(c)) && *text) {
        if (lines->files.n >= TABLE_MAX)
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
    if (c->bad || n > TABLE_MAX || n > cursor_left(c) ||
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

static int read_header(struct lines *lines, const struct unit *unit, struct header *h)
{
    struct view *view = &unit->file->line;
    unsigned char initial[12];
    uint64_t at = unit->statements, left = at < view->n ? view->n - at : 0, length = 0, before = 4;
    size_t n = left < sizeof initial ? (size_t)left : sizeof initial;
    const unsigned char *bytes = n >= 4 ? view_get(view, at, n) : NULL;

    if (!bytes)
        return -EBADMSG;
    memcpy(&length, bytes, 4);
    *h = (struct header){.shape = *unit};
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

/* The registers of the program, and the row before. */
struct machine {
    uint64_t address;
    uint32_t operation; /* in a VLIW instruction */
    uint32_t file, line, column;
    struct row {
        uint64_t address;
        uint32_t file, line, column;
    } row;
    bool open;      /* a sequence has a row */
    uint64_t begin; /* its first one's address */
};

struct asking {
    struct question *questions;
    size_t n, next;
    uint64_t next_address; /* of the next question; UINT64_MAX: the sequence has no more */
};

static void ask(struct asking *a, size_t next)
{
    a->next = next;
    a->next_address = next < a->n ? a->questions[next].address : UINT64_MAX;
}

/* The questions below `end` are answered by the row before. */
static void answer(struct asking *a, const struct row *row, uint64_t end)
{
    while (a->next_address < end) {
        struct question *q = &a->questions[a->next];
        q->file = row->file;
        q->line = row->line;
        q->column = row->column;
        q->answered = 1;
        ask(a, a->next + 1);
    }
}

static void find_first(struct asking *a, uint64_t address)
{
    size_t from = 0, to = a->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (a->questions[middle].address < address)
            from = middle + 1;
        else
            to = middle;
    }
    ask(a, from);
}

static inline void emit(struct machine *m, struct asking *a, const struct unit *unit)
{
    if (m->open && m->address >= m->row.address) {
        if (a->next_address < m->address)
            answer(a, &m->row, m->address);
    } else {
        if (!m->open)
            m->begin = m->address;
        m->open = true;
        if (m->address >= unit->code_low && m->address < unit->code_high)
            find_first(a, m->address);
        else
            a->next_address = UINT64_MAX; /* discarded by the linker */
    }
    m->row = (struct row){m->address, m->file, m->line, m->column};
}

static inline void advance(struct machine *m, const struct header *h, uint64_t operations)
{
    if (__builtin_expect(h->operations == 1, 1)) {
        m->address += operations * h->minimum;
        return;
    }
    uint64_t sum = m->operation + operations;
    m->address += h->minimum * (sum / h->operations);
    m->operation = (uint32_t)(sum % h->operations);
}

static void reset(struct machine *m)
{
    *m = (struct machine){.file = 1, .line = 1};
}

/* 0 or -errno. */
static int extended(struct lines *lines, struct cursor *c, struct machine *m, struct asking *a,
                    int (*tell)(void *, uint64_t, uint64_t), void *context)
{
    uint64_t n = cursor_uleb(c);
    const unsigned char *at = cursor_bytes(c, n);
    int rc = 0;

    if (!at || n == 0)
        return 0;
    struct cursor own = cursor_of(at, (size_t)n);
    switch (cursor_u8(&own)) {
    case EXTENDED_END:
        if (m->open) {
            answer(a, &m->row, m->address);
            if (tell && m->address > m->begin)
                rc = tell(context, m->begin, m->address);
        }
        reset(m);
        a->next_address = UINT64_MAX;
        break;
    case EXTENDED_ADDRESS:
        m->address = n == 9 ? cursor_u64(&own) : n == 5 ? cursor_u32(&own) : 0;
        m->operation = 0;
        break;
    case EXTENDED_FILE: {
        if (lines->files.n >= TABLE_MAX)
            return -EBADMSG;
        struct line_file *file = vector_push(&lines->files);
        if (!file)
            return -ENOMEM;
        file->name = cursor_text(&own);
        file->directory = cursor_uleb(&own);
        break;
    }
    default:
        break;
    }
    return rc;
}

static void standard(struct cursor *c, const struct header *h, struct machine *m, struct asking *a,
                     const struct unit *unit, uint8_t opcode)
{
    switch (opcode) {
    case OP_COPY:
        emit(m, a, unit);
        break;
    case OP_ADVANCE_PC:
        advance(m, h, cursor_uleb(c));
        break;
    case OP_ADVANCE_LINE:
        m->line += (uint32_t)cursor_sleb(c); /* it wraps, as damaged ones do */
        break;
    case OP_SET_FILE:
        m->file = (uint32_t)cursor_uleb(c);
        break;
    case OP_SET_COLUMN:
        m->column = (uint32_t)cursor_uleb(c);
        break;
    case OP_CONST_ADD_PC:
        advance(m, h, (255u - h->opcode_base) / h->line_range);
        break;
    case OP_FIXED_ADVANCE_PC:
        m->address += cursor_u16(c);
        m->operation = 0;
        break;
    default: /* is_stmt, basic blocks, prologues, ISAs, and what is not known: arguments are numbers */
        for (unsigned i = h->lengths[opcode - 1]; i; i--)
            cursor_uleb(c);
        break;
    }
}

static int run(struct lines *lines, const struct header *h, const struct unit *unit, struct asking *a,
               int (*tell)(void *, uint64_t, uint64_t), void *context)
{
    struct cursor c = h->program;
    struct machine m;

    reset(&m);
    a->next_address = UINT64_MAX;
    while (c.at < c.end) {
        uint8_t opcode = *c.at++;
        if (opcode >= h->opcode_base) {
            unsigned adjusted = (unsigned)opcode - h->opcode_base;
            advance(&m, h, adjusted / h->line_range);
            m.line += (uint32_t)(h->line_base + (int)(adjusted % h->line_range));
            emit(&m, a, unit);
        } else if (opcode) {
            standard(&c, h, &m, a, unit, opcode);
        } else {
            int rc = extended(lines, &c, &m, a, tell, context);
            if (rc < 0)
                return rc;
        }
    }
    return c.bad ? -EBADMSG : 0;
}

int line_answer(struct lines *lines, const struct unit *unit, struct question *questions, size_t n)
{
    struct header header;
    struct asking asking = {questions, n, 0, UINT64_MAX};

    lines->directories.n = lines->files.n = 0;
    if (!unit->has_lines)
        return -ENOENT;
    int rc = read_header(lines, unit, &header);
    return rc < 0 ? rc : run(lines, &header, unit, &asking, NULL, NULL);
}

uint64_t line_bytes(const struct unit *unit)
{
    uint64_t length = 0;
    const unsigned char *bytes = unit->has_lines ? view_get(&unit->file->line, unit->statements, 4) : NULL;

    if (bytes)
        memcpy(&length, bytes, 4);
    return length < unit->file->line.n ? length : unit->file->line.n;
}

int line_sequences(const struct unit *unit, int (*tell)(void *context, uint64_t low, uint64_t high),
                   void *context)
{
    struct lines lines = {0};
    struct header header;
    struct asking asking = {.next_address = UINT64_MAX};
    int rc = read_header(&lines, unit, &header);

    if (rc == 0)
        rc = run(&lines, &header, unit, &asking, tell, context);
    lines_free(&lines);
    return rc == -EBADMSG ? 0 : rc;
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

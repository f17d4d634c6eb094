#include "dwarf/line.h"

#include "dwarf/constants.h"
#include "dwarf/dwarf.h"
#include "dwarf/form.h"

#include <errno.h>
#include <stdio.h>

enum {
    BYTE_STEPS = 2, /* what a byte costs, against one of a DIE */

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
};

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

static inline void advance(struct machine *m, const struct line_header *h, uint64_t operations)
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
        if (lines->files.n >= LINE_TABLE_MAX)
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

static void standard(struct cursor *c, const struct line_header *h, struct machine *m, struct asking *a,
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

static int run(struct lines *lines, const struct line_header *h, const struct unit *unit, struct asking *a,
               int (*tell)(void *, uint64_t, uint64_t), void *context)
{
    struct cursor c = h->program;
    struct machine m;
    int rc = budget_step(unit->file->line.budget, BYTE_STEPS * (uint64_t)(c.end - c.at));

    if (rc < 0)
        return rc;
    reset(&m);
    a->next_address = UINT64_MAX;
    while (c.at < c.end) {
        uint8_t opcode = *c.at++; // NOLINT(clang-analyzer-core.NullDereference): it is below end
        if (opcode >= h->opcode_base) {
            unsigned adjusted = (unsigned)opcode - h->opcode_base;
            advance(&m, h, adjusted / h->line_range);
            m.line += (uint32_t)(h->line_base + (int)(adjusted % h->line_range));
            emit(&m, a, unit);
        } else if (opcode) {
            standard(&c, h, &m, a, unit, opcode);
        } else {
            rc = extended(lines, &c, &m, a, tell, context);
            if (rc < 0)
                return rc;
        }
    }
    return c.bad ? -EBADMSG : 0;
}

int line_answer(struct lines *lines, const struct unit *unit, struct question *questions, size_t n)
{
    struct line_header header;
    struct asking asking = {questions, n, 0, UINT64_MAX};

    lines->directories.n = lines->files.n = 0;
    if (!unit->has_lines)
        return -ENOENT;
    int rc = line_header_read(lines, unit, &header);
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
    struct line_header header;
    struct asking asking = {.next_address = UINT64_MAX};
    int rc = line_header_read(&lines, unit, &header);

    if (rc == 0)
        rc = run(&lines, &header, unit, &asking, tell, context);
    lines_free(&lines);
    return rc == -EBADMSG || rc == -EDQUOT ? 0 : rc;
}

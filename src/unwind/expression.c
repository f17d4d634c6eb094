/*
 * DW_OP_… as call frame information uses them: a stack machine over 64-bit numbers that may read registers and the
 * dumped stack. Jumps go anywhere inside the expression, so steps are counted.
 */
#include "base/unset.h"
#include "unwind/frame.h"

enum { DEPTH = 64, STEPS = 1000 };

struct machine_stack {
    struct cursor program;
    const unsigned char *begin;
    const struct frame *frame;
    const struct stack *memory;
    const uint64_t *cfa;
    uint64_t bias;
    uint64_t items[DEPTH];
    uint32_t n;
    int trouble; /* the first one */
};

static void wrong(struct machine_stack *m, int trouble)
{
    if (!m->trouble)
        m->trouble = trouble;
}

static void push(struct machine_stack *m, uint64_t value)
{
    if (m->n < DEPTH)
        m->items[m->n++] = value;
    else
        wrong(m, RK_UNWIND_BAD_CFI);
}

static uint64_t pop(struct machine_stack *m)
{
    if (m->n > 0)
        return m->items[--m->n];
    wrong(m, RK_UNWIND_BAD_CFI);
    return 0;
}

static void pick(struct machine_stack *m, uint32_t index)
{
    if (index < m->n)
        push(m, m->items[m->n - 1 - index]);
    else
        wrong(m, RK_UNWIND_BAD_CFI);
}

static void push_register(struct machine_stack *m, uint64_t column, int64_t offset)
{
    if (column >= CFI_COLUMNS || !(m->frame->known >> column & 1))
        wrong(m, RK_UNWIND_NO_VALUE);
    else
        push(m, m->frame->reg[column] + (uint64_t)offset);
}

/* Reads `bytes` (1 … 8) at the address on the stack. Fewer than 8 come from the 8 that hold them. */
static void load(struct machine_stack *m, uint32_t bytes)
{
    uint64_t address = pop(m), value = 0;

    if (m->trouble)
        return;
    if (bytes == 0 || bytes > 8) {
        wrong(m, RK_UNWIND_BAD_CFI);
        return;
    }
    uint64_t back = bytes < 8 ? address & 7 : 0;
    if (back + bytes > 8) {
        wrong(m, RK_UNWIND_BAD_CFI);
        return;
    }
    int trouble = stack_read(m->memory, address - back, &value);
    if (trouble)
        wrong(m, trouble);
    value >>= back * 8;
    push(m, bytes < 8 ? value & ((UINT64_C(1) << bytes * 8) - 1) : value);
}

static void jump(struct machine_stack *m, bool taken)
{
    int16_t by = (int16_t)cursor_u16(&m->program);
    const unsigned char *at = m->program.at;

    if (!taken)
        return;
    if (by < m->begin - at || by > m->program.end - at)
        wrong(m, RK_UNWIND_BAD_CFI);
    else
        m->program.at = at + by;
}

/* Constants: true if it was one. */
static bool constant(struct machine_stack *m, uint8_t op)
{
    struct cursor *c = &m->program;

    if (op >= 0x30 && op <= 0x4f) { /* lit0 … lit31 */
        push(m, op - 0x30u);
        return true;
    }
    switch (op) {
    case 0x03: /* addr */
        push(m, cursor_u64(c) + m->bias);
        return true;
    case 0x08:
        push(m, cursor_u8(c));
        return true;
    case 0x09:
        push(m, (uint64_t)(int64_t)(int8_t)cursor_u8(c));
        return true;
    case 0x0a:
        push(m, cursor_u16(c));
        return true;
    case 0x0b:
        push(m, (uint64_t)(int64_t)(int16_t)cursor_u16(c));
        return true;
    case 0x0c:
        push(m, cursor_u32(c));
        return true;
    case 0x0d:
        push(m, (uint64_t)(int64_t)cursor_i32(c));
        return true;
    case 0x0e:
    case 0x0f:
        push(m, cursor_u64(c));
        return true;
    case 0x10: /* constu */
        push(m, cursor_uleb(c));
        return true;
    case 0x11: /* consts */
        push(m, (uint64_t)cursor_sleb(c));
        return true;
    default:
        return false;
    }
}

/* Two numbers become one: true if it was such. */
static bool binary(struct machine_stack *m, uint8_t op)
{
    if (op < 0x1a || op > 0x2e || op == 0x1f || op == 0x20 || op == 0x23 || op == 0x28)
        return false;
    uint64_t b = pop(m), a = pop(m), value = 0;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case 0x1a:
        value = a & b;
        break;
    case 0x1b: /* div, signed */
        if (sb == 0)
            wrong(m, RK_UNWIND_BAD_CFI);
        else
            value = sb == -1 ? 0 - a : (uint64_t)(sa / sb);
        break;
    case 0x1c:
        value = a - b;
        break;
    case 0x1d: /* mod, unsigned */
        if (b == 0)
            wrong(m, RK_UNWIND_BAD_CFI);
        else
            value = a % b;
        break;
    case 0x1e:
        value = a * b;
        break;
    case 0x21:
        value = a | b;
        break;
    case 0x22:
        value = a + b;
        break;
    case 0x24:
        value = b < 64 ? a << b : 0;
        break;
    case 0x25:
        value = b < 64 ? a >> b : 0;
        break;
    case 0x26: /* shra */
        value = (uint64_t)(sa >> (b < 64 ? b : 63));
        break;
    case 0x27:
        value = a ^ b;
        break;
    case 0x29:
        value = sa == sb;
        break;
    case 0x2a:
        value = sa >= sb;
        break;
    case 0x2b:
        value = sa > sb;
        break;
    case 0x2c:
        value = sa <= sb;
        break;
    case 0x2d:
        value = sa < sb;
        break;
    default: /* 0x2e, ne */
        value = sa != sb;
        break;
    }
    push(m, value);
    return true;
}

static void rotate(struct machine_stack *m)
{
    uint64_t a = pop(m), b = pop(m), c = pop(m);

    push(m, a);
    push(m, c);
    push(m, b);
}

/* The rest. False: it ends the expression. */
static bool other(struct machine_stack *m, uint8_t op)
{
    struct cursor *c = &m->program;
    uint64_t a, b;

    if (op >= 0x70 && op <= 0x8f) { /* breg0 … breg31 */
        push_register(m, op - 0x70u, cursor_sleb(c));
        return true;
    }
    switch (op) {
    case 0x06: /* deref */
        load(m, 8);
        return true;
    case 0x94: /* deref_size */
        load(m, cursor_u8(c));
        return true;
    case 0x12: /* dup */
        pick(m, 0);
        return true;
    case 0x13: /* drop */
        pop(m);
        return true;
    case 0x14: /* over */
        pick(m, 1);
        return true;
    case 0x15: /* pick */
        pick(m, cursor_u8(c));
        return true;
    case 0x16: /* swap */
        a = pop(m);
        b = pop(m);
        push(m, a);
        push(m, b);
        return true;
    case 0x17:
        rotate(m);
        return true;
    case 0x19: /* abs */
        a = pop(m);
        push(m, (int64_t)a < 0 ? 0 - a : a);
        return true;
    case 0x1f: /* neg */
        push(m, 0 - pop(m));
        return true;
    case 0x20: /* not */
        push(m, ~pop(m));
        return true;
    case 0x23: /* plus_uconst */
        push(m, pop(m) + cursor_uleb(c));
        return true;
    case 0x28: /* bra */
        jump(m, pop(m) != 0);
        return true;
    case 0x2f: /* skip */
        jump(m, true);
        return true;
    case 0x92: /* bregx */
        a = cursor_uleb(c);
        push_register(m, a, cursor_sleb(c));
        return true;
    case 0x96: /* nop */
        return true;
    case 0x9c: /* call_frame_cfa */
        if (m->cfa)
            push(m, *m->cfa);
        else
            wrong(m, RK_UNWIND_BAD_CFI);
        return true;
    case 0x9f: /* stack_value */
        return false;
    default:
        wrong(m, RK_UNWIND_BAD_CFI);
        return false;
    }
}

int expression_value(struct cursor program, const struct frame *frame, const struct stack *stack,
                     const uint64_t *cfa, uint64_t bias, uint64_t *ret)
{
    UNSET struct machine_stack m;

    m.program = program;
    m.begin = program.at;
    m.frame = frame;
    m.memory = stack;
    m.cfa = cfa;
    m.bias = bias;
    m.n = 0;
    m.trouble = 0;
    if (cfa)
        push(&m, *cfa);
    for (uint32_t steps = 0; cursor_left(&m.program) && !m.program.bad && !m.trouble; steps++) {
        if (steps == STEPS)
            return RK_UNWIND_BAD_CFI;
        uint8_t op = cursor_u8(&m.program);
        if (!constant(&m, op) && !binary(&m, op) && !other(&m, op))
            break;
    }
    if (m.trouble)
        return m.trouble;
    if (m.program.bad || m.n == 0)
        return RK_UNWIND_BAD_CFI;
    *ret = m.items[m.n - 1];
    return 0;
}

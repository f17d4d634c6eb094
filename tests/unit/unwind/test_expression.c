/* DW_OP: each operation, what it makes of its arguments, and what can't be. */
#include "unwind/frame.h"

#include "../fixture.h"

static const uint64_t words[] = {0x1111, 0x8877665544332211, 0x3333};
static const struct stack stack = {(const unsigned char *)words, 0x7000, sizeof words, true};

static int value_of(const void *program, size_t n, const uint64_t *cfa, uint64_t *ret)
{
    struct frame frame = {.known = 1u << 6 | 1u << 7 | 1u << 16};
    frame.reg[6] = 0x7008;
    frame.reg[7] = 0x7000;
    frame.reg[16] = 0x40101b;
    return expression_value(cursor_of(program, n), &frame, &stack, cfa, 0x10000, ret);
}

static void operations(void **state)
{
    (void)state;
    static const struct {
        unsigned char program[24];
        size_t n;
        uint64_t value;
    } cases[] = {
        {{0x34}, 1, 4},
        {{0x4f}, 1, 31},
        {{0x03, 1, 2, 0, 0, 0, 0, 0, 0}, 9, 0x10201}, /* moved as the module was */
        {{0x08, 0xff}, 2, 255},
        {{0x09, 0xff}, 2, UINT64_MAX},
        {{0x0a, 0xff, 0xff}, 3, 65535},
        {{0x0b, 0xff, 0xff}, 3, UINT64_MAX},
        {{0x0c, 0xff, 0xff, 0xff, 0xff}, 5, UINT32_MAX},
        {{0x0d, 0xff, 0xff, 0xff, 0xff}, 5, UINT64_MAX},
        {{0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80}, 9, 0x8000000000000001},
        {{0x10, 0xe5, 0x8e, 0x26}, 4, 624485},
        {{0x11, 0x7f}, 2, UINT64_MAX},
        {{0x11, 0x80, 0x7f}, 3, (uint64_t)-128},
        {{0x76, 0x78}, 2, 0x7000},    /* breg6 -8 */
        {{0x92, 16, 1}, 3, 0x40101c}, /* bregx */
        {{0x76, 0, 0x06}, 3, 0x8877665544332211},
        {{0x76, 0, 0x94, 4}, 4, 0x44332211},
        {{0x76, 4, 0x94, 2}, 4, 0x6655},
        {{0x31, 0x32, 0x12, 0x22, 0x22}, 5, 5}, /* dup */
        {{0x31, 0x32, 0x13}, 3, 1},             /* drop */
        {{0x31, 0x32, 0x14, 0x1c}, 4, 1},       /* over, minus: 2 - 1 */
        {{0x35, 0x32, 0x33, 0x15, 2}, 5, 5},    /* pick */
        {{0x35, 0x32, 0x16}, 3, 5},             /* swap */
        {{0x31, 0x32, 0x33, 0x17}, 4, 2},       /* rot: 3 1 2 */
        {{0x31, 0x32, 0x33, 0x17, 0x13, 0x13}, 6, 3},
        {{0x09, 0xfb, 0x19}, 3, 5}, /* abs */
        {{0x36, 0x33, 0x1a}, 3, 2}, /* and */
        {{0x09, 0xf9, 0x32, 0x1b}, 4, (uint64_t)-3},
        {{0x37, 0x33, 0x1d}, 3, 1},
        {{0x37, 0x33, 0x1e}, 3, 21},
        {{0x31, 0x1f}, 2, UINT64_MAX},
        {{0x30, 0x20}, 2, UINT64_MAX},
        {{0x31, 0x34, 0x21}, 3, 5},
        {{0x31, 0x23, 0x80, 1}, 4, 129},
        {{0x31, 0x34, 0x24}, 3, 16},
        {{0x31, 0x08, 64, 0x24}, 4, 0}, /* shifted out */
        {{0x09, 0xf0, 0x34, 0x25}, 4, UINT64_MAX >> 4},
        {{0x09, 0xf0, 0x34, 0x26}, 4, UINT64_MAX},
        {{0x36, 0x33, 0x27}, 3, 5},
        {{0x31, 0x31, 0x29}, 3, 1},
        {{0x09, 0xff, 0x31, 0x2a}, 4, 0}, /* -1 ≥ 1: signed */
        {{0x32, 0x31, 0x2b}, 3, 1},
        {{0x32, 0x31, 0x2c}, 3, 0},
        {{0x09, 0xff, 0x31, 0x2d}, 4, 1},
        {{0x32, 0x31, 0x2e}, 3, 1},
        {{0x31, 0x28, 1, 0, 0x35, 0x36}, 6, 6}, /* bra over lit5 */
        {{0x30, 0x28, 1, 0, 0x35, 0x96}, 6, 5},
        {{0x2f, 1, 0, 0x35, 0x36}, 5, 6}, /* skip */
        {{0x35, 0x9f, 0x36}, 3, 5},       /* stack_value ends it */
        /* GNU ld's .plt: CFA = rsp + 8 + ((rip & 15) >= 11) * 8 */
        {{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, 11, 0x7010},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 0;
        assert_int_equal(value_of(cases[i].program, cases[i].n, NULL, &value), 0);
        assert_int_equal(value, cases[i].value);
    }
    uint64_t cfa = 0x7100, value;
    assert_int_equal(value_of("\x23\x08", 2, &cfa, &value), 0); /* it stands on the stack first */
    assert_int_equal(value, 0x7108);
    assert_int_equal(value_of("\x9c", 1, &cfa, &value), 0);
    assert_int_equal(value, 0x7100);
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        unsigned char program[8];
        size_t n;
        int trouble;
    } cases[] = {
        {{0}, 0, RK_UNWIND_BAD_CFI},    /* nothing */
        {{0x13}, 1, RK_UNWIND_BAD_CFI}, /* drop of nothing */
        {{0x22}, 1, RK_UNWIND_BAD_CFI},
        {{0x31, 0x15, 7}, 3, RK_UNWIND_BAD_CFI},
        {{0x31, 0x30, 0x1b}, 3, RK_UNWIND_BAD_CFI}, /* by zero */
        {{0x31, 0x30, 0x1d}, 3, RK_UNWIND_BAD_CFI},
        {{0x2f, 0xfd, 0xff}, 3, RK_UNWIND_BAD_CFI},       /* for ever */
        {{0x31, 0x2f, 0xfc, 0xff}, 4, RK_UNWIND_BAD_CFI}, /* until the stack is full */
        {{0x2f, 0x80, 0x80}, 3, RK_UNWIND_BAD_CFI},       /* before its beginning */
        {{0x2f, 0x10, 0}, 3, RK_UNWIND_BAD_CFI},          /* behind its end */
        {{0x08}, 1, RK_UNWIND_BAD_CFI},                   /* cut */
        {{0x50}, 1, RK_UNWIND_BAD_CFI},                   /* a register as a place */
        {{0x9c}, 1, RK_UNWIND_BAD_CFI},                   /* there is no CFA yet */
        {{0xe0}, 1, RK_UNWIND_BAD_CFI},
        {{0x73, 0}, 2, RK_UNWIND_NO_VALUE},
        {{0x92, 99, 0}, 3, RK_UNWIND_NO_VALUE},
        {{0x77, 0x78, 0x06}, 3, RK_UNWIND_ELSEWHERE}, /* below the stack's end */
        {{0x77, 24, 0x06}, 3, TROUBLE_CUT},
        {{0x76, 6, 0x94, 4}, 4, RK_UNWIND_BAD_CFI},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t value = 7;
        assert_int_equal(value_of(cases[i].program, cases[i].n, NULL, &value), cases[i].trouble);
        assert_int_equal(value, 7);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

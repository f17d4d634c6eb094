/* Call frame tables: rows of made-up functions, and every way in which a table may lie. */
#include "table_bytes.h"

static struct bytes b;

static int row_at(size_t fde, uint64_t address, struct cfi_row *row)
{
    struct cfi_section section = {.bytes = b.at, .n = b.n};
    struct cfi_entry entry;
    size_t next;
    int rc = cfi_record(&section, fde, &entry, &next);

    assert_true(rc == CFI_FDE || rc == -EBADMSG);
    return rc < 0 ? rc : cfi_row(&section, &entry, address, row);
}

/* push rbp; mov rbp, rsp; …; leave; ret: a prologue, a body, an epilogue behind remember and restore. */
static void a_function(void **state)
{
    (void)state;
    static const unsigned char program[] = {
        0x41, 0x0e, 16,   0x86, 2, 0x43, 0x0d, 6,    0x0a, /* +1 push, +4 mov, remember */
        0x02, 100,  0x0c, 7,    8, 0xc6, 0x41, 0x0b,       /* +104 leave, +105 restore */
        0x03, 0x00, 0x10, 0x07, 16};                       /* + 4096: undefined */
    struct cfi_row row;
    b.n = 0;
    size_t cie = put_cie(&b, "zR"), fde = put_fde(&b, cie, 0x1000, 0x2000, program, sizeof program);

    assert_int_equal(row_at(fde, 0x1000, &row), 0);
    assert_int_equal(row.cfa_column, 7);
    assert_int_equal(row.cfa_offset, 8);
    assert_int_equal(row.rule[16], CFI_OFFSET);
    assert_int_equal(row.value[16], -8);
    assert_int_equal(row.rule[6], CFI_UNSAID);
    assert_int_equal(row_at(fde, 0x1001, &row), 0);
    assert_int_equal(row.cfa_offset, 16);
    assert_int_equal(row.rule[6], CFI_OFFSET);
    assert_int_equal(row.value[6], -16);
    assert_int_equal(row_at(fde, 0x1003, &row), 0);
    assert_int_equal(row.cfa_column, 7);
    assert_int_equal(row_at(fde, 0x1004, &row), 0);
    assert_int_equal(row.cfa_column, 6);
    assert_int_equal(row_at(fde, 0x1004 + 100, &row), 0);
    assert_int_equal(row.cfa_column, 7);
    assert_int_equal(row.cfa_offset, 8);
    assert_int_equal(row.rule[6], CFI_UNSAID);
    assert_int_equal(row_at(fde, 0x1004 + 101, &row), 0);
    assert_int_equal(row.cfa_column, 6);
    assert_int_equal(row.cfa_offset, 16);
    assert_int_equal(row.rule[6], CFI_OFFSET);
    assert_int_equal(row_at(fde, 0x2fff, &row), 0);
    assert_int_equal(row.rule[16], CFI_UNDEFINED);
}

/* Each instruction once: what it makes of one register. */
static void instructions(void **state)
{
    (void)state;
    static const struct {
        unsigned char program[12];
        size_t n;
        int column, rule;
        int64_t value;
    } cases[] = {
        {{0x05, 3, 4}, 3, 3, CFI_OFFSET, -32},
        {{0x11, 3, 0x7e}, 3, 3, CFI_OFFSET, 16},
        {{0x2f, 3, 2}, 3, 3, CFI_OFFSET, 16},
        /* 2^60 * -8 has no negative: UBSan looks on */
        {{0x2f, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10}, 11, 3, CFI_OFFSET, INT64_MIN},
        {{0x14, 3, 2}, 3, 3, CFI_VALUE_OFFSET, -16},
        {{0x15, 3, 0x7e}, 3, 3, CFI_VALUE_OFFSET, 16},
        {{0x09, 3, 12}, 3, 3, CFI_REGISTER, 12},
        {{0x08, 3}, 2, 3, CFI_SAME, 0},
        {{0x07, 3}, 2, 3, CFI_UNDEFINED, 0},
        {{0x07, 3, 0x06, 3}, 4, 3, CFI_UNSAID, 0},
        {{0x07, 3, 0xc3}, 3, 3, CFI_UNSAID, 0},
        {{0x07, 16, 0x06, 16}, 4, 16, CFI_OFFSET, -8}, /* as the CIE had it */
        {{0x2e, 0x10, 0x2d, 0x00, 0x07, 3}, 6, 3, CFI_UNDEFINED, 0},
        {{0x05, 70, 4, 0x07, 3}, 5, 3, CFI_UNDEFINED, 0}, /* a register that is not followed */
        {{0x12, 6, 0x7e, 0x08, 3}, 5, 3, CFI_SAME, 0},
        {{0x02, 0, 0x03, 0, 0, 0x04, 0, 0, 0, 0, 0x08, 3}, 12, 3, CFI_SAME, 0},
    };
    struct cfi_row row;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b.n = 0;
        size_t cie = put_cie(&b, "zR"), fde = put_fde(&b, cie, 0x1000, 0x100, cases[i].program, cases[i].n);
        assert_int_equal(row_at(fde, 0x1000, &row), 0);
        assert_int_equal(row.rule[cases[i].column], cases[i].rule);
        assert_int_equal(row.value[cases[i].column], cases[i].value);
    }
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        unsigned char program[20];
        size_t n;
    } cases[] = {
        {{0x0b}, 1}, /* restore without remember */
        {{0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
          0x0a},
         17},
        {{0x3f}, 1},                   /* unknown */
        {{0x0c, 7}, 2},                /* cut */
        {{0x10, 3, 100, 0}, 4},        /* a block beyond the end */
        {{0x0c, 90, 8}, 3},            /* CFA by a register that is not followed */
        {{0x0f, 1, 0x30, 0x0e, 8}, 5}, /* an offset for an expression */
        {{0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1},
         12}, /* a number without end */
    };
    struct cfi_row row;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        b.n = 0;
        size_t cie = put_cie(&b, "zR"), fde = put_fde(&b, cie, 0x1000, 0x100, cases[i].program, cases[i].n);
        assert_int_equal(row_at(fde, 0x1000, &row), -EBADMSG);
    }
}

static void letters(void **state)
{
    (void)state;
    struct cfi_section section = {.bytes = b.at};
    struct cfi_entry entry;
    size_t next;

    b.n = 0; /* a signal's frame, and letters that are new */
    size_t cie = b.n, start = start_record(&b);
    put_u32(&b, 0);
    PUT(&b, 1, 'z', 'P', 'L', 'R', 'S', 'B', 0, 1, 0x78, 16, 7, 0x03, 1, 2, 3, 4, 0x1b, 0x1b);
    PUT(&b, 0x0c, 7, 8, 0x90, 1);
    end_record(&b, start);
    size_t fde = put_fde(&b, cie, 0x1000, 0x100, "", 0);
    section.n = b.n;
    assert_int_equal(cfi_record(&section, cie, &entry, &next), CFI_CIE);
    assert_int_equal(next, fde);
    assert_int_equal(cfi_record(&section, fde, &entry, &next), CFI_FDE);
    assert_true(entry.signal);
    assert_int_equal(entry.start, 0x1000);
    assert_int_equal(entry.end, 0x1100);
    assert_int_equal(next, b.n);
    assert_int_equal(cfi_record(&section, b.n, &entry, &next), CFI_END);

    b.at[start + 5] = 'q'; /* not z: nobody knows what follows */
    assert_int_equal(cfi_record(&section, fde, &entry, &next), -EBADMSG);
    b.at[start + 5] = 'z';
    b.at[start + 4] = 9; /* a version to come */
    assert_int_equal(cfi_record(&section, fde, &entry, &next), -EBADMSG);
}

/* .debug_frame: offsets from its beginning, absolute addresses, version 4, and 64-bit lengths. */
static void debug_frame(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        struct cfi_section section = {.bytes = b.at, .debug = true};
        struct cfi_entry entry;
        struct cfi_row row;
        size_t next;
        b.n = 0;
        PUT(&b, 0, 0, 0, 0); /* so that the CIE is not at 0 */
        size_t at = b.n;
        if (wide)
            put_u32(&b, UINT32_MAX), put_u64(&b, 19), put_u64(&b, UINT64_MAX);
        else
            put_u32(&b, 15), put_u32(&b, UINT32_MAX);
        PUT(&b, 4, 0, 8, 0, 4, 0x7c, 30, 0x0c, 31, 0, 0); /* code 4, data -4, return column 30, CFA = sp */
        size_t fde = b.n;
        if (wide)
            put_u32(&b, UINT32_MAX), put_u64(&b, 8 + 16 + 4), put_u64(&b, at);
        else
            put_u32(&b, 4 + 16 + 4), put_u32(&b, (uint32_t)at);
        put_u64(&b, 0x400000);
        put_u64(&b, 0x100);
        PUT(&b, 0x42, 0x0e, 32, 0); /* 8 bytes on */
        section.n = b.n;
        assert_int_equal(cfi_record(&section, at, &entry, &next), CFI_CIE);
        assert_int_equal(next, fde);
        assert_int_equal(cfi_record(&section, fde, &entry, &next), CFI_FDE);
        assert_int_equal(entry.start, 0x400000);
        assert_int_equal(cfi_row(&section, &entry, 0x400007, &row), 0);
        assert_int_equal(row.cfa_offset, 0);
        assert_int_equal(cfi_row(&section, &entry, 0x400008, &row), 0);
        assert_int_equal(row.cfa_offset, 32);
        assert_int_equal(row.cfa_column, 31);
    }
}

/* Cut anywhere, in memory of that size: an error or an end. */
static void cut(void **state)
{
    (void)state;
    static const unsigned char program[] = {0x41, 0x0e, 16, 0x10, 3, 2, 0x76, 0x08};
    b.n = 0;
    size_t cie = put_cie(&b, "zRS");
    put_fde(&b, cie, 0x1000, 0x2000, program, sizeof program);
    for (size_t n = 0; n < b.n; n++) {
        unsigned char *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, b.at, n);
        struct cfi_section section = {.bytes = copy, .n = n};
        struct cfi_entry entry;
        struct cfi_row row;
        for (size_t at = 0, next; at < n; at = next)
            if (cfi_record(&section, at, &entry, &next) == CFI_FDE)
                cfi_row(&section, &entry, entry.start, &row);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_function), cmocka_unit_test(instructions), cmocka_unit_test(refused),
        cmocka_unit_test(letters),    cmocka_unit_test(debug_frame),  cmocka_unit_test(cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

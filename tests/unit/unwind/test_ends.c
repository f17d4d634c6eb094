/*
 * How a stack ends, and where. Whole is what provably ended: a table says that there is no caller, a table finds a caller's
 * address of 0, or the program's entry is reached with the ABI's mark. All else is cut by the dump, or broken: at a frame
 * that is told.
 */
#include "stacks.h"

enum program { LIBRARY, FIXED, INTERPRETED, SELF_RELOCATING };

static void put(unsigned char *at, uint64_t value, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

/* As begin(), of a file that begins at `function`, as a program of some kind or as a library whose header says so. */
static void begin_program(enum program kind, const char *function)
{
    begin("elf/frames");
    struct elf_symbol symbol;
    size_t n;
    unsigned char *bytes = fixture("elf/frames", &n);
    char path[FIXTURE_PATH];

    assert_int_equal(symtab_find(elf, function, strlen(function), &symbol, NULL, NULL), 0);
    put(bytes + 16, kind == FIXED ? ELF_TYPE_EXECUTABLE : ELF_TYPE_SHARED, 2);
    put(bytes + 24, symbol.value, 8);
    for (uint32_t i = 0; i < elf->segment_n; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (kind == INTERPRETED && s->type == ELF_SEGMENT_NOTE)
            put(bytes + 64 + 56 * i, ELF_SEGMENT_INTERPRETER, 4);
        if (kind != SELF_RELOCATING && s->type == ELF_SEGMENT_DYNAMIC)
            put(bytes + s->offset + 16, 1,
                8); /* NEEDED, the second pair: a library that has use for others */
    }
    snprintf(path, sizeof path, "%s/lib/frames", fake_path);
    FILE *file = fopen(path, "we");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
    free(bytes);
}

/* plain was called by `caller`, with this frame pointer. */
static struct made called(uint64_t caller, uint64_t fp)
{
    struct made m = make(in("plain", 4));

    m.words[3] = caller;
    m.regs[6] = fp;
    return m;
}

static void whole_by_table(void **state)
{
    (void)state;
    begin("elf/frames");
    now = "no caller";
    struct made m = called(in("outermost", 4), 1);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("outermost", 3));
    now = "no caller, and what runs";
    m = make(in("outermost", 4));
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("outermost", 4));
    now = "a caller's address of 0, by a simple rule";
    m = called(0, 1);
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4));
    now = "… by a row";
    m = make(in("by_rbx", 4));
    m.regs[1] = SP;
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("by_rbx", 4));
    end();
    begin("elf/frames.arm64");
    now = "… in the link register";
    m = make(in("leaf", 4));
    EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("leaf", 4));
    end();
}

/* _start of a C library without tables: musl's, or one's own. */
static void whole_by_entry(void **state)
{
    (void)state;
    for (enum program kind = FIXED; kind <= SELF_RELOCATING; kind++) {
        begin_program(kind, "nothing");
        now = "the program's entry, marked";
        struct made m = called(in("nothing", 4), 0);
        EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("nothing", 3));
        now = "… reached along frame pointers";
        m = called(in("nothing", 4), SP + 48);
        m.words[6] = 0;
        m.words[7] = in("nothing", 5);
        EXPECT(&m, RK_UNWIND_WHOLE, RK_UNWIND_FINE, in("plain", 4), in("nothing", 3), in("nothing", 4));
        now = "the program's entry, not marked";
        m = called(in("nothing", 4), 1);
        EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 3));
        now = "the sample itself: the mark may be left of what called";
        m = make(in("nothing", 4));
        EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4));
        end();
    }
    begin_program(FIXED, "outermost");
    now = "far behind the entry";
    struct made m = called(in("nothing", 4), 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 3));
    end();
    begin_program(LIBRARY, "nothing");
    now = "what a library's header says";
    m = called(in("nothing", 4), 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 3));
    end();
}

/* Frame pointers alone prove no end. */
static void broken_without_table(void **state)
{
    (void)state;
    begin("elf/frames");
    now = "what runs, unmarked by anyone";
    struct made m = make(in("nothing", 4));
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4));
    now = "a caller without a table, the register happens to be 0";
    m = called(in("nothing", 4), 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 3));
    now = "… kept by a frame without a table";
    m = make(in("nothing", 4));
    m.regs[6] = SP + 16;
    m.words[3] = in("nothing", 8);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("nothing", 4), in("nothing", 7));
    now = "a function's first byte, which nothing called";
    m = called(in("above", 0), 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("above", 0));
    now = "a register that points to zeros";
    m = called(in("nothing", 4), SP + 64);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 3));
    m.words[8] = SP + 128;
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 3));
    now = "code made at run time";
    m = called(ANONYMOUS + 4, 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_ANONYMOUS, in("plain", 4), ANONYMOUS + UINT64_C(3));
    now = "a file that is gone";
    m = called(GONE + 4, 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_FILE, in("plain", 4), GONE + UINT64_C(3));
    now = "no mapping at all";
    m = called(0x99999, 0);
    EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_NO_MAPPING, in("plain", 4), UINT64_C(0x99998));
    end();
}

/* Behind the dump's end, if it is full, or outside of all there is. */
static void cut_or_elsewhere(void **state)
{
    (void)state;
    begin("elf/frames");
    for (int full = 1; full >= 0; full--) {
        uint32_t end_ = full ? RK_UNWIND_CUT : RK_UNWIND_BROKEN;
        uint32_t reason = full ? RK_UNWIND_FINE : RK_UNWIND_ELSEWHERE;
        struct made m = called(in("plain", 5), 1);
        m.sample.stack_used = 32; /* one frame of plain's */
        m.sample.stack_bytes = full ? 32 : 64;
        now = "the next return address";
        EXPECT(&m, end_, reason, in("plain", 4), in("plain", 4));
        now = "a return address half in the dump";
        m.sample.stack_used = 32 + 28;
        m.sample.stack_bytes = full ? 32 + 28 : 128;
        EXPECT(&m, end_, reason, in("plain", 4), in("plain", 4));
        now = "the frame address of one that aligns its stack";
        m = called(in("realigned", 5), SP + 64);
        m.sample.stack_used = 48;
        m.sample.stack_bytes = full ? 48 : 64;
        EXPECT(&m, end_, reason, in("plain", 4), in("realigned", 4));
        now = "a frame pointer's record";
        m = called(in("nothing", 5), SP + 64);
        m.sample.stack_used = 64;
        m.sample.stack_bytes = full ? 64 : 128;
        EXPECT(&m, end_, full ? reason : RK_UNWIND_NO_CFI, in("plain", 4), in("nothing", 4));
        now = "below the dump: no size would reach it";
        m = called(in("framed", 5), SP - 4096);
        m.sample.stack_used = 64;
        m.sample.stack_bytes = full ? 64 : 128;
        EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_BACKWARD, in("plain", 4), in("framed", 4));
        now = "so far above that it is another stack";
        m = called(in("framed", 5), SP + (UINT64_C(1) << 32));
        m.sample.stack_used = 64;
        m.sample.stack_bytes = full ? 64 : 128;
        EXPECT(&m, RK_UNWIND_BROKEN, RK_UNWIND_ELSEWHERE, in("plain", 4), in("framed", 4));
    }
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_by_table),
        cmocka_unit_test(whole_by_entry),
        cmocka_unit_test(broken_without_table),
        cmocka_unit_test(cut_or_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

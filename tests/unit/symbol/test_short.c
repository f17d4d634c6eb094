/*
 * Short names: tests/data/names/LANGUAGE.exact has a name, a tab and its short name in each line; LANGUAGE.real has names
 * as they are in libstdc++, libclang, a Rust program by both schemes, the go command, CPython's library. The page has
 * these from here, by export/page_names.c.
 */
#include <reckon/symbol.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const languages[] = {"cpp", "rust", "go", "python"};
enum { LANGUAGES = 4, LINE = 1 << 14 };

static FILE *table(const char *language, const char *kind)
{
    char path[4096];
    const char *data = getenv("DATA");

    snprintf(path, sizeof path, "%s/names/%s.%s", data ? data : "tests/data", language, kind);
    FILE *from = fopen(path, "r");
    assert_non_null(from);
    return from;
}

static void exact(void **state)
{
    static char line[LINE], to[LINE];

    (void)state;
    for (int i = 0; i < LANGUAGES; i++) {
        FILE *from = table(languages[i], "exact");
        int n = 0;
        for (; fgets(line, sizeof line, from); n++) {
            char *wanted = strchr(line, '\t');
            assert_non_null(wanted);
            *wanted++ = '\0';
            wanted[strcspn(wanted, "\n")] = '\0';
            assert_string_equal(rk_symbol_short(line, to, sizeof to), wanted);
        }
        assert_true(n >= 30);
        fclose(from);
    }
}

static int depth(const char *text, char open, char close)
{
    int n = 0;

    for (; *text; text++)
        n += (*text == open) - (*text == close);
    return n;
}

/* What no short name may be. */
static void judge(const char *name, const char *brief)
{
    static const char *const words[] = {"",     "const",    "new",      "delete", "void",  "unsigned", "for",
                                        "bool", "operator", "decltype", "impl",   "func1", "<lambda>", "::"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(brief, words[i]) == 0 && strcmp(name, brief) != 0 &&
            strncmp(name, "py::<lambda>", 12) != 0)
            fail_msg("%s: \"%s\"", name, brief);
    bool good = strlen(brief) <= strlen(name) && !strstr(brief, "::::") &&
                (brief == name || !strstr(brief, "..ch")) && depth(brief, '(', ')') == 0 &&
                depth(brief, '[', ']') == 0 && depth(brief, '{', '}') == 0 &&
                (strstr(brief, "operator") || depth(brief, '<', '>') == 0);
    size_t n = strlen(brief);
    good = good && !(n >= 2 && strcmp(brief + n - 2, "::") == 0) && brief[0] != ' ' && brief[n - 1] != ' ';
    if (!good)
        fail_msg("%s: \"%s\"", name, brief);
}

static void real(void **state)
{
    static char line[LINE], to[LINE], again[LINE];

    (void)state;
    for (int i = 0; i < LANGUAGES; i++) {
        FILE *from = table(languages[i], "real");
        int n = 0, shorter = 0;
        for (; fgets(line, sizeof line, from); n++) {
            line[strcspn(line, "\n")] = '\0';
            const char *brief = rk_symbol_short(line, to, sizeof to);
            judge(line, brief);
            shorter += brief == to;
            assert_string_equal(rk_symbol_short(brief, again, sizeof again), brief); /* it stays */
            for (size_t room = 0; room < 20; room++) { /* whole, or not at all */
                char few[20] = "";
                const char *cut = rk_symbol_short(line, few, room);
                assert_true(cut == line || strcmp(cut, brief) == 0);
            }
        }
        assert_true(n == 300 && shorter > 100);
        fclose(from);
    }
}

/* Names of other languages, of files and of nothing stay; what is cut off, or has too many brackets, ends. */
static void others(void **state)
{
    static const char *const same[] = {"",
                                       "main",
                                       "[libfoo.so]",
                                       "[unknown]",
                                       "/usr/lib/libc.so.6",
                                       "prog+0x1130",
                                       "LazyCompile:~<anonymous> /tmp/a.js:1",
                                       "JS:*fib /tmp/a.js:1:13",
                                       "Ljava/lang/String;::hashCode",
                                       "foo.isra.0",
                                       "x>y",
                                       "(",
                                       "<",
                                       "::",
                                       "operator",
                                       "__do_sys_read.constprop.0"};
    static char deep[3 * 4000 + 1], to[LINE];

    (void)state;
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        assert_ptr_equal(rk_symbol_short(same[i], to, sizeof to), same[i]);
    assert_null(rk_symbol_short(NULL, to, sizeof to));
    assert_ptr_equal(rk_symbol_short(same[1], NULL, 9), same[1]);
    for (int kind = 0; kind < 5; kind++) {
        const char *with = ((const char *const[]){"a<(", "<a[", "{(<", "::<", "<&["})[kind];
        for (size_t i = 0; i < 4000; i++)
            memcpy(deep + 3 * i, with, 3);
        const char *brief = rk_symbol_short(deep, to, sizeof to);
        assert_true(brief == deep || strlen(brief) < sizeof to);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact), cmocka_unit_test(real),
                                       cmocka_unit_test(others)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

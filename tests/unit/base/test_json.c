/* JSON and the sink: escapes, bad UTF-8, numbers that read back, one sticky error. */
#include "base/json.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct memory {
    char text[100000];
    size_t n, fail_after;
    int calls;
};

static int write_memory(void *context, const void *data, size_t n)
{
    struct memory *m = context;
    m->calls++;
    if (m->fail_after && m->n + n > m->fail_after)
        return -ENOSPC;
    assert_true(m->n + n < sizeof m->text);
    memcpy(m->text + m->n, data, n);
    m->n += n;
    m->text[m->n] = '\0';
    return 0;
}

static void writes_what_json_wants(void **state)
{
    (void)state;
    static struct memory m;
    struct rk_sink sink = {sizeof sink, 0, write_memory, &m};
    struct output out = output_to(&sink);
    struct json j = json_to(&out);
    json_open(&j, NULL, '{');
    json_text(&j, "a\"b", "x\n\\\x01\x7f\xc3\xa4");
    json_open(&j, "list", '[');
    json_u64(&j, NULL, UINT64_MAX);
    json_i64(&j, NULL, INT64_MIN);
    json_real(&j, NULL, 0.1);
    json_real(&j, NULL, 1e300);
    json_real(&j, NULL, NAN);
    json_real(&j, NULL, INFINITY);
    json_bool(&j, NULL, true);
    json_null(&j, NULL);
    json_hex(&j, NULL, 0xffffffff81000000);
    json_close(&j, ']');
    json_text(&j, "bad", "\xff\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80|\xc3");
    json_open(&j, "empty", '{');
    json_close(&j, '}');
    json_close(&j, '}');
    assert_int_equal(output_end(&out), 0);
#define U "\xef\xbf\xbd"
    assert_string_equal(m.text,
                        "{\"a\\\"b\":\"x\\u000a\\\\\\u0001\\u007f\xc3\xa4\","
                        "\"list\":[18446744073709551615,-9223372036854775808,0.1,1e+300,null,null,true,null,"
                        "\"0xffffffff81000000\"],"
                        "\"bad\":\"" U U U U U U U U U U "|" U "\",\"empty\":{}}");
}

static void reals_read_back_the_same(void **state)
{
    (void)state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 2000; i++) {
        static struct memory m;
        m.n = 0;
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double value;
        memcpy(&value, &x, sizeof value);
        if (!isfinite(value))
            continue;
        struct rk_sink sink = {sizeof sink, 0, write_memory, &m};
        struct output out = output_to(&sink);
        struct json j = json_to(&out);
        json_real(&j, NULL, value);
        assert_int_equal(output_end(&out), 0);
        assert_true(strtod(m.text, NULL) == value);
    }
}

static void long_output_and_one_sticky_error(void **state)
{
    (void)state;
    static struct memory m;
    static char big[20000];
    struct rk_sink sink = {sizeof sink, 0, write_memory, &m};
    struct output out = output_to(&sink);
    memset(big, 'x', sizeof big - 1);
    output_format(&out, "%s|", big);
    output_bytes(&out, big, sizeof big - 1);
    for (int i = 0; i < 3000; i++)
        output_format(&out, "%d,", i % 10);
    assert_int_equal(output_end(&out), 0);
    assert_int_equal(m.n, 2 * (sizeof big - 1) + 1 + 6000);

    m = (struct memory){.fail_after = 10000};
    out = output_to(&sink);
    output_bytes(&out, big, sizeof big - 1);
    output_text(&out, "more");
    assert_int_equal(output_end(&out), -ENOSPC);
    assert_int_equal(m.calls, 1); /* nothing is written after the first error */
    struct rk_error e = {.size = sizeof e};
    assert_int_equal(output_fail(-ENOSPC, &e), -ENOSPC);
    assert_int_equal(e.cause, RK_CAUSE_NO_SPACE);
    assert_int_equal(output_fail(0, &e), 0);
}

static void descriptors_take_all(void **state)
{
    (void)state;
    int fds[2];
    char got[8];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(rk_sink_write_fd((void *)(intptr_t)fds[1], "reckon", 6), 0);
    assert_int_equal(read(fds[0], got, sizeof got), 6);
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(rk_sink_write_fd((void *)(intptr_t)fds[1], "x", 1), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_what_json_wants),
        cmocka_unit_test(reals_read_back_the_same),
        cmocka_unit_test(long_output_and_one_sticky_error),
        cmocka_unit_test(descriptors_take_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

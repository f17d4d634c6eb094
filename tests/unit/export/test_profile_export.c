/* A made-up profile in every format. */
#include "../profile/fake.h"
#include "sink.h"

static struct rk_profile *profile(void)
{
    struct rk_profile_builder *b = fake_builder();
    const uint64_t chain[] = {RK_CHAIN_USER, AT(2, 1, 0x10), AT(1, 0, 0x11)};
    FEED(b, AT(2, 1, 0x10), AT(1, 0, 0x11));
    FEED(b, AT(2, 1, 0x20), AT(1, 0, 0x11));
    fake_feed_in(b, 100, 101, 0, 4, chain, 3); /* another thread of that name */
    FEED(b, AT(6, 1, 0x20), AT(1, 0, 0x11));
    fake_loss = (struct rk_loss){.size = sizeof fake_loss, .present = RK_LOSS_LOST, .kept = 4, .lost = 3};
    return fake_finish(b);
}

static void folded(void **state)
{
    struct rk_profile *p = profile();
    (void)state;
    forget();
    assert_int_equal(rk_profile_export(p, "folded", &text_sink, NULL), 0);
    SAME_BY_TWINS(rk_profile_export, p, "folded");
    assert_string_equal(written, "worker;m1_f0;m2_f1 6\n"
                                 "worker;m1_f0;[stripped] 1\n");
    rk_profile_free(p);
}

static void folded_has_no_quoting(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    (void)state;
    fake_comm = "a;b\nc d";
    FEED(b, AT(1, 1, 0x10));
    FEED(b, 0x55);
    struct rk_profile *p = fake_finish(b);
    forget();
    assert_int_equal(rk_profile_export(p, "folded", &text_sink, NULL), 0);
    contains("a:b c d;m1_f1 1\n");
    contains("a:b c d;[unknown] 1\n");
    rk_profile_free(p);

    fake_comm = "";
    b = fake_builder();
    FEED(b, AT(1, 1, 0x10));
    p = fake_finish(b);
    forget();
    assert_int_equal(rk_profile_export(p, "folded", &text_sink, NULL), 0);
    assert_string_equal(written, "[unknown];m1_f1 1\n");
    rk_profile_free(p);
    fake_comm = "worker";
}

static void aggregate(void **state)
{
    struct rk_profile *p = profile();
    struct rk_aggregate *a;
    (void)state;
    assert_int_equal(rk_profile_aggregate(p, RK_PER_FUNCTION, &a, NULL), 0);
    forget();
    assert_int_equal(rk_aggregate_export(p, a, "csv", &text_sink, NULL), 0);
    contains("symbol,module,self,");
    SAME_BY_TWINS(rk_aggregate_export, p, a, "csv");
    rk_aggregate_free(a);
    rk_profile_free(p);
}

static void csv(void **state)
{
    struct rk_profile *p = profile();
    (void)state;
    forget();
    assert_int_equal(rk_profile_export(p, "csv", &text_sink, NULL), 0);
    assert_string_equal(written, "symbol,module,self,self_percent,total,total_percent\n"
                                 "m2_f1,two.so,6,85.7143,6,85.7143\n"
                                 "[unknown],stripped,1,14.2857,1,14.2857\n"
                                 "m1_f0,one,0,0.0000,7,100.0000\n");
    rk_profile_free(p);
}

static void csv_quotes(void **state)
{
    struct rk_profile_builder *b = fake_builder();
    (void)state;
    fake_name = "void f<int, \"x\">(a\nb)";
    FEED(b, AT(4, 1, 0x10));
    struct rk_profile *p = fake_finish(b);
    forget();
    assert_int_equal(rk_profile_export(p, "csv", &text_sink, NULL), 0);
    contains("\n\"void f<int, \"\"x\"\">(a\nb)\",same,1,100.0000,1,100.0000\n");
    forget();
    assert_int_equal(rk_profile_export(p, "json", &text_sink, NULL), 0);
    validate("profile");
    rk_profile_free(p);
    fake_name = NULL;
}

static void json(void **state)
{
    struct rk_profile *p = profile();
    (void)state;
    forget();
    assert_int_equal(rk_profile_export(p, "json", &text_sink, NULL), 0);
    validate("profile");
    contains("\"lost\":3,\"skipped\":null");
    contains("\"self\":6,\"self_percent\":85.7142857142857");
    contains("\"module\":\"stripped\",\"reason\":\"it has no symbol table\",\"samples\":1");
    contains("\"comm\":\"worker\",\"pid\":100,\"tid\":101,\"source\":\"\",\"event\":0,\"weight\":4,"
             "\"samples\":1,\"frames\":["
             "2,0]");
    rk_profile_free(p);
}

static void an_empty_profile(void **state)
{
    struct rk_profile *p = fake_finish(fake_builder());
    (void)state;
    forget();
    assert_int_equal(rk_profile_export(p, "json", &text_sink, NULL), 0);
    validate("profile");
    forget();
    assert_int_equal(rk_profile_export(p, "folded", &text_sink, NULL), 0);
    assert_string_equal(written, "");
    assert_int_equal(rk_profile_export(p, "csv", &text_sink, NULL), 0);
    assert_string_equal(written, "symbol,module,self,self_percent,total,total_percent\n");
    rk_profile_free(p);
}

static void errors_say_what(void **state)
{
    struct rk_profile *p = profile();
    struct rk_error e = {.size = sizeof e};
    int code = -ENOSPC;
    struct rk_sink full = {sizeof full, 0, write_nothing, &code}, none = {sizeof none, 0, NULL, NULL};
    (void)state;

    assert_int_equal(rk_profile_export(p, "xml", &text_sink, &e), -EINVAL);
    assert_non_null(strstr(e.what, "xml"));
    assert_non_null(strstr(e.what, "folded, csv, json"));
    assert_int_equal(rk_profile_export(p, NULL, &text_sink, &e), -EINVAL);
    assert_int_equal(rk_profile_export(p, "csv", &full, &e), -ENOSPC);
    assert_int_equal(e.cause, RK_CAUSE_NO_SPACE);
    assert_int_equal(e.stage, RK_STAGE_EXPORT);
    code = -EPIPE;
    assert_int_equal(rk_profile_export(p, "json", &full, &e), -EPIPE);
    assert_int_equal(rk_profile_export(p, "csv", &none, &e), -EINVAL);
    assert_int_equal(rk_profile_export(p, "csv", NULL, &e), -EINVAL);
    assert_int_equal(rk_profile_export(NULL, "csv", &text_sink, &e), -EINVAL);
    rk_profile_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folded),           cmocka_unit_test(folded_has_no_quoting),
        cmocka_unit_test(aggregate),        cmocka_unit_test(csv),
        cmocka_unit_test(csv_quotes),       cmocka_unit_test(json),
        cmocka_unit_test(an_empty_profile), cmocka_unit_test(errors_say_what),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "stream/ledger.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void what_is_printed_is_read(void **state)
{
    (void)state;
    char line[LEDGER_LINE_MAX], text[1000];
    struct rk_loss a = {.size = sizeof a,
                        .present = RK_LOSS_LOST | RK_LOSS_SKIPPED,
                        .kept = UINT64_MAX,
                        .lost = UINT64_MAX - 1,
                        .skipped = UINT64_MAX - 2,
                        .throttled = UINT64_MAX - 3,
                        .records_lost = UINT64_MAX - 4};
    struct rk_loss b = {.size = sizeof b, .kept = 7}; /* nothing else is known */
    struct ledger ledger = {0};

    ledger_event_print(0, &a, line);
    snprintf(text, sizeof text, "ordered 1\nevent %s\n", line);
    ledger_event_print(2, &b, line);
    snprintf(text + strlen(text), sizeof text - strlen(text), "event %s\nclean 1\n", line);
    assert_int_equal(ledger_read(&ledger, text, 3), 0);
    assert_true(ledger.clean && ledger.ordered);
    assert_int_equal(ledger.events.n, 3);
    assert_true(ledger.events.items[0].told && !ledger.events.items[1].told && ledger.events.items[2].told);
    assert_memory_equal(&ledger.events.items[0].loss, &a, sizeof a);
    assert_memory_equal(&ledger.events.items[2].loss, &b, sizeof b);

    assert_int_equal(ledger_read(&ledger, text, 2), 0); /* a line of an event that the file does not have */
    assert_int_equal(ledger.events.n, 1);
    assert_int_equal(ledger_read(&ledger, "", 3), 0);
    assert_true(!ledger.clean && !ledger.ordered && ledger.events.n == 0);
    ledger_free(&ledger);
}

static void nonsense_is_skipped(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "event",
        "event x kept 1",
        "event 99999999999999999999 kept 1",
        "event -1 kept 1",
        "kept 1",
        "\n\n   \nclean\nclean x\nordered 18446744073709551616",
        "event 4294967295 kept 1",
    };
    struct ledger ledger = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(ledger_read(&ledger, texts[i], 4), 0);
        assert_true(!ledger.clean && !ledger.ordered);
        assert_int_equal(ledger.events.n, 0);
    }
    assert_int_equal(ledger_read(&ledger, "event 0 kept 5 colour 3 lost 2 skipped", 1), 0);
    assert_int_equal(ledger.events.items[0].loss.kept, 5);
    assert_int_equal(ledger.events.items[0].loss.lost, 2);
    assert_int_equal(ledger.events.items[0].loss.present, RK_LOSS_LOST);
    assert_int_equal(ledger_read(&ledger, "stacks whole 7 shape 9 cut 2 broken 1 joined", 1), 0);
    assert_int_equal(ledger.stacks.whole, 7);
    assert_int_equal(ledger.stacks.cut, 2);
    assert_int_equal(ledger.stacks.broken, 1);
    assert_int_equal(ledger.stacks.joined, 0);
    assert_int_equal(ledger_read(&ledger, "clean 1", 1), 0);
    assert_int_equal(ledger.stacks.whole, 0);
    ledger_free(&ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_read),
        cmocka_unit_test(nonsense_is_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* rk_capture_options: what is unknown, out of range or without effect is refused with a reason, before a file is made. */
#include "../../temporary.h"

#include <reckon/reckon.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define WITH(...) ((struct rk_capture_options)RK_INIT(struct rk_capture_options, __VA_ARGS__))

static struct rk_host *host;
static struct rk_set *set;
static char path[TEMPORARY];

/* -EINVAL, and `what` has the word. The set has no stream yet, so that a refusal comes before that. */
static void refused(struct rk_capture_options o, const char *word)
{
    struct rk_error e = RK_INIT(e);
    struct rk_capture *c = (struct rk_capture *)&o, *untouched = c;

    o.path = path;
    assert_int_equal(rk_capture_open(host, set, NULL, &o, &c, &e), -EINVAL);
    assert_ptr_equal(c, untouched);
    assert_int_equal(e.cause, RK_CAUSE_ARGUMENT);
    if (!strstr(e.what, word))
        fail_msg("'%s' is not in: %s", word, e.what);
    assert_int_equal(access(path, F_OK), -1);
}

static void unknown_bits(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t flag = 1u << bit;
        char word[32];

        if (flag & (RK_CAPTURE_THREAD | RK_CAPTURE_UNWIND | RK_CAPTURE_NAMES))
            continue;
        snprintf(word, sizeof word, "flags: 0x%x is", flag);
        refused(WITH(.flags = flag), word);
        refused(WITH(.flags = flag | RK_CAPTURE_THREAD), word);
    }
}

static void without_effect(void **state)
{
    (void)state;
    refused(WITH(.queue_bytes = 1u << 20), "without RK_CAPTURE_THREAD");
    refused(WITH(.queue_bytes = 1u << 20, .flags = RK_CAPTURE_UNWIND), "without RK_CAPTURE_THREAD");
    refused(WITH(.unwind_regs = 1), "without RK_CAPTURE_UNWIND");
    refused(WITH(.unwind_regs = 1, .flags = RK_CAPTURE_THREAD), "without RK_CAPTURE_UNWIND");
}

static void out_of_range(void **state)
{
    (void)state;
    refused(WITH(.compression = 23), "compression");
    refused(WITH(.queue_bytes = (1u << 20) - 1, .flags = RK_CAPTURE_THREAD), "queue_bytes");
}

/* What was refused above has an effect with its flag: the same set takes it. */
static void with_effect(void **state)
{
    (void)state;
    struct rk_capture_options o =
        RK_INIT(o, .flags = RK_CAPTURE_THREAD, .queue_bytes = 1u << 20, .path = path);
    struct rk_error e = RK_INIT(e);
    struct rk_capture *c = NULL;

    if (rk_capture_open(host, set, NULL, &o, &c, &e) < 0)
        fail_msg("%s", e.what);
    assert_int_equal(rk_capture_finish(c, NULL, &e), 0);
    assert_null(rk_capture_free(c));
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_bits),
        cmocka_unit_test(without_effect),
        cmocka_unit_test(out_of_range),
        cmocka_unit_test(with_effect),
    };
    struct rk_set_options often = RK_INIT(often, .period = 1000000);
    struct rk_error e = RK_INIT(e);
    struct rk_events *events = NULL;
    struct rk_target *self = NULL;

    int fd = mkstemp(temporary(path, "reckon-test-XXXXXX"));
    if (fd < 0)
        return 1;
    close(fd);
    unlink(path);
    if (rk_host_open(NULL, &host, &e) < 0 || rk_events_parse(host, "task-clock:u", &events, &e) < 0 ||
        rk_target_self(&self, &e) < 0 || rk_set_open(host, events, self, &often, &set, &e) < 0) {
        printf("%s\n", e.what);
        return 77;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rk_set_free(set);
    rk_target_free(self);
    rk_events_free(events);
    rk_host_free(host);
    return failed;
}

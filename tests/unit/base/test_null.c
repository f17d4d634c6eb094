/*
 * NULL where the headers do not allow it, in every call that is not hot: -EINVAL with a sentence, 0, or "".
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <reckon/reckon.h>

/* The call gives -EINVAL, and says what is NULL. */
#define REFUSED(call)                                 \
    do {                                              \
        e = (struct rk_error){.size = sizeof e};      \
        assert_int_equal(call, -EINVAL);              \
        assert_int_equal(e.code, -EINVAL);            \
        assert_int_equal(e.cause, RK_CAUSE_ARGUMENT); \
        assert_true(e.what[0] != '\0');               \
    } while (0)
#define BARE(call) assert_int_equal(call, -EINVAL)
#define NOTHING(call) assert_int_equal(call, 0)
#define EMPTY(call) assert_string_equal(call, "")

static struct rk_error e;

static void the_ask_ladder(void **state)
{
    (void)state;
    struct rk_host *host = NULL, *no_host = NULL;
    struct rk_events *events = NULL, *no_events = NULL;
    struct rk_target *target = NULL, *no_target = NULL;
    struct rk_set *set = NULL, *no_set = NULL;
    struct rk_event event = {.size = sizeof event};
    struct rk_plan plan = {.size = sizeof plan};
    struct rk_note note = {.size = sizeof note};
    struct rk_slot slot = RK_INIT(slot);
    char *argv[] = {NULL};

    REFUSED(rk_host_open(NULL, NULL, &e));
    assert_int_equal(rk_host_open(NULL, &host, &e), 0);
    EMPTY(rk_host_kernel(NULL));

    REFUSED(rk_events_parse(NULL, "task-clock", &no_events, &e));
    REFUSED(rk_events_parse(host, NULL, &no_events, &e));
    REFUSED(rk_events_parse(host, "task-clock", NULL, &e));
    assert_int_equal(rk_events_parse(host, "task-clock", &events, &e), 0);
    NOTHING(rk_events_count(NULL));
    BARE(rk_events_get(NULL, 0, &event));
    BARE(rk_events_get(events, 0, NULL));
    EMPTY(rk_events_print(NULL));

    REFUSED(rk_target_self(NULL, &e));
    REFUSED(rk_target_thread(1, NULL, &e));
    REFUSED(rk_target_process(1, NULL, &e));
    REFUSED(rk_target_cpus(NULL, NULL, &no_target, &e));
    REFUSED(rk_target_cpus(host, NULL, NULL, &e));
    REFUSED(rk_target_command(NULL, NULL, &no_target, &e));
    REFUSED(rk_target_command(argv, NULL, &no_target, &e));
    REFUSED(rk_target_start(NULL, &e));
    BARE(rk_target_wait(NULL, 0, NULL));
    BARE(rk_target_fd(NULL));
    assert_int_equal(rk_target_self(&target, &e), 0);

    REFUSED(rk_set_plan(NULL, events, target, NULL, &plan, &e));
    REFUSED(rk_set_plan(host, NULL, target, NULL, &plan, &e));
    REFUSED(rk_set_plan(host, events, NULL, NULL, &plan, &e));
    REFUSED(rk_set_plan(host, events, target, NULL, NULL, &e));
    REFUSED(rk_set_open(NULL, events, target, NULL, &no_set, &e));
    REFUSED(rk_set_open(host, NULL, target, NULL, &no_set, &e));
    REFUSED(rk_set_open(host, events, NULL, NULL, &no_set, &e));
    REFUSED(rk_set_open(host, events, target, NULL, NULL, &e));
    REFUSED(rk_set_self("task-clock", NULL, &e));
    REFUSED(rk_set_self(NULL, &no_set, &e));
    NOTHING(rk_set_event_count(NULL));
    NOTHING(rk_set_slot_count(NULL));
    NOTHING(rk_set_note_count(NULL));
    BARE(rk_set_event_get(NULL, 0, &event));
    BARE(rk_set_slot_get(NULL, 0, &slot));
    BARE(rk_set_note_get(NULL, 0, &note));
    BARE(rk_set_explain(NULL, 0, 0, &e));
    if (rk_set_open(host, events, target, NULL, &set, &e) == 0) {
        BARE(rk_set_event_get(set, 0, NULL));
        BARE(rk_set_slot_get(set, 0, NULL));
        BARE(rk_set_explain(set, 0, 0, NULL));
    }
    BARE(rk_explain(NULL, &(struct rk_attempt){.size = sizeof(struct rk_attempt)}, &e));
    BARE(rk_explain(host, NULL, NULL));

    assert_null(no_host);
    assert_null(no_events);
    assert_null(no_target);
    assert_null(no_set);
    rk_set_free(set);
    rk_target_free(target);
    rk_events_free(events);
    rk_host_free(host);
}

static void the_data_ladder(void **state)
{
    (void)state;
    struct rk_image *image = NULL;
    struct rk_symbolizer *symbolizer = NULL;
    struct rk_stream *stream = NULL;
    struct rk_capture *capture = NULL;
    struct rk_stream_event event = {.size = sizeof event};
    struct rk_stream_info info = {.size = sizeof info};
    struct rk_stream_build_id id = {.size = sizeof id};
    struct rk_loss loss = {.size = sizeof loss};
    struct rk_capture_stats stats = {.size = sizeof stats};
    struct rk_module module = {.size = sizeof module, .path = "/bin/true"};
    struct rk_symbol symbol;
    uint64_t offset = 0;

    REFUSED(rk_stream_live(NULL, &stream, &e));
    REFUSED(rk_stream_file(NULL, &stream, &e));
    REFUSED(rk_stream_file("/dev/null", NULL, &e));
    BARE(rk_stream_drain(NULL));
    BARE(rk_stream_world(NULL));
    BARE(rk_stream_fd(NULL));
    BARE(rk_stream_explain(NULL, &e));
    NOTHING(rk_stream_event_count(NULL));
    BARE(rk_stream_event_get(NULL, 0, &event));
    BARE(rk_stream_info(NULL, &info));
    NOTHING(rk_stream_build_id_count(NULL));
    BARE(rk_stream_build_id_get(NULL, 0, &id));
    BARE(rk_stream_loss(NULL, RK_NO_EVENT, &loss));
    assert_null(stream);

    REFUSED(rk_capture_open(NULL, NULL, NULL, NULL, &capture, &e));
    BARE(rk_capture_step(NULL, 0));
    BARE(rk_capture_stats(NULL, &stats));
    NOTHING(rk_capture_free(NULL));
    assert_null(capture);

    REFUSED(rk_image_open(NULL, &e));
    assert_int_equal(rk_image_open(&image, &e), 0);
    BARE(rk_image_feed(NULL, NULL));
    BARE(rk_image_feed(image, NULL));
    BARE(rk_image_feed_process(NULL, NULL, 1));
    BARE(rk_image_feed_build_id(NULL, "/bin/true", (const unsigned char *)"1", 1));
    BARE(rk_image_feed_build_id(image, NULL, (const unsigned char *)"1", 1));
    BARE(rk_image_feed_build_id(image, "/bin/true", NULL, 1));
    NOTHING(rk_image_module_count(NULL));
    BARE(rk_image_module_get(NULL, 0, &module));
    EMPTY(rk_image_comm(NULL, 1, 1));
    rk_image_free(image);

    REFUSED(rk_symbolizer_open(NULL, NULL, &e));
    assert_int_equal(rk_symbolizer_open(NULL, &symbolizer, &e), 0);
    BARE(rk_symbolizer_resolve(NULL, &module, &offset, 1, &symbol));
    BARE(rk_symbolizer_resolve(symbolizer, NULL, &offset, 1, &symbol));
    BARE(rk_symbolizer_resolve(symbolizer, &module, NULL, 1, &symbol));
    BARE(rk_symbolizer_resolve(symbolizer, &module, &offset, 1, NULL));
    rk_symbolizer_free(symbolizer);
}

static void the_answers(void **state)
{
    (void)state;
    struct rk_profile_builder *builder = NULL;
    struct rk_profile *profile = NULL;
    struct rk_doctor *doctor = NULL;
    struct rk_record sample = {.type = RK_RECORD_SAMPLE};
    struct rk_profile_summary summary = {.size = sizeof summary};
    struct rk_profile_columns columns = {.size = sizeof columns};
    struct rk_aggregate *aggregate = NULL;
    struct rk_profile_diff *diff = NULL;
    struct rk_unnamed unnamed = {.size = sizeof unnamed};
    struct rk_check check = {.size = sizeof check};
    struct rk_metric metric = {.size = sizeof metric};
    struct rk_list_entry entry = {.size = sizeof entry};
    struct rk_list *list = NULL;
    struct rk_value value = {0};
    struct rk_sink sink = {sizeof sink, 0, rk_sink_write_fd, (void *)(intptr_t)-1};

    REFUSED(rk_profile_builder_open(NULL, NULL, &e));
    assert_int_equal(rk_profile_builder_open(NULL, &builder, &e), 0);
    BARE(rk_profile_builder_feed(NULL, NULL, &sample));
    BARE(rk_profile_builder_feed(builder, NULL, NULL));
    BARE(rk_profile_builder_feed(builder, NULL, &sample));
    REFUSED(rk_profile_builder_finish(NULL, NULL, &profile, &e));
    REFUSED(rk_profile_builder_finish(builder, NULL, NULL, &e));
    REFUSED(rk_profile_stream(NULL, NULL, &profile, NULL, &e));
    rk_profile_builder_free(builder);
    assert_null(profile);
    BARE(rk_profile_summary(NULL, &summary));
    BARE(rk_profile_columns(NULL, &columns));
    BARE(rk_profile_path(NULL, 0, NULL, 0));
    REFUSED(rk_profile_file(NULL, NULL, &profile, NULL, &e));
    REFUSED(rk_profile_aggregate(NULL, RK_PER_FUNCTION, &aggregate, &e));
    REFUSED(rk_profile_select(NULL, NULL, &profile, &e));
    REFUSED(rk_profile_merge(NULL, NULL, 1, &profile, &e));
    REFUSED(rk_profile_diff(NULL, NULL, RK_PER_FUNCTION, RK_NORMALISE_NONE, &diff, &e));
    assert_null(rk_aggregate_free(NULL));
    assert_null(rk_profile_diff_free(NULL));
    NOTHING(rk_profile_unnamed_count(NULL));
    BARE(rk_profile_unnamed_get(NULL, 0, &unnamed));
    BARE(rk_metric_derive(NULL, &value, 1, 1, 0, &metric));

    REFUSED(rk_profile_export(NULL, "json", &sink, &e));
    REFUSED(rk_profile_pair_export(NULL, NULL, 0, "html", &sink, &e));
    REFUSED(rk_record_export(NULL, &sample, "json", &sink, NULL, &e));
    REFUSED(rk_set_export(NULL, &value, 1, NULL, "json", &sink, &e));
    REFUSED(rk_doctor_export(NULL, "json", &sink, &e));
    REFUSED(rk_list_export(NULL, "json", &sink, &e));

    REFUSED(rk_doctor_run(NULL, &doctor, &e));
    NOTHING(rk_doctor_check_count(NULL));
    BARE(rk_doctor_check_get(NULL, 0, &check));
    REFUSED(rk_list_open(NULL, NULL, &list, &e));
    NOTHING(rk_list_count(NULL));
    BARE(rk_list_get(NULL, 0, &entry));
    assert_null(doctor);
    assert_null(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ask_ladder),
        cmocka_unit_test(the_data_ladder),
        cmocka_unit_test(the_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

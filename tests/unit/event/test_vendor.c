/*
 * The vendors' names are what libpfm4 says they are: the first thirty events of a PMU of each vendor that libpfm4
 * encodes, on a machine of that vendor. Where the kernel shows no PMU, libpfm4's word does not count.
 * A libpfm4 has the tables of one architecture: vendor-arm64 runs this with arm64's.
 */
#include "../fake_tree.h"
#include "event/event.h"
#include "event/libpfm.h"

#include <dlfcn.h>
#include <inttypes.h>

/* As perfmon/pfmlib.h has them. */
struct encode_argument {
    void *attr;
    char **text;
    size_t size;
    int index, cpu, flags, pad;
};
struct pmu_info {
    const char *name, *description;
    size_t size;
    int pmu, type, events, first, encoding, counters, fixed;
    unsigned flags;
};
struct event_info {
    const char *name, *description, *same_as;
    size_t size;
    uint64_t code;
    int pmu, data, index, attributes, reserved;
    unsigned flags;
};

static void *library;

static void *function(const char *name)
{
    void *found = dlsym(library, name);
    assert_non_null(found);
    return found;
}

static bool find_pmu(const char *name, struct pmu_info *ret)
{
    int (*get_pmu)(int, struct pmu_info *) = function("pfm_get_pmu_info");
    for (int i = 0; i < 1024; i++)
        if (get_pmu(i, ret) == 0 && strcmp(ret->name, name) == 0)
            return true;
    return false;
}

static void same_as_libpfm4(const char *machine, const char *pmu_name, int wanted)
{
    int (*encode)(const char *, int, int, void *) = function("pfm_get_os_event_encoding");
    int (*get_event)(int, int, struct event_info *) = function("pfm_get_event_info");
    int (*next)(int) = function("pfm_get_event_next");
    struct rk_host *host = fake_machine(machine);
    struct pmu_info pmu = {.size = sizeof pmu};
    int compared = 0;
    if (!find_pmu(pmu_name, &pmu)) {
        print_message("this libpfm4 has no %s\n", pmu_name);
        rk_host_free(host);
        fake_end();
        skip();
    }
    for (int k = pmu.first; k >= 0 && compared < wanted; k = next(k)) {
        struct event_info event = {.size = sizeof event};
        union {
            struct perf_attr attr;
            char room[512];
        } own = {.room = {0}};
        char name[256];
        struct encode_argument argument = {.attr = &own, .size = sizeof argument};
        assert_int_equal(get_event(k, 0, &event), 0);
        snprintf(name, sizeof name, "%s::%s", pmu_name, event.name);
        if (encode(name, 0x19, 2, &argument) != 0) /* wants a umask: the same with the modifier below */
            continue;
        for (int modified = 0; modified < 2; modified++) {
            struct rk_events *events = NULL, *again = NULL;
            struct rk_event got = {.size = sizeof got};
            struct rk_error e = {.size = sizeof e};
            if (modified)
                strcat(name, ":u");
            if (rk_events_parse(host, name, &events, &e) < 0)
                fail_msg("%s: %s", name, e.what);
            assert_int_equal(rk_events_get(events, 0, &got), 0);
            if (got.type != own.attr.type || got.config != own.attr.config ||
                got.config1 != own.attr.config1 || got.config2 != own.attr.config2)
                fail_msg("%s: type %u config %#" PRIx64 ", libpfm4 has %u %#" PRIx64, name, got.type,
                         got.config, own.attr.type, own.attr.config);
            assert_int_equal(got.flags, modified ? RK_EVENT_USER : 0);
            if (rk_events_parse(host, rk_events_print(events), &again, &e) < 0)
                fail_msg("%s is printed as %s: %s", name, rk_events_print(events), e.what);
            struct rk_event same = {.size = sizeof same};
            assert_int_equal(rk_events_get(again, 0, &same), 0);
            assert_true(same.type == got.type && same.config == got.config && same.config1 == got.config1 &&
                        same.flags == got.flags && same.precise == got.precise);
            rk_events_free(events);
            rk_events_free(again);
        }
        compared++;
    }
    assert_int_equal(compared, wanted);
    print_message("%d names of %s are encoded as by libpfm4\n", compared, pmu_name);
    rk_host_free(host);
    fake_end();
}

static void intel(void **state)
{
    (void)state;
    same_as_libpfm4("intel-server", "skx", 30);
}

static void amd(void **state)
{
    (void)state;
    same_as_libpfm4("amd-zen", "amd64_fam19h_zen3", 30);
}

static void arm(void **state)
{
    (void)state;
    same_as_libpfm4("arm64-one", "arm_n1", 30);
}

static void words_behind_a_name(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rc;
        uint32_t flags, precise;
        const char *what;
    } rows[] = {
        {"skx::INST_RETIRED:ANY_P", 0, 0, 0, ""},
        {"skx::INST_RETIRED.ANY_P", 0, 0, 0, ""},
        {"skx::inst_retired:any_p:k", 0, RK_EVENT_KERNEL, 0, ""},
        {"skx::INST_RETIRED:ANY_P:u:k", 0, 0, 0, ""},
        {"skx::INST_RETIRED:ANY_P:c=1:i", 0, 0, 0, ""},
        {"skx::INST_RETIRED:ANY_P:upp", 0, RK_EVENT_USER, 2, ""},
        {"skx::INST_RETIRED:ANY_P/name=mine/u", 0, RK_EVENT_USER, 0, ""},
        {"skx::INST_RETIRED:NOT_THERE", -EINVAL, 0, 0, "libpfm4"},
        {"skx::NOT_THERE_AT_ALL", -ENOENT, 0, 0, "another processor"},
        {"not_a_pmu::NOT_THERE", -ENOENT, 0, 0, "no PMU of that name"},
    };
    struct rk_host *host = fake_machine("intel-server");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rk_events *events = NULL;
        struct rk_event event = {.size = sizeof event};
        struct rk_error e = {.size = sizeof e};
        int rc = rk_events_parse(host, rows[i].text, &events, &e);
        if (rc != rows[i].rc || !strstr(e.what, rows[i].what))
            fail_msg("%s: %d %s", rows[i].text, rc, e.what);
        if (rc == 0) {
            assert_int_equal(rk_events_get(events, 0, &event), 0);
            if (event.flags != rows[i].flags || event.precise != rows[i].precise || event.type != 4)
                fail_msg("%s: flags %#x precise %u", rows[i].text, event.flags, event.precise);
        }
        rk_events_free(events);
    }
    rk_host_free(host);
    fake_end();
}

/* The first event of this processor whose name is long enough to be misspelt, and has a umask. */
static struct libpfm_event some;
static char some_umask[64];

static int take_some(void *context, const struct libpfm_event *event)
{
    struct libpfm_umask umask;
    (void)context;
    if (!event->core || strlen(event->name) < 8 || strlen(event->name) > 50 || event->attributes == 0 ||
        !libpfm_umask(event, 0, &umask) || strlen(umask.name) < 4)
        return 0;
    some = *event;
    snprintf(some_umask, sizeof some_umask, "%s", umask.name);
    return 1;
}

static void nearest_names_of_this_processor(void **state)
{
    (void)state;
    struct rk_host *host = fake_machine("intel-server");
    char text[200];
    if (libpfm_each(take_some, NULL) != 1) {
        print_message("libpfm4 knows no processor of this kind\n");
        rk_host_free(host);
        fake_end();
        skip();
    }
    int cut = (int)strlen(some.name) - 1; /* the last letter is missing */
    for (size_t i = 0; i < 3; i++) {
        struct rk_events *events = NULL;
        struct rk_error e = {.size = sizeof e};
        if (i == 0)
            snprintf(text, sizeof text, "%.*s", cut, some.name);
        else if (i == 1)
            snprintf(text, sizeof text, "%s::%.*s", some.pmu, cut, some.name);
        else
            snprintf(text, sizeof text, "%s:%.*sQ", some.name, (int)strlen(some_umask) - 1, some_umask);
        int rc = rk_events_parse(host, text, &events, &e);
        if (rc != (i == 2 ? -EINVAL : -ENOENT) || !strstr(e.remedy, i == 2 ? some_umask : some.name))
            fail_msg("%s: %d %s / %s", text, rc, e.what, e.remedy);
    }
    rk_host_free(host);
    fake_end();
}

static void without_a_pmu_the_name_is_known_and_refused(void **state)
{
    (void)state;
    struct rk_events *events = NULL;
    struct rk_error e = {.size = sizeof e};
    struct rk_host *host = fake_machine("vm-no-pmu");
    assert_int_equal(rk_events_parse(host, "skx::INST_RETIRED:ANY_P", &events, &e), -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_PMU);
    assert_non_null(strstr(e.what, "no PMU"));
    /* Not of a core: libpfm4 itself looks for the PMU, and without it is not to be taken for one that knows no name. */
    e = (struct rk_error){.size = sizeof e};
    assert_int_equal(rk_events_parse(host, "amd64_fam19h_zen3_l3::UNC_L3_REQUESTS:ALL", &events, &e),
                     -ENOENT);
    assert_int_equal(e.cause, RK_CAUSE_NO_PMU);
    assert_non_null(strstr(e.what, "shows no PMU"));
    assert_int_equal(rk_events_parse(host, "perf::page-faults", &events, &e), 0);
    rk_events_free(events);
    rk_host_free(host);
    fake_end();
}

int main(void)
{
    const struct CMUnitTest of_arm[] = {cmocka_unit_test(arm)};
    const struct CMUnitTest of_x86[] = {
        cmocka_unit_test(intel),
        cmocka_unit_test(amd),
        cmocka_unit_test(words_behind_a_name),
        cmocka_unit_test(nearest_names_of_this_processor),
        cmocka_unit_test(without_a_pmu_the_name_is_known_and_refused),
    };
    setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* names of other processors than this one's */
    library = dlopen("libpfm.so.4", RTLD_NOW);
    if (!library) {
        puts("libpfm4 is not installed: run tools/setup");
        return 77;
    }
    int (*initialize)(void) = dlsym(library, "pfm_initialize");
    if (!initialize || initialize() != 0)
        return 77;
    struct pmu_info pmu = {.size = sizeof pmu};
    if (find_pmu("arm_n1", &pmu))
        return cmocka_run_group_tests(of_arm, NULL, NULL);
    if (find_pmu("skx", &pmu))
        return cmocka_run_group_tests(of_x86, NULL, NULL);
    puts("this libpfm4 has neither x86's tables nor arm64's");
    return 77;
}

/*
 * Probing, against kernels of several ages: one function answers perf_event_open as each of them does with an attr that it
 * does not know all of (perf_copy_attr() and perf_event_alloc() of that release).
 */
#include "../fake_root.h"
#include "base/abi.h"
#include "host/host.h"
#include "sys/perf.h"

#include <stdbool.h>

static const struct age {
    const char *release;
    uint32_t size;        /* of its perf_event_attr */
    int flags;            /* bits that it has names for */
    int samples, formats; /* the same of sample_type and read_format */
    bool clockid, max_stack, aux_action, inherit_group, inherit_read;
    const char *known; /* by our names, in order */
} ages[] = {
    {"4.0", 104, 25, 19, 4, .known = "mmap2 comm-exec "},
    {"4.9", 112, 28, 19, 4, .clockid = true, .max_stack = true,
     .known = "mmap2 comm-exec clockid context-switch write-backward max-stack "},
    {"5.4", 112, 32, 20, 4, .clockid = true, .max_stack = true, .inherit_group = true,
     .known = "mmap2 comm-exec clockid context-switch write-backward max-stack namespaces inherit-group "
              "sample-phys-addr ksymbol bpf-event aux-output "},
    {"6.1", 128, 38, 25, 5, .clockid = true, .max_stack = true, .inherit_group = true,
     .known = "mmap2 comm-exec clockid context-switch write-backward max-stack namespaces inherit-group "
              "sample-phys-addr ksymbol bpf-event aux-output sample-aux cgroup sample-cgroup text-poke "
              "sample-data-page-size sample-code-page-size build-id sample-weight-struct inherit-thread "
              "remove-on-exec sigtrap read-lost "},
    {"6.18", 136, 38, 25, 5, .clockid = true, .max_stack = true, .aux_action = true, .inherit_group = true,
     .inherit_read = true,
     .known = "mmap2 comm-exec clockid context-switch write-backward max-stack namespaces inherit-group "
              "sample-phys-addr ksymbol bpf-event aux-output sample-aux cgroup sample-cgroup text-poke "
              "sample-data-page-size sample-code-page-size build-id sample-weight-struct inherit-thread "
              "remove-on-exec sigtrap read-lost config3 inherit-read aux-pause "},
};

static const struct age *now;
static int opens, always; /* always: the answer whatever is asked, as a filter or a strict kernel gives it */
static bool plain_user;
static struct rk_host *host;

static bool rest_is_zero(const struct perf_attr *attr, uint32_t from)
{
    for (uint32_t i = from; i < attr->size && i < sizeof *attr; i++)
        if (((const unsigned char *)attr)[i])
            return false;
    return true;
}

/* What the kernel says to bits and fields that it has no name for. */
static bool unknown(const struct perf_attr *attr)
{
    return attr->flags >> now->flags || attr->sample_type >> now->samples ||
           attr->read_format >> now->formats || (attr->clockid && !now->clockid) ||
           (attr->sample_max_stack && !now->max_stack) || (attr->aux_action && !now->aux_action);
}

/* The rest of sys/perf.h that a host could use. */
uint32_t *sys_fork_word(void)
{
    return NULL;
}

void sys_fork_word_free(uint32_t *word)
{
    (void)word;
}

int sys_perf_open(struct perf_attr *attr, int32_t pid, int32_t cpu, int group_fd, unsigned flags)
{
    assert_true(pid == 0 && cpu == -1 && group_fd == -1 && flags == 0); /* this thread, nobody else's */
    opens++;
    if (always)
        return always;
    if (attr->size < ATTR_SIZE_0 || (attr->size > now->size && !rest_is_zero(attr, now->size))) {
        attr->size = now->size;
        return -E2BIG;
    }
    assert_int_equal(attr->type, PERF_SOFTWARE);
    assert_true(attr->flags & ATTR_DISABLED && attr->flags & ATTR_EXCLUDE_KERNEL);
    if (unknown(attr))
        return -EINVAL;
    if (plain_user && (attr->flags & ATTR_NAMESPACES || attr->sample_type >> 19 & 1))
        return -EACCES;
    bool inherit = attr->flags & ATTR_INHERIT;
    if ((inherit && attr->read_format & FORMAT_GROUP && !now->inherit_group) ||
        (inherit && attr->sample_type >> 4 & 1 && !now->inherit_read) ||
        (attr->flags & ATTR_INHERIT_THREAD && !inherit) ||
        (attr->flags & ATTR_SIGTRAP && !(attr->flags & ATTR_REMOVE_ON_EXEC)))
        return -EINVAL;
    if (attr->flags & ATTR_AUX_OUTPUT || attr->aux_action)
        return -EOPNOTSUPP;
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void new_host(const struct age *age)
{
    struct rk_error e = {.size = sizeof e};
    rk_host_free(host);
    now = age;
    opens = always = 0;
    assert_int_equal(rk_host_open("/", &host, &e), 0);
}

static int tear_down(void **state)
{
    (void)state;
    host = rk_host_free(host);
    return 0;
}

static void every_age(void **state)
{
    (void)state;
    for (int user = 0; user < 2; user++)
        for (size_t i = 0; i < sizeof ages / sizeof *ages; i++) {
            char known[1024] = "";
            int64_t size;
            new_host(&ages[i]);
            plain_user = user; /* what a user may not do is known all the same */
            for (uint32_t f = 0; f < HOST_FEATURES; f++) {
                struct rk_feature_text text = {.size = sizeof text};
                assert_int_equal(rk_feature_describe(f, &text), 0);
                if (f == RK_FEATURE_PMU_TYPE) /* is no bit: below */
                    continue;
                int got = rk_host_feature(host, f);
                assert_in_range(got, 0, 1);
                if (got)
                    strcat(strcat(known, text.name), " ");
            }
            assert_string_equal(known, ages[i].known);
            assert_int_equal(rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size), 0);
            assert_int_equal(size, ages[i].size);
        }
    plain_user = false;
}

static void asked_once(void **state)
{
    (void)state;
    int64_t size;
    new_host(&ages[4]);
    assert_int_equal(opens, 0);
    assert_int_equal(rk_host_feature(host, RK_FEATURE_READ_LOST), 1);
    assert_int_equal(rk_host_feature(host, RK_FEATURE_READ_LOST), 1);
    assert_int_equal(opens, 1);
    rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size);
    rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size);
    assert_int_equal(opens, 2);
    /* what says nothing of the kernel is asked again */
    new_host(&ages[4]);
    always = -EMFILE;
    assert_int_equal(rk_host_feature(host, RK_FEATURE_CGROUP), -EMFILE);
    assert_int_equal(rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size), -EMFILE);
    always = 0;
    assert_int_equal(rk_host_feature(host, RK_FEATURE_CGROUP), 1);
    assert_int_equal(rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size), 0);
}

/* A filter, a kernel that lets nobody, one without perf: none of them says what is known. */
static void nothing_can_be_told(void **state)
{
    (void)state;
    static const int answers[] = {-EPERM, -EACCES, -ENOSYS, -EINVAL};
    for (size_t i = 0; i < 4; i++) {
        int64_t size = 7;
        new_host(&ages[4]);
        always = answers[i];
        assert_int_equal(rk_host_feature(host, RK_FEATURE_BUILD_ID), answers[i]);
        assert_int_equal(rk_host_limit(host, RK_LIMIT_ATTR_SIZE, &size), answers[i]);
        assert_int_equal(size, 7);
    }
}

static void each_has_a_text(void **state)
{
    (void)state;
    struct rk_feature_text text = {.size = sizeof text}, other = {.size = sizeof other};
    new_host(&ages[0]);
    for (uint32_t f = 0; f < HOST_FEATURES; f++) {
        assert_int_equal(rk_feature_describe(f, &text), 0);
        assert_true(text.name[0] && text.about[0] && strchr(text.since, '.'));
        for (uint32_t g = 0; g < f; g++) {
            assert_int_equal(rk_feature_describe(g, &other), 0);
            assert_string_not_equal(text.name, other.name);
        }
    }
    assert_int_equal(rk_feature_describe(HOST_FEATURES, &text), -ERANGE);
    assert_int_equal(rk_feature_describe(0, NULL), -EINVAL);
    assert_int_equal(rk_host_feature(host, HOST_FEATURES), -EINVAL);
    assert_int_equal(rk_host_feature(NULL, 0), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_age, tear_down),
        cmocka_unit_test_teardown(asked_once, tear_down),
        cmocka_unit_test_teardown(nothing_can_be_told, tear_down),
        cmocka_unit_test_teardown(each_has_a_text, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

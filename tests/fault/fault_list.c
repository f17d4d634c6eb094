/* `reckon list`: what can't be opened is a finding; memory and descriptors that run out are failures. */
#include "fault.h"

static int discard(void *context, const void *data, size_t n)
{
    (void)context, (void)data, (void)n;
    return 0;
}

static int scenario(uint64_t *digest)
{
    static const char *const words[] = {"sched_s"};
    struct rk_list_options options = {
        .size = sizeof options, .flags = RK_LIST_LONG, .words = words, .words_n = 1};
    struct rk_host *host = NULL;
    struct rk_list *list = NULL, *found = NULL;
    struct rk_sink sink = {sizeof sink, 0, discard, NULL};
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(list, rk_list_open(host, NULL, &list, e));
    EXPECT(rk_list_count(list) >= 10 + 32 + 12);
    NEW(found, rk_list_open(host, &options, &found, e));
    for (size_t i = 0; i < rk_list_count(list); i++) {
        struct rk_list_entry entry = {.size = sizeof entry};
        HOT(rk_list_get(list, i, &entry));
        EXPECT(entry.name[0] && entry.group[0] && (entry.able != RK_ABLE_NO || entry.what[0]));
        *digest = fault_fold(*digest, &entry.able, sizeof entry.able);
    }
    TRY(rk_list_export(list, "json", &sink, e));
end:
    EXPECT(rk_list_free(found) == NULL);
    EXPECT(rk_list_free(list) == NULL);
    EXPECT(rk_host_free(host) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(
        &(struct fault_scenario){.name = "list",
                                 .run = scenario,
                                 .absorbed_memory = 1 /* libpfm4 that can't be loaded is not there */,
                                 .repeats = 1},
        argc, argv);
}

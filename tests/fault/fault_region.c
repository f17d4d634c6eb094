/* Regions: names, a thread with its counters, nesting, the report. */
#include "fault.h"

#include "region/regions.h"

#include <errno.h>
#include <string.h>

/* A region that could not be begun must not be missed at its end. */
static int begin(struct region_thread *thread, struct rk_region *region)
{
    int rc = region_thread_begin(thread, region);

    EXPECT(rc == 0 || rc == -ENOMEM);
    return rc;
}

static int swallow(void *context, const void *data, size_t n)
{
    char **text = context;

    if (n >= 8 && memcmp(data, "{\"version", 8) == 0)
        *text = (char *)(uintptr_t) "begun";
    return 0;
}

static int scenario(uint64_t *digest)
{
    struct regions *regions = NULL;
    struct region_thread *thread = NULL;
    char *text = NULL;
    const struct rk_sink sink = {sizeof sink, 0, swallow, &text};
    int rc = 0;

    NEW(regions, regions_new("task-clock:u,page-faults:u", &regions, e));
    struct rk_region *a = regions_get(regions, "a"), *b = regions_get(regions, "b");
    if (!a || !b) {
        EXPECT(regions->nameless > 0);
        rc = -ENOMEM;
        goto end;
    }
    thread = regions_join(regions);
    if (!thread) {
        EXPECT(regions->strangers == 1);
        rc = -ENOMEM;
        goto end;
    }
    int outer = begin(thread, a), inner = begin(thread, b);
    EXPECT(region_thread_end(thread, b) == 0);
    EXPECT(region_thread_end(thread, a) == 0);
    EXPECT(thread->tree.frames.n == 0 && thread->tree.missed == 0);
    TRY(regions_export(regions, "json", &sink, e));
    TRY(regions_export(regions, "text", &sink, e));
    EXPECT(text);
    regions_leave(thread);
    EXPECT(regions->n_ended == 1 && !thread->set);
    rc = !thread->why.code ? outer < 0 ? outer : inner : thread->why.code;
    if (rc == 0 && thread->tree.unread)
        rc = -EIO; /* said in the report */
    *digest = fault_fold(*digest, &thread->tree.nodes.n, sizeof thread->tree.nodes.n);
end:
    EXPECT(regions_free(regions) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "region", .run = scenario}, argc, argv);
}

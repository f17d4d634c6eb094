/*
 * The machines of tests/data/host: fake_tree("intel-hybrid") unpacks NAME.tree into the fake root, or opens the
 * directory NAME where there is one.
 */
#ifndef FAKE_TREE_H
#define FAKE_TREE_H

#include "fixture.h"

#include <reckon/host.h>

__attribute__((unused)) static struct rk_host *fake_machine(const char *name)
{
    char path[FIXTURE_PATH], tree[FIXTURE_PATH], command[3 * FIXTURE_PATH], file[128];
    struct rk_host *host = NULL;

    fake_root();
    snprintf(file, sizeof file, "host/%s", name);
    if (access(fixture_path(file, path), F_OK) < 0) {
        snprintf(file, sizeof file, "host/%s.tree", name);
        snprintf(command, sizeof command, "'%s' '%s' '%s'", fixture_path("host/unpack", path),
                 fixture_path(file, tree), fake_path);
        assert_int_equal(system(command), 0);
        snprintf(path, sizeof path, "%s", fake_path);
    }
    assert_int_equal(rk_host_open(path, &host, NULL), 0);
    return host;
}

#endif

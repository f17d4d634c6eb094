#include "symbol/origin.h"

#include "sys/file.h"
#include "sys/name.h"

#include <string.h>

static enum origin_is compare(int root, const char *path, const char *asked, const char *recorded)
{
    char text[72];

    if (sys_file_text(root, path, text, sizeof text) > 0)
        asked = text;
    return !recorded[0] || !asked[0]      ? ORIGIN_UNKNOWN
           : strcmp(recorded, asked) == 0 ? ORIGIN_HERE
                                          : ORIGIN_ELSEWHERE;
}

struct provenance provenance_find(int root, const char *host, const char *release)
{
    struct provenance origin = {ORIGIN_HERE, ORIGIN_HERE};
    struct sys_name own;

    if (!host && !release)
        return origin;
    sys_name(&own);
    if (host)
        origin.machine = compare(root, "proc/sys/kernel/hostname", own.host, host);
    if (release)
        origin.kernel = compare(root, "proc/sys/kernel/osrelease", own.kernel, release);
    /* Many machines have one release, each of its own build perhaps, at an address of its own. */
    if (origin.kernel == ORIGIN_HERE)
        origin.kernel = origin.machine;
    return origin;
}

#include "doctor/others.h"

#include "host/host.h"
#include "sys/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct search {
    struct rk_host *host;
    int64_t mine;
    int32_t *found;
    size_t n, room;
};

/* The effective user of /proc/WHO, or -1. */
static int64_t user_of(struct rk_host *host, const char *who)
{
    char path[64], text[8192];
    long long real, effective;

    snprintf(path, sizeof path, "proc/%.20s/status", who);
    if (sys_file_text(host->root, path, text, sizeof text) < 0)
        return -1;
    const char *line = strstr(text, "\nUid:");
    return line && sscanf(line, "\nUid: %lld %lld", &real, &effective) == 2 ? effective : -1;
}

static int look(void *context, const char *name)
{
    struct search *search = context;
    char *end;
    long pid = strtol(name, &end, 10);

    if (*end || pid <= 0 || pid > INT32_MAX)
        return 0;
    int64_t user = user_of(search->host, name);
    if (user < 0 || user == search->mine)
        return 0;
    search->found[search->n++] = (int32_t)pid;
    return search->n == search->room;
}

size_t others_find(struct rk_host *host, int32_t *ret, size_t room)
{
    struct search search = {host, user_of(host, "self"), ret, 0, room};

    if (search.mine >= 0)
        sys_dir_each(host->root, "proc", look, &search);
    return search.n;
}

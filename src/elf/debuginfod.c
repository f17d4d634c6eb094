/*
 * The functions are those of libdebuginfod since elfutils 0.180. It asks all servers at once and calls progress() at least
 * once a second meanwhile, which is where the time limit is.
 */
#include "elf/debuginfod.h"

#include "sys/library.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

typedef int find_function(void *client, const unsigned char *id, int bytes, char **path);

struct debuginfod {
    void *client;
    void (*end)(void *client);
    find_function *find_program, *find_debug;
    int64_t until_s; /* of the monotonic clock */
    bool over;       /* a server was too slow, or is not there: no other file waits for it */
};

static int64_t now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec;
}

/* Non-zero ends the transfer. */
static int progress(void *client, long done, long all)
{
    void *(*data_of)(void *) = NULL;
    void *library = sys_library("libdebuginfod.so.1");

    (void)done;
    (void)all;
    *(void **)&data_of = sys_library_function(library, "debuginfod_get_user_data");
    const struct debuginfod *servers = data_of(client);
    return now_s() >= servers->until_s;
}

/* POSIX: a function's address comes as an object's. */
static bool load(void *library, const char *name, void *ret)
{
    void *function = sys_library_function(library, name);

    *(void **)ret = function;
    return function;
}

static int begin(struct debuginfod *servers)
{
    void *library = sys_library("libdebuginfod.so.1");
    void *(*make)(void) = NULL, *(*get_data)(void *) = NULL;
    void (*set_data)(void *, void *) = NULL;
    void (*set_progress)(void *, int (*)(void *, long, long)) = NULL;

    if (!library || !load(library, "debuginfod_begin", &make) ||
        !load(library, "debuginfod_end", &servers->end) ||
        !load(library, "debuginfod_find_executable", &servers->find_program) ||
        !load(library, "debuginfod_find_debuginfo", &servers->find_debug) ||
        !load(library, "debuginfod_get_user_data", &get_data) ||
        !load(library, "debuginfod_set_user_data", &set_data) ||
        !load(library, "debuginfod_set_progressfn", &set_progress))
        return -EOPNOTSUPP;
    servers->client = make();
    if (!servers->client)
        return -ENOMEM;
    set_data(servers->client, servers);
    set_progress(servers->client, progress);
    return 0;
}

int debuginfod_open(struct debuginfod **ret)
{
    const char *urls = secure_getenv("DEBUGINFOD_URLS");

    if (!urls || !*urls)
        return -ENOENT;
    struct debuginfod *servers = calloc(1, sizeof *servers);
    if (!servers)
        return -ENOMEM;
    int rc = begin(servers);
    if (rc < 0)
        free(servers);
    else
        *ret = servers;
    return rc;
}

struct debuginfod *debuginfod_close(struct debuginfod *servers)
{
    if (servers)
        servers->end(servers->client);
    free(servers);
    return NULL;
}

int debuginfod_find(struct debuginfod *servers, const struct build_id *id, bool debug)
{
    char *path = NULL;

    if (servers->over)
        return -ETIMEDOUT;
    servers->until_s = now_s() + DEBUGINFOD_SECONDS;
    int fd =
        (debug ? servers->find_debug : servers->find_program)(servers->client, id->id, (int)id->bytes, &path);
    free(path);
    if (fd >= 0 || fd == -ENOENT || fd == -ENOMEM || fd == -EMFILE || fd == -ENFILE)
        return fd;
    servers->over = true;
    return -ETIMEDOUT;
}

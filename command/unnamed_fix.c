#include "unnamed.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <reckon/symbol.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 4096
#define MODULES_MOST 16 /* whose packages are looked up */
#define DPKG "/var/lib/dpkg/info"

/* ---- packages ---- */

/* Whether a path can be pasted as it is. */
static bool is_plain(const char *path)
{
    return path[0] == '/' &&
           !path[strspn(path, "/abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-")];
}

/* The two names that a file has where /lib is /usr/lib. */
static const char *below_usr(const char *path)
{
    return strncmp(path, "/usr/", 5) == 0 ? path + 4 : path;
}

static bool lists(int folder, const char *name, const char *path)
{
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    FILE *list = fd < 0 ? NULL : fdopen(fd, "r");
    char line[PATH_BYTES];
    bool found = false;

    if (!list) {
        if (fd >= 0)
            close(fd);
        return false;
    }
    while (!found && fgets(line, sizeof line, list)) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(below_usr(line), below_usr(path)) == 0;
    }
    fclose(list);
    return found;
}

/* Debian's package of a file, by dpkg's lists. */
static bool find_package(const char *path, char *ret, size_t room)
{
    DIR *folder = opendir(DPKG);
    bool found = false;

    if (!folder)
        return false;
    for (struct dirent *entry = readdir(folder); entry && !found; entry = readdir(folder)) {
        size_t n = strlen(entry->d_name);
        if (n > 5 && strcmp(entry->d_name + n - 5, ".list") == 0 &&
            lists(dirfd(folder), entry->d_name, path)) {
            snprintf(ret, room, "%.*s", (int)strcspn(entry->d_name, ":"), entry->d_name);
            if (!strchr(entry->d_name, ':'))
                ret[n - 5 < room ? n - 5 : room - 1] = '\0';
            found = true;
        }
    }
    closedir(folder);
    return found;
}

/* Adds a word, once. */
static void add_word(char *words, size_t room, const char *word, const char *behind)
{
    char whole[300];
    size_t n = strlen(words);

    snprintf(whole, sizeof whole, " %s%s", word, behind);
    const char *at = strstr(words, whole);
    bool there = at && (at[strlen(whole)] == ' ' || at[strlen(whole)] == '\0');
    if (!there && n + strlen(whole) < room)
        memcpy(words + n, whole, strlen(whole) + 1);
}

static void fix_stripped(const char *const *paths, size_t n)
{
    char packages[1000] = "", name[256];
    const char *rpm = access("/usr/bin/rpm", X_OK) == 0 && access(DPKG, F_OK) != 0 ? paths[0] : NULL;
    bool own = false;

    for (size_t i = 0; i < n; i++) {
        if (find_package(paths[i], name, sizeof name))
            add_word(packages, sizeof packages, name, strcmp(name, "libc6") == 0 ? "-dbg" : "-dbgsym");
        else
            own |= strncmp(paths[i], "/usr/", 5) != 0;
    }
    if (packages[0])
        printf("  fix: sudo apt install%s\n", packages);
    if (rpm && strncmp(rpm, "/usr/", 5) == 0 && is_plain(rpm))
        printf("  fix: sudo dnf debuginfo-install $(rpm -qf %s)\n", rpm);
    if (own)
        printf("  fix: build it without -s and strip(1)\n");
    if ((packages[0] || rpm) && !getenv("DEBUGINFOD_URLS")) {
        glob_t urls = {0};
        if (glob("/etc/debuginfod/*.urls", 0, NULL, &urls) == 0)
            printf("  fix: export DEBUGINFOD_URLS=\"$(cat /etc/debuginfod/*.urls)\"\n");
        globfree(&urls);
    }
}

/* ---- code made at run time ---- */

static const struct {
    const char *begin, *fix;
} makers[] = {
    {"node", "node --perf-basic-prof"},
    {"java", "java -XX:+PreserveFramePointer -agentpath:/usr/lib/libperf-jvmti.so (where perf has it)"},
    {"python", "python3 -X perf (3.12)"},
    {"dotnet", "DOTNET_PerfMapEnabled=1 dotnet"},
    {"ruby", "ruby --yjit --yjit-perf"},
    {"php", "php -d opcache.jit_debug=16"},
    {"beam.smp", "erl +JPperf true"},
    {"chrom", "chromium --no-sandbox --js-flags=--perf-basic-prof"},
};

/* The name of the process: that of its first thread, else of this one. */
static const char *process_of(const struct rk_profile_columns *c, uint32_t thread)
{
    uint32_t name = c->thread_name[thread];

    for (size_t i = 0; i < c->thread_n; i++)
        if (c->thread_pid[i] == c->thread_pid[thread] && c->thread_tid[i] == c->thread_pid[i])
            name = c->thread_name[i];
    return c->text[name];
}

static void fix_anonymous(const struct rk_profile_columns *c)
{
    bool said[sizeof makers / sizeof *makers] = {false}, any = false, other = false;

    for (size_t i = 0; i < c->sample_n; i++) {
        if (c->frame_miss[c->node_frame[c->sample_node[i]]] != RK_MISS_ANONYMOUS ||
            c->sample_thread[i] >= c->thread_n)
            continue;
        const char *name = process_of(c, c->sample_thread[i]);
        size_t m = 0;
        while (name && m < sizeof makers / sizeof *makers &&
               strncmp(name, makers[m].begin, strlen(makers[m].begin)) != 0)
            m++;
        if (!name || m == sizeof makers / sizeof *makers) {
            other = true;
        } else if (!said[m]) {
            said[m] = any = true;
            printf("  fix: %s\n", makers[m].fix);
        }
        if (other && any)
            break;
    }
    if (other && !any)
        printf("  fix: let what made the code write /tmp/perf-PID.map: node --perf-basic-prof, python3 -X "
               "perf\n");
}

void unnamed_fixes(const struct rk_profile *profile)
{
    struct rk_profile_columns c = RK_INIT(c);
    struct rk_profile_summary summary = RK_INIT(summary);
    const char *stripped[MODULES_MOST], *worth[MODULES_MOST];
    uint64_t samples[MODULES_MOST] = {0};
    size_t n = 0, worth_n = 0;
    bool anonymous = false;

    if (rk_profile_columns(profile, &c) < 0 || rk_profile_summary(profile, &summary) < 0)
        return;
    for (size_t i = 0; i < c.sample_n; i++) {
        uint32_t frame = c.node_frame[c.sample_node[i]];
        anonymous |= c.frame_miss[frame] == RK_MISS_ANONYMOUS;
        if (c.frame_miss[frame] != RK_MISS_STRIPPED)
            continue;
        const char *path = c.text[c.frame_path[frame]];
        size_t known = 0;
        while (known < n && strcmp(stripped[known], path) != 0)
            known++;
        if (known == n && n < MODULES_MOST)
            stripped[n++] = path;
        if (known < n)
            samples[known] += c.sample_count[i];
    }
    for (size_t i = 0; i < n; i++)
        if (samples[i] >= summary.samples / 100)
            worth[worth_n++] = stripped[i];
    if (worth_n)
        fix_stripped(worth, worth_n);
    if (anonymous)
        fix_anonymous(&c);
}

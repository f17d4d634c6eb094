#include "capture/synth.h"

#include "record/encode.h"
#include "sys/file.h"
#include "sys/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MODE_KERNEL 1
#define MODE_USER 2

#define KALLSYMS_PART ((size_t)256 << 10) /* the kernel's beginning is among its first symbols */
#define MAPS_LIMIT ((size_t)64 << 20)
#define MODULES_LIMIT ((size_t)4 << 20)

/* Hands on what was encoded into the buffer; a name too long for any record is left out. */
static int put(struct synth *s, int encoded)
{
    if (encoded == -EMSGSIZE)
        return 0;
    if (encoded < 0)
        return encoded;
    s->records++;
    return s->error = s->put(s->context, (const void *)s->buffer);
}

/* --- Text --- */

static bool take_number(const char **at, unsigned base, uint64_t *ret)
{
    uint64_t value = 0;
    const char *begin = *at;

    for (;; ++*at) {
        unsigned c = (unsigned char)**at;
        unsigned digit = c - '0' <= 9 ? c - '0' : (c | 32) - 'a' <= 5 ? (c | 32) - 'a' + 10 : 16;
        if (digit >= base)
            break;
        value = value * base + digit;
    }
    *ret = value;
    return *at > begin;
}

static void skip_blanks(const char **at)
{
    while (**at == ' ')
        ++*at;
}

/* --- The kernel --- */

/* The address of _text, else _stext: kallsyms is read to there, not to its 100,000th line. */
static uint64_t kernel_start(int root, const char **ret_name)
{
    static const char *const names[] = {"_text", "_stext"};
    _cleanup_close_ int fd = sys_open_at(root, "proc/kallsyms", O_RDONLY, 0);
    char part[16 << 10];
    size_t have = 0;
    uint64_t found[2] = {0};

    if (fd < 0)
        return 0;
    for (size_t total = 0; total < KALLSYMS_PART && !found[0] && !found[1];) {
        int64_t n = sys_read(fd, part + have, sizeof part - 1 - have);
        if (n <= 0)
            break;
        total += (size_t)n;
        have += (size_t)n;
        part[have] = 0;

        const char *line = part, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            const char *at = line;
            uint64_t address;
            if (!take_number(&at, 16, &address) || at[0] != ' ' || at + 3 > end || at[2] != ' ')
                continue;
            for (int i = 0; i < 2; i++)
                if ((size_t)(end - at - 3) == strlen(names[i]) &&
                    memcmp(at + 3, names[i], strlen(names[i])) == 0)
                    found[i] = address;
        }
        have -= (size_t)(line - part);
        memmove(part, line, have);
        if (have == sizeof part - 1)
            break; /* a line that long is none */
    }
    *ret_name = names[!found[0]];
    return found[0] ? found[0] : found[1];
}

static int put_kernel_mapping(struct synth *s, uint64_t start, uint64_t end, uint64_t offset,
                              const char *path)
{
    struct rk_record from = {.misc = MODE_KERNEL, .pid = -1};
    struct rk_mapping mapping = {.size = sizeof mapping,
                                 .pid = -1,
                                 .protection = 5,
                                 .flags = 2,
                                 .start = start,
                                 .length = end - start,
                                 .file_offset = offset,
                                 .path = path};
    return put(s, encode_mapping(s->layout, &from, &mapping, s->buffer, sizeof s->buffer));
}

/* One line of /proc/modules: "name size refs users state 0xaddress …". False: not such a line, or hidden. */
static bool module_line(const char *line, char name[static 64], uint64_t *ret_size, uint64_t *ret_address)
{
    const char *at = line;
    size_t n = strcspn(line, " \n");

    if (n == 0 || n > 60)
        return false;
    snprintf(name, 64, "[%.*s]", (int)n, line);
    at += n;
    skip_blanks(&at);
    if (!take_number(&at, 10, ret_size))
        return false;
    for (int field = 0; field < 3; field++) {
        skip_blanks(&at);
        at += strcspn(at, " \n");
    }
    skip_blanks(&at);
    return at[0] == '0' && at[1] == 'x' && (at += 2, take_number(&at, 16, ret_address)) && *ret_address &&
           *ret_size && *ret_size < UINT64_MAX - *ret_address;
}

int synth_kernel(struct synth *s)
{
    _cleanup_free_ char *modules = NULL;
    const char *symbol = "_text";
    uint64_t start = kernel_start(s->root, &symbol), end = UINT64_MAX, size, address;
    char name[64];
    size_t n;

    if (start == 0)
        return 0;
    int r = sys_file_load(s->root, "proc/modules", MODULES_LIMIT, &modules, &n);
    if (r == -ENOMEM)
        return r;
    if (r < 0)
        modules = NULL; /* a kernel without modules */

    /* The kernel reaches to the first module above it, or to the top. */
    for (const char *line = modules; line && *line; line = strchrnul(line, '\n'), line += *line == '\n')
        if (module_line(line, name, &size, &address) && address > start && address < end)
            end = address;
    char path[32];
    snprintf(path, sizeof path, "[kernel.kallsyms]%s", symbol);
    r = put_kernel_mapping(s, start, end, start, path);
    for (const char *line = modules; line && *line && r == 0;
         line = strchrnul(line, '\n'), line += *line == '\n')
        if (module_line(line, name, &size, &address))
            r = put_kernel_mapping(s, address, address + size, 0, name);
    return r;
}

/* --- Processes --- */

static int put_maps(struct synth *s, int32_t pid)
{
    _cleanup_free_ char *text = NULL;
    struct maps_line line;
    char path[48];
    size_t n;
    int r, got;

    snprintf(path, sizeof path, "proc/%" PRId32 "/maps", pid);
    r = sys_file_load(s->root, path, MAPS_LIMIT, &text, &n);
    if (r < 0)
        return r == -ENOMEM ? r : 0; /* it has ended, or is another user's */
    for (char *at = text; r == 0 && (got = maps_next(&at, &line)) != 0;) {
        bool code = got > 0 && line.protection & 4;
        if (got < 0 || (!code && !s->data_maps))
            continue;
        struct rk_record from = {
            .misc = code ? MODE_USER : MODE_USER | RK_MISC_MMAP_DATA, .pid = pid, .tid = pid};
        struct rk_mapping mapping = {.size = sizeof mapping,
                                     .pid = pid,
                                     .tid = pid,
                                     .protection = line.protection,
                                     .flags = line.shared ? 1 : 2,
                                     .major = line.major,
                                     .minor = line.minor,
                                     .start = line.start,
                                     .length = line.end - line.start,
                                     .file_offset = line.offset,
                                     .inode = line.inode,
                                     .path = line.path};
        r = put(s, encode_mapping(s->layout, &from, &mapping, s->buffer, sizeof s->buffer));
    }
    return r;
}

static int put_comm(struct synth *s, int32_t pid, int32_t tid)
{
    char path[64], name[64];

    snprintf(path, sizeof path, "proc/%" PRId32 "/task/%" PRId32 "/comm", pid, tid);
    if (sys_file_text(s->root, path, name, sizeof name) < 0)
        return 0;
    struct rk_record from = {.misc = MODE_USER, .pid = pid, .tid = tid};
    struct rk_comm comm = {.size = sizeof comm, .pid = pid, .tid = tid, .name = name};
    return put(s, encode_comm(s->layout, &from, &comm, s->buffer, sizeof s->buffer));
}

/* The process that a thread belongs to, or 0: it has ended. */
static int32_t process_of(int root, int32_t id)
{
    char path[48], text[16 << 10];
    uint64_t pid = 0;

    snprintf(path, sizeof path, "proc/%" PRId32 "/status", id);
    if (sys_file_text(root, path, text, sizeof text) < 0)
        return 0;
    const char *at = strstr(text, "\nTgid:");
    if (!at)
        return 0;
    at += strlen("\nTgid:");
    while (*at == '\t' || *at == ' ')
        at++;
    return take_number(&at, 10, &pid) && pid <= INT32_MAX ? (int32_t)pid : 0;
}

struct threads {
    struct synth *synth;
    int32_t pid;
};

static int each_thread(void *context, const char *name)
{
    struct threads *threads = context;
    uint64_t tid;

    if (!take_number(&name, 10, &tid) || *name || tid > INT32_MAX)
        return 0;
    return put_comm(threads->synth, threads->pid, (int32_t)tid);
}

static int put_process(struct synth *s, int32_t pid)
{
    struct threads threads = {s, pid};
    char path[48];

    snprintf(path, sizeof path, "proc/%" PRId32 "/task", pid);
    int r = sys_dir_each(s->root, path, each_thread, &threads);
    if (s->error || r == -ENOMEM)
        return r;
    return r < 0 ? 0 : put_maps(s, pid); /* r < 0: it has ended, or is hidden from this user */
}

int synth_task(struct synth *s, int32_t id)
{
    int32_t pid = process_of(s->root, id);

    if (pid == 0)
        return 0;
    if (pid == id)
        return put_process(s, pid);
    int r = put_comm(s, pid, pid);
    if (r == 0)
        r = put_comm(s, pid, id);
    return r < 0 ? r : put_maps(s, pid);
}

int synth_leader(struct synth *s, int32_t id)
{
    return process_of(s->root, id) == id ? put_process(s, id) : 0;
}

static int each_process(void *context, const char *name)
{
    uint64_t pid;

    if (!take_number(&name, 10, &pid) || *name || pid > INT32_MAX)
        return 0;
    return put_process(context, (int32_t)pid);
}

int synth_all(struct synth *s)
{
    int r = sys_dir_each(s->root, "proc", each_process, s);
    return s->error || r == -ENOMEM ? r : 0;
}

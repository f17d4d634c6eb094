/*
 * Where the kernel and its modules lie, from /proc/kallsyms and /proc/modules.
 */
#include "base/text.h"
#include "elf/note.h"
#include "record/encode.h"
#include "sys/file.h"
#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define MODE_KERNEL 1

#define KALLSYMS_PART ((size_t)256 << 10) /* the kernel's beginning is among its first symbols */
#define MODULES_LIMIT ((size_t)4 << 20)

static void skip_blanks(const char **at)
{
    while (**at == ' ')
        ++*at;
}

/* The address of _text, else _stext, or 0: kallsyms is read to there, not to its 100,000th line. Returns 0 or -errno. */
static int kernel_start(int root, const char **ret_name, uint64_t *ret)
{
    static const char *const names[] = {"_text", "_stext"};
    _cleanup_close_ int fd = sys_open_at(root, "proc/kallsyms", O_RDONLY, 0);
    char part[16 << 10];
    size_t have = 0;
    uint64_t found[2] = {0};

    *ret = 0;
    if (fd < 0)
        return world_unless_hidden(fd);
    for (size_t total = 0; total < KALLSYMS_PART && !found[0] && !found[1];) {
        int64_t n = sys_read(fd, part + have, sizeof part - 1 - have);
        if (n < 0)
            return (int)n;
        if (n == 0)
            break;
        total += (size_t)n;
        have += (size_t)n;
        part[have] = 0;

        const char *line = part, *end;
        for (; (end = strchr(line, '\n')); line = end + 1) {
            const char *at = line;
            uint64_t address;
            if (!text_number(&at, 16, UINT64_MAX, &address) || at[0] != ' ' || at + 3 > end || at[2] != ' ')
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
    *ret = found[0] ? found[0] : found[1];
    return 0;
}

/* `id`: its build-id; NULL: not given. */
static int put_kernel_mapping(struct world *w, uint64_t start, uint64_t end, uint64_t offset,
                              const struct build_id *id, const char *path)
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
    if (id && id->bytes) {
        mapping.build_id_bytes = id->bytes;
        mapping.build_id = id->id;
    }
    return world_put(w, encode_mapping(w->layout, &from, &mapping, w->buffer, sizeof w->buffer));
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
    if (!text_number(&at, 10, UINT64_MAX, ret_size))
        return false;
    for (int field = 0; field < 3; field++) {
        skip_blanks(&at);
        at += strcspn(at, " \n");
    }
    skip_blanks(&at);
    return at[0] == '0' && at[1] == 'x' && (at += 2, text_number(&at, 16, UINT64_MAX, ret_address)) &&
           *ret_address && *ret_size && *ret_size < UINT64_MAX - *ret_address;
}

int world_kernel(struct world *w)
{
    _cleanup_free_ char *modules = NULL;
    const char *symbol = "_text";
    uint64_t start, end = UINT64_MAX, size, address;
    char name[64];
    size_t n;
    int r = kernel_start(w->root, &symbol, &start);

    if (r < 0 || start == 0)
        return r;
    r = world_unless_hidden(sys_file_load(w->root, "proc/modules", MODULES_LIMIT, &modules, &n));
    if (r < 0)
        return r; /* 0 and no text: a kernel without modules */

    /* The kernel reaches to the first module above it, or to the top. */
    for (const char *line = modules; line && *line; line = strchrnul(line, '\n'), line += *line == '\n')
        if (module_line(line, name, &size, &address) && address > start && address < end)
            end = address;
    char path[32];
    snprintf(path, sizeof path, "[kernel.kallsyms]%s", symbol);
    /* By it a reader knows this kernel, also where the recording never gets its end, which says whose it is. */
    struct build_id id = {0};
    r = kernel_build_id(w->root, &id);
    if (r == -ENOMEM || r == -EMFILE || r == -ENFILE)
        return r;
    r = put_kernel_mapping(w, start, end, start, &id, path);
    for (const char *line = modules; line && *line && r == 0;
         line = strchrnul(line, '\n'), line += *line == '\n')
        if (module_line(line, name, &size, &address))
            r = put_kernel_mapping(w, address, address + size, 0, NULL, name);
    return r;
}

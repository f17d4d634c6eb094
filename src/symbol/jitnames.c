#include "symbol/jitnames.h"

#include "dwarf/resolve.h"
#include "symbol/demangle.h"
#include "symbol/symbolizer.h"
#include "sys/file.h"

#include <string.h>

/* The file, a new one if need be. NULL: out of memory. */
static struct jitfile *find(struct rk_symbolizer *symbolizer, const struct rk_module *module)
{
    for (size_t i = 0; i < symbolizer->jits.n; i++) {
        struct jitfile *file = symbolizer->jits.items[i];
        if (file->inode == module->inode && strcmp(file->path, module->path) == 0)
            return file;
    }
    struct jitfile *file = vector_reserve(&symbolizer->jits, 1) < 0 ? NULL : calloc(1, sizeof *file);
    if (!file)
        return NULL;
    file->inode = module->inode;
    file->path = arena_text(&symbolizer->texts, module->path, strlen(module->path));
    if (!file->path) {
        free(file);
        return NULL;
    }
    symbolizer->jits.items[symbolizer->jits.n++] = file;
    return file;
}

/* Opens it and reads what is new. *ret_fd: to be closed, -1 where it can't be opened; *ret_miss says why a place has no
 * name. The lock is held. 0 or -ENOMEM. */
static int update(struct rk_symbolizer *symbolizer, const struct rk_module *module, struct jitfile **ret,
                  struct jit_source *ret_source, uint32_t *ret_miss)
{
    struct jitfile *file = find(symbolizer, module);

    if (!file)
        return -ENOMEM;
    *ret = file;
    uint64_t size = 0;
    int fd = jitdump_open(symbolizer->root, module->pid, module->path, module->inode, &size);
    *ret_source = (struct jit_source){.fd = fd, .size = size};
    if (fd < 0) {
        *ret_miss = fd == -EPERM ? RK_MISS_NOT_YOURS : fd == -ESTALE ? RK_MISS_CHANGED : RK_MISS_NO_FILE;
        return 0;
    }
    int rc = jitdump_read(&file->dump, ret_source, &symbolizer->map_names);
    *ret_miss = rc == -ENOEXEC ? RK_MISS_BAD_FILE : RK_MISS_NO_SYMBOL;
    return rc == -ENOMEM ? rc : 0;
}

static void source_close(struct jit_source *source)
{
    if (source->fd >= 0)
        sys_close(source->fd);
}

static int name(struct rk_symbolizer *symbolizer, const struct jit_load *load, uint64_t offset,
                struct rk_symbol *ret)
{
    const char *spelled = intern_text(&symbolizer->map_names, load->name), *plain = spelled;

    if (looks_mangled(spelled) && !(symbolizer->flags & RK_SYMBOLIZER_MANGLED))
        plain = demangle(spelled, &symbolizer->texts);
    *ret = (struct rk_symbol){.name = plain,
                              .mangled = spelled,
                              .distance = offset - load->code,
                              .bytes = load->bytes < UINT32_MAX ? (uint32_t)load->bytes : UINT32_MAX};
    return plain ? 0 : -ENOMEM;
}

int jitnames_resolve(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                     const uint64_t *offsets, size_t n, struct rk_symbol *ret)
{
    struct jitfile *file;
    struct jit_source source = {.fd = -1};
    uint32_t miss;

    pthread_mutex_lock(&symbolizer->lock);
    int rc = update(symbolizer, module, &file, &source, &miss);
    source_close(&source);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const struct jit_load *load = jitdump_find(&file->dump, offsets[i]);
        ret[i] = (struct rk_symbol){.miss = miss};
        if (load)
            rc = name(symbolizer, load, offsets[i], &ret[i]);
    }
    pthread_mutex_unlock(&symbolizer->lock);
    return rc;
}

static int add_line(struct found *found, size_t question, const char *path, uint32_t line)
{
    int64_t text = intern_add(&found->texts, path, strlen(path));

    if (text < 0 || vector_reserve(&found->frames, 1) < 0 || vector_reserve(&found->answers, 1) < 0)
        return -ENOMEM;
    found->answers.items[found->answers.n++] =
        (struct found_answer){(uint32_t)question, (uint32_t)found->frames.n, 1};
    found->frames.items[found->frames.n++] = (struct line_frame){
        .function = TEXT_NONE, .file = (uint32_t)text, .line = line, .declared_file = TEXT_NONE};
    return 0;
}

int jitnames_lines(struct rk_symbolizer *symbolizer, const struct rk_module *module, const uint64_t *offsets,
                   size_t n, struct found *ret)
{
    struct jitfile *file;
    struct jit_source source = {.fd = -1};
    uint32_t miss;
    int rc = update(symbolizer, module, &file, &source, &miss);

    for (size_t i = 0; rc == 0 && source.fd >= 0 && i < n; i++) {
        const struct jit_load *load = jitdump_find(&file->dump, offsets[i]);
        char *path = NULL;
        uint32_t line;
        rc = load ? jitdump_line(&file->dump, &source, load, intern_text(&symbolizer->map_names, load->name),
                                 offsets[i], &path, &line)
                  : 0;
        if (rc == 1)
            rc = add_line(ret, i, path, line);
        free(path);
    }
    source_close(&source);
    return rc;
}

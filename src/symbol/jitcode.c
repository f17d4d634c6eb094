#include "symbol/jitcode.h"

#include "symbol/jitdump.h"
#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PAGE_SHIFT = 12,
    PAGES_MAX = 1 << 16,   /* of one load: 256 MB */
    TOUCHES_MAX = 1 << 24, /* of a file's loads on pages, all together */
    BACK_MAX = 1 << 12,    /* loads of a page that are looked at */
    FILES_MAX = 1 << 12,
    PATIENCE_MAX = 1 << 12,
};

/* The first page is mapped, and so soon the first is written. */
#define SAME_CLOCK_NS UINT64_C(10000000)

/* What begins a little later by the file's clock was there already: clocks are compared, and not quite the same. */
#define TOLERANCE_NS UINT64_C(10000000)

struct page {
    VECTOR(uint32_t) loads;
};

struct file {
    int32_t pid;
    uint32_t module;
    uint64_t inode, started; /* the mapping's time, by the recording's clock; 0: unknown */
    bool shifted;
    int64_t shift; /* the recording's clock - the file's */
    char *path;
    struct jitdump dump;
    struct table page_of; /* address >> PAGE_SHIFT → page */
    VECTOR(struct page) pages;
    size_t placed;     /* loads that are on pages */
    size_t touches;    /* items of all pages */
    size_t reached;    /* loads that began by the last time that was asked about */
    uint32_t patience; /* so many questions pass before it is looked whether the file has grown */
    uint32_t passed;
};

struct jitcode {
    int root;
    struct intern names; /* which nobody asks for here */
    VECTOR(struct file) files;
    struct table newest; /* pid → the file that was mapped last */
};

static int place_loads(struct file *f)
{
    for (; f->placed < f->dump.loads.n; f->placed++) {
        const struct jit_load *load = &f->dump.loads.items[f->placed];
        uint64_t first = load->address >> PAGE_SHIFT,
                 last = (load->address + (load->bytes - 1)) >> PAGE_SHIFT;
        if (last - first >= PAGES_MAX || f->touches + (last - first) >= TOUCHES_MAX)
            continue; /* no code of one function is that large */
        for (uint64_t page = first; page <= last; page++) {
            uint32_t number = table_get(&f->page_of, page);
            if (number == TABLE_NONE) {
                if (!vector_push(&f->pages) ||
                    table_put(&f->page_of, page, number = (uint32_t)f->pages.n - 1) < 0)
                    return -ENOMEM;
            }
            uint32_t *item = vector_push(&f->pages.items[number].loads);
            if (!item)
                return -ENOMEM;
            *item = (uint32_t)f->placed;
            f->touches++;
        }
    }
    return 0;
}

/* What is in the file by now. 0 or -ENOMEM. */
static int update(struct jitcode *code, struct file *f)
{
    uint64_t size, taken = f->dump.taken;
    _cleanup_close_ int fd = jitdump_open(code->root, f->pid, f->path, f->inode, &size);

    if (fd < 0)
        return 0;
    if (size > taken) {
        struct jit_source source = {.fd = fd, .size = size};
        int rc = jitdump_read(&f->dump, &source, &code->names);
        if (rc == -ENOMEM)
            return rc;
    }
    if (f->started && f->dump.records && !f->shifted) {
        f->shifted = true;
        if (f->dump.begun - f->started >=
            SAME_CLOCK_NS) /* less is no other clock, but what the maker took to begin */
            f->shift = (int64_t)(f->started - f->dump.begun);
    }
    f->patience = f->dump.taken > taken ? 1 : f->patience < PATIENCE_MAX ? f->patience * 2 : f->patience;
    f->passed = 0;
    return place_loads(f);
}

static struct file *file_of(struct jitcode *code, int32_t pid)
{
    uint32_t number = code ? table_get(&code->newest, (uint32_t)pid) : TABLE_NONE;

    return number == TABLE_NONE ? NULL : &code->files.items[number];
}

int jitcode_mapping(struct jitcode **ret, const char *root, int32_t pid, uint64_t time,
                    const struct rk_module *module, uint32_t number)
{
    struct jitcode *code = *ret;

    if (!code) {
        code = calloc(1, sizeof *code);
        int own = code ? sys_root_open(root) : -ENOMEM;
        if (own < 0) {
            free(code);
            return own == -ENOMEM ? own : 0;
        }
        code->root = own;
        *ret = code;
    }
    struct file *old = file_of(code, pid);
    if (code->files.n >= FILES_MAX ||
        (old && strcmp(old->path, module->path) == 0 && old->inode == module->inode))
        return 0;
    struct file *f = vector_push(&code->files);
    if (!f || !(f->path = strdup(module->path)) ||
        table_put(&code->newest, (uint32_t)pid, (uint32_t)code->files.n - 1) < 0)
        return -ENOMEM;
    f->pid = pid;
    f->module = number;
    f->inode = module->inode;
    f->started = time;
    f->patience = 1;
    return update(code, f);
}

/* The sample's time, by the file's clock. */
static uint64_t own_time(const struct file *f, uint64_t time)
{
    if (time == 0)
        return UINT64_MAX; /* unknown: what came last */
    if (f->dump.untimed)
        return time;
    return f->shift > 0 && (uint64_t)f->shift > time ? 0 : time - (uint64_t)f->shift;
}

uint32_t jitcode_generation(struct jitcode *code, int32_t pid, uint64_t time)
{
    struct file *f = file_of(code, pid);

    if (!f)
        return 0;
    uint64_t own = own_time(f, time);
    if (f->reached == f->dump.loads.n && ++f->passed >= f->patience)
        update(code, f); /* what there is no memory for has no name */
    while (f->reached < f->dump.loads.n && f->dump.loads.items[f->reached].time <= own)
        f->reached++;
    return (uint32_t)f->reached;
}

static bool covers(const struct jit_load *load, uint64_t address)
{
    return address >= load->address && address - load->address < load->bytes;
}

/* The newest load that had begun by then; where there is none, one that begins at once. */
static const struct jit_load *load_at(const struct file *f, uint64_t time, uint64_t address)
{
    uint32_t number = table_get(&f->page_of, address >> PAGE_SHIFT);
    size_t from = 0;

    if (number == TABLE_NONE)
        return NULL;
    const struct page *page = &f->pages.items[number];
    for (size_t to = page->loads.n; from < to;) { /* the first that begins later */
        size_t half = from + (to - from) / 2;
        if (f->dump.loads.items[page->loads.items[half]].time <= time)
            from = half + 1;
        else
            to = half;
    }
    for (size_t i = from; i > 0 && from - i < BACK_MAX; i--) {
        const struct jit_load *load = &f->dump.loads.items[page->loads.items[i - 1]];
        if (covers(load, address))
            return load;
    }
    for (size_t i = from; i < page->loads.n && i - from < BACK_MAX; i++) {
        const struct jit_load *load = &f->dump.loads.items[page->loads.items[i]];
        if (load->time - time > TOLERANCE_NS)
            return NULL;
        if (covers(load, address))
            return load;
    }
    return NULL;
}

void jitcode_place(struct jitcode *code, int32_t pid, uint64_t time, const uint64_t *addresses, size_t n,
                   struct rk_place *places)
{
    const struct file *f = file_of(code, pid);

    if (!f)
        return;
    uint64_t own = own_time(f, time);
    for (size_t i = 0; i < n; i++) {
        const struct jit_load *load = load_at(f, own, addresses[i]);
        if (load)
            places[i] = (struct rk_place){.module = f->module,
                                          .status = RK_PLACE_FOUND,
                                          .offset = load->code + (addresses[i] - load->address)};
    }
}

struct jitcode *jitcode_free(struct jitcode *code)
{
    if (!code)
        return NULL;
    for (size_t i = 0; i < code->files.n; i++) {
        struct file *f = &code->files.items[i];
        for (size_t k = 0; k < f->pages.n; k++)
            vector_free(&f->pages.items[k].loads);
        vector_free(&f->pages);
        table_free(&f->page_of);
        jitdump_free(&f->dump);
        free(f->path);
    }
    vector_free(&code->files);
    table_free(&code->newest);
    intern_free(&code->names);
    sys_close(code->root);
    free(code);
    return NULL;
}

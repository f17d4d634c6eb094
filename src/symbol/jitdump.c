#include "symbol/jitdump.h"

#include "symbol/owner.h"
#include "sys/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER_BYTES = 40,
    PREFIX_BYTES = 16,
    LOAD_BYTES = PREFIX_BYTES + 40,
    MOVE_BYTES = PREFIX_BYTES + 48,
    DEBUG_BYTES = PREFIX_BYTES + 16,
    ENTRY_BYTES = 16,
    NAME_MAX_BYTES = 1 << 14,
    WINDOW = 1 << 16,          /* read at a time; a record's fixed part and name lie in one */
    DEBUG_MAX_BYTES = 1 << 22, /* of a function's lines */
    LOADS_MAX = 1 << 22,
    VERSIONS = 1,
};

#define MAGIC UINT32_C(0x4a695444)
#define SWAPPED UINT32_C(0x4454694a)
#define ARCH_TIMESTAMP UINT64_C(1)

/* V8 adds the size of the ELF header that perf inject will put in front of the code to the addresses of lines. */
#define V8_SHIFT 0x40

/* The first record comes so soon behind the header, if both have the same clock. */
#define SAME_CLOCK_NS UINT64_C(1000000000)

enum { LOAD = 0, MOVE = 1, DEBUG_INFO = 2, CLOSE = 3, UNWINDING_INFO = 4 };

struct window {
    const struct jit_source *source;
    unsigned char *block;
    uint64_t at;
    size_t n;
};

struct fields {
    const unsigned char *at;
    bool swapped;
};

static uint32_t take_u32(struct fields *f)
{
    uint32_t value;

    memcpy(&value, f->at, sizeof value);
    f->at += sizeof value;
    return f->swapped ? __builtin_bswap32(value) : value;
}

static uint64_t take_u64(struct fields *f)
{
    uint64_t value;

    memcpy(&value, f->at, sizeof value);
    f->at += sizeof value;
    return f->swapped ? __builtin_bswap64(value) : value;
}

static int64_t source_read(const struct jit_source *source, void *to, size_t n, uint64_t at)
{
    if (!source->bytes)
        return sys_read_at(source->fd, to, n, at);
    if (at >= source->size)
        return 0;
    n = source->size - at < n ? (size_t)(source->size - at) : n;
    memcpy(to, source->bytes + at, n);
    return (int64_t)n;
}

/* n bytes at that place of the file, or as many as there are up to it; at most a window's. NULL: there are fewer than `least`. */
static const unsigned char *look(struct window *w, uint64_t at, size_t least, size_t n, size_t *ret)
{
    if (at < w->at || at - w->at > w->n || w->n - (at - w->at) < n) {
        int64_t got = source_read(w->source, w->block, WINDOW, at);
        w->at = at;
        w->n = got > 0 ? (size_t)got : 0;
    }
    size_t left = w->n - (size_t)(at - w->at);
    *ret = left < n ? left : n;
    return left < least ? NULL : w->block + (at - w->at);
}

bool jitdump_is_path(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

    if (strncmp(name, "jit-", 4) != 0)
        return false;
    size_t digits = strspn(name + 4, "0123456789");
    return digits > 0 && strcmp(name + 4 + digits, ".dump") == 0;
}

int jitdump_open(int root, int32_t pid, const char *path, uint64_t inode, uint64_t *ret_size)
{
    enum { FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };
    char below[4200];
    struct sys_status status;

    int n = snprintf(below, sizeof below, "proc/%d/root/%s", pid, path + strspn(path, "/"));
    _cleanup_close_ int fd = n > 0 && (size_t)n < sizeof below ? sys_open_at(root, below, FLAGS, 0) : -ENOENT;
    if (fd < 0 && fd != -EMFILE && fd != -ENFILE)
        fd = sys_open_at(root, path, FLAGS, 0);
    if (fd < 0)
        return fd;
    int rc = sys_file_status(fd, &status);
    if (rc == 0 && !status.regular)
        rc = -ENODEV;
    if (rc == 0 && inode && status.inode != inode)
        rc = -ESTALE;
    if (rc == 0 && !owner_is_trusted(root, pid, status.owner))
        rc = -EPERM;
    if (rc < 0)
        return rc;
    *ret_size = status.size;
    return TAKE_FD(fd);
}

/* 1: there is more; 0: not yet whole. */
static int read_header(struct jitdump *d, struct window *w)
{
    size_t n;
    const unsigned char *at = look(w, 0, 4, HEADER_BYTES, &n);
    struct fields f = {at, false};

    if (!at)
        return 0;
    uint32_t magic = take_u32(&f);
    if (magic != MAGIC && magic != SWAPPED)
        return -ENOEXEC;
    if (n < HEADER_BYTES)
        return 0;
    f.swapped = d->swapped = magic == SWAPPED;
    uint32_t version = take_u32(&f), bytes = take_u32(&f);
    f.at += 12; /* machine, padding, pid */
    d->begun = take_u64(&f);
    d->untimed = take_u64(&f) & ARCH_TIMESTAMP;
    if (version == 0 || version > VERSIONS || bytes < HEADER_BYTES || bytes > WINDOW) {
        d->damaged = true;
        return 0;
    }
    d->taken = bytes;
    return 1;
}

static struct jit_load *push(struct jitdump *d, uint64_t time)
{
    struct jit_load *load = vector_push(&d->loads);

    if (!load)
        return NULL;
    load->time = d->untimed ? 0 : time;
    if (d->loads.n > 1 && load[-1].time > load->time)
        load->time = load[-1].time;
    return load;
}

/* 0; -EBADMSG: it makes no sense; -ENOMEM. `n` bytes of the record are at f.at - 16, the whole of it lies in the file. */
static int read_load(struct jitdump *d, struct fields f, size_t n, uint64_t bytes, uint64_t time,
                     struct intern *names)
{
    const unsigned char *end = f.at - PREFIX_BYTES + n;

    if (bytes < LOAD_BYTES + 1)
        return -EBADMSG;
    f.at += 16; /* pid, tid, vma */
    uint64_t address = take_u64(&f), code_bytes = take_u64(&f), index = take_u64(&f);
    const char *name = (const char *)f.at;
    const unsigned char *nul = memchr(name, '\0', (size_t)(end - f.at));
    if (!nul)
        return -EBADMSG;
    uint64_t before = LOAD_BYTES + (uint64_t)(nul + 1 - (const unsigned char *)name);
    if (before > bytes || code_bytes > bytes - before || code_bytes > UINT64_MAX - address)
        return -EBADMSG;
    uint64_t debug = d->debug_at && d->debug_of == address ? d->debug_at : 0;
    d->debug_at = 0;
    if (code_bytes == 0)
        return 0;
    int64_t number = intern_add(names, name, (size_t)((const char *)nul - name));
    if (number < 0 || vector_reserve(&d->places, 1) < 0 ||
        table_put(&d->by_index, index, (uint32_t)d->loads.n) < 0)
        return -ENOMEM;
    struct jit_load *load = push(d, time);
    if (!load)
        return -ENOMEM; /* nobody goes on with it */
    d->places.items[d->places.n++] = (uint32_t)d->loads.n - 1;
    load->address = address;
    load->bytes = code_bytes;
    load->code = d->taken + before;
    load->debug = debug;
    load->name = (uint32_t)number;
    return 0;
}

static int read_move(struct jitdump *d, struct fields f, size_t n, uint64_t time)
{
    if (n < MOVE_BYTES)
        return -EBADMSG;
    f.at += 24; /* pid, tid, vma, the old address */
    uint64_t address = take_u64(&f), bytes = take_u64(&f), index = take_u64(&f);
    uint32_t from = table_get(&d->by_index, index);
    if (from == TABLE_NONE || bytes > UINT64_MAX - address ||
        d->loads.items[from].bytes > UINT64_MAX - address)
        return 0;
    struct jit_load copy = d->loads.items[from];
    struct jit_load *load = push(d, time);
    if (!load)
        return -ENOMEM;
    copy.time = load->time;
    copy.address = address;
    *load = copy;
    return 0;
}

static int read_debug(struct jitdump *d, struct fields f, size_t n)
{
    if (n < DEBUG_BYTES)
        return -EBADMSG;
    uint64_t address = take_u64(&f), entries = take_u64(&f);
    d->debug_at = entries ? d->taken : 0;
    d->debug_of = address;
    if (entries && n >= DEBUG_BYTES + ENTRY_BYTES) {
        uint64_t first = take_u64(&f), distance = first >= address ? first - address : 0;
        if (d->debug_least == 0 || distance + 1 < d->debug_least)
            d->debug_least = distance + 1;
    }
    return 0;
}

/* One record: 1; 0: there is none yet that is whole; -errno. */
static int read_record(struct jitdump *d, struct window *w, struct intern *names)
{
    size_t n;
    const unsigned char *at = look(w, d->taken, PREFIX_BYTES, PREFIX_BYTES, &n);
    struct fields f = {at, d->swapped};

    if (!at)
        return 0;
    uint32_t id = take_u32(&f), bytes = take_u32(&f);
    uint64_t time = take_u64(&f);
    if (d->records++ == 0 && (time < d->begun || time - d->begun > SAME_CLOCK_NS))
        d->begun = time; /* V8's header has the time of day */
    if (bytes < PREFIX_BYTES)
        return -EBADMSG;
    if (bytes > w->source->size - d->taken)
        return 0;
    size_t most = bytes < LOAD_BYTES + NAME_MAX_BYTES ? bytes : LOAD_BYTES + NAME_MAX_BYTES;
    at = look(w, d->taken, most, most, &n);
    if (!at)
        return 0;
    f.at = at + PREFIX_BYTES;
    int rc = id == LOAD         ? read_load(d, f, n, bytes, time, names)
             : id == MOVE       ? read_move(d, f, n, time)
             : id == DEBUG_INFO ? read_debug(d, f, n)
                                : 0; /* what is unknown is passed over */
    d->unwinding += id == UNWINDING_INFO;
    if (rc < 0)
        return rc;
    d->taken += bytes;
    return 1;
}

int jitdump_read(struct jitdump *d, const struct jit_source *source, struct intern *names)
{
    _cleanup_free_ unsigned char *block = malloc(WINDOW);
    struct window w = {.source = source, .block = block};
    int rc = block ? 1 : -ENOMEM;

    if (d->damaged)
        return 0;
    if (rc > 0 && d->taken == 0)
        rc = read_header(d, &w);
    while (rc > 0 && d->taken < source->size)
        rc = d->loads.n < LOADS_MAX ? read_record(d, &w, names) : -EBADMSG;
    if (rc == -EBADMSG) {
        d->damaged = true;
        rc = 0;
    }
    return rc < 0 ? rc : 0;
}

const struct jit_load *jitdump_find(const struct jitdump *d, uint64_t code)
{
    size_t from = 0, to = d->places.n;

    while (from < to) {
        size_t half = from + (to - from) / 2;
        const struct jit_load *load = &d->loads.items[d->places.items[half]];
        if (code >= load->code && code - load->code < load->bytes)
            return load;
        if (code < load->code)
            to = half;
        else
            from = half + 1;
    }
    return NULL;
}

/* V8 writes names that it has freed already, so that anything may stand there. */
static bool is_file(const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c < 0x20 || *c == 0x7f)
            return false;
    return strpbrk(text, "/.:");
}

/* The file in the name of a function as V8 has it: "JS:*add /srv/sum.js:7:13". How long it is; 0: there is none. */
static size_t file_in(const char *name, const char **ret)
{
    const char *blank = strchr(name, ' ');
    size_t n = blank ? strlen(blank + 1) : 0;

    if (strncmp(name, "JS:", 3) != 0)
        return 0;
    for (int part = 0; part < 2; part++) {
        size_t digits = 0;
        while (digits < n && blank[n - digits] >= '0' && blank[n - digits] <= '9')
            digits++;
        if (digits == 0 || digits >= n || blank[n - digits] != ':')
            return 0;
        n -= digits + 1;
    }
    *ret = blank + 1;
    return n;
}

/* The last entry that is not behind the address. Names that are 0xff mean the one before. */
static const char *search(const unsigned char *at, const unsigned char *end, uint64_t n, uint64_t address,
                          bool swapped, uint32_t *ret_line)
{
    const char *name = NULL, *found = NULL;
    uint64_t best = 0;

    for (; n > 0 && end - at > ENTRY_BYTES; n--) {
        struct fields f = {at, swapped};
        uint64_t entry = take_u64(&f);
        uint32_t line = take_u32(&f);
        f.at += 4; /* the discriminator */
        const unsigned char *nul = memchr(f.at, '\0', (size_t)(end - f.at));
        if (!nul)
            break;
        if (!(f.at[0] == 0xff && nul == f.at + 1))
            name = (const char *)f.at;
        if (entry <= address && entry >= best && name) {
            best = entry;
            found = name;
            *ret_line = line;
        }
        at = nul + 1;
    }
    return found;
}

int jitdump_line(const struct jitdump *d, const struct jit_source *source, const struct jit_load *load,
                 const char *spelled, uint64_t code, char **ret_file, uint32_t *ret_line)
{
    unsigned char head[DEBUG_BYTES];

    if (!load->debug || source_read(source, head, sizeof head, load->debug) != sizeof head)
        return 0;
    struct fields f = {head, d->swapped};
    uint32_t id = take_u32(&f), bytes = take_u32(&f);
    f.at += 8;
    uint64_t address = take_u64(&f), n = take_u64(&f);
    if (id != DEBUG_INFO || bytes < DEBUG_BYTES || bytes > DEBUG_MAX_BYTES)
        return 0; /* the file is another one by now, or makes no sense */
    _cleanup_free_ unsigned char *entries = malloc(bytes);
    if (!entries)
        return -ENOMEM;
    int64_t got = source_read(source, entries, bytes - DEBUG_BYTES, load->debug + DEBUG_BYTES);
    if (got <= 0)
        return 0;
    uint64_t shift = d->debug_least > V8_SHIFT ? V8_SHIFT : 0; /* an address that wraps is behind no entry */
    uint32_t line = 0;
    const char *name =
        search(entries, entries + got, n, address + (code - load->code) + shift, d->swapped, &line);
    if (!name)
        return 0;
    size_t length = strlen(name);
    if (!is_file(name) && (length = file_in(spelled, &name)) == 0)
        return 0;
    char *copy = strndup(name, length);
    if (!copy)
        return -ENOMEM;
    *ret_file = copy;
    *ret_line = line;
    return 1;
}

void jitdump_free(struct jitdump *d)
{
    vector_free(&d->loads);
    vector_free(&d->places);
    table_free(&d->by_index);
}

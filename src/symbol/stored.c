#include "symbol/stored.h"

#include "codec/deflate.h"
#include "codec/zstd.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEMANGLED_SPARE (UINT64_C(1) << 20)

/* How many items follow, each of `least` bytes at the least. */
static bool take_count(struct cursor *c, size_t least, uint32_t *ret)
{
    uint64_t n = cursor_uleb(c);

    if (c->bad || n > cursor_left(c) / least || n >= UINT32_MAX)
        return false;
    *ret = (uint32_t)n;
    return true;
}

/* An index below n; c->bad where it is none. */
static uint32_t take_index(struct cursor *c, uint64_t n)
{
    uint64_t i = cursor_uleb(c);

    if (i >= n) {
        c->bad = true;
        return 0;
    }
    return (uint32_t)i;
}

static uint32_t take_u32(struct cursor *c)
{
    uint64_t value = cursor_uleb(c);

    return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
}

static int take_texts(struct stored *s, struct cursor c)
{
    if (s->texts || !take_count(&c, 1, &s->text_n) || s->text_n == 0)
        return -EBADMSG;
    s->texts = calloc(s->text_n, sizeof *s->texts);
    s->plain = calloc(s->text_n, sizeof *s->plain);
    if (!s->texts || !s->plain)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->text_n; i++)
        if (!(s->texts[i] = cursor_text(&c)))
            return -EBADMSG;
    return 0;
}

static int take_symbols(struct stored *s, struct cursor c)
{
    if (s->symbols || !take_count(&c, 2, &s->symbol_n))
        return -EBADMSG;
    s->symbols = calloc(s->symbol_n + 1, sizeof *s->symbols);
    if (!s->symbols)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->symbol_n; i++) {
        s->symbols[i].text = take_index(&c, s->text_n);
        s->symbols[i].bytes = take_u32(&c);
    }
    return c.bad ? -EBADMSG : 0;
}

static int take_functions(struct stored *s, struct cursor c)
{
    if (s->functions || !take_count(&c, 3, &s->function_n))
        return -EBADMSG;
    s->functions = calloc(s->function_n + 1, sizeof *s->functions);
    if (!s->functions)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->function_n; i++) {
        s->functions[i].text = take_index(&c, s->text_n);
        s->functions[i].declared_file = take_index(&c, s->text_n);
        s->functions[i].declared_line = take_u32(&c);
    }
    return c.bad ? -EBADMSG : 0;
}

/* A symbol and the distance from its start; false: there is none. */
static bool take_symbol(const struct stored *s, struct cursor *c, uint32_t *ret_symbol,
                        uint64_t *ret_distance)
{
    *ret_symbol = take_index(c, (uint64_t)s->symbol_n + 1);
    *ret_distance = *ret_symbol ? cursor_uleb(c) : 0;
    return *ret_symbol;
}

/* Passes an answer behind its offset. What it says is sound where c is not bad. */
static void pass_answer(const struct stored *s, struct cursor *c)
{
    uint32_t symbol;
    uint64_t distance;

    if (!take_symbol(s, c, &symbol, &distance)) {
        take_u32(c);
        take_symbol(s, c, &symbol, &distance);
    }
    uint64_t frames = cursor_uleb(c);
    if (frames == 0)
        take_u32(c);
    else if (frames == 1 || frames - 1 > STORED_FRAMES_MAX)
        c->bad = true;
    for (uint64_t i = 1; i < frames && !c->bad; i++) {
        take_index(c, (uint64_t)s->function_n + 1);
        take_index(c, s->text_n);
        take_u32(c);
        take_u32(c);
    }
}

static int take_module(struct stored *s, struct cursor c)
{
    struct stored_module module = {.kind = take_u32(&c), .path = take_index(&c, s->text_n)};
    uint64_t offset = 0;
    uint32_t n;

    module.pid = (int32_t)(take_u32(&c) & INT32_MAX);
    module.inode = cursor_uleb(&c);
    module.id.bytes = take_index(&c, BUILD_ID_MAX + 1);
    const unsigned char *id = cursor_bytes(&c, module.id.bytes);
    if (c.bad || !id || !take_count(&c, 4, &n))
        return -EBADMSG;
    memcpy(module.id.id, id, module.id.bytes);
    module.first = s->places.n;
    module.n = n;
    if (vector_reserve(&s->places, n) < 0)
        return -ENOMEM;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t more = cursor_uleb(&c);
        if ((i && !more) || more > UINT64_MAX - offset) /* each once, rising */
            return -EBADMSG;
        offset += more;
        s->places.items[s->places.n++] = (struct stored_place){offset, c.at};
        pass_answer(s, &c);
        if (c.bad)
            return -EBADMSG;
    }

    uint64_t hash = hash_bytes(s->texts[module.path], strlen(s->texts[module.path]));
    uint32_t before = table_get(&s->by_path, hash);
    module.next = before == TABLE_NONE ? 0 : before + 1;
    struct stored_module *row = vector_push(&s->modules);
    if (!row || table_put(&s->by_path, hash, (uint32_t)(s->modules.n - 1)) < 0)
        return -ENOMEM;
    *row = module;
    return 0;
}

static int take_part(struct stored *s, uint64_t tag, struct cursor part)
{
    switch (tag) {
    case STORED_TEXTS:
        return take_texts(s, part);
    case STORED_SYMBOLS:
        return s->texts ? take_symbols(s, part) : -EBADMSG;
    case STORED_FUNCTIONS:
        return s->texts ? take_functions(s, part) : -EBADMSG;
    case STORED_MODULE:
        return s->texts ? take_module(s, part) : -EBADMSG;
    default:
        return 0;
    }
}

/* Names as people write them. A short one can spell out a long text: together they may be a multiple of the body, and what
 * is beyond that stays mangled. */
static int make_plain(struct stored *s, size_t body_bytes)
{
    for (uint32_t i = 0; i < s->text_n; i++) {
        s->plain[i] = s->texts[i];
        if (looks_mangled(s->texts[i]) &&
            s->demangled.bytes < DEMANGLED_SPARE + (uint64_t)body_bytes * STORED_MADE / 2)
            s->plain[i] = demangle(s->texts[i], &s->demangled);
        if (!s->plain[i])
            return -ENOMEM;
    }
    return 0;
}

static int take_body(struct stored *s, size_t n)
{
    struct cursor c = cursor_of(s->body, n);
    int rc = 0;

    s->end = c.end;
    while (rc == 0 && cursor_left(&c)) {
        uint64_t tag = cursor_uleb(&c), bytes = cursor_uleb(&c);
        const unsigned char *at = cursor_bytes(&c, bytes);
        rc = at ? take_part(s, tag, cursor_of(at, bytes)) : -EBADMSG;
    }
    return rc < 0 ? rc : make_plain(s, n);
}

/* A frame of zstd that was flushed and not ended. */
static int unpack_zstd(const unsigned char *at, size_t n, unsigned char *body, size_t room)
{
    struct zstd *zstd = NULL;
    size_t from = 0, done = 0;
    int rc = zstd_open(0, &zstd);

    while (rc == 0 && done < room) {
        int got = zstd_unpack(zstd, at, n, &from, body + done, room - done);
        if (got <= 0)
            rc = -EBADMSG;
        else
            done += (size_t)got;
    }
    zstd_close(zstd);
    return rc;
}

/* The body, unpacked into new memory. */
static int unpack(const struct stored_head *head, const unsigned char *at, size_t n, unsigned char **ret)
{
    size_t room = (size_t)head->bytes, got = 0;
    void *body = NULL;
    int rc = -EBADMSG;

    if (head->packing == STORED_GZIP) {
        rc = gzip_decode(at, n, room, &body, &got);
        if (rc == 0 && got != room)
            rc = -EBADMSG;
    } else if (!(body = malloc(room + 1))) {
        return -ENOMEM;
    } else if (head->packing == STORED_ZSTD) {
        rc = unpack_zstd(at, n, body, room);
    } else if (head->packing != STORED_PLAIN) {
        rc = -EOPNOTSUPP;
    } else if (n == room) {
        if (n)
            memcpy(body, at, n);
        rc = 0;
    }
    if (rc < 0)
        free(body);
    else
        *ret = body;
    return rc;
}

int stored_open(const void *bytes, size_t n, struct stored **ret)
{
    struct cursor c = cursor_of(bytes, n);
    struct stored_head head;
    const unsigned char *at = cursor_bytes(&c, sizeof head);

    if (!at)
        return -EBADMSG;
    memcpy(&head, at, sizeof head);
    if (head.magic != STORED_MAGIC)
        return -EBADMSG;
    if (head.version != STORED_VERSION)
        return -EOPNOTSUPP;
    if (n > STORED_BYTES_MAX || head.bytes > (uint64_t)cursor_left(&c) * STORED_RATIO)
        return -EBADMSG;
    struct stored *s = calloc(1, sizeof *s);
    if (!s)
        return -ENOMEM;
    int rc = unpack(&head, c.at, cursor_left(&c), &s->body);
    if (rc == 0)
        rc = take_body(s, (size_t)head.bytes);
    if (rc < 0) {
        stored_close(s);
        return rc;
    }
    *ret = s;
    return 0;
}

struct stored *stored_close(struct stored *s)
{
    if (s) {
        free(s->body);
        free(s->texts);
        free(s->plain);
        free(s->symbols);
        free(s->functions);
        vector_free(&s->modules);
        vector_free(&s->places);
        table_free(&s->by_path);
        arena_free(&s->demangled);
        free(s);
    }
    return NULL;
}

/* ---- looking up ---- */

/* Whether it is about that module: of what both know nothing may differ. */
static bool is_of(const struct stored *s, const struct stored_module *m, const struct rk_module *module)
{
    struct build_id id = {.bytes = module->build_id_bytes};

    if (m->kind != module->kind || strcmp(s->texts[m->path], module->path) != 0)
        return false;
    if (m->kind == RK_MODULE_ANONYMOUS)
        return m->pid == module->pid;
    if (m->inode && module->inode && m->inode != module->inode)
        return false;
    memcpy(id.id, module->build_id, sizeof id.id);
    return !m->id.bytes || !id.bytes || build_id_same(&m->id, &id);
}

const struct stored_module *stored_find(const struct stored *s, const struct rk_module *module)
{
    uint32_t first = table_get(&s->by_path, hash_bytes(module->path, strlen(module->path)));

    for (uint32_t i = first == TABLE_NONE ? 0 : first + 1; i; i = s->modules.items[i - 1].next)
        if (is_of(s, &s->modules.items[i - 1], module))
            return &s->modules.items[i - 1];
    return NULL;
}

static void read_answer(const struct stored *s, const struct stored_place *place, struct stored_answer *ret)
{
    struct cursor c = cursor_of(place->at, (size_t)(s->end - place->at));
    uint32_t symbol, miss = 0;
    uint64_t distance;

    *ret = (struct stored_answer){.exact = true};
    if (!take_symbol(s, &c, &symbol, &distance)) {
        miss = take_u32(&c);
        ret->symbol.miss = miss = miss ? miss : RK_MISS_NO_SYMBOL;
        take_symbol(s, &c, &symbol, &distance);
    }
    if (symbol) {
        const struct stored_symbol *from = &s->symbols[symbol - 1];
        ret->symbol.name = s->texts[from->text];
        ret->symbol.mangled = miss ? NULL : ret->symbol.name;
        ret->plain = miss ? ret->symbol.name : s->plain[from->text];
        ret->symbol.bytes = from->bytes;
        ret->symbol.distance = distance;
    }
    uint64_t frames = cursor_uleb(&c);
    if (frames == 0) {
        uint32_t why = take_u32(&c);
        ret->miss = why ? why : RK_MISS_NO_LINES;
    } else {
        ret->frame_n = (uint32_t)frames - 1;
        ret->frames = c;
    }
}

/* Whether the function of the answer for `place` covers another offset: then its name is that one's too. */
static bool covers(const struct stored *s, const struct stored_place *place, uint64_t offset,
                   struct stored_answer *ret)
{
    read_answer(s, place, ret);
    uint64_t begin = place->offset - ret->symbol.distance;
    if (!ret->symbol.name || ret->symbol.distance > place->offset || offset < begin ||
        offset - begin >= ret->symbol.bytes)
        return false;
    ret->exact = false;
    ret->symbol.distance = offset - begin;
    ret->miss = RK_MISS_NO_LINES;
    ret->frame_n = 0;
    return true;
}

bool stored_ask(const struct stored *s, const struct stored_module *m, uint64_t offset,
                struct stored_answer *ret)
{
    const struct stored_place *places = s->places.items + m->first;
    size_t low = 0, high = m->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (places[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < m->n && places[low].offset == offset) {
        read_answer(s, &places[low], ret);
        return true;
    }
    return (low > 0 && covers(s, &places[low - 1], offset, ret)) ||
           (low < m->n && covers(s, &places[low], offset, ret));
}

static const char *text_or_null(const char *const *texts, uint32_t number)
{
    return number ? texts[number] : NULL;
}

struct stored_frame stored_frame_next(const struct stored *s, struct stored_answer *answer)
{
    struct cursor *c = &answer->frames;
    struct stored_frame frame = {0};
    uint32_t function = take_index(c, (uint64_t)s->function_n + 1);

    frame.file = text_or_null(s->texts, take_index(c, s->text_n));
    frame.line = take_u32(c);
    frame.column = take_u32(c);
    if (function) {
        const struct stored_function *from = &s->functions[function - 1];
        frame.function = text_or_null(s->texts, from->text);
        frame.plain = text_or_null(s->plain, from->text);
        frame.declared_file = text_or_null(s->texts, from->declared_file);
        frame.declared_line = from->declared_line;
    }
    return frame;
}

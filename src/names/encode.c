#include "names/encode.h"

#include "base/intern.h"
#include "base/table.h"
#include "codec/deflate.h"
#include "codec/zstd.h"
#include "symbol/stored.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEVEL 9

typedef perfdata_bytes bytes_t;

struct encoder {
    struct intern texts; /* 0 is "" */
    VECTOR(struct stored_symbol) symbols;
    VECTOR(struct stored_function) functions;
    struct table symbol_of, function_of;
    bytes_t modules; /* parts */
    int rc;          /* the first failure */
};

static void put_uleb(struct encoder *e, bytes_t *to, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;

    do {
        bytes[n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value);
    if (bytes_put(to, bytes, n) < 0)
        e->rc = -ENOMEM;
}

static void put_bytes(struct encoder *e, bytes_t *to, const void *bytes, size_t n)
{
    if (n && bytes_put(to, bytes, n) < 0)
        e->rc = -ENOMEM;
}

static uint32_t text_of(struct encoder *e, const char *text)
{
    int64_t number = intern_add(&e->texts, text ? text : "", text ? strlen(text) : 0);

    if (number < 0)
        e->rc = -ENOMEM;
    return number < 0 ? 0 : (uint32_t)number;
}

/* The row's number in a table by hash, `next` where it is new. */
static uint32_t number_of(struct encoder *e, struct table *table, uint64_t hash, size_t next)
{
    uint32_t number = table_get(table, hash);

    if (number == TABLE_NONE && table_put(table, hash, (uint32_t)next) < 0)
        e->rc = -ENOMEM;
    return number == TABLE_NONE ? (uint32_t)next : number;
}

static uint32_t symbol_of(struct encoder *e, const struct rk_symbol *symbol)
{
    struct stored_symbol row = {text_of(e, symbol->mangled ? symbol->mangled : symbol->name), symbol->bytes};
    uint32_t number = number_of(e, &e->symbol_of, (uint64_t)row.text << 32 | row.bytes, e->symbols.n);

    if (number == e->symbols.n) {
        struct stored_symbol *at = vector_push(&e->symbols);
        if (at)
            *at = row;
        else
            e->rc = -ENOMEM;
    }
    return number;
}

/* The function of a frame, + 1; 0: nothing is known of it. */
static uint32_t function_of(struct encoder *e, const struct rk_sources *s, uint32_t frame)
{
    struct stored_function row = {text_of(e, s->function[frame]), text_of(e, s->declared_file[frame]),
                                  s->declared_line[frame]};

    if (!row.text && !row.declared_file)
        return 0;
    uint64_t hash = hash_mix(row.text ^ hash_mix((uint64_t)row.declared_file << 32 | row.declared_line));
    uint32_t number = number_of(e, &e->function_of, hash, e->functions.n);
    if (number == e->functions.n) {
        struct stored_function *at = vector_push(&e->functions);
        if (at)
            *at = row;
        else
            e->rc = -ENOMEM;
    }
    return number + 1;
}

static void put_answer(struct encoder *e, const struct rk_sources *s, size_t i, bool lined, bytes_t *to)
{
    const struct rk_symbol *symbol = &s->symbol[i];
    uint32_t frames = s->first[i + 1] - s->first[i];

    if (!symbol->mangled) {
        put_uleb(e, to, 0);
        put_uleb(e, to, symbol->miss);
    }
    put_uleb(e, to, symbol->name ? (uint64_t)symbol_of(e, symbol) + 1 : 0);
    if (symbol->name)
        put_uleb(e, to, symbol->distance);
    if (s->miss[i] != RK_MISS_NONE || !lined) {
        put_uleb(e, to, 0);
        put_uleb(e, to, s->miss[i] != RK_MISS_NONE ? s->miss[i] : RK_MISS_NO_LINES);
        return;
    }
    put_uleb(e, to, (uint64_t)frames + 1);
    for (uint32_t f = s->first[i]; f < s->first[i + 1]; f++) {
        put_uleb(e, to, function_of(e, s, f));
        put_uleb(e, to, text_of(e, s->file[f]));
        put_uleb(e, to, s->line[f]);
        put_uleb(e, to, s->column[f]);
    }
}

static void put_part(struct encoder *e, bytes_t *to, uint32_t tag, const bytes_t *head, const bytes_t *body)
{
    put_uleb(e, to, tag);
    put_uleb(e, to, head->n + body->n);
    put_bytes(e, to, head->items, head->n);
    put_bytes(e, to, body->items, body->n);
}

static void put_module(struct encoder *e, const struct named_module *m, struct encode_limits limits,
                       struct rk_names *tally)
{
    bytes_t head = {0}, body = {0};
    uint64_t last = 0, n = 0;

    for (size_t i = 0; i < m->n && e->rc == 0; i++) {
        if (!m->sources || m->rank[i] >= limits.named) {
            tally->left_out++;
            continue;
        }
        bool line = m->sources->miss[i] == RK_MISS_NONE, lined = m->rank[i] < limits.lined;
        put_uleb(e, &body, m->offsets[i] - last);
        put_answer(e, m->sources, i, lined, &body);
        last = m->offsets[i];
        n++;
        tally->named += m->sources->symbol[i].mangled != NULL;
        tally->lined += line && lined;
        tally->unlined += line && !lined;
    }
    if (n) {
        put_uleb(e, &head, m->module.kind);
        put_uleb(e, &head, text_of(e, m->module.path));
        put_uleb(e, &head, m->module.pid > 0 ? (uint64_t)m->module.pid : 0);
        put_uleb(e, &head, m->module.inode);
        put_uleb(e, &head, m->id.bytes);
        put_bytes(e, &head, m->id.id, m->id.bytes);
        put_uleb(e, &head, n);
        put_part(e, &e->modules, STORED_MODULE, &head, &body);
    }
    vector_free(&head);
    vector_free(&body);
}

/* What the modules refer to, then these. */
static void put_body(struct encoder *e, bytes_t *to)
{
    bytes_t head = {0}, body = {0};

    put_uleb(e, &head, e->texts.texts.n);
    for (size_t i = 0; i < e->texts.texts.n; i++)
        put_bytes(e, &body, e->texts.texts.items[i].text, e->texts.texts.items[i].bytes + 1u);
    put_part(e, to, STORED_TEXTS, &head, &body);
    head.n = body.n = 0;
    put_uleb(e, &head, e->symbols.n);
    for (size_t i = 0; i < e->symbols.n; i++) {
        put_uleb(e, &body, e->symbols.items[i].text);
        put_uleb(e, &body, e->symbols.items[i].bytes);
    }
    put_part(e, to, STORED_SYMBOLS, &head, &body);
    head.n = body.n = 0;
    put_uleb(e, &head, e->functions.n);
    for (size_t i = 0; i < e->functions.n; i++) {
        put_uleb(e, &body, e->functions.items[i].text);
        put_uleb(e, &body, e->functions.items[i].declared_file);
        put_uleb(e, &body, e->functions.items[i].declared_line);
    }
    put_part(e, to, STORED_FUNCTIONS, &head, &body);
    put_bytes(e, to, e->modules.items, e->modules.n);
    vector_free(&head);
    vector_free(&body);
}

/* By zstd: 1, or 0 where it is not here or makes nothing smaller. */
static int pack_zstd(const bytes_t *body, unsigned char *room, size_t *ret_n)
{
    struct zstd *zstd = NULL;
    size_t at = 0, done = 0;
    int more = 1;

    if (zstd_open(LEVEL, &zstd) < 0)
        return 0;
    while (more && done < body->n) {
        int n = zstd_pack(zstd, body->items, body->n, &at, room + done, body->n - done, &more);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    zstd_close(zstd);
    *ret_n = done;
    return !more;
}

/* The head, and the body packed as well as it can be here. */
static int pack(const bytes_t *body, bytes_t *ret)
{
    struct stored_head head = {.magic = STORED_MAGIC, .version = STORED_VERSION, .bytes = body->n};
    unsigned char *room = malloc(body->n + 1);
    void *gzip = NULL;
    const void *packed = room;
    size_t n = 0;
    int rc = room ? 0 : -ENOMEM;

    if (rc == 0 && pack_zstd(body, room, &n)) {
        head.packing = STORED_ZSTD;
    } else if (rc == 0) {
        rc = gzip_encode(body->items, body->n, &gzip, &n);
        packed = gzip;
        head.packing = STORED_GZIP;
    }
    if (rc == 0 && (n >= body->n || body->n / STORED_RATIO >= n)) {
        head.packing = STORED_PLAIN;
        packed = body->items;
        n = body->n;
    }
    if (rc == 0)
        rc = bytes_put(ret, &head, sizeof head);
    if (rc == 0)
        rc = bytes_put(ret, packed, n);
    free(room);
    free(gzip);
    return rc;
}

int encode_names(const struct named_module *modules, size_t n, struct encode_limits limits, bytes_t *ret,
                 struct rk_names *tally)
{
    struct encoder e = {0};
    bytes_t body = {0};

    text_of(&e, "");
    for (size_t i = 0; i < n && e.rc == 0; i++)
        put_module(&e, &modules[i], limits, tally);
    if (e.rc == 0)
        put_body(&e, &body);
    if (e.rc == 0)
        e.rc = pack(&body, ret);
    intern_free(&e.texts);
    vector_free(&e.symbols);
    vector_free(&e.functions);
    table_free(&e.symbol_of);
    table_free(&e.function_of);
    vector_free(&e.modules);
    vector_free(&body);
    return e.rc;
}

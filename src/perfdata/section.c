#include "perfdata/section.h"

#include "perfdata/swap.h"

#include "base/cleanup.h"
#include "base/cursor.h"
#include "record/swap.h"
#include "sys/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEATURE_BYTES_MAX (UINT64_C(16) << 20)

static bool in_file(const struct window *file, struct perfdata_section s)
{
    return s.size <= file->size && s.offset <= file->size - s.size;
}

/* The bytes of a section, freed by the caller; -EBADMSG where they are not all there, or more than `limit`.
 * */
static int section_load(const struct window *file, struct perfdata_section s, uint64_t limit,
                        unsigned char **ret)
{
    if (!in_file(file, s) || s.size > limit)
        return -EBADMSG;
    _cleanup_free_ unsigned char *bytes = malloc(s.size ? s.size : 1);
    if (!bytes)
        return -ENOMEM;
    int64_t n = sys_read_at(file->fd, bytes, s.size, s.offset);
    if (n < (int64_t)s.size)
        return n < 0 ? (int)n : -EBADMSG;
    *ret = TAKE_PTR(bytes);
    return 0;
}

/* Words of 64 bits, where the file has them in the other byte order. */
static void turn_words(const struct window *file, void *words, size_t n)
{
    struct cursor c = cursor_of(words, n);

    if (file->swapped)
        swap_items(&c, n / 8, 8);
}

/* One attr at `offset` and, behind it, where its ids are. */
static int take_attr(const struct window *file, uint64_t offset, uint64_t attr_size,
                     struct contents *contents, struct section_fault *ret_fault)
{
    unsigned char attr[CONTENTS_ATTR_MAX];
    _cleanup_free_ unsigned char *ids = NULL;
    struct perfdata_section where;

    *ret_fault = (struct section_fault){"cut inside its events", offset};
    int64_t n = sys_read_at(file->fd, attr, attr_size, offset);
    if (n < (int64_t)attr_size)
        return n < 0 ? (int)n : -EBADMSG;
    if (file->swapped)
        swap_attr(attr, attr_size - sizeof where);
    memcpy(&where, attr + attr_size - sizeof where, sizeof where);
    turn_words(file, &where, sizeof where);

    *ret_fault = (struct section_fault){"an event's ids lie outside of the file: place given",
                                        offset + attr_size - sizeof where};
    int r = section_load(file, where, CONTENTS_BYTES_MAX, &ids);
    if (r < 0)
        return r;
    *ret_fault = (struct section_fault){"a damaged event", offset};
    turn_words(file, ids, where.size);
    return contents_attr(contents, attr, attr_size - sizeof where, ids, where.size / 8);
}

int section_attrs(const struct window *file, const struct perfdata_header *header, struct contents *contents,
                  struct section_fault *ret_fault)
{
    const uint64_t size_at = __builtin_offsetof(struct perfdata_header, attr_size),
                   attrs_at = __builtin_offsetof(struct perfdata_header, attrs);
    uint64_t size = header->attr_size;

    *ret_fault = (struct section_fault){"invalid size of an event, given", size_at};
    if (size < CONTENTS_ATTR_MIN + sizeof(struct perfdata_section) || size > CONTENTS_ATTR_MAX || size % 8)
        return -EBADMSG;
    *ret_fault = (struct section_fault){"the events lie outside of the file: place given", attrs_at};
    if (!in_file(file, header->attrs))
        return -EBADMSG;
    uint64_t n = header->attrs.size / size;
    ret_fault->what = n ? "too many events: number given" : "no events: number given";
    if (n == 0 || n > CONTENTS_EVENTS_MAX)
        return -EBADMSG;
    for (uint64_t i = 0; i < n; i++) {
        int r = take_attr(file, header->attrs.offset + i * size, size, contents, ret_fault);
        if (r < 0)
            return r;
    }
    return 0;
}

/* A feature, by its section. */
static int take_feature(const struct window *file, struct perfdata_section s, unsigned bit,
                        struct contents *contents)
{
    _cleanup_free_ unsigned char *bytes = NULL;

    if ((bit == FEATURE_TRACING_DATA && s.size > TRACING_BYTES_MAX) ||
        (bit == FEATURE_NAMES && s.size > NAMES_BYTES_MAX))
        return in_file(file, s) ? 0 : -EBADMSG;
    if (bit == FEATURE_NAMES && s.size == 0) /* none were made */
        return 0;
    int r = section_load(file, s, FEATURE_BYTES_MAX, &bytes);
    if (r == 0 && file->swapped)
        swap_feature(bit, bytes, s.size);
    return r < 0 ? r : contents_feature(contents, bit, bytes, s.size);
}

/* `n` bytes at `at`, into `ret`; -EBADMSG: they are not all there. */
static int load_words(const struct window *file, uint64_t at, void *ret, size_t n)
{
    _cleanup_free_ unsigned char *bytes = NULL;
    int r = section_load(file, (struct perfdata_section){at, n}, n, &bytes);

    if (r == 0) {
        memcpy(ret, bytes, n);
        turn_words(file, ret, n);
    }
    return r;
}

/* Our own features, whose table is at `table` if there is one. */
static int take_own(const struct window *file, uint64_t table, struct contents *contents)
{
    struct perfdata_own entry = {0};
    uint64_t head[2] = {0};
    int r = load_words(file, table, head, sizeof head), worst = 0;

    if (r < 0 || head[0] != PERFDATA_OWN_MAGIC)
        return r == -EBADMSG ? 0 : r;
    if (head[1] > FEATURE_MAX - FEATURE_OWN)
        return -EBADMSG;
    for (uint64_t i = 0; i < head[1] && (r == 0 || r == -EBADMSG); i++) {
        r = load_words(file, table + sizeof head + i * sizeof entry, &entry, sizeof entry);
        if (r == 0 && entry.bit >= FEATURE_OWN && entry.bit < FEATURE_MAX)
            r = take_feature(file, entry.section, (unsigned)entry.bit, contents);
        worst = r < 0 ? r : worst;
    }
    return r < 0 && r != -EBADMSG ? r : worst;
}

int section_features(const struct window *file, const struct perfdata_header *header, uint64_t table,
                     struct contents *contents, bool *ret_whole)
{
    struct perfdata_section s;
    bool any = false, whole = true;
    int r;

    for (unsigned bit = 0; bit < FEATURE_MAX; bit++) {
        if (!(header->features[bit / 64] >> bit % 64 & 1))
            continue;
        r = load_words(file, table, &s, sizeof s);
        if (r == 0)
            r = take_feature(file, s, bit, contents);
        if (r < 0 && r != -EBADMSG)
            return r;
        any = true;
        whole &= r == 0;
        table += sizeof s;
    }
    r = any ? take_own(file, table, contents) : 0;
    if (r < 0 && r != -EBADMSG)
        return r;
    *ret_whole = any && whole && r == 0;
    return 0;
}

int section_find_names(const struct window *file, const struct perfdata_header *header, uint64_t table,
                       uint64_t *ret)
{
    struct perfdata_own entry = {0};
    uint64_t head[2] = {0};

    for (unsigned bit = 0; bit < FEATURE_MAX; bit++)
        if (header->features[bit / 64] >> bit % 64 & 1)
            table += sizeof(struct perfdata_section);
    int r = load_words(file, table, head, sizeof head);
    if (r < 0 || head[0] != PERFDATA_OWN_MAGIC || head[1] > FEATURE_MAX - FEATURE_OWN)
        return r < 0 && r != -EBADMSG ? r : -ENOENT;
    for (uint64_t i = 0; i < head[1]; i++) {
        uint64_t at = table + sizeof head + i * sizeof entry;
        r = load_words(file, at, &entry, sizeof entry);
        if (r == 0 && entry.bit == FEATURE_NAMES)
            *ret = at;
        if (r < 0 || entry.bit == FEATURE_NAMES)
            return r == -EBADMSG ? -ENOENT : r;
    }
    return -ENOENT;
}

/*
 * See contents.h. A text in a feature is { u32 len; char text[len]; }: len counts a NUL and padding to 64.
 * A list is { u32 n; } and n texts.
 */
#include "perfdata/contents.h"

#include "base/cursor.h"

#include <errno.h>

void contents_init(struct contents *contents)
{
    *contents = (struct contents){
        .info = {.host = "", .kernel = "", .architecture = "", .tool = "", .command = "", .ledger = ""},
    };
}

void contents_free(struct contents *contents)
{
    vector_free(&contents->events);
    vector_free(&contents->build_ids);
    table_free(&contents->by_id);
    arena_free(&contents->arena);
}

/* -EBADMSG where n more bytes are more than any honest file needs. */
static int contents_room(const struct contents *contents, uint64_t n)
{
    uint64_t used = contents->arena.bytes + contents->build_ids.n * sizeof *contents->build_ids.items;

    return n > CONTENTS_BYTES_MAX || used > CONTENTS_BYTES_MAX - n ? -EBADMSG : 0;
}

static int keep_text(struct contents *contents, const char *text, size_t n, const char **ret)
{
    int r = contents_room(contents, n);

    if (r < 0)
        return r;
    const char *kept = arena_text(&contents->arena, text, n);
    if (!kept)
        return -ENOMEM;
    *ret = kept;
    return 0;
}

/* All that is left at the cursor, with a NUL behind it. */
static int keep_bytes(struct contents *contents, struct cursor c, const char **ret)
{
    int r = contents_room(contents, cursor_left(&c));

    if (r < 0)
        return r;
    const char *kept = arena_text(&contents->arena, (const char *)c.at, cursor_left(&c));
    if (!kept)
        return -ENOMEM;
    *ret = kept;
    return 0;
}

/* The text at the cursor, its length without padding. */
static const char *take_text(struct cursor *c, size_t *ret_n)
{
    uint32_t n = cursor_u32(c);
    const char *text = (const char *)cursor_bytes(c, n);

    *ret_n = text ? strnlen(text, n) : 0;
    return text;
}

int contents_attr(struct contents *contents, const void *bytes, size_t n, const void *ids, size_t ids_n)
{
    int r = contents_room(contents, sizeof(struct perfdata_event) + ids_n * 8);
    struct perf_attr attr = {0};
    char buffer[EVENT_NAME_BYTES];

    if (r < 0)
        return r;
    if (n < CONTENTS_ATTR_MIN || contents->events.n >= CONTENTS_EVENTS_MAX)
        return -EBADMSG;
    memcpy(&attr, bytes, CONTENTS_ATTR_MIN);
    size_t size = attr.size ? attr.size : CONTENTS_ATTR_MIN;
    if (size < CONTENTS_ATTR_MIN)
        return -EBADMSG;
    size = size < n ? size : n;
    memcpy(&attr, bytes, size < sizeof attr ? size : sizeof attr);

    struct perfdata_event *event = arena_alloc(&contents->arena, sizeof *event);
    uint64_t *kept = arena_alloc(&contents->arena, ids_n * 8);
    if (!event || !kept || vector_reserve(&contents->events, 1) < 0)
        return -ENOMEM;
    if (ids_n)
        memcpy(kept, ids, ids_n * 8);
    *event = (struct perfdata_event){.attr = attr, .ids = kept, .ids_n = ids_n};
    r = keep_text(contents, contents_event_name(&attr, buffer), strlen(contents_event_name(&attr, buffer)),
                  &event->name);
    for (size_t i = 0; r == 0 && i < ids_n; i++)
        r = table_put(&contents->by_id, kept[i], (uint32_t)contents->events.n);
    if (r < 0)
        return r;
    contents->events.items[contents->events.n++] = event;
    return 0;
}

/* { struct perf_event_header; i32 pid; u8 id[20], size, pad[3]; char path[]; }; size only with its misc bit
 * */
int contents_build_id(struct contents *contents, const void *record, size_t n)
{
    struct cursor c = cursor_of(record, n);
    struct perfdata_build_id id = {0};

    cursor_u32(&c);
    uint16_t misc = cursor_u16(&c);
    cursor_u16(&c);
    id.misc = misc & (uint16_t)~PERFDATA_MISC_BUILD_ID_SIZE;
    id.pid = cursor_i32(&c);
    const unsigned char *bytes = cursor_bytes(&c, sizeof id.id);
    id.bytes = cursor_u8(&c);
    cursor_bytes(&c, 3);
    const char *path = (const char *)c.at;
    size_t path_n = strnlen(path, cursor_left(&c));
    if (c.bad)
        return -EBADMSG;
    memcpy(id.id, bytes, sizeof id.id);
    if (!(misc & PERFDATA_MISC_BUILD_ID_SIZE) || id.bytes > sizeof id.id)
        id.bytes = sizeof id.id;

    int r = contents_room(contents, sizeof id);
    if (r == 0)
        r = keep_text(contents, path, path_n, &id.path);
    if (r < 0)
        return r;
    struct perfdata_build_id *at = vector_push(&contents->build_ids);
    if (!at)
        return -ENOMEM;
    *at = id;
    return 0;
}

static int feature_build_ids(struct contents *contents, struct cursor c)
{
    while (cursor_left(&c)) {
        struct cursor peek = c;
        struct perf_header header;
        const unsigned char *at = cursor_bytes(&peek, sizeof header);

        if (!at)
            return -EBADMSG;
        memcpy(&header, at, sizeof header);
        at = header.size < sizeof header ? NULL : cursor_bytes(&c, header.size);
        if (!at)
            return -EBADMSG;
        int r = contents_build_id(contents, at, header.size);
        if (r < 0)
            return r;
    }
    return 0;
}

static int feature_text(struct contents *contents, struct cursor c, const char **ret)
{
    size_t n;
    const char *text = take_text(&c, &n);

    return text ? keep_text(contents, text, n, ret) : -EBADMSG;
}

/* A list, joined by blanks. */
static int feature_list(struct contents *contents, struct cursor c, const char **ret)
{
    size_t bytes = cursor_left(&c), n = 0;
    uint32_t texts = cursor_u32(&c);
    int r = contents_room(contents, bytes);

    if (r < 0)
        return r;
    char *joined = arena_alloc(&contents->arena, bytes + 1);
    if (!joined)
        return -ENOMEM;
    for (uint32_t i = 0; i < texts && !c.bad; i++) {
        size_t text_n;
        const char *text = take_text(&c, &text_n);

        if (!text)
            break;
        if (i)
            joined[n++] = ' '; /* in place of the length, so that it fits */
        memcpy(joined + n, text, text_n);
        n += text_n;
    }
    if (c.bad)
        return -EBADMSG;
    joined[n] = '\0';
    *ret = joined;
    return 0;
}

/* The event that a description is about: the one at its place, else the first of the same type and config. */
static struct perfdata_event *described(const struct contents *contents, size_t index, uint32_t type,
                                        uint64_t config)
{
    for (size_t i = index; i < index + 1 + contents->events.n; i++) {
        size_t at = i == index ? index : i - index - 1;
        struct perfdata_event *event = at < contents->events.n ? contents->events.items[at] : NULL;

        if (event && event->attr.type == type && event->attr.config == config)
            return event;
    }
    return NULL;
}

/* { u32 n, attr_size; { u8 attr[attr_size]; u32 ids_n; text name; u64 ids[ids_n]; } [n]; } */
static int feature_event_desc(struct contents *contents, struct cursor c)
{
    uint32_t n = cursor_u32(&c), attr_size = cursor_u32(&c);

    if (n > CONTENTS_EVENTS_MAX)
        return -EBADMSG;
    for (uint32_t i = 0; i < n && !c.bad; i++) {
        struct cursor attr = cursor_of(c.at, attr_size < cursor_left(&c) ? attr_size : cursor_left(&c));
        uint32_t type = cursor_u32(&attr);
        cursor_u32(&attr);
        uint64_t config = cursor_u64(&attr);
        size_t name_n;

        cursor_bytes(&c, attr_size);
        uint32_t ids_n = cursor_u32(&c);
        const char *name = take_text(&c, &name_n);
        cursor_words(&c, ids_n);
        if (c.bad || attr.bad)
            return -EBADMSG;
        struct perfdata_event *event = described(contents, i, type, config);
        int r = event && name_n ? keep_text(contents, name, name_n, &event->name) : 0;
        if (r < 0)
            return r;
    }
    return c.bad ? -EBADMSG : 0;
}

/* Text; a first line that we don't know is a later version's, and none of our business. */
static int feature_ledger(struct contents *contents, struct cursor c)
{
    static const char first[] = PERFDATA_LEDGER_1 "\n";
    const char *text = (const char *)c.at;
    size_t n = strnlen(text, cursor_left(&c)), first_n = sizeof first - 1;

    if (n < first_n || memcmp(text, first, first_n) != 0)
        return 0;
    return keep_text(contents, text + first_n, n - first_n, &contents->info.ledger);
}

/* Tracepoints whose names nobody has told yet get those of their formats. */
static int feature_tracing(struct contents *contents, struct cursor c)
{
    char unnamed[EVENT_NAME_BYTES];
    int r = keep_bytes(contents, c, &contents->tracing);

    contents->tracing_n = r == 0 ? cursor_left(&c) : contents->tracing_n;
    for (size_t i = 0; i < contents->events.n && r == 0; i++) {
        struct perfdata_event *event = contents->events.items[i];
        if (event->attr.type == PERF_TRACEPOINT &&
            strcmp(event->name, contents_event_name(&event->attr, unnamed)) == 0)
            r = contents_tracepoint(contents, event->attr.config, &event->name);
        r = r == -ENOENT ? 0 : r;
    }
    return r;
}

int contents_feature(struct contents *contents, unsigned bit, const void *bytes, size_t n)
{
    struct perfdata_info *info = &contents->info;
    struct cursor c = cursor_of(bytes, n);
    struct perfdata_info was = *info;

    switch (bit) {
    case FEATURE_TRACING_DATA:
        return feature_tracing(contents, c);
    case FEATURE_NAMES: {
        const char *kept;
        int r = keep_bytes(contents, c, &kept);
        if (r == 0) {
            contents->names = kept;
            contents->names_n = n;
        }
        return r;
    }
    case FEATURE_BUILD_ID:
        return feature_build_ids(contents, c);
    case FEATURE_HOSTNAME:
        return feature_text(contents, c, &info->host);
    case FEATURE_OSRELEASE:
        return feature_text(contents, c, &info->kernel);
    case FEATURE_VERSION:
        return feature_text(contents, c, &info->tool);
    case FEATURE_ARCH:
        return feature_text(contents, c, &info->architecture);
    case FEATURE_NRCPUS:
        info->cpus_available = cursor_u32(&c);
        info->cpus_online = cursor_u32(&c);
        break;
    case FEATURE_CMDLINE:
        return feature_list(contents, c, &info->command);
    case FEATURE_EVENT_DESC:
        return feature_event_desc(contents, c);
    case FEATURE_SAMPLE_TIME:
        info->first_time = cursor_u64(&c);
        info->last_time = cursor_u64(&c);
        break;
    case FEATURE_CLOCK_DATA:
        if (cursor_u32(&c) != 1)
            return 0;
        cursor_u32(&c);
        info->made = cursor_u64(&c);
        break;
    case FEATURE_COMPRESSED: /* { u32 version, type, level, ratio, mmap_len; } */
        info->compressed = true;
        return 0;
    case FEATURE_LEDGER:
        return feature_ledger(contents, c);
    default:
        return 0;
    }
    if (c.bad)
        *info = was;
    return c.bad ? -EBADMSG : 0;
}

int contents_update(struct contents *contents, const void *body, size_t n)
{
    enum { UPDATE_NAME = 2 };
    struct cursor c = cursor_of(body, n);

    if (n < 2 * sizeof(uint64_t))
        return -EBADMSG;
    uint64_t type = cursor_u64(&c), id = cursor_u64(&c);
    uint32_t index = table_get(&contents->by_id, id);
    size_t name_n = strnlen((const char *)c.at, cursor_left(&c));
    if (type != UPDATE_NAME || index == TABLE_NONE || !name_n)
        return 0;
    return keep_text(contents, (const char *)c.at, name_n, &contents->events.items[index]->name);
}

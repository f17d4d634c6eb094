/*
 * Names that a recording stores: the bytes are a section, or, where they don't begin as one, the body of one that is not
 * packed. Each module is looked up as itself, each place in it, its neighbours and the whole of its function.
 */
#include "fuzz.h"

#include "symbol/stored.h"

#include <string.h>

static void touch_answer(const struct stored *stored, struct stored_answer *answer)
{
    if (answer->symbol.name) {
        fuzz_touch_text(answer->symbol.name);
        fuzz_touch_text(answer->plain);
    }
    HOLDS(answer->frame_n <= STORED_FRAMES_MAX && (answer->frame_n || answer->miss));
    for (uint32_t i = 0; i < answer->frame_n; i++) {
        struct stored_frame frame = stored_frame_next(stored, answer);
        const char *texts[] = {frame.function, frame.plain, frame.file, frame.declared_file};
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
            if (texts[t])
                fuzz_touch_text(texts[t]);
        HOLDS(!answer->frames.bad);
    }
}

static void ask(const struct stored *stored, const struct stored_module *module, uint64_t offset, bool exact)
{
    struct stored_answer answer;
    bool known = stored_ask(stored, module, offset, &answer);

    HOLDS(!exact || (known && answer.exact));
    if (known)
        touch_answer(stored, &answer);
    if (exact && answer.symbol.name && answer.symbol.distance <= offset)
        ask(stored, module, offset - answer.symbol.distance + answer.symbol.bytes / 2, false);
}

static void use(const struct stored *stored)
{
    for (size_t m = 0; m < stored->modules.n; m++) {
        const struct stored_module *own = &stored->modules.items[m], *found;
        struct rk_module module = {.size = sizeof module,
                                   .kind = own->kind,
                                   .path = stored->texts[own->path],
                                   .pid = own->pid,
                                   .inode = own->inode,
                                   .build_id_bytes = own->id.bytes};
        memcpy(module.build_id, own->id.id, sizeof module.build_id);
        found = stored_find(stored, &module);
        HOLDS(found && found->kind == own->kind && found->path <= stored->text_n);
        for (size_t i = 0; i < own->n; i++) {
            uint64_t offset = stored->places.items[own->first + i].offset;
            ask(stored, own, offset, true);
            ask(stored, own, offset - 1, false);
            ask(stored, own, offset + 1, false);
            ask(stored, found, offset, false);
        }
    }
}

static void open_section(const void *bytes, size_t n)
{
    struct stored *stored = NULL;
    int rc = stored_open(bytes, n, &stored);

    HOLDS(rc == 0 || rc == -74 || rc == -95); /* EBADMSG, EOPNOTSUPP */
    if (rc == 0)
        use(stored);
    stored_close(stored);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stored_head head = {
        .magic = STORED_MAGIC, .version = STORED_VERSION, .packing = STORED_PLAIN, .bytes = size};
    uint64_t magic = STORED_MAGIC;

    if (size >= sizeof magic && memcmp(data, &magic, sizeof magic) == 0) {
        open_section(data, size);
        return 0;
    }
    unsigned char *section = malloc(sizeof head + size);
    if (!section)
        return 0;
    memcpy(section, &head, sizeof head);
    if (size)
        memcpy(section + sizeof head, data, size);
    open_section(section, sizeof head + size);
    free(section);
    return 0;
}

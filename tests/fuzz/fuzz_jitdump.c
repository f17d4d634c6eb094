/*
 * jitdump files: the bytes are one, read whole and in two parts; each place in it is looked up, with its line.
 */
#include "fuzz.h"

#include "symbol/jitdump.h"

static void look_up(const struct jitdump *dump, const struct jit_source *source, const struct intern *names)
{
    for (uint64_t code = 0; code <= source->size; code++) {
        const struct jit_load *load = jitdump_find(dump, code);
        char *file = NULL;
        uint32_t line = 0;
        if (!load)
            continue;
        HOLDS(code >= load->code && code - load->code < load->bytes &&
              load->code + load->bytes <= source->size);
        fuzz_touch_text(intern_text(names, load->name));
        int rc = jitdump_line(dump, source, load, intern_text(names, load->name), code, &file, &line);
        HOLDS(rc == 0 || rc == 1);
        if (rc == 1)
            fuzz_touch_text(file);
        free(file);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct jit_source source = {.fd = -1, .bytes = data, .size = size}, half = source;
    struct jitdump dump = {0}, grown = {0};
    struct intern names = {0};

    int rc = jitdump_read(&dump, &source, &names);
    HOLDS(rc == 0 || rc == -8); /* ENOEXEC */
    HOLDS(dump.taken <= size || dump.damaged || dump.loads.n == 0);
    for (size_t i = 0; i < dump.loads.n; i++) {
        HOLDS(dump.loads.items[i].bytes &&
              dump.loads.items[i].address + (dump.loads.items[i].bytes - 1) >= dump.loads.items[i].address);
        HOLDS(i == 0 || dump.loads.items[i].time >= dump.loads.items[i - 1].time);
    }
    look_up(&dump, &source, &names);
    /* What grows ends up as what was there at once. */
    half.size = size / 2;
    if (jitdump_read(&grown, &half, &names) == 0 && jitdump_read(&grown, &source, &names) == 0)
        HOLDS(grown.loads.n == dump.loads.n && grown.taken == dump.taken && grown.damaged == dump.damaged);
    jitdump_free(&dump);
    jitdump_free(&grown);
    intern_free(&names);
    return 0;
}

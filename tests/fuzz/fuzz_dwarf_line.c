/*
 * A line program as it is, with the sections of its texts: its sequences, rows for addresses in them, the path of each file.
 * An address asked for alone gets what it gets among others.
 *
 *     version, bytes of an address │ .debug_line │ .debug_line_str │ .debug_str │ .debug_str_offsets
 */
#include "sections.h"

#include "dwarf/line.h"

static int tell(void *context, uint64_t low, uint64_t high)
{
    HOLDS(low < high);
    fuzz_ask_range(context, low, high);
    return 0;
}

static void paths(const struct lines *lines, const struct unit *unit)
{
    char path[512];
    for (uint64_t i = 0; i < lines->files.n + 2 && i < 256; i++) {
        size_t n = line_path(lines, unit, i, path, sizeof path);
        HOLDS(n < sizeof path && (n == 0 || strlen(path) == n));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct fuzz_questions q = {.n = 0};
    struct dwarf file;
    struct lines lines = {0};

    fuzz_file_open(&file);
    uint8_t version = (uint8_t)fuzz_number(&in, 1), address_bytes = (uint8_t)fuzz_number(&in, 1);
    fuzz_section(&in, &file.line);
    fuzz_section(&in, &file.line_str);
    fuzz_section(&in, &file.str);
    fuzz_section(&in, &file.str_offsets);
    struct unit unit = {.file = &file,
                        .version = (uint8_t)(2 + version % 4),
                        .address_bytes = address_bytes == 4 ? 4 : 8,
                        .offset_bytes = 4,
                        .has_lines = true,
                        .str_offsets_base = 8,
                        .code_low = file.code_low,
                        .code_high = file.code_high,
                        .directory = "/src"};
    HOLDS(line_sequences(&unit, tell, &q) == 0);
    HOLDS(line_bytes(&unit) <= file.line.n);
    HOLDS(line_answer(&lines, &unit, q.items, q.n) <= 0);
    paths(&lines, &unit);
    for (size_t i = 0; i < q.n; i++) {
        struct question alone = {.address = q.items[i].address, .node = NODE_NONE};
        line_answer(&lines, &unit, &alone, 1);
        HOLDS(alone.answered == q.items[i].answered && alone.file == q.items[i].file &&
              alone.line == q.items[i].line && alone.column == q.items[i].column);
    }
    lines_free(&lines);
    fuzz_file_close(&file);
    return 0;
}

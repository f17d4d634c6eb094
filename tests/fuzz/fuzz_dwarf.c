/*
 * Debug information in an ELF file: units, abbreviations, ranges, line programs, names. Addresses all over its code are
 * asked for, in two batches, of which the second is a part of the first and must get the same answers; with one thread
 * and with two.
 */
#include "fuzz.h"
#include "mutate_elf.h"

#include "dwarf/resolve.h"

#include <string.h>

enum { ADDRESSES = 200 };

static uint64_t sum_of(const struct found *found, size_t n, uint64_t from, const uint64_t *addresses)
{
    uint64_t sum = 0;
    for (size_t f = 0; f < n; f++)
        for (size_t i = 0; i < found[f].answers.n; i++) {
            const struct found_answer *a = &found[f].answers.items[i];
            uint64_t own = addresses[a->question];
            HOLDS(a->n > 0 && a->first + a->n <= found[f].frames.n);
            for (uint32_t k = a->first; k < a->first + a->n; k++) {
                const struct line_frame *frame = &found[f].frames.items[k];
                HOLDS(frame->function == TEXT_NONE || frame->function < found[f].texts.texts.n);
                HOLDS(frame->file == TEXT_NONE || frame->file < found[f].texts.texts.n);
                own = own * 31 + frame->line * 7 + frame->column;
                if (frame->function != TEXT_NONE)
                    own = own * 31 + strlen(intern_text(&found[f].texts, frame->function));
                if (frame->file != TEXT_NONE)
                    own = own * 31 + strlen(intern_text(&found[f].texts, frame->file));
            }
            if (addresses[a->question] >= from)
                sum += own; /* in any order */
        }
    return sum;
}

static uint64_t ask(struct dwarf *dwarf, const uint64_t *addresses, size_t n, unsigned threads, uint64_t from)
{
    struct found *found = NULL;
    size_t found_n = 0;
    int rc = dwarf_resolve(dwarf, addresses, n, threads, &found, &found_n);
    HOLDS(rc == 0 || rc == -12);
    uint64_t sum = rc == 0 ? sum_of(found, found_n, from, addresses) : 0;
    found_free(found, found_n);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct elf *elf = NULL;
    struct dwarf *dwarf = NULL;
    uint64_t addresses[ADDRESSES];

    if (elf_open_memory(data, size, "input", &elf, NULL) < 0 ||
        dwarf_open(-1, &(struct dwarf_place){0}, elf, &dwarf) < 0)
        return 0;
    if (dwarf->code_low < dwarf->code_high) {
        uint64_t step = (dwarf->code_high - dwarf->code_low) / ADDRESSES + 1;
        for (size_t i = 0; i < ADDRESSES; i++)
            addresses[i] = dwarf->code_low + i * step;
        if (addresses[ADDRESSES - 1] > addresses[0]) {
            uint64_t middle = addresses[ADDRESSES / 2];
            uint64_t sum = ask(dwarf, addresses, ADDRESSES, 2, middle);
            HOLDS(ask(dwarf, addresses, ADDRESSES, 1, middle) == sum);
        }
    }
    dwarf_close(dwarf);
    return 0;
}

#include "symbol/shelf.h"

void shelf_use(struct shelved **shelf, struct shelved *lines)
{
    struct shelved **at = shelf;

    while (*at && *at != lines)
        at = &(*at)->next;
    if (*at)
        *at = lines->next;
    lines->next = NULL;
    if (lines->dwarf) {
        lines->next = *shelf;
        *shelf = lines;
    }
}

void shelf_trim(struct shelved **shelf, uint64_t bytes, uint32_t files)
{
    uint64_t held = 0;
    uint32_t n = 0;

    for (struct shelved **at = shelf; *at;) {
        struct shelved *lines = *at;
        held += dwarf_held(lines->dwarf);
        if (++n <= files && held <= bytes) {
            at = &lines->next;
            continue;
        }
        *at = lines->next;
        lines->dwarf = dwarf_close(lines->dwarf);
        lines->asked = false;
        lines->next = NULL;
    }
}

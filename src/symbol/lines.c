#include "symbol/lines.h"

void lines_use(struct lines **list, struct lines *lines)
{
    struct lines **at = list;

    while (*at && *at != lines)
        at = &(*at)->next;
    if (*at)
        *at = lines->next;
    lines->next = NULL;
    if (lines->dwarf) {
        lines->next = *list;
        *list = lines;
    }
}

void lines_trim(struct lines **list, uint64_t bytes, uint32_t files)
{
    uint64_t held = 0;
    uint32_t n = 0;

    for (struct lines **at = list; *at;) {
        struct lines *lines = *at;
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

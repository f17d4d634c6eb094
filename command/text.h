/*
 * A text that grows by pieces: what repeated -e options join to.
 */
#ifndef COMMAND_TEXT_H
#define COMMAND_TEXT_H

#include <stdlib.h>
#include <string.h>

/* Appends `piece` to *text behind a comma. 0, or -1: out of memory, *text unchanged. *text begins as NULL. */
static inline int text_join(char **text, const char *piece)
{
    size_t have = *text ? strlen(*text) : 0, more = strlen(piece);
    char *longer = realloc(*text, have + more + 2);

    if (!longer)
        return -1;
    if (have)
        longer[have++] = ',';
    memcpy(longer + have, piece, more + 1);
    *text = longer;
    return 0;
}

static inline void text_free(char **text)
{
    free(*text);
}
#define handle_text __attribute__((cleanup(text_free)))

#endif

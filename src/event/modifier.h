/*
 * The letters behind a name's ':'.
 */
#ifndef EVENT_MODIFIER_H
#define EVENT_MODIFIER_H

#include <stddef.h>
#include <stdint.h>

#define MODIFIER_LETTERS "ukhGHIpPSDWe"
#define PRECISE_MAX 3

struct modifiers {
    uint32_t flags;   /* RK_EVENT_… */
    uint32_t precise; /* 0 … PRECISE_MAX */
};

/*
 * n letters, each at most once but p. 0, or -EINVAL with *ret_position at the letter that is unknown, repeated,
 * or one p too many.
 */
int modifiers_parse(const char *text, size_t n, struct modifiers *ret, size_t *ret_position);

/* The letters in their canonical order, with a NUL; "" for none. Returns how many. */
#define MODIFIERS_ROOM 16
size_t modifiers_print(const struct modifiers *modifiers, char to[static MODIFIERS_ROOM]);

#endif

#include "event/modifier.h"

#include <errno.h>
#include <reckon/event.h>
#include <string.h>

/* In the order of printing; p and its repeats stand before P. */
static const struct {
    char letter;
    uint32_t flag;
} letters[] = {
    {'u', RK_EVENT_USER},
    {'k', RK_EVENT_KERNEL},
    {'h', RK_EVENT_HYPERVISOR},
    {'G', RK_EVENT_GUEST},
    {'H', RK_EVENT_HOST},
    {'I', RK_EVENT_NO_IDLE},
    {'p', 0},
    {'P', RK_EVENT_PRECISE_MAX},
    {'S', RK_EVENT_SAMPLE_READ},
    {'D', RK_EVENT_PINNED},
    {'W', RK_EVENT_WEAK},
    {'e', RK_EVENT_EXCLUSIVE},
};
#define N_LETTERS (sizeof letters / sizeof *letters)
_Static_assert(sizeof MODIFIER_LETTERS == N_LETTERS + 1, "all of them are listed");
_Static_assert(MODIFIERS_ROOM > N_LETTERS - 1 + PRECISE_MAX, "all of them can be printed");

int modifiers_parse(const char *text, size_t n, struct modifiers *ret, size_t *ret_position)
{
    struct modifiers got = {0};

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < N_LETTERS && letters[k].letter != text[i])
            k++;
        if (k == N_LETTERS || (got.flags & letters[k].flag) ||
            (letters[k].flag == 0 && ++got.precise > PRECISE_MAX)) {
            *ret_position = i;
            return -EINVAL;
        }
        got.flags |= letters[k].flag;
    }
    *ret = got;
    return 0;
}

size_t modifiers_print(const struct modifiers *modifiers, char to[static MODIFIERS_ROOM])
{
    size_t n = 0;

    for (size_t k = 0; k < N_LETTERS; k++) {
        uint32_t times = letters[k].flag ? (modifiers->flags & letters[k].flag) != 0 : modifiers->precise;
        for (uint32_t i = 0; i < times; i++)
            to[n++] = letters[k].letter;
    }
    to[n] = '\0';
    return n;
}

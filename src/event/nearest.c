/*
 * Distance: insertions, deletions, changes and swaps of neighbours (optimal string alignment), three rows of a
 * table at most 64 wide, so that nothing is allocated and a long text costs nothing. A name that begins with the
 * text is near whatever its length: "instr" means instructions.
 */
#include "event/nearest.h"

#include "event/names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

_Static_assert(NEAREST_MAX <= NAME_MAX_FOLDED, "folding fits");

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned rows[3][NEAREST_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];

    for (size_t j = 0; j <= n_b; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= n_a; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= n_b; j++) {
            unsigned change = last[j - 1] + (a[i - 1] != b[j - 1]);
            now[j] = least(change, least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[n_b];
}

void nearest_start(struct nearest *nearest, const char *text, size_t n)
{
    *nearest = (struct nearest){0};
    if (n < NEAREST_MAX && name_fold(nearest->wanted, text, n))
        nearest->length = n;
}

void nearest_offer(struct nearest *nearest, const char *name)
{
    nearest_offer_of(nearest, name, NULL);
}

void nearest_offer_of(struct nearest *nearest, const char *name, const char *of)
{
    char folded[NAME_MAX_FOLDED];
    size_t n = strlen(name), allowed = nearest->length / 3, at = nearest->n;
    unsigned far;

    if (nearest->length == 0 || n >= NEAREST_MAX || !name_fold(folded, name, n))
        return;
    if (nearest->length >= 3 && strncmp(folded, nearest->wanted, nearest->length) == 0) {
        far = 1;
    } else {
        size_t apart = n > nearest->length ? n - nearest->length : nearest->length - n;
        if (apart > allowed)
            return;
        far = distance(nearest->wanted, nearest->length, folded, n);
        if (far > allowed)
            return;
    }
    for (size_t i = 0; i < nearest->n; i++)
        if (strcmp(nearest->best[i].name, name) == 0)
            return;
    while (at > 0 && nearest->best[at - 1].distance > far)
        at--;
    if (at >= 3)
        return;
    if (nearest->n < 3)
        nearest->n++;
    memmove(&nearest->best[at + 1], &nearest->best[at], (nearest->n - 1 - at) * sizeof *nearest->best);
    nearest->best[at].name = name;
    nearest->best[at].of = of;
    nearest->best[at].distance = far;
}

/* "cycles", or "msr/tsc/". */
static const char *proposal(const struct nearest *nearest, size_t i, char buffer[static 160])
{
    const char *of = nearest->best[i].of;

    snprintf(buffer, 160, of ? "%s/%s/" : "%s%s", of ? of : nearest->best[i].name,
             of ? nearest->best[i].name : "");
    return buffer;
}

char *nearest_remedy(const struct nearest *nearest, char *buffer, size_t size)
{
    return nearest_or(nearest, "`reckon list` shows what there is", buffer, size);
}

char *nearest_or(const struct nearest *nearest, const char *list, char *buffer, size_t size)
{
    char a[160], b[160], c[160];

    if (nearest->n == 3)
        snprintf(buffer, size, "did you mean %s, %s or %s? %s", proposal(nearest, 0, a),
                 proposal(nearest, 1, b), proposal(nearest, 2, c), list);
    else if (nearest->n == 2)
        snprintf(buffer, size, "did you mean %s or %s? %s", proposal(nearest, 0, a), proposal(nearest, 1, b),
                 list);
    else if (nearest->n == 1)
        snprintf(buffer, size, "did you mean %s? %s", proposal(nearest, 0, a), list);
    else
        snprintf(buffer, size, "%s", list);
    return buffer;
}

/*
 * name, name=value, name='a, b': a term of a text, and the values that they have.
 */
#include "event/number.h"
#include "event/reading.h"

#include "base/text.h"

#include <errno.h>

bool term_is_quote(char c)
{
    return c == '\'' || c == '"';
}

int64_t terms_bytes(struct parser *p, const char *slash)
{
    char quote = 0;
    size_t n = 1;

    for (; slash[n] && (quote || slash[n] != '/'); n++)
        if (quote ? slash[n] == quote : term_is_quote(slash[n]))
            quote = quote ? 0 : slash[n];
    if (!slash[n])
        return parse_fail(p, slash + n,
                          quote ? "the quote is not closed" : "expected '/' after the terms, got the end");
    return (int64_t)(n - 1);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int term_next(const char **at, const char *end, struct term *ret)
{
    const char *c = *at, *last;

    while (c < end && is_blank(*c))
        c++;
    if (c == end)
        return 0;
    *ret = (struct term){.name = c};
    while (c < end && *c != ',' && *c != '=')
        c++;
    ret->n = (size_t)(c - ret->name);
    while (ret->n > 0 && is_blank(ret->name[ret->n - 1]))
        ret->n--;
    if (c < end && *c == '=') {
        for (c++; c < end && is_blank(*c);)
            c++;
        char quote = 0;
        if (c < end && term_is_quote(*c))
            quote = *c++;
        ret->value = c;
        while (c < end && (quote ? *c != quote : *c != ',' && !term_is_quote(*c)))
            c++;
        last = c;
        while (!quote && last > ret->value && is_blank(last[-1]))
            last--;
        ret->n_value = (size_t)(last - ret->value);
        if (quote && c < end)
            c++;
        while (c < end && is_blank(*c))
            c++;
    }
    *at = c;
    return ret->n == 0 || (c < end && *c != ',') ? -EINVAL : 1;
}

bool term_is(const struct term *term, const char *name)
{
    return strlen(name) == term->n && memcmp(term->name, name, term->n) == 0;
}

int term_deposit(uint64_t value, uint64_t mask, uint64_t *word)
{
    uint64_t bits = 0;

    for (uint64_t left = mask; left && value; left &= left - 1, value >>= 1)
        if (value & 1)
            bits |= left & -left;
    if (value)
        return -ERANGE;
    *word = (*word & ~mask) | bits;
    return 0;
}

int term_value(struct reading *r, const struct term *term, uint64_t *ret)
{
    char name[40];
    int rc = term->value ? number_parse(term->value, term->n_value, ret) : -EINVAL;

    if (rc < 0)
        rc = parse_fail(r->p, term->value ? term->value : term->name + term->n,
                        rc == -ERANGE ? "the value of %s has more than 64 bits"
                                      : "%s wants a number, as in %s=0x1f",
                        text_show(name, sizeof name, term->name, term->n), name);
    return rc;
}

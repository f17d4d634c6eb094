/*
 * Functions are tried in steps; each step takes those that the ones before it have left over:
 *
 *     same module, same name
 *     same module, same name but for what a compiler appends: f.isra.0, f [clone .part.1], f::h0123456789abcdef;
 *         or but for the line of "f (a.c:10)"
 *     same name, in any module: prog-1.2 and prog-1.3
 *     same name but for what a compiler appends, in any module
 *
 * A module is the last part of its path. Only the first step may match several with one; in the others a name must be the
 * only one of its kind on either side, so that nothing is matched by guessing. What has no name has its module alone.
 */
#include "profile/match.h"

#include "profile/unique.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define HASH 19 /* "::h" and 16 digits */

static bool is_hash(const char *text)
{
    if (strncmp(text, "::h", 3) != 0)
        return false;
    for (size_t i = 3; i < HASH; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return text[HASH] == '\0';
}

/* Of "step (a.c:10)", which is one of several functions of that name, the line is not a name's. */
static size_t placeless(const char *name, size_t n)
{
    size_t at = n;

    if (n < 2 || name[n - 1] != ')')
        return n;
    for (at = n - 1; at > 0 && isdigit((unsigned char)name[at - 1]);)
        at--;
    return at < n - 1 && at > 1 && name[at - 1] == ':' ? at - 1 : n;
}

/* How much of a name is not a compiler's: what begins a clone's ending is a dot behind a letter or digit of C's names. */
static size_t plain_length(const char *name)
{
    static const char *const endings[] = {".isra.", ".constprop.", ".part.",     ".cold",  ".lto_priv.",
                                          ".llvm.", ".localalias", ".resolver.", ".clone."};
    const char *clone = strstr(name, " [clone ");
    size_t n = clone ? (size_t)(clone - name) : strlen(name);

    if (n > HASH && is_hash(name + n - HASH))
        return n - HASH;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *at = strstr(name, endings[i]);
        if (at && at > name && (size_t)(at - name) < n)
            n = (size_t)(at - name);
    }
    return placeless(name, n);
}

/* What is equal, in this step, is the same: frames of each side that have it. */
struct candidate {
    uint32_t n[2], frame[2];
};

struct step {
    bool plain, any_module;
};

struct matching {
    const struct rk_profile *sides[2];
    struct intern texts;
    struct unique keys;
    VECTOR(struct candidate) candidates;
    uint32_t *of; /* as struct match has it */
    bool *taken;  /* by frame of `after` */
};

/* The candidates that a function is one of; NULL: no memory. */
static struct candidate *candidate_of(struct matching *m, uint32_t side, uint32_t frame, struct step step)
{
    const struct rk_profile_columns *c = &m->sides[side]->columns;
    const char *name = c->text[c->frame_symbol[frame]], *module = c->text[c->frame_module[frame]];
    int64_t text = intern_add(&m->texts, name, step.plain ? plain_length(name) : strlen(name));
    int64_t place = step.any_module ? 0 : intern_add(&m->texts, module, strlen(module));

    if (text < 0 || place < 0)
        return NULL;
    int64_t row = unique_add(
        &m->keys, (uint64_t[]){unique_both((uint32_t)text, (uint32_t)place), c->frame_miss[frame]});
    if (row < 0 || ((size_t)row == m->candidates.n && !vector_push(&m->candidates)))
        return NULL;
    return &m->candidates.items[row];
}

/* A function that this step is to match, of those that are not yet. */
static bool is_open(const struct matching *m, uint32_t side, uint32_t frame, bool first)
{
    const struct rk_profile_columns *c = &m->sides[side]->columns;

    return c->frame_function[frame] == frame && (first || !c->frame_miss[frame]) &&
           (side ? !m->taken[frame] : m->of[frame] == MATCH_NONE);
}

static int gather(struct matching *m, uint32_t side, struct step step, bool first)
{
    for (uint32_t f = 0; f < m->sides[side]->columns.frame_n; f++) {
        if (!is_open(m, side, f, first))
            continue;
        struct candidate *one = candidate_of(m, side, f, step);
        if (!one)
            return -ENOMEM;
        one->frame[side] = one->n[side]++ ? one->frame[side] : f;
    }
    return 0;
}

/* In the first step, all of one name and module are taken; there may be several, with different paths. */
static int settle(struct matching *m, uint32_t side, struct step step, bool first)
{
    for (uint32_t f = 0; f < m->sides[side]->columns.frame_n; f++) {
        if (!is_open(m, side, f, first))
            continue;
        const struct candidate *one = candidate_of(m, side, f, step);
        if (!one)
            return -ENOMEM;
        if (!one->n[0] || !one->n[1] || (!first && (one->n[0] > 1 || one->n[1] > 1)))
            continue;
        if (side)
            m->taken[f] = true;
        else
            m->of[f] = one->frame[1];
    }
    return 0;
}

static int take_step(struct matching *m, struct step step, bool first)
{
    int rc = 0;

    for (uint32_t side = 0; side < 2 && rc == 0; side++)
        rc = gather(m, side, step, first);
    for (uint32_t side = 0; side < 2 && rc == 0; side++)
        rc = settle(m, side, step, first);
    unique_free(&m->keys);
    m->keys = (struct unique){.words = 2};
    m->candidates.n = 0;
    return rc;
}

int match_make(const struct rk_profile *before, const struct rk_profile *after, struct match *ret)
{
    static const struct step steps[] = {{false, false}, {true, false}, {false, true}, {true, true}};
    const struct rk_profile_columns *c = &before->columns;
    struct matching m = {
        .sides = {before, after},
        .keys.words = 2,
        .of = zeroed(c->frame_n, sizeof *m.of),
        .taken = zeroed(after->columns.frame_n, sizeof *m.taken),
    };
    int rc = m.of && m.taken ? 0 : -ENOMEM;

    for (size_t f = 0; rc == 0 && f < c->frame_n; f++)
        m.of[f] = MATCH_NONE;
    for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof *steps; i++)
        rc = take_step(&m, steps[i], i == 0);
    for (size_t f = 0; rc == 0 && f < c->frame_n; f++)
        m.of[f] = m.of[c->frame_function[f]];
    unique_free(&m.keys);
    vector_free(&m.candidates);
    intern_free(&m.texts);
    free(m.taken);
    ret->of = m.of;
    return rc;
}

void match_free(struct match *match)
{
    free(match->of);
    match->of = NULL;
}

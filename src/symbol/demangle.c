#include "symbol/demangle.h"

#include <string.h>

#ifdef HAVE_LIBIBERTY

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h> /* Fedora's place for it */
#endif
#include "base/unset.h"

#include <setjmp.h>

struct text {
    const char *name;
    size_t name_bytes, n;
    bool full;
    jmp_buf out;
    char bytes[DEMANGLED_MAX];
};

/*
 * Leaves the demangler where its text is too long: it has no other way to be stopped. It holds no memory then: it
 * allocates for Rust's non-ASCII identifiers alone, while it hands over one of these, which is neither a piece of the
 * name nor punctuation.
 */
static void append(const char *piece, size_t n, void *opaque)
{
    struct text *text = opaque;

    if (n == 0) /* of an empty identifier, by a NULL */
        return;
    if (!text->full && n < sizeof text->bytes - text->n) {
        memcpy(text->bytes + text->n, piece, n);
        text->n += n;
        return;
    }
    text->full = true;
    if ((piece >= text->name && piece < text->name + text->name_bytes) || strchr("<>(),:& ", piece[0]))
        longjmp(text->out, 1);
}

static bool spell_out(struct text *text)
{
    enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI };

    if (setjmp(text->out))
        return false;
    if (rust_demangle_callback(text->name, OPTIONS, append, text))
        return !text->full;
    text->n = 0;
    text->full = false;
    return cplus_demangle_v3_callback(text->name, OPTIONS, append, text) && !text->full;
}

bool demangle_available(void)
{
    return true;
}

const char *demangle(const char *name, struct arena *arena)
{
    UNSET char head[DEMANGLED_MAX];
    size_t n = strlen(name);
    UNSET struct text text;
    bool stub = n > 4 && memcmp(name + n - 4, "@plt", 4) == 0;

    if (!looks_mangled(name) || n >= sizeof head)
        return name;
    memcpy(head, name, n + 1);
    if (stub)
        head[n - 4] = '\0';
    text.name = head;
    text.name_bytes = n;
    text.n = 0;
    text.full = false;
    if (!spell_out(&text) || text.n == 0)
        return name;
    if (stub && text.n + 4 <= sizeof text.bytes) {
        memcpy(text.bytes + text.n, "@plt", 4);
        text.n += 4;
    }
    return arena_text(arena, text.bytes, text.n);
}

#else

bool demangle_available(void)
{
    return false;
}

const char *demangle(const char *name, struct arena *arena)
{
    (void)arena;
    return name;
}

#endif

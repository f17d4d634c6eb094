/*
 * Demangled names → what tells most in little room: C++, Rust, Go, Python.
 *
 *     std::vector<int, std::allocator<int> >::push_back(int const&)       std::vector::push_back
 *     bool (anonymous namespace)::A::operator()<int>(int) const           A::operator()
 *     core::slice::cmp::<impl core::cmp::PartialEq<[U]> for [T]>::eq      <[T] as PartialEq>::eq
 *     <alloc[fdfd]::vec::Vec<T> as core[c1f1]::ops::drop::Drop>::drop     <Vec as Drop>::drop
 *     crypto/sha256.(*digest).checkSum                                    sha256.(*digest).checkSum
 *     py::Popen.wait.<locals>.late:/usr/lib/python3.11/subprocess.py      Popen.wait.late
 *
 * Gone: parameters, template arguments, return types, qualifiers, clones, hashes of crates, folders of packages and files.
 *
 * One pass over the name; a pair of brackets is skipped whole, or its content read as a type. Brackets are matched by a
 * stack: a > that closes nothing is an arrow's or an operator's, and a ) closes every < in between.
 */
#include <reckon/symbol.h>

#include <stdbool.h>
#include <string.h>

#define DEPTH 200 /* of brackets; what is deeper is not taken apart */
#define TYPES 8   /* types within types */

struct text {
    char *at;
    size_t n, size;
    bool full;
};

struct part {
    const char *at, *end;
};

/* Whether it is part of an identifier. */
static bool named(char c)
{
    return c == '_' || c == '$' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z') || ((unsigned char)c & 0x80);
}

static void put(struct text *to, const char *at, size_t n)
{
    if (n >= to->size - to->n) {
        to->full = true;
        return;
    }
    memcpy(to->at + to->n, at, n);
    to->n += n;
}

static void put_text(struct text *to, const char *text)
{
    put(to, text, strlen(text));
}

static bool begins(struct part p, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(p.end - p.at) >= n && memcmp(p.at, with, n) == 0;
}

/* Behind the bracket that closes the one at `at`; the end where none does. */
static const char *behind(const char *at, const char *end)
{
    char open[DEPTH];
    size_t n = 0;

    for (; at < end; at++) {
        char c = *at, with = c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : 0;
        if (c == '<' || c == '(' || c == '[' || c == '{') {
            if (n == DEPTH)
                return end;
            open[n++] = c;
        } else if (c == '>' && (n == 0 || at[-1] == '-' || open[n - 1] != '<')) {
            continue;
        } else if (with) {
            size_t left = n;
            while (left && open[left - 1] != with && open[left - 1] == '<')
                left--;
            if (!left || open[left - 1] != with)
                continue;
            if ((n = left - 1) == 0)
                return at + 1;
        }
    }
    return end;
}

/* The first `what` outside of brackets; NULL: none. */
static const char *outside(struct part p, const char *what)
{
    for (const char *at = p.at; at < p.end;) {
        if (begins((struct part){at, p.end}, what))
            return at;
        at = strchr("<([{", *at) ? behind(at, p.end) : at + 1;
    }
    return NULL;
}

/* The text without what stands in < > and [ ] behind a name. */
static void put_bare(struct text *to, struct part p)
{
    while (p.at < p.end) {
        if (*p.at == '<' || *p.at == '[') {
            p.at = behind(p.at, p.end);
        } else {
            put(to, p.at++, 1);
        }
    }
}

/* ---- types of Rust ---- */

/* The last part of a path; two of them where the last is a closure, and those in < > are none. */
static struct part last_part(struct part p)
{
    struct part last = p, before = p;

    for (const char *at; (at = outside(p, "::")); p.at = at + 2) {
        struct part part = {p.at, at};
        if (part.at < part.end && *part.at != '<')
            last = part;
        if (part.at < part.end && *part.at != '<' && *part.at != '{')
            before = part;
    }
    if (p.at < p.end && *p.at == '{')
        return (struct part){before.at, p.end};
    return p.at < p.end && *p.at != '<' ? p : last;
}

static void put_type(struct text *to, struct part p, int depth)
{
    static const char *const kept[] = {"&", "*const ", "*mut ", "mut ", "dyn "};

    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (begins(p, kept[i])) {
            put_text(to, kept[i]);
            p.at += strlen(kept[i]);
            i = (size_t)-1;
        }
    if (depth == TYPES || p.at == p.end) {
        put_text(to, "..");
    } else if (*p.at == '[') {
        struct part in = {p.at + 1, p.end[-1] == ']' ? p.end - 1 : p.end};
        const char *many = outside(in, ";");
        put_text(to, "[");
        put_type(to, (struct part){in.at, many ? many : in.end}, depth + 1);
        put_text(to, "]");
    } else if (*p.at == '(') {
        put_text(to, begins(p, "()") ? "()" : "(..)");
    } else if (outside(p, "fn(") || outside(p, "fn (")) {
        put_text(to, "fn");
    } else {
        const char *more = outside(p, " + ");
        put_bare(to, last_part((struct part){p.at, more ? more : p.end}));
    }
}

/* What stands in < > at a path's begin, or is an impl: <T as Trait>, a type. */
static void put_owner(struct text *to, struct part p)
{
    const char *as = outside(p, " as "), *of;
    struct part type = {p.at, as}, trait = {as ? as + 4 : NULL, p.end};

    if (begins(p, "impl ")) {
        p.at += 5;
        of = outside(p, " for ");
        type = of ? (struct part){of + 5, p.end} : p;
        trait = (struct part){p.at, of};
        as = of;
    } else if (!as) {
        type = p;
    }
    size_t begin = to->n;
    put_text(to, "<");
    put_type(to, type, 0);
    if (as) {
        put_text(to, " as ");
        put_type(to, trait, 0);
    }
    bool plain = !as && !to->full;
    for (size_t i = begin + 1; plain && i < to->n; i++)
        plain = named(to->at[i]);
    if (plain) { /* u64::pow */
        memmove(to->at + begin, to->at + begin + 1, to->n - begin - 1);
        to->n--;
    } else {
        put_text(to, ">");
    }
}

/* ---- the languages ---- */

static void python(struct text *to, struct part p)
{
    static const char locals[] = "<locals>.";
    const char *file = outside(p, ":"), *last = file;

    for (const char *at = file; at && at < p.end; at++)
        last = *at == '/' ? at : last;
    for (const char *end = file ? file : p.end; p.at < end;) {
        if (begins((struct part){p.at, end}, locals))
            p.at += sizeof locals - 1;
        else
            put(to, p.at++, 1);
    }
    if (file && to->n == strlen("<module>") && memcmp(to->at, "<module>", to->n) == 0) {
        put_text(to, ":"); /* there are many */
        put(to, last + 1, (size_t)(p.end - last - 1));
    }
}

static bool is_go(struct part p)
{
    return *p.at != '/' && *p.at != '[' && !strstr(p.at, "::") && !strstr(p.at, "operator") &&
           !strchr(p.at, '<') && !outside(p, " ") &&
           (outside(p, "/") || strstr(p.at, ".(") || strstr(p.at, "[...]") || strstr(p.at, "[go.shape"));
}

static void go(struct text *to, struct part p)
{
    for (const char *at; (at = outside(p, "/"));)
        p.at = at + 1;
    put_bare(to, p);
}

/* "operator" and what it is the operator of; the place behind it. */
static const char *operator_of(struct text *to, struct part p)
{
    static const char *const signs[] = {
        "()", "[]", "<=>", "->*", "->", "<<=", "<<", "<=", "<", ">>=", ">>", ">="};
    static const size_t word = 8;

    put(to, p.at, word);
    p.at += word;
    for (size_t i = 0; i < sizeof signs / sizeof *signs + 1; i++) {
        const char *sign = i < sizeof signs / sizeof *signs ? signs[i] : ">";
        if (!begins(p, sign))
            continue;
        put_text(to, sign);
        p.at += strlen(sign);
        return begins(p, " <") ? p.at + 1 : p.at;
    }
    if (*p.at != ' ' && !begins(p, "\"")) { /* +=, ~, … */
        const char *at = p.at;
        while (at < p.end && !strchr(" <(", *at))
            at++;
        put(to, p.at, (size_t)(at - p.at));
        return begins((struct part){at, p.end}, " <") ? at + 1 : at;
    }
    const char *until = outside(p, "(");
    p.end = until ? until : p.end; /* new[], a type, ""_x */
    if (begins(p, " new[]") || begins(p, " delete[]"))
        put(to, p.at, (size_t)(p.end - p.at));
    else
        put_bare(to, p);
    return p.end;
}

/* Behind a function's qualifiers. */
static const char *unqualified(struct part p)
{
    static const char *const words[] = {" const", " volatile", " &&", " &", " noexcept"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (begins(p, words[i])) {
            p.at += strlen(words[i]);
            i = (size_t)-1;
        }
    return p.at;
}

static bool ends(const struct text *t, const char *with)
{
    size_t n = strlen(with);

    return t->n >= n && memcmp(t->at + t->n - n, with, n) == 0;
}

/* {lambda(int)#1}: without the parameters. */
static void put_braced(struct text *to, struct part p)
{
    const char *open = outside((struct part){p.at + 1, p.end}, "(");

    put(to, p.at, (size_t)((open ? open : p.end) - p.at));
    if (open) {
        const char *at = behind(open, p.end);
        put(to, at, (size_t)(p.end - at));
    }
}

static void compiled(struct text *to, struct part p)
{
    static const char unnamed[] = "(anonymous namespace)::";

    while (p.at < p.end) {
        bool first = to->n == 0 || ends(to, "::");
        if (first && begins(p, "operator") && p.end - p.at > 8 && !named(p.at[8])) {
            p.at = operator_of(to, p);
        } else if (first && begins(p, unnamed)) {
            p.at += sizeof unnamed - 1;
        } else if (to->n == 0 &&
                   (begins(p, "(*") || begins(p, "(&"))) { /* void (*f(int))(char): f returns a pointer */
            p.at += 2;
        } else if (*p.at == '(') {
            bool of_type = ends(to, "decltype");
            p.at = behind(p.at, p.end);
            if (of_type)
                continue;
            p.at = unqualified(p);
            if (!begins(p, "::"))
                return;
        } else if (*p.at == '<') {
            const char *at = behind(p.at, p.end);
            struct part in = {p.at + 1, at[-1] == '>' ? at - 1 : at};
            if (first && (to->n == 0 || begins(in, "impl "))) {
                to->n = 0;
                put_owner(to, in);
            } else if (first) { /* f::<T> */
                to->n -= 2;
            }
            p.at = at;
        } else if (*p.at == '[') { /* [abi:cxx11], [5b1a22c0]: a crate's hash */
            p.at = behind(p.at, p.end);
        } else if (*p.at == '{') {
            const char *at = behind(p.at, p.end);
            put_braced(to, (struct part){p.at, at});
            p.at = at;
        } else if (begins(p, " (") && ends(to, "decltype")) {
            p.at = behind(p.at + 1, p.end);
        } else if (*p.at == ' ') { /* that was a type, or "vtable for" */
            if (begins(p, " [clone"))
                return;
            to->n = 0;
            p.at++;
        } else {
            put(to, p.at++, 1);
        }
    }
}

static bool balanced(const struct text *t)
{
    int n = 0;

    for (size_t i = 0; i < t->n; i++)
        n += (strchr("([{", t->at[i]) != NULL) - (strchr(")]}", t->at[i]) != NULL);
    return n == 0;
}

const char *rk_symbol_short(const char *name, char *to, size_t size)
{
    if (!name || !to || size == 0)
        return name;
    struct text text = {to, 0, size, false};
    struct part p = {name, name + strlen(name)};

    bool python_qualifies = strstr(name, ".<") && !strchr(name, '(');      /* outer.<locals>.inner */
    bool whole = *name == '<' && !strstr(name, "::") && !python_qualifies; /* <module> */
    if (p.at == p.end || *name == '[' || *name == '/' || whole)
        return name;
    if (begins(p, "py::") || python_qualifies)
        python(&text, (struct part){name + (begins(p, "py::") ? 4 : 0), p.end});
    else if (is_go(p))
        go(&text, p);
    else if (strpbrk(name, "<([") && (strchr(name, '(') || !outside(p, " ")))
        compiled(&text, p);
    else
        return name;
    if (text.full || text.n == 0 || !balanced(&text) || ends(&text, "::"))
        return name;
    to[text.n] = '\0';
    return text.n < (size_t)(p.end - name) ? to : name;
}

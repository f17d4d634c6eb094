/*
 * One pass over the text; the words' bytes are never more than the text's, and the words never more than half of
 * them, so that one allocation holds the pointers and behind them the bytes.
 */
#include "compare_words.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct split {
    const char *text;
    size_t at;  /* next byte of it */
    char *to;   /* where the next byte of a word goes */
    bool first; /* word: an assignment is only there one */
    struct words_error *e;
};

static int wrong(struct split *s, size_t position, const char *what)
{
    s->e->position = position;
    s->e->what = what;
    return -EINVAL;
}

static int single_quotes(struct split *s)
{
    size_t begin = s->at++;

    while (s->text[s->at] != '\'') {
        if (!s->text[s->at])
            return wrong(s, begin, "this quote is not closed");
        *s->to++ = s->text[s->at++];
    }
    s->at++;
    return 0;
}

/* Inside, a backslash is one only before these; else it is itself. */
static int double_quotes(struct split *s)
{
    size_t begin = s->at++;

    while (s->text[s->at] != '"') {
        char c = s->text[s->at];
        if (!c)
            return wrong(s, begin, "this quote is not closed");
        if (c == '$' || c == '`')
            return wrong(s, s->at, "sh would expand this: put it in single quotes, or use --shell");
        if (c == '\\' && s->text[s->at + 1] == '\n') {
            s->at += 2;
            continue;
        }
        if (c == '\\' && s->text[s->at + 1] && strchr("\"\\$`", s->text[s->at + 1]))
            c = s->text[++s->at];
        *s->to++ = c;
        s->at++;
    }
    s->at++;
    return 0;
}

static int backslash(struct split *s)
{
    char next = s->text[s->at + 1];

    if (!next)
        return wrong(s, s->at, "nothing follows this backslash");
    s->at += 2;
    if (next != '\n') /* a line that goes on */
        *s->to++ = next;
    return 0;
}

/* NAME= at the beginning of the first word, unquoted. */
static bool is_assignment(const char *word)
{
    size_t n = 0;

    if (isdigit((unsigned char)word[0]))
        return false;
    while (isalnum((unsigned char)word[n]) || word[n] == '_')
        n++;
    return n > 0 && word[n] == '=';
}

/* A character outside of quotes: one of a word, or one that sh would act upon. */
static int plain(struct split *s, bool begins)
{
    char c = s->text[s->at];

    if (c == '\n')
        return wrong(s, s->at, "a command is one line: use --shell for several");
    if (strchr("|&;<>()", c))
        return wrong(s, s->at, "this is the shell's: quote it, or use --shell");
    if (strchr("$`*?[", c))
        return wrong(s, s->at, "sh would expand this: quote it, or use --shell");
    if (begins && c == '~')
        return wrong(s, s->at, "sh would expand this: quote it, or use --shell");
    if (begins && c == '#')
        return wrong(s, s->at, "sh would take this for a comment: quote it");
    if (begins && s->first && is_assignment(s->text + s->at))
        return wrong(s, s->at, "a variable is set by the shell: use env NAME=value ..., or --shell");
    *s->to++ = c;
    s->at++;
    return 0;
}

/* One word, from its first character to the blank behind it. */
static int word(struct split *s)
{
    size_t begin = s->at;

    for (int rc = 0;;) {
        switch (s->text[s->at]) {
        case '\0':
        case ' ':
        case '\t':
            *s->to++ = '\0';
            s->first = false;
            return 0;
        case '\'':
            rc = single_quotes(s);
            break;
        case '"':
            rc = double_quotes(s);
            break;
        case '\\':
            rc = backslash(s);
            break;
        default:
            rc = plain(s, s->at == begin);
        }
        if (rc < 0)
            return rc;
    }
}

int words_split(const char *text, char ***ret, struct words_error *e)
{
    size_t length = strlen(text), n = 0, most = length / 2 + 2;
    char **words = malloc(most * sizeof *words + length + 1);
    int rc = 0;

    if (!words)
        return -ENOMEM;
    struct split s = {.text = text, .to = (char *)(words + most), .first = true, .e = e};
    for (;;) {
        while (text[s.at] == ' ' || text[s.at] == '\t' || (text[s.at] == '\\' && text[s.at + 1] == '\n'))
            s.at += text[s.at] == '\\' ? 2 : 1;
        if (!text[s.at])
            break;
        words[n++] = s.to;
        rc = word(&s);
        if (rc < 0)
            break;
    }
    words[n] = NULL;
    if (rc == 0 && n == 0)
        rc = wrong(&s, 0, "there is no command in this text");
    if (rc < 0) {
        free(words);
        return rc;
    }
    *ret = words;
    return (int)n;
}

int words_shell(const char *text, char ***ret)
{
    static const char shell[] = "sh", option[] = "-c";
    size_t length = strlen(text) + 1;
    char **words = malloc(4 * sizeof *words + sizeof shell + sizeof option + length);

    if (!words)
        return -ENOMEM;
    char *to = (char *)(words + 4);
    words[0] = memcpy(to, shell, sizeof shell);
    words[1] = memcpy(to + sizeof shell, option, sizeof option);
    words[2] = memcpy(to + sizeof shell + sizeof option, text, length);
    words[3] = NULL;
    *ret = words;
    return 3;
}

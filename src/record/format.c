#include "record/format.h"

#include <errno.h>
#include <string.h>

#define PAYLOAD_MAX 65536 /* no record is longer, so no field lies further */

struct span {
    const char *at, *end;
};

/* The next line, without its newline; false behind the last. */
static bool next_line(struct span *text, struct span *ret)
{
    if (text->at == text->end)
        return false;
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    *ret = (struct span){text->at, newline ? newline : text->end};
    text->at = newline ? newline + 1 : text->end;
    return true;
}

static void skip_blank(struct span *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t'))
        s->at++;
}

static bool take_word(struct span *s, const char *word)
{
    size_t n = strlen(word);

    skip_blank(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

static bool take_number(struct span *s, uint64_t most, uint64_t *ret)
{
    uint64_t value = 0;

    skip_blank(s);
    const char *first = s->at;
    while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
        value = value * 10 + (uint64_t)(*s->at++ - '0');
        if (value > most)
            return false;
    }
    *ret = value;
    return s->at > first;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static bool begins(const struct format_field *field, const char *word)
{
    size_t n = strlen(word);

    return field->type_n >= n && memcmp(field->type, word, n) == 0;
}

static bool has(const struct format_field *field, const char *word)
{
    size_t n = strlen(word);

    for (uint32_t i = 0; i + n <= field->type_n; i++)
        if (memcmp(field->type + i, word, n) == 0)
            return true;
    return false;
}

/* "unsigned char common_flags", "char prev_comm[16]", "__data_loc char[] name" */
static bool declaration(struct span s, struct format_field *field)
{
    bool array = false;

    skip_blank(&s);
    while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == '\t'))
        s.end--;
    if (s.end > s.at && s.end[-1] == ']') {
        while (s.end > s.at && *s.end != '[')
            s.end--;
        array = true;
    }
    const char *name = s.end;
    while (name > s.at && is_name(name[-1]))
        name--;
    field->name = name;
    field->name_n = (uint32_t)(s.end - name);
    while (name > s.at && (name[-1] == ' ' || name[-1] == '\t'))
        name--;
    field->type = s.at;
    field->type_n = (uint32_t)(name - s.at);
    field->kind = begins(field, "__data_loc ")  ? FORMAT_DYNAMIC
                  : begins(field, "__rel_loc ") ? FORMAT_RELATIVE
                  : array                       ? FORMAT_ARRAY
                                                : FORMAT_PLAIN;
    field->is_text =
        field->kind != FORMAT_PLAIN && has(field, "char") && !has(field, "unsigned") && !has(field, "*");
    field->is_common = field->name_n > 7 && memcmp(field->name, "common_", 7) == 0;
    return field->name_n > 0 && field->type_n > 0;
}

/* Behind "field:". */
static bool take_field(struct span s, struct format_field *ret)
{
    const char *semicolon = s.at < s.end ? memchr(s.at, ';', (size_t)(s.end - s.at)) : NULL;
    struct format_field field = {0};
    uint64_t offset, size, is_signed = 0;

    if (!semicolon || !declaration((struct span){s.at, semicolon}, &field))
        return false;
    s.at = semicolon + 1;
    if (!take_word(&s, "offset:") || !take_number(&s, PAYLOAD_MAX, &offset) || !take_word(&s, ";") ||
        !take_word(&s, "size:") || !take_number(&s, PAYLOAD_MAX, &size) || !take_word(&s, ";"))
        return false;
    if (take_word(&s, "signed:") && !take_number(&s, 1, &is_signed)) /* since 2.6.33 */
        return false;
    if (offset + size > PAYLOAD_MAX ||
        ((field.kind == FORMAT_DYNAMIC || field.kind == FORMAT_RELATIVE) && size != 4))
        return false;
    field.offset = (uint32_t)offset;
    field.size = (uint32_t)size;
    field.is_signed = is_signed;
    *ret = field;
    return true;
}

int format_parse(const char *text, size_t n, struct format_field *ret, size_t max, uint64_t *ret_id)
{
    struct span all = {text, text + n}, line;
    struct format_field field;
    uint64_t id = 0;
    bool have_id = false, in_fields = false;
    int found = 0;

    while (next_line(&all, &line)) {
        if (!in_fields && take_word(&line, "ID:")) {
            if (have_id || !take_number(&line, UINT32_MAX, &id))
                return -EBADMSG;
            have_id = true;
        } else if (take_word(&line, "format:")) {
            in_fields = true;
        } else if (take_word(&line, "print fmt:")) {
            break;
        } else if (in_fields && take_word(&line, "field:")) {
            if (!take_field(line, &field))
                return -EBADMSG;
            if ((size_t)found < max)
                ret[found] = field;
            found++;
        }
    }
    if (!have_id || !in_fields)
        return -EBADMSG;
    *ret_id = id;
    return found;
}

const struct format_field *format_find(const struct format_field *fields, size_t n, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (fields[i].name_n == length && memcmp(fields[i].name, name, length) == 0)
            return &fields[i];
    return NULL;
}

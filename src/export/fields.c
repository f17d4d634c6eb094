#include "export/fields.h"

#include "base/cursor.h"

#include <errno.h>

struct row {
    uint32_t type;
    int ids; /* u32 pid, tid come first */
    struct {
        const char *name;
        enum field_kind kind;
    } fields[FIELDS_MAX + 1];
};

static const struct row rows[] = {
    /* u64 time, id, stream_id */
    {RK_RECORD_THROTTLE, 0, {{"at", FIELD_U64}, {"id", FIELD_U64}, {"stream_id", FIELD_U64}}},
    {RK_RECORD_UNTHROTTLE, 0, {{"at", FIELD_U64}, {"id", FIELD_U64}, {"stream_id", FIELD_U64}}},
    /* u64 aux_offset, aux_size, flags   4.1 */
    {RK_RECORD_AUX, 0, {{"aux_offset", FIELD_U64}, {"aux_size", FIELD_U64}, {"flags", FIELD_HEX}}},
    /* u32 pid, tid   4.1 */
    {RK_RECORD_ITRACE_START, 1, {{0}}},
    /* nothing: out or in is a bit of header.misc   4.3 */
    {RK_RECORD_SWITCH, 0, {{0}}},
    /* u32 next_prev_pid, next_prev_tid   4.3 */
    {RK_RECORD_SWITCH_CPU_WIDE, 0, {{"other_pid", FIELD_U32}, {"other_tid", FIELD_U32}}},
    /* u32 pid, tid; u64 nr; struct { u64 dev, inode; } [nr]   4.12 */
    {RK_RECORD_NAMESPACES, 1, {{"namespaces", FIELD_LINKS}}},
    /* u64 addr; u32 len; u16 ksym_type, flags; char name[]   5.1 */
    {RK_RECORD_KSYMBOL,
     0,
     {{"addr", FIELD_HEX},
      {"length", FIELD_U32},
      {"kind", FIELD_U16},
      {"flags", FIELD_ID16},
      {"name", FIELD_TEXT}}},
    /* u16 type, flags; u32 id; u8 tag[8]   5.1 */
    {RK_RECORD_BPF_EVENT,
     0,
     {{"kind", FIELD_U16}, {"flags", FIELD_ID16}, {"id", FIELD_U32}, {"tag", FIELD_TAG}}},
    /* u64 id; char path[]   5.7 */
    {RK_RECORD_CGROUP, 0, {{"id", FIELD_U64}, {"path", FIELD_TEXT}}},
    /* u64 addr; u16 old_len, new_len; u8 bytes[old_len + new_len]   5.9 */
    {RK_RECORD_TEXT_POKE,
     0,
     {{"addr", FIELD_HEX}, {"old_bytes", FIELD_U16}, {"new_bytes", FIELD_U16}, {"bytes", FIELD_BYTES}}},
    /* u64 hw_id   5.16 */
    {RK_RECORD_AUX_OUTPUT_HW_ID, 0, {{"hw_id", FIELD_U64}}},
    /* u64 cookie, nr; u64 ips[nr]   6.19 */
    {RK_RECORD_CALLCHAIN_DEFERRED, 0, {{"cookie", FIELD_U64}, {"chain", FIELD_WORDS}}},
};

uint64_t fields_word(const unsigned char *bytes, uint64_t index)
{
    uint64_t word;

    memcpy(&word, bytes + index * 8, sizeof word);
    return word;
}

static void decode(struct cursor *c, struct field *field, const struct field *begin)
{
    switch (field->kind) {
    case FIELD_U16:
    case FIELD_ID16:
        field->number = cursor_u16(c);
        break;
    case FIELD_U32:
        field->number = cursor_u32(c);
        break;
    case FIELD_U64:
    case FIELD_HEX:
        field->number = cursor_u64(c);
        break;
    case FIELD_TEXT:
        field->text = cursor_text(c);
        break;
    case FIELD_TAG:
        field->n = 8;
        field->bytes = cursor_bytes(c, field->n);
        break;
    case FIELD_BYTES: /* its two lengths stand right before it */
        field->n = field - begin < 2 ? 0 : field[-1].number + field[-2].number;
        field->bytes = cursor_bytes(c, field->n);
        break;
    case FIELD_WORDS:
        field->n = cursor_u64(c);
        field->bytes = cursor_words(c, field->n);
        break;
    case FIELD_LINKS:
        field->n = cursor_u64(c);
        field->bytes = cursor_words(c, field->n > UINT64_MAX / 2 ? UINT64_MAX : field->n * 2);
        break;
    case FIELD_END:
        break;
    }
}

int fields_decode(const struct rk_record *record, struct field *ret, int *ret_ids)
{
    struct cursor c = cursor_of(record->data, record->bytes);
    const struct row *row = NULL;
    int n = 0;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == record->type)
            row = &rows[i];
    if (!row)
        return -ENOENT;
    cursor_u64(&c);
    if (row->ids)
        cursor_u64(&c);
    for (; row->fields[n].name; n++) {
        ret[n] = (struct field){.name = row->fields[n].name, .kind = row->fields[n].kind};
        decode(&c, &ret[n], ret);
    }
    if (c.bad)
        return -EBADMSG;
    *ret_ids = row->ids;
    return n;
}

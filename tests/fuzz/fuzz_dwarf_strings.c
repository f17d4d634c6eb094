/*
 * Values of every form, and what they stand for: texts straight and by .debug_str_offsets, addresses by .debug_addr, DIEs.
 *
 *     version │ bytes of an address │ of an offset │ base of the strings' offsets, 2 bytes │ of the addresses, 2 bytes │
 *     .debug_str_offsets │ .debug_str │ .debug_line_str │ .debug_addr │ form, value, form, value, …
 */
#include "sections.h"

#include "dwarf/constants.h"
#include "dwarf/form.h"

static bool in_view(const struct view *view, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    return view->n && at >= view->bytes && at < view->bytes + view->n;
}

static void use(const struct unit *unit, const struct value *value)
{
    const char *text = value_text(unit, value);
    uint64_t address;
    if (text) {
        fuzz_touch_text(text);
        HOLDS(text == value->text || in_view(&unit->file->str, text) || in_view(&unit->file->line_str, text));
    }
    (void)value_address(unit, value, &address);
    HOLDS(indexed_address(unit, value->n, &address) || value->n >= unit->file->addr.n / unit->address_bytes ||
          unit->addr_base);
    struct reference to = value_reference(unit, value);
    HOLDS(!to.file || to.file == unit->file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, size};
    struct view forms = {0};
    struct dwarf file;

    fuzz_file_open(&file);
    struct unit unit = {.file = &file, .addresses = &file.addr, .old_ranges = &file.ranges};
    unit.version = (uint8_t)(2 + fuzz_number(&in, 1) % 4);
    unit.address_bytes = fuzz_number(&in, 1) == 4 ? 4 : 8;
    unit.offset_bytes = fuzz_number(&in, 1) == 8 ? 8 : 4;
    unit.str_offsets_base = fuzz_number(&in, 2);
    unit.addr_base = fuzz_number(&in, 2);
    fuzz_section(&in, &file.str_offsets);
    fuzz_section(&in, &file.str);
    fuzz_section(&in, &file.line_str);
    fuzz_section(&in, &file.addr);
    fuzz_section(&in, &forms);
    struct cursor c = cursor_of(forms.bytes, (size_t)forms.n);
    while (cursor_left(&c)) {
        struct value value = {0};
        uint64_t form = cursor_uleb(&c);
        int bytes = form_bytes(&unit, form);
        const unsigned char *begin = c.at;
        if (!form_read(&c, &unit, form, 7, &value))
            break;
        HOLDS(bytes != -2 && (bytes < 0 || c.at == begin + bytes));
        use(&unit, &value);
    }
    for (uint64_t i = 0; i < file.str_offsets.n + 2 && i < 1024; i++)
        use(&unit, &(struct value){.n = i, .form = FORM_STRX});
    use(&unit, &(struct value){.n = UINT64_MAX, .form = FORM_STRX});
    use(&unit, &(struct value){.n = UINT64_MAX / unit.offset_bytes, .form = FORM_GNU_STR_INDEX});
    view_close(&forms);
    fuzz_file_close(&file);
    return 0;
}

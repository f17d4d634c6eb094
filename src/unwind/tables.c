#include "unwind/tables.h"

#include "elf/object.h"
#include "elf/section.h"
#include "unwind/pointer.h"
#include "unwind/signal.h"

#include <reckon/unwind.h>

#include <errno.h>

enum {
    PART_MAX = 1 << 29,   /* of a section: the largest browsers' have some tens of megabytes */
    HEADER_BYTES_MIN = 4, /* version and three encodings */
    PAIR = POINTER_TO_DATA | POINTER_S32,
    UNKNOWN_MAX = 1 << 26, /* of a segment, where no section says how long .eh_frame is */
    ENTRY_BYTES = 64,      /* of code at a program's entry, up to its one call: no C library's has more */
};

static int read_loads(const struct elf *elf, struct tables *tables)
{
    tables->loads = calloc(elf->segment_n ? elf->segment_n : 1, sizeof *tables->loads);
    if (!tables->loads)
        return -ENOMEM;
    for (int executable = 1; executable >= 0; executable--)
        for (uint32_t i = 0; i < elf->segment_n; i++) {
            const struct elf_segment *s = &elf->segments[i];
            if (s->type == ELF_SEGMENT_LOAD && !!(s->flags & ELF_SEGMENT_EXECUTE) == executable)
                tables->loads[tables->load_n++] = (struct table_load){s->offset, s->file_bytes, s->address};
        }
    return 0;
}

int tables_address(const struct tables *tables, uint64_t offset, uint64_t *ret)
{
    for (uint32_t i = 0; i < tables->load_n; i++) {
        const struct table_load *load = &tables->loads[i];
        if (offset >= load->offset && offset - load->offset < load->bytes) {
            *ret = offset - load->offset + load->address;
            return 0;
        }
    }
    return -ENOENT;
}

/* Bytes at an address, to the end of their segment, or `limit`. */
static int load_address(struct elf *elf, uint64_t address, uint64_t limit, unsigned char **ret, size_t *ret_n)
{
    uint64_t offset;
    void *block;

    for (uint32_t i = 0; i < elf->segment_n; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type != ELF_SEGMENT_LOAD || address < s->address || address - s->address >= s->file_bytes)
            continue;
        uint64_t n = s->file_bytes - (address - s->address);
        n = n < limit ? n : limit;
        offset = address - s->address + s->offset;
        if (offset < s->offset || offset > elf->size)
            return -EBADMSG;
        n = n < elf->size - offset ? n : elf->size - offset;
        int rc = elf_load(elf, offset, n, PART_MAX, &block);
        if (rc < 0)
            return rc;
        *ret = block;
        *ret_n = (size_t)n;
        return 0;
    }
    return -ENOENT;
}

/* .eh_frame_hdr: where .eh_frame is, and the sorted pairs if they have the one form that linkers write. */
static int read_header(struct elf *elf, struct table_part *part, uint64_t *ret_frame)
{
    const struct elf_segment *s = NULL;

    for (uint32_t i = 0; i < elf->segment_n; i++)
        if (elf->segments[i].type == ELF_SEGMENT_EH_FRAME)
            s = &elf->segments[i];
    if (!s)
        return -ENOENT;
    void *block;
    int rc = elf_load(elf, s->offset, s->file_bytes, PART_MAX, &block);
    if (rc < 0)
        return rc;
    struct cursor c = cursor_of(block, (size_t)s->file_bytes);
    uint8_t version = cursor_u8(&c), frame = cursor_u8(&c), count = cursor_u8(&c), pairs = cursor_u8(&c);
    uint64_t at = pointer_address(&c, frame, s->address + HEADER_BYTES_MIN, s->address);
    if (c.bad || version != 1) {
        free(block);
        return -EBADMSG;
    }
    part->header = block;
    *ret_frame = at;
    uint64_t n = count == POINTER_OMIT ? 0 : pointer_number(&c, count & POINTER_FORM);
    if (!c.bad && pairs == PAIR && n > 0) {
        part->sorted = c.at;
        part->sorted_n = (uint32_t)(n < cursor_left(&c) / 8 ? n : cursor_left(&c) / 8);
        part->sorted_base = s->address;
    }
    return 0;
}

static int compare_entries(const void *left, const void *right)
{
    const struct table_entry *a = left, *b = right;

    return a->start != b->start ? (a->start < b->start ? -1 : 1)
                                : (a->offset > b->offset) - (a->offset < b->offset);
}

/* Every FDE of a section without a sorted table. What can't be read is passed over. */
static int make_index(struct table_part *part)
{
    size_t room = 0, next = 0, n = 0;
    struct cfi_entry entry;

    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        for (size_t at = 0; at < part->section.n; at = next) {
            if (cfi_record(&part->section, at, &entry, &next) != CFI_FDE)
                continue;
            if (pass && n < room)
                part->index[n] = (struct table_entry){entry.start, at};
            n++;
        }
        if (pass == 0) {
            room = n;
            part->index = reallocarray(NULL, room ? room : 1, sizeof *part->index);
            if (!part->index)
                return -ENOMEM;
        }
    }
    part->index_n = n;
    qsort(part->index, n, sizeof *part->index, compare_entries);
    return 0;
}

static int hold(struct elf *elf, const struct table_part *part)
{
    return budget_hold(elf->budget, part->section.n + (uint64_t)part->index_n * sizeof *part->index);
}

/* .eh_frame, by its section where there is one, else by its header alone. */
static int load_eh(struct elf *elf, struct table_part *part)
{
    const struct elf_section *section = NULL;
    uint64_t frame = 0;
    int header = read_header(elf, part, &frame), rc;

    if (header == -ENOMEM)
        return header;
    rc = elf_section_find(elf, ".eh_frame", &section);
    if (rc == -ENOMEM)
        return rc;
    if (rc == 0 && section->flags & ELF_SECTION_ALLOCATED && (header < 0 || section->address == frame)) {
        void *bytes;
        rc = elf_section_load(elf, section, PART_MAX, &bytes, &part->section.n);
        if (rc == 0) {
            part->section.bytes = bytes;
            part->section.address = section->address;
        }
    } else if (header == 0) {
        unsigned char *bytes;
        rc = load_address(elf, frame, UNKNOWN_MAX, &bytes, &part->section.n);
        if (rc == 0) {
            part->section.bytes = bytes;
            part->section.address = frame;
        }
    } else {
        return header;
    }
    if (rc == 0 && !part->sorted)
        rc = make_index(part);
    return rc == 0 ? hold(elf, part) : rc;
}

static int load_debug_frame(struct elf *elf, struct table_part *part)
{
    const struct elf_section *section;
    void *bytes;
    int rc = elf_section_find(elf, ".debug_frame", &section);

    if (rc == 0)
        rc = elf_section_load(elf, section, PART_MAX, &bytes, &part->section.n);
    if (rc < 0)
        return rc;
    part->section.bytes = bytes;
    part->section.debug = true;
    rc = make_index(part);
    return rc == 0 ? hold(elf, part) : rc;
}

static void free_part(struct table_part *part)
{
    free((void *)(uintptr_t)part->section.bytes);
    free(part->header);
    free(part->index);
    *part = (struct table_part){0};
}

void tables_free(struct tables *tables)
{
    free(tables->loads);
    free_part(&tables->eh);
    free_part(&tables->debug);
    *tables = (struct tables){0};
}

static bool is_hard(int rc)
{
    return rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE;
}

int tables_read(struct tables *tables, struct elf *elf)
{
    *tables = (struct tables){.debug_tried = true};
    int rc = load_eh(elf, &tables->eh);
    if (rc < 0)
        free_part(&tables->eh);
    return rc;
}

static void find_plts(struct elf *elf, struct tables *tables)
{
    static const char *const names[TABLE_PLTS] = {".plt", ".plt.sec", ".plt.got", ".iplt"};

    for (size_t i = 0; i < TABLE_PLTS; i++) {
        const struct elf_section *section;
        if (elf_section_find(elf, names[i], &section) == 0 && section->bytes < UINT64_MAX - section->address)
            tables->plts[tables->plt_n++] =
                (struct table_range){section->address, section->address + section->bytes};
    }
}

static uint32_t reason_of(int rc)
{
    if (rc == -EDQUOT)
        return RK_UNWIND_BUDGET;
    if (rc == -ESTALE)
        return RK_UNWIND_CHANGED;
    return rc == -ENOEXEC || rc == -EBADMSG || rc == -EOPNOTSUPP ? RK_UNWIND_BAD_FILE : RK_UNWIND_NO_FILE;
}

int tables_load(struct tables *tables, int root, const struct rk_module *module, uint32_t machine,
                struct budget *session)
{
    _cleanup_elf_ struct elf *elf = NULL;
    char path[OBJECT_PATH_MAX];

    *tables = (struct tables){.module = *module};
    budget_module(&tables->budget, session);
    if (module->kind == RK_MODULE_ANONYMOUS) {
        tables->reason = RK_UNWIND_ANONYMOUS;
        return 0;
    }
    int rc = object_open(root, module, &tables->budget, path, &elf, &tables->id);
    if (rc < 0) {
        tables->reason = reason_of(rc);
        return is_hard(rc) ? rc : 0;
    }
    tables->reason = elf->machine == machine ? RK_UNWIND_FINE : RK_UNWIND_BAD_FILE;
    if (tables->reason != RK_UNWIND_FINE)
        return 0;
    rc = read_loads(elf, tables);
    if (rc == 0)
        rc = load_eh(elf, &tables->eh);
    if (rc < 0)
        free_part(&tables->eh); /* half of it is worse than none; .debug_frame may still serve */
    if (is_hard(rc)) {
        tables_free(tables);
        return rc;
    }
    find_plts(elf, tables);
    if (module->kind == RK_MODULE_VDSO && signal_find(elf, &tables->signal) < 0) {
        tables_free(tables);
        return -ENOMEM;
    }
    return 0;
}

/* The last pair that begins at or before the address: the FDE's offset in the section. */
static int search_sorted(const struct table_part *part, uint64_t address, size_t *ret)
{
    uint32_t from = 0, to = part->sorted_n;
    int32_t pair[2];

    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        memcpy(pair, part->sorted + (size_t)middle * 8, 4);
        if (part->sorted_base + (uint64_t)(int64_t)pair[0] <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return -ENOENT;
    memcpy(pair, part->sorted + (size_t)(from - 1) * 8, 8);
    uint64_t at = part->sorted_base + (uint64_t)(int64_t)pair[1] - part->section.address;
    if (at >= part->section.n)
        return -EBADMSG;
    *ret = (size_t)at;
    return 0;
}

static int search_index(const struct table_part *part, uint64_t address, size_t *ret)
{
    size_t from = 0, to = part->index_n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (part->index[middle].start <= address)
            from = middle + 1;
        else
            to = middle;
    }
    if (from == 0)
        return -ENOENT;
    *ret = part->index[from - 1].offset;
    return 0;
}

static int search(const struct table_part *part, uint64_t address, struct cfi_entry *ret)
{
    size_t offset = 0, next;

    if (!part->section.bytes)
        return -ENOENT;
    int rc = part->sorted ? search_sorted(part, address, &offset) : search_index(part, address, &offset);
    if (rc < 0)
        return rc;
    rc = cfi_record(&part->section, offset, ret, &next);
    if (rc < 0)
        return rc;
    if (rc != CFI_FDE)
        return -EBADMSG;
    return address >= ret->start && address < ret->end ? 0 : -ENOENT;
}

/* What a file has beside .eh_frame: the restorer of signals, its entry, and .debug_frame, which may be in its debug file. */
static int try_debug(struct tables *tables, int root)
{
    _cleanup_elf_ struct elf *elf = NULL, *debug = NULL;
    struct build_id own = {0};
    char path[OBJECT_PATH_MAX];
    int rc = object_open(root, &tables->module, &tables->budget, path, &elf, &own);

    if (rc >= 0 && !build_id_same(&own, &tables->id)) /* it has been replaced since */
        rc = -ENOENT;
    if (rc >= 0 && elf->machine == ELF_MACHINE_X86_64)
        rc = signal_search(elf, &tables->signal);
    if (rc >= 0 && elf_entry(elf, &tables->entry.start) == 0)
        tables->entry.end = tables->entry.start + ENTRY_BYTES;
    if (rc >= 0)
        rc = load_debug_frame(elf, &tables->debug);
    if (rc < 0 && !is_hard(rc) && rc != -EDQUOT) {
        free_part(&tables->debug);
        rc = elf_open_debug(root, &tables->id, &tables->budget, &debug);
        if (rc == 0)
            rc = load_debug_frame(debug, &tables->debug);
    }
    if (rc < 0)
        free_part(&tables->debug);
    tables->debug_tried = !is_hard(rc);
    return is_hard(rc) ? rc : 0;
}

int tables_find(struct tables *tables, int root, uint64_t address, const struct cfi_section **ret_section,
                struct cfi_entry *ret)
{
    int rc = search(&tables->eh, address, ret);

    *ret_section = &tables->eh.section;
    if (rc == 0)
        return 0;
    if (!tables->debug_tried) {
        int tried = try_debug(tables, root);
        if (tried < 0)
            return tried;
    }
    *ret_section = &tables->debug.section;
    int other = search(&tables->debug, address, ret);
    return other == -ENOENT ? rc : other;
}

int tables_function(const struct tables *tables, uint64_t address, struct table_range *ret)
{
    struct cfi_entry entry;
    int rc = search(&tables->eh, address, &entry);

    if (rc == 0)
        *ret = (struct table_range){entry.start, entry.end};
    return rc;
}

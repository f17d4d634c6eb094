#include "symbol/plt.h"

#include "base/cursor.h"
#include "base/vector.h"
#include "elf/section.h"
#include "elf/symtab.h"
#include "symbol/demangle.h"

#include <errno.h>
#include <string.h>

enum {
    SECTION_MAX = 1 << 28,
    RELA = 4, /* section type */
    RELA_BYTES = 24,
    /* relocations that fill a slot of the GOT with a function's address */
    X86_GLOB_DAT = 6,
    X86_JUMP_SLOT = 7,
    X86_IRELATIVE = 37,
    ARM64_GLOB_DAT = 1025,
    ARM64_JUMP_SLOT = 1026,
    ARM64_IRELATIVE = 1032,
};

struct slot {
    uint64_t address;
    uint64_t resolver; /* of an ifunc, where there is no symbol */
    uint32_t symbol;   /* in .dynsym; 0: none */
};

struct plt {
    uint16_t machine;
    const struct functions *named, *exported;
    struct symtab dynsym;      /* its names only where `exported` has not got them */
    VECTOR(struct slot) slots; /* sorted by address */
    VECTOR(struct slot) lazy;  /* those of .rela.plt, in its order */
    VECTOR(struct candidate) stubs;
    VECTOR(char) names;
};

static bool fills_slot(uint16_t machine, uint32_t type, bool *ret_resolver)
{
    bool x86 = machine == ELF_MACHINE_X86_64;

    *ret_resolver = type == (x86 ? X86_IRELATIVE : ARM64_IRELATIVE);
    return *ret_resolver || type == (x86 ? X86_GLOB_DAT : ARM64_GLOB_DAT) ||
           type == (x86 ? X86_JUMP_SLOT : ARM64_JUMP_SLOT);
}

static int take_relocations(struct plt *plt, struct elf *elf, const struct elf_section *section, bool lazy)
{
    _cleanup_free_ void *block = NULL;
    size_t n;
    bool resolver;

    int rc = elf_section_load(elf, section, SECTION_MAX, &block, &n);
    if (rc < 0)
        return rc;
    struct cursor c = cursor_of(block, n);
    while (cursor_left(&c) >= RELA_BYTES) {
        struct slot slot = {.address = cursor_u64(&c)};
        uint64_t info = cursor_u64(&c), addend = cursor_u64(&c);
        bool fills = fills_slot(plt->machine, (uint32_t)info, &resolver);
        if (fills && resolver)
            slot.resolver = addend;
        else
            slot.symbol = (uint32_t)(info >> 32);
        struct slot *all = fills ? vector_push(&plt->slots) : NULL,
                    *own = lazy ? vector_push(&plt->lazy) : NULL;
        if ((fills && !all) || (lazy && !own))
            return -ENOMEM;
        if (all)
            *all = slot;
        if (own)
            *own = slot;
    }
    return 0;
}

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

static const struct slot *find_slot(const struct plt *plt, uint64_t address)
{
    struct slot wanted = {.address = address};

    return plt->slots.n ? bsearch(&wanted, plt->slots.items, plt->slots.n, sizeof wanted, by_address) : NULL;
}

static const char *slot_name(const struct plt *plt, const struct slot *slot)
{
    if (slot->resolver) {
        const struct index_entry *entry = index_find(&plt->named->index, slot->resolver);
        return entry && entry->start == slot->resolver ? plt->named->names + (entry->name & ~NAME_MANGLED)
                                                       : NULL;
    }
    if (slot->symbol == 0 || slot->symbol >= plt->dynsym.n)
        return NULL;
    struct elf_symbol symbol = symtab_at(&plt->dynsym, slot->symbol);
    const char *names = plt->exported ? plt->exported->names : plt->dynsym.names;
    uint32_t n = plt->exported ? plt->exported->names_bytes : plt->dynsym.names_bytes;
    return symbol.name < n && names[symbol.name] ? names + symbol.name : NULL;
}

/* Appends `name@plt`, or `.plt` where there is no name. 0 or -errno. */
static int add_stub(struct plt *plt, uint64_t start, uint64_t end, const struct slot *slot)
{
    const char *name = slot ? slot_name(plt, slot) : NULL, *suffix = name ? "@plt" : ".plt";
    size_t n = name ? strlen(name) : 0;

    if (n > 1 << 20 || plt->names.n > INT32_MAX)
        return -EBADMSG;
    struct candidate *stub = vector_push(&plt->stubs);
    if (!stub || vector_reserve(&plt->names, n + 5) < 0)
        return -ENOMEM;
    *stub = (struct candidate){start, end, (uint32_t)plt->names.n, RANK_LOCAL | RANK_FUNCTION | RANK_SIZED};
    if (name && looks_mangled(name))
        stub->name |= NAME_MANGLED;
    if (name)
        memcpy(plt->names.items + plt->names.n, name, n);
    memcpy(plt->names.items + plt->names.n + n, suffix, 5);
    plt->names.n += n + 5;
    return 0;
}

/* Where in these bytes a jump through a slot begins, or n. */
static size_t find_jump(const unsigned char *at, size_t n, size_t from)
{
    while (from + 6 <= n && !(at[from] == 0xff && at[from + 1] == 0x25))
        from++;
    return from + 6 <= n ? from : n;
}

/* Stubs are 16 bytes long, those of .plt.got 8 if they have no endbr64: then two jumps lie within 16 bytes. */
static size_t x86_stub_bytes(const unsigned char *bytes, size_t n)
{
    size_t last = n;

    for (size_t at = find_jump(bytes, n, 0); at < n; at = find_jump(bytes, n, at + 6)) {
        if (last < n && at / 16 == last / 16)
            return 8;
        last = at;
    }
    return n % 16 ? 8 : 16;
}

static const struct slot *x86_slot(const struct plt *plt, const unsigned char *at, size_t n, uint64_t address)
{
    static const unsigned char endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    size_t jump = find_jump(at, n, 0), push = n > 4 && memcmp(at, endbr64, 4) == 0 ? 4 : 0;
    int32_t distance;
    uint32_t number;

    if (jump < n) {
        memcpy(&distance, at + jump + 2, sizeof distance);
        return find_slot(plt, address + jump + 6 + (uint64_t)distance);
    }
    if (push + 5 > n || at[push] != 0x68)
        return NULL;
    memcpy(&number, at + push + 1, sizeof number);
    return number < plt->lazy.n ? &plt->lazy.items[number] : NULL;
}

static int x86_stubs(struct plt *plt, const unsigned char *bytes, size_t n, uint64_t address)
{
    size_t unit = x86_stub_bytes(bytes, n);

    for (size_t at = 0; at + unit <= n; at += unit) {
        int rc =
            add_stub(plt, address + at, address + at + unit, x86_slot(plt, bytes + at, unit, address + at));
        if (rc < 0)
            return rc;
    }
    return 0;
}

static uint32_t word_at(const unsigned char *bytes, size_t at)
{
    uint32_t word;

    memcpy(&word, bytes + at, sizeof word);
    return word;
}

/* The slot that `adrp x16, page; ldr x17, [x16, #offset]` at that place loads, or NULL. */
static const struct slot *arm64_slot(const struct plt *plt, const unsigned char *bytes, size_t at,
                                     uint64_t address)
{
    uint32_t adrp = word_at(bytes, at), load = word_at(bytes, at + 4);

    if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
        return NULL;
    uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    if (pages >> 20) /* 21 bits with a sign */
        pages |= ~UINT64_C(0) << 21;
    return find_slot(plt, ((address + at) & ~UINT64_C(0xfff)) + (pages << 12) + (load >> 10 & 0xfff) * 8);
}

/* Behind the jump that ends the stub whose adrp is at that place. */
static size_t arm64_stub_end(const unsigned char *bytes, size_t at, size_t n)
{
    static const uint32_t br_x17 = 0xd61f0220, braa_x17_x16 = 0xd71f0a30;
    size_t limit = at + 24 < n ? at + 24 : n;

    for (at += 8; at + 4 <= limit; at += 4)
        if (word_at(bytes, at) == br_x17 || word_at(bytes, at) == braa_x17_x16)
            return at + 4;
    return limit;
}

/* What lies between stubs, before the first and behind the last is nobody's: it calls the dynamic linker. */
static int arm64_stubs(struct plt *plt, const unsigned char *bytes, size_t n, uint64_t address)
{
    static const uint32_t bti_c = 0xd503245f;
    size_t done = 0;
    int rc = 0;

    for (size_t at = 0; rc == 0 && at + 8 <= n; at += 4) {
        const struct slot *slot = arm64_slot(plt, bytes, at, address);
        if (!slot)
            continue;
        size_t start = at >= done + 4 && word_at(bytes, at - 4) == bti_c ? at - 4 : at;
        if (start > done)
            rc = add_stub(plt, address + done, address + start, NULL);
        done = arm64_stub_end(bytes, at, n);
        if (rc == 0)
            rc = add_stub(plt, address + start, address + done, slot);
        at = done - 4;
    }
    return rc == 0 && done < n ? add_stub(plt, address + done, address + n, NULL) : rc;
}

static int take_stubs(struct plt *plt, struct elf *elf, const char *name)
{
    const struct elf_section *section;
    _cleanup_free_ void *bytes = NULL;
    size_t n;
    int rc = elf_section_find(elf, name, &section);

    if (rc < 0 || section->type == ELF_SECTION_NOBITS || !(section->flags & ELF_SECTION_EXECUTE))
        return rc == -ENOENT ? 0 : rc;
    rc = elf_section_load(elf, section, SECTION_MAX, &bytes, &n);
    if (rc < 0 || n > UINT64_MAX - section->address)
        return rc;
    return plt->machine == ELF_MACHINE_X86_64 ? x86_stubs(plt, bytes, n, section->address)
                                              : arm64_stubs(plt, bytes, n, section->address);
}

static int collect(struct plt *plt, struct elf *elf)
{
    static const char *const sections[] = {".plt", ".plt.sec", ".plt.got", ".iplt"};
    static const char *const relocations[] = {".rela.plt", ".rela.iplt", ".rela.dyn"};
    const struct elf_section *section;
    int rc = elf_section_find(elf, ".plt.got", &section);
    size_t n = rc == 0 ? 3 : 2; /* the long .rela.dyn fills no other stubs' slots */

    if (rc == -ENOENT)
        rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        rc = elf_section_find(elf, relocations[i], &section);
        if (rc == 0 && section->type == RELA)
            rc = take_relocations(plt, elf, section, i == 0);
        if (rc == -ENOENT)
            rc = 0;
    }
    if (rc == 0 && plt->slots.n)
        rc = plt->exported ? symtab_load_entries(elf, ELF_SECTION_DYNSYM, &plt->dynsym)
                           : symtab_load(elf, ELF_SECTION_DYNSYM, &plt->dynsym);
    if (rc < 0 && rc != -ENOENT)
        return rc;
    if (plt->slots.n)
        qsort(plt->slots.items, plt->slots.n, sizeof *plt->slots.items, by_address);
    rc = plt->slots.n ? 0 : -ENOENT;
    for (size_t i = 0; rc == 0 && i < sizeof sections / sizeof *sections; i++)
        rc = take_stubs(plt, elf, sections[i]);
    return rc;
}

int plt_load(struct elf *elf, const struct functions *named, const struct functions *exported,
             struct functions *ret)
{
    struct plt plt = {.machine = elf->machine, .named = named, .exported = exported};
    struct functions functions = {0};
    int rc = elf->machine == ELF_MACHINE_X86_64 || elf->machine == ELF_MACHINE_AARCH64 ? collect(&plt, elf)
                                                                                       : -ENOENT;

    if (rc == 0)
        rc = plt.stubs.n
                 ? index_build(&functions.index, plt.stubs.items, (uint32_t)plt.stubs.n, plt.names.items)
                 : -ENOENT;
    if (rc == 0) {
        functions.names = TAKE_PTR(plt.names.items);
        *ret = functions;
    }
    symtab_free(&plt.dynsym);
    vector_free(&plt.slots);
    vector_free(&plt.lazy);
    vector_free(&plt.stubs);
    vector_free(&plt.names);
    return rc;
}

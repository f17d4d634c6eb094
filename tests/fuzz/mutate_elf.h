/*
 * Mutations that know ELF: what is changed is a field of a header, a section's bytes, or its size, with all that lies behind it
 * moved and its offsets mended, so that most of what comes out is still read and not refused at once. Included by the targets
 * whose inputs are whole files.
 */
#ifndef FUZZ_MUTATE_ELF_H
#define FUZZ_MUTATE_ELF_H

#include "mutate_random.h"

#include <elf.h>
#include <string.h>

struct fuzz_elf {
    Elf64_Ehdr head;
    size_t sections, segments; /* that are in the file */
};

static inline int fuzz_elf_of(const uint8_t *data, size_t size, struct fuzz_elf *ret)
{
    if (size < sizeof ret->head || memcmp(data, ELFMAG, SELFMAG) != 0 || data[EI_CLASS] != ELFCLASS64 ||
        data[EI_DATA] != ELFDATA2LSB)
        return 0;
    memcpy(&ret->head, data, sizeof ret->head);
    ret->sections = ret->segments = 0;
    if (ret->head.e_shoff < size)
        ret->sections = (size - ret->head.e_shoff) / sizeof(Elf64_Shdr);
    if (ret->head.e_phoff < size)
        ret->segments = (size - ret->head.e_phoff) / sizeof(Elf64_Phdr);
    ret->sections = ret->sections < ret->head.e_shnum ? ret->sections : ret->head.e_shnum;
    ret->segments = ret->segments < ret->head.e_phnum ? ret->segments : ret->head.e_phnum;
    return 1;
}

/* A section with bytes in the file; 0: there is none. */
static inline int fuzz_elf_section(const uint8_t *data, size_t size, const struct fuzz_elf *elf,
                                   uint64_t *state, size_t *ret_header, Elf64_Shdr *ret)
{
    for (int tries = 0; elf->sections && tries < 8; tries++) {
        size_t at = elf->head.e_shoff + fuzz_random(state) % elf->sections * sizeof *ret;
        memcpy(ret, data + at, sizeof *ret);
        if (ret->sh_type != SHT_NOBITS && ret->sh_size && ret->sh_offset < size &&
            ret->sh_size <= size - ret->sh_offset) {
            *ret_header = at;
            return 1;
        }
    }
    return 0;
}

static inline void fuzz_elf_moved(uint8_t *place, size_t from, int64_t by)
{
    uint64_t offset;
    memcpy(&offset, place, 8);
    if (offset >= from)
        fuzz_put(place, offset + (uint64_t)by, 8);
}

/* The section becomes longer or shorter by its end; what lies behind it moves. The new size of all. */
static inline size_t fuzz_elf_resize(uint8_t *data, size_t size, size_t max, struct fuzz_elf *elf,
                                     size_t header, Elf64_Shdr *s, uint64_t *state)
{
    size_t end = (size_t)(s->sh_offset + s->sh_size), wanted = 8 * (1 + (size_t)(fuzz_random(state) % 8));
    int64_t by = fuzz_random(state) % 2 && s->sh_size > wanted ? -(int64_t)wanted : (int64_t)wanted;

    if (by > 0 && size + wanted > max)
        return size;
    for (size_t i = 0; i < elf->sections; i++)
        fuzz_elf_moved(data + elf->head.e_shoff + i * sizeof *s + offsetof(Elf64_Shdr, sh_offset), end, by);
    for (size_t i = 0; i < elf->segments; i++)
        fuzz_elf_moved(data + elf->head.e_phoff + i * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_offset),
                       end, by);
    fuzz_put(data + header + offsetof(Elf64_Shdr, sh_size), s->sh_size + (uint64_t)by, 8);
    fuzz_elf_moved(data + offsetof(Elf64_Ehdr, e_shoff), end, by);
    fuzz_elf_moved(data + offsetof(Elf64_Ehdr, e_phoff), end, by);
    memmove(data + (int64_t)end + by, data + end, size - end);
    if (by > 0)
        memcpy(data + end, data + s->sh_offset, wanted < s->sh_size ? wanted : (size_t)s->sh_size);
    return (size_t)((int64_t)size + by);
}

static inline size_t fuzz_mutate_elf(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    uint64_t state = fuzz_state(seed);
    struct fuzz_elf elf;
    Elf64_Shdr s;
    size_t header, width = (size_t)1 << fuzz_random(&state) % 4, n;
    uint64_t choice = fuzz_random(&state) % 16;

    if (!fuzz_elf_of(data, size, &elf) || choice == 0)
        return LLVMFuzzerMutate(data, size, max);
    if (choice == 1) {
        fuzz_put(data + 16 + fuzz_random(&state) % 6 * 8, fuzz_odd(&state, size), width);
    } else if (choice < 5 && elf.segments) { /* one field of a program header */
        header = elf.head.e_phoff + fuzz_random(&state) % elf.segments * sizeof(Elf64_Phdr);
        fuzz_put(data + header + fuzz_random(&state) % 7 * 8, fuzz_odd(&state, size), width);
    } else if (choice < 8 && elf.sections) { /* one field of a section's, or all of another's */
        header = elf.head.e_shoff + fuzz_random(&state) % elf.sections * sizeof s;
        if (choice == 7)
            memmove(data + header, data + elf.head.e_shoff + fuzz_random(&state) % elf.sections * sizeof s,
                    sizeof s);
        else
            fuzz_put(data + header + fuzz_random(&state) % 8 * 8, fuzz_odd(&state, size), width);
    } else if (!fuzz_elf_section(data, size, &elf, &state, &header, &s)) {
        return LLVMFuzzerMutate(data, size, max);
    } else if (choice < 11) { /* a number in its bytes */
        n = s.sh_size < width ? (size_t)s.sh_size : width;
        fuzz_put(data + s.sh_offset + fuzz_random(&state) % (s.sh_size - n + 1),
                 fuzz_odd(&state, (size_t)s.sh_size), n);
    } else if (choice < 14) { /* its bytes, as libFuzzer would */
        n = LLVMFuzzerMutate(data + s.sh_offset, (size_t)s.sh_size, (size_t)s.sh_size);
        (void)n; /* what it left out stays */
    } else {
        return fuzz_elf_resize(data, size, max, &elf, header, &s, &state);
    }
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
    return fuzz_mutate_elf(data, size, max, seed);
}

#endif

/*
 * An ELF file, read: segments and sections, from a descriptor or from memory.
 *
 *     struct elf *elf;
 *     elf_open_at(root, "/usr/bin/true", &elf, &e);
 *     elf_address(elf, file_offset, &address);
 *     elf_close(elf);
 *
 * Nothing is mapped: bytes come by pread(2), so that a file that is truncated or overwritten meanwhile costs an
 * error, not a SIGBUS. Every offset, size and count of the file is held against its size before it is believed,
 * and what is allocated for it is limited besides.
 *
 * Errors: -ENOEXEC not an ELF file; -EOPNOTSUPP one of a kind that is not read (32 bits, big-endian); -EBADMSG
 * damaged or cut short; -EDQUOT: its budget is spent; -ENOMEM; else what open(2) or read(2) said.
 */
#ifndef ELF_ELF_H
#define ELF_ELF_H

#include "base/budget.h"
#include "base/cleanup.h"

#include <reckon/error.h>
#include <reckon/module.h>

#include <stdbool.h>

/* Of the ELF format, by its numbers. */
enum {
    ELF_TYPE_RELOCATABLE = 1,
    ELF_TYPE_EXECUTABLE = 2,
    ELF_TYPE_SHARED = 3, /* PIEs too */

    ELF_MACHINE_ARM = 40,
    ELF_MACHINE_X86_64 = 62,
    ELF_MACHINE_AARCH64 = 183,
    ELF_MACHINE_RISCV = 243,

    ELF_SEGMENT_LOAD = 1,
    ELF_SEGMENT_DYNAMIC = 2,
    ELF_SEGMENT_INTERPRETER = 3,
    ELF_SEGMENT_NOTE = 4,
    ELF_SEGMENT_EH_FRAME = 0x6474e550, /* .eh_frame_hdr */
    ELF_SEGMENT_EXECUTE = 1,           /* flags */

    ELF_SECTION_SYMTAB = 2,
    ELF_SECTION_STRTAB = 3,
    ELF_SECTION_RELA = 4,
    ELF_SECTION_NOTE = 7,
    ELF_SECTION_NOBITS = 8,
    ELF_SECTION_DYNSYM = 11,
    ELF_SECTION_ALLOCATED = 2, /* flags */
    ELF_SECTION_EXECUTE = 4,
    ELF_SECTION_COMPRESSED = 0x800,

    ELF_SECTION_ELSEWHERE = 0xffff, /* a number that does not fit 16 bits stands in another place */
    ELF_SECTIONS_RESERVED = 0xff00, /* section numbers from here on mean something else */
};

struct elf_segment {
    uint32_t type, flags;
    uint64_t offset, address, file_bytes, memory_bytes;
};

struct elf_section {
    uint32_t name, type;
    uint64_t flags, address, offset, bytes;
    uint32_t link, info;
    uint64_t alignment, entry_bytes;
};

/* Read-only for all but this room. */
struct elf {
    int fd;                     /* -1: in memory */
    const unsigned char *bytes; /* NULL: by descriptor */
    uint64_t size;
    uint16_t type, machine;
    uint64_t entry;                /* as the header says; elf_entry() says whether it is one */
    uint64_t sections_at;          /* 0: there are none */
    struct elf_segment *segments;  /* read at open */
    struct elf_section *sections;  /* NULL until elf_sections() */
    uint32_t segment_n, section_n; /* section_n: as the header says */
    uint32_t names_section;        /* whose bytes are the sections' names */
    char *names;                   /* those, with a NUL behind them; NULL until they are asked for */
    size_t names_bytes;
    struct budget *budget; /* what reading it is paid from; NULL: nothing is. Outlives it */
    void *owned;           /* what `bytes` are in, where they are the elf's own */
};

/* Opens a path below a root's descriptor. Only a regular file is opened at all: the path comes from a recording,
 * and to open a device or a pipe may do something, or wait. */
int elf_open_at(int root, const char *path, struct elf **ret, struct rk_error *e);

/* The same, paid from a budget. */
int elf_open_paid(int root, const char *path, struct budget *budget, struct elf **ret, struct rk_error *e);

/* From a descriptor, which belongs to the elf from here on, also on failure. `name` is for messages. */
int elf_open_fd(int fd, const char *name, struct elf **ret, struct rk_error *e);
int elf_open_fd_paid(int fd, const char *name, struct budget *budget, struct elf **ret, struct rk_error *e);

/* From memory, which must outlive the elf and is not written to. */
int elf_open_memory(const void *bytes, size_t n, const char *name, struct elf **ret, struct rk_error *e);

/* The same, of memory from malloc(3) that belongs to the elf from here on, also on failure. */
int elf_open_owned(void *bytes, size_t n, const char *name, struct elf **ret, struct rk_error *e);

struct elf *elf_close(struct elf *elf);
CLEANUP_FUNCTION(elf_close, struct elf, elf_close)
#define _cleanup_elf_ _cleanup_(elf_close_cleanup)

/* Copies n bytes of the file at an offset. 0; -EBADMSG where the file does not have them (any more). */
int elf_read(const struct elf *elf, uint64_t offset, void *to, size_t n);

/* The same into new memory, of n + 1 bytes, the last one a NUL. n ≤ limit, or -EBADMSG. Whether it fits is asked of the
 * budget; what is kept the caller holds. The caller frees. */
int elf_load(const struct elf *elf, uint64_t offset, uint64_t n, size_t limit, void **ret);

/* Reads the section headers, once. 0 (also where there are none: section_n is 0 then), or -errno. */
int elf_sections(struct elf *elf);

/* Where a byte of the file lies in memory, before relocation: by the executable segment that has it, else by
 * any that is loaded. 0, or -ENOENT. */
int elf_address(const struct elf *elf, uint64_t offset, uint64_t *ret);

/* The other way: where in the file a byte of memory lies. 0, or -ENOENT: in no loaded segment, or not in the file. */
int elf_offset(const struct elf *elf, uint64_t address, uint64_t *ret);

/* Where a program, or what loads programs, begins to run: an address. 0, or -ENOENT: a library, whose header may say
 * something all the same. */
int elf_entry(const struct elf *elf, uint64_t *ret);

#endif

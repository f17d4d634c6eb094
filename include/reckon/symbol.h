/*
 * reckon/symbol.h: module + offset → name.
 *
 *     rk_symbolizer_open(NULL, &sy, &e);
 *     rk_symbolizer_resolve(sy, &module, offsets, n, symbols);
 *     printf("%s+%#jx\n", symbols[0].name, (uintmax_t)symbols[0].distance);
 *
 * Names come from the module's .symtab, else from its debug file (/usr/lib/debug/.build-id), else from its
 * mini-debuginfo and its .dynsym; stubs that call other modules are `name@plt`; for the kernel from /proc/kallsyms, which is read only when a kernel address is asked for;
 * for code made at run time from /tmp/perf-PID.map, which its maker writes (node --perf-basic-prof, java with
 * perf-map-agent, python -X perf). They are
 * given as people wrote them: without a version (@GLIBC_2.2.5), C++ and Rust demangled if reckon was built with
 * libiberty (rk_symbolizer_demangles()). Where there is no name, the reason is given; a
 * file whose build-id is not the one that ran is not believed.
 *
 * Where functions lie inside one another, the innermost is named. Of several names for one address: one with a
 * size before one without, a function before a label, global before weak before local, then the one with the
 * fewest leading underscores, the longest, the first in the order of bytes.
 */
#ifndef RECKON_SYMBOL_H
#define RECKON_SYMBOL_H

#include <reckon/error.h>
#include <reckon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_symbolizer;

/* For rk_symbolizer_options.flags. */
enum {
    RK_SYMBOLIZER_MANGLED = 1, /* names as they stand in the file */
    RK_SYMBOLIZER_ADDRESSES =
        2, /* files are asked by address, as nm(1) and addr2line(1) have it, not by offset */
};

struct rk_symbolizer_options {
    uint32_t size;
    uint32_t flags;       /* RK_SYMBOLIZER_… */
    const char *root;     /* where modules' paths and /proc are looked up; NULL: "/" */
    uint64_t lines_bytes; /* of debug information that stays in memory between calls; 0: 256 MB */
};

RK_API int rk_symbolizer_open(const struct rk_symbolizer_options *options, struct rk_symbolizer **ret,
                              struct rk_error *e);
RK_API struct rk_symbolizer *rk_symbolizer_free(struct rk_symbolizer *symbolizer);

/* Why an address has no name. rk_miss_text() says it in words. */
enum rk_miss {
    RK_MISS_NONE,          /* it has one */
    RK_MISS_NO_FILE,       /* the module's file is gone or can't be read */
    RK_MISS_BAD_FILE,      /* it is no ELF file, or damaged */
    RK_MISS_CHANGED,       /* its build-id is not the one that ran */
    RK_MISS_STRIPPED,      /* it has no symbol table */
    RK_MISS_NO_SYMBOL,     /* no symbol covers the address */
    RK_MISS_KERNEL_HIDDEN, /* kernel symbols are hidden from this user (kptr_restrict) */
    RK_MISS_OTHER_KERNEL,  /* recorded under another kernel than the one that runs */
    RK_MISS_ANONYMOUS,     /* code without a file, and no /tmp/perf-PID.map that names it */
    RK_MISS_NO_MODULE,     /* the address is in no known mapping */
    RK_MISS_UNSUPPORTED,   /* an ELF file of a kind that is not read: 32 bits, big-endian */
    RK_MISS_NO_KALLSYMS,   /* the kernel's list of names, /proc/kallsyms, is not there or can't be read */
    RK_MISS_NO_LINES,      /* lines: there is no debug information for the module */
    RK_MISS_NO_UNIT,       /* lines: its debug information does not cover the address */
    RK_MISS_NO_LIBRARY,    /* lines: it is compressed, and the library for that is not installed */
    RK_MISS_NOT_YOURS,     /* code without a file, whose /tmp/perf-PID.map belongs to some other user */
};
RK_API const char *rk_miss_text(uint32_t miss);

/* One answer. Frozen. */
struct rk_symbol {
    const char *name;  /* lives as long as the symbolizer; NULL: see miss */
    uint64_t distance; /* bytes from the symbol's beginning */
    uint32_t miss;     /* enum rk_miss */
    uint32_t reserved;
};

/* Whether C++ and Rust names are demangled: 1, or 0 where this reckon was built without libiberty. */
RK_API int rk_symbolizer_demangles(void);

/* Names n offsets (rk_place.offset) of one module. 0, or -errno; each answer tells its own miss.
 * Threads may share a symbolizer. */
RK_API int rk_symbolizer_resolve(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                                 const uint64_t *offsets, size_t n, struct rk_symbol *ret);

/*
 * Lines, and functions that were inlined: from DWARF (versions 2 to 5, split, .dwp, dwz, compressed) in the file itself or in
 * its debug file, found by build-id or debuglink. A .dwo is looked for where it was compiled, below the program's directory
 * and beside the program, and believed by its id. The kernel's from its vmlinux with the build-id that was recorded, else
 * the running one's: in /usr/lib/debug/.build-id, /usr/lib/debug/boot, /usr/lib/debug/lib/modules/RELEASE, /boot or
 * /lib/modules/RELEASE/build; for a kernel that does not run any more too. A loadable module's from NAME.ko
 * or NAME.ko.debug with its build-id (the recording's, else /sys/module's), in /usr/lib/debug/.build-id or below
 * /usr/lib/debug/lib/modules, /lib/modules; on x86-64 and arm64.
 *
 *     rk_symbolizer_sources(sy, &module, offsets, n, NULL, &sources, &e);
 *     for (i = 0; i < n; i++)
 *         for (f = sources->first[i]; f < sources->first[i + 1]; f++)
 *             printf("%s %s:%u\n", sources->function[f], sources->file[f], sources->line[f]);
 *     rk_sources_free(sources);
 *
 * Ask for many at once: what a call costs is reading each compilation unit that they touch, once; what is asked for
 * twice is looked up once. For a return address, ask for the byte before it.
 *
 * Debug information stays open for the next call, up to rk_symbolizer_options.lines_bytes in memory and 64 files: what
 * was asked for longest ago is closed first. A single call takes what it needs, a compressed section whole.
 */
struct rk_sources_options {
    uint32_t size;
    uint32_t threads; /* that share the work; 0, 1: the calling one alone. They end before the call returns */
};

/* Offset i has the frames first[i] … first[i + 1] - 1, one at least, the innermost first: all but the last are inlined
 * into the next one, and the last is what the symbol table has there. Of more than 256 those before the last are left
 * out. */
struct rk_sources {
    size_t n;                      /* offsets */
    size_t frame_n;                /* frames */
    const uint32_t *first;         /* n + 1 of them */
    const uint32_t *miss;          /* by offset: why there is no line, enum rk_miss */
    const char *const *function;   /* by frame; NULL: unknown */
    const char *const *file;       /* by frame; NULL: unknown */
    const uint32_t *line, *column; /* by frame; 0: unknown */
};

/* One allocation, which rk_sources_free() frees; its texts live as long as it and the symbolizer. */
RK_API int rk_symbolizer_sources(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                                 const uint64_t *offsets, size_t n, const struct rk_sources_options *options,
                                 struct rk_sources **ret, struct rk_error *e);
RK_API struct rk_sources *rk_sources_free(struct rk_sources *sources);

#ifdef __cplusplus
}
#endif
#endif

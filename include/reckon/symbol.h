/*
 * reckon/symbol.h: address → function, file, line.
 *
 * 1. Addresses of a process that runs, in one call:
 *
 *     rk_symbolizer_process(NULL, pid, addresses, n, NULL, &s, &e);
 *     for (size_t i = 0; i < n; i++)
 *         printf("%#jx %s\n", (uintmax_t)addresses[i], s->symbol[i].name ? s->symbol[i].name
 *                                                                         : rk_miss_text(s->symbol[i].miss));
 *     rk_sources_free(s);
 *
 * 2. Names alone, of many offsets in one module, at millions a second:
 *
 *     rk_symbolizer_open(NULL, &sy, &e);
 *     rk_symbolizer_resolve(sy, &module, offsets, n, symbols);
 *     printf("%s+%#jx\n", symbols[0].name, (uintmax_t)symbols[0].distance);
 *     rk_symbolizer_free(sy);
 *
 * Where names come from, in this order:
 *   - what a recording stores, if the symbolizer was given it (rk_symbolizer_names()).
 *   - a file: its .symtab; the .symtab of its debug file (/usr/lib/debug/.build-id); its mini-debuginfo and
 *     its .dynsym. A stub that calls another module is `name@plt`. A file with another build-id than the one
 *     that ran is ignored.
 *   - a file with the recorded build-id in perf's cache ($PERF_BUILDID_DIR, else ~/.debug), if the module's
 *     own file or its debug file is not found otherwise.
 *   - debuginfod servers, if the user has named some in DEBUGINFOD_URLS and libdebuginfod is installed. It
 *     keeps what it fetched in the user's cache. A file that takes longer than 60 s is given up, and no other
 *     is asked for then.
 *   - the kernel: /proc/kallsyms. It is read when the first kernel address is asked for.
 *   - code made at run time: /tmp/perf-PID.map. Its maker writes it (node --perf-basic-prof, java with
 *     perf-map-agent, python -X perf).
 *   - code made at run time, with lines and with times: jit-PID.dump, which its maker maps (node --perf-prof,
 *     java with libperf-jvmti, .NET). It is a module; an offset in it is where it holds the code's bytes.
 * An address without a name has a reason. If unwind tables describe its function, it is called by where that
 * lies, module+0xaddress.
 *
 * Names have no version (@GLIBC_2.2.5). C++ and Rust names are demangled if reckon was built with libiberty.
 *
 * If functions lie inside one another, the innermost is named. If an address has several names, the best one
 * is taken: with a size before without, a function before a label, global before weak before local, then the
 * one with the fewest leading underscores, the longest, the first in the order of bytes.
 */
#ifndef RECKON_SYMBOL_H
#define RECKON_SYMBOL_H

#include <reckon/error.h>
#include <reckon/image.h>
#include <reckon/module.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rk_symbolizer;

/* For rk_symbolizer_options.flags. */
enum {
    /* rk_symbol.name and names of inlined functions are as the file has them. */
    RK_SYMBOLIZER_MANGLED = 1,
    /* Offsets in files, and in a vmlinux that was given, are addresses, as nm(1) and addr2line(1) show. */
    RK_SYMBOLIZER_ADDRESSES = 2,
    /* No server is asked, though DEBUGINFOD_URLS is set. */
    RK_SYMBOLIZER_NO_FETCH = 4,
};

struct rk_symbolizer_options {
    uint32_t size;
    uint32_t flags; /* RK_SYMBOLIZER_… */

    /* Below it modules' paths and /proc are looked up. NULL: "/". */
    const char *root;

    /* How much debug information stays in memory between calls. 0: 256 MB. */
    uint64_t lines_bytes;

    /*
     * Where the addresses were taken, uname(2)'s nodename and release, as rk_stream_info has them. NULL: on
     * this machine; "": unknown. Of another machine, or an unknown one, a file here is used only if its
     * build-id is the recorded one (of an unknown one, its inode will do), and this kernel only if it has the
     * recorded build-id. Else the address has no name, and the reason is RK_MISS_ELSEWHERE.
     */
    const char *host, *kernel;

    /*
     * NULL, or where its files are now: a directory with a copy of the machine's files, below which the paths
     * of modules and /usr/lib/debug are looked up; its kernel's vmlinux; a copy of its /proc/kallsyms. They
     * are used whatever `host` and `kernel` are. A file with another build-id than the recorded one is
     * ignored.
     */
    const char *symfs, *vmlinux, *kallsyms;
};

RK_API int rk_symbolizer_open(const struct rk_symbolizer_options *options, struct rk_symbolizer **ret,
                              struct rk_error *e);
RK_API struct rk_symbolizer *rk_symbolizer_free(struct rk_symbolizer *symbolizer);

/*
 * Gives a symbolizer what a recording stores (rk_stream_names()), before its first question. The bytes are
 * copied. From then on an address that is stored is answered by that, wherever the recording is read and
 * whatever has become of the files. A file is asked about addresses that are not stored, and about those that
 * were stored without a name or a line because a file or its debug information was missing.
 *
 * -EOPNOTSUPP: another version of reckon wrote them, or the library that unpacks them is not installed.
 * -EBADMSG: damaged. -EBUSY: the symbolizer was asked before. It works on without them.
 */
RK_API int rk_symbolizer_names(struct rk_symbolizer *symbolizer, const void *names, size_t bytes,
                               struct rk_error *e);

/*
 * Reading files has a budget of bytes in memory, bytes read and steps: for each module, inside one of the
 * symbolizer's. A file that was made to be endless costs its own names alone: they are RK_MISS_BUDGET. The
 * environment's RECKON_BUDGET says how many megabytes may be in memory, 512 by default; three quarters of it
 * for one module. 32 times as many may be read, 8 times for one module. What may be read of a module is whole
 * again with each call, unless it was spent. An unwinder has a budget of the same kind.
 */

/* Why an address has no name, or no line. rk_miss_text() says it in words. */
enum rk_miss {
    RK_MISS_NONE,          /* it has one */
    RK_MISS_NO_FILE,       /* the module's file is gone or unreadable */
    RK_MISS_BAD_FILE,      /* the file is damaged, or no ELF file */
    RK_MISS_CHANGED,       /* the file has another build-id than the one that ran */
    RK_MISS_STRIPPED,      /* the file has no symbol table */
    RK_MISS_NO_SYMBOL,     /* no symbol covers the address */
    RK_MISS_KERNEL_HIDDEN, /* kernel symbols are hidden from this user (kptr_restrict) */
    RK_MISS_OTHER_KERNEL,  /* another kernel runs than the recorded one */
    RK_MISS_ANONYMOUS,     /* code without a file, and no /tmp/perf-PID.map */
    RK_MISS_NO_MODULE,     /* the address is in no known mapping */
    RK_MISS_UNSUPPORTED,   /* a 32-bit or big-endian ELF file */
    RK_MISS_NO_KALLSYMS,   /* /proc/kallsyms is missing or unreadable */
    RK_MISS_NO_LINES,      /* lines: the module has no debug information, or lines were not asked for */
    RK_MISS_NO_UNIT,       /* lines: the debug information does not cover the address */
    RK_MISS_NO_LIBRARY,    /* lines: compressed, and the library that unpacks it is not installed */
    RK_MISS_NOT_YOURS,     /* code without a file, and its /tmp/perf-PID.map belongs to another user */
    RK_MISS_BUDGET,        /* reading the file takes more than the budget of a module: RECKON_BUDGET */
    RK_MISS_ELSEWHERE,     /* perhaps of another machine, and nothing shows that what is here is the same */
};
RK_API const char *rk_miss_text(uint32_t miss);

/*
 * The function that an address lies in. The function begins at offset - distance and ends at offset -
 * distance + bytes. Frozen.
 *
 * A function that has no symbol, but unwind tables, is called by where it lies: "prog+0x1130" begins at
 * address 0x1130 of the file, as objdump(1) shows it. Then `mangled` is NULL and `miss` says why it has no
 * name.
 */
struct rk_symbol {
    const char *name;    /* lives as long as the symbolizer; NULL: see miss */
    const char *mangled; /* as the file has it; NULL: see miss */
    uint64_t distance;   /* bytes from the function's beginning */
    uint32_t bytes;      /* length of the function; without a size in the file: up to the next symbol */
    uint32_t miss;       /* enum rk_miss; RK_MISS_NONE if the file has a name */
};

/* Returns 1 if C++ and Rust names are demangled; 0 if reckon was built without libiberty. */
RK_API int rk_symbolizer_demangles(void);

/* Shortens a demangled name of C++, Rust, Go or Python: without parameters, template arguments, return types,
 * hashes of crates, folders. Returns `to`; or `name`, if nothing is left out or `size` bytes are too few. */
RK_API const char *rk_symbol_short(const char *name, char *to, size_t size);

/* Names n offsets (rk_place.offset) of one module. Returns 0 or -errno. Each answer has its own miss.
 * Threads may share a symbolizer. */
RK_API int rk_symbolizer_resolve(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                                 const uint64_t *offsets, size_t n, struct rk_symbol *ret);

/*
 * Names, lines, and functions that were inlined.
 *
 * Lines come from DWARF: versions 2 to 5, split, .dwp, dwz, compressed. It is in the file itself or in its
 * debug file, which is found by build-id or debuglink. A .dwo is searched where it was compiled, below the
 * program's directory and beside the program, and is checked by its id. The kernel's lines come from the
 * vmlinux with the recorded build-id, else with the running kernel's: in /usr/lib/debug/.build-id,
 * /usr/lib/debug/boot, /usr/lib/debug/lib/modules/RELEASE, /boot or /lib/modules/RELEASE/build. That kernel
 * need not run. A kernel module's lines come from NAME.ko or NAME.ko.debug with its build-id, in
 * /usr/lib/debug/.build-id or below /usr/lib/debug/lib/modules, /lib/modules; on x86-64 and arm64.
 *
 *     rk_symbolizer_sources(sy, &module, offsets, n, NULL, &s, &e);
 *     for (size_t i = 0; i < n; i++)
 *         for (uint32_t f = s->first[i]; f < s->first[i + 1]; f++)
 *             printf("%s %s:%u\n", s->function[f], s->file[f], s->line[f]);
 *     rk_sources_free(s);
 *
 * Ask for many at once: a call reads each compilation unit that its addresses touch once. For a return
 * address, ask for the byte before it.
 *
 * Debug information stays open for the next call, up to rk_symbolizer_options.lines_bytes and 64 files; the
 * file that was used longest ago is closed first. A single call takes what it needs, a compressed section
 * whole.
 */

/* For rk_sources_options.flags. */
enum {
    RK_SOURCES_NO_LINES = 1, /* names alone: no debug information is read, and each address has one frame */
};

struct rk_sources_options {
    uint32_t size;
    uint32_t threads; /* share the work, and end before the call returns; 0, 1: the caller alone */
    uint32_t flags;   /* RK_SOURCES_… */
    uint32_t reserved;
};

/*
 * Columns by address and columns by frame. Address i has the frames first[i] … first[i + 1] - 1, one at
 * least, the innermost first. All but the last are inlined into the next one. The last is the function of the
 * symbol table. Of more than 256 frames those before the last are left out.
 *
 * All texts live as long as it.
 */
struct rk_sources {
    uint32_t size; /* set by the library */
    uint32_t reserved;

    /* By address. */
    size_t n;
    const struct rk_symbol *symbol;
    const struct rk_module *const *module; /* NULL: the address lies in none */
    const uint64_t *offset;                /* in the module, as rk_place has it */
    const uint32_t *miss;                  /* why there is no line, enum rk_miss */
    const uint32_t *first;                 /* n + 1 of them */

    /* By frame. */
    size_t frame_n;
    const char *const *function;   /* NULL: unknown */
    const char *const *file;       /* NULL: unknown */
    const uint32_t *line, *column; /* 0: unknown */

    /* Where the function was declared. NULL, 0: unknown. The file is unknown if another compilation unit says
     * it. */
    const char *const *declared_file;
    const uint32_t *declared_line;
};

/* Names n offsets of one module. */
RK_API int rk_symbolizer_sources(struct rk_symbolizer *symbolizer, const struct rk_module *module,
                                 const uint64_t *offsets, size_t n, const struct rk_sources_options *options,
                                 struct rk_sources **ret, struct rk_error *e);

/* Names n addresses of a process of the image, and of the kernel. -EINVAL if the symbolizer has
 * RK_SYMBOLIZER_ADDRESSES. */
RK_API int rk_symbolizer_image(struct rk_symbolizer *symbolizer, struct rk_image *image, int32_t pid,
                               const uint64_t *addresses, size_t n, const struct rk_sources_options *options,
                               struct rk_sources **ret, struct rk_error *e);

/*
 * Names n addresses of a process as it is now, and of the kernel. The call reads the process's mappings once.
 * pid 0 is the calling process. The process may be in a container: its files are opened through
 * /proc/PID/root. Without a symbolizer (NULL) the call opens one for itself; with one, files that were read
 * stay read for the next call.
 *
 * -ESRCH: no such process. -EACCES: it belongs to another user.
 */
RK_API int rk_symbolizer_process(struct rk_symbolizer *symbolizer, int32_t pid, const uint64_t *addresses,
                                 size_t n, const struct rk_sources_options *options, struct rk_sources **ret,
                                 struct rk_error *e);

RK_API struct rk_sources *rk_sources_free(struct rk_sources *sources);

#ifdef __cplusplus
}
#endif
#endif

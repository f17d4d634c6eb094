/*
 * Names that a recording stores of the addresses that were hit: taken apart once, then looked up. names/encode.c makes
 * them. They come from a file that anyone may have written.
 *
 *     head     u64 magic, u16 version, u16 packing, u32 0, u64 bytes      bytes: of the body, unpacked
 *     body     parts { uleb tag, bytes; … }; a reader skips tags that it does not know
 *
 *     TEXTS      { uleb n; n texts, each with its NUL }           text 0 is "", which is: none
 *     SYMBOLS    { uleb n; { uleb text, bytes } [n] }             names as the symbol table has them, mangled
 *     FUNCTIONS  { uleb n; { uleb text, declared_file, declared_line } [n] }
 *     MODULE     { uleb kind, path, pid, inode, id_bytes; u8 id[id_bytes]; uleb n; answers [n] }, one for each module
 *
 *     answer     uleb offset - the last one's (of the first: - 0)
 *                uleb symbol + 1, distance from its start; or 0, enum rk_miss, and where it lies all the same: uleb symbol + 1,
 *                distance ("prog+0x1130"); or 0
 *                uleb frames + 1, { uleb function + 1 or 0, file, line, column } [frames], innermost first; or 0, enum rk_miss
 *
 * What is read is bounded by the section's size: its body is at most STORED_RATIO times as long, and what is made of that
 * STORED_MADE times as long as the body.
 */
#ifndef SYMBOL_STORED_H
#define SYMBOL_STORED_H

#include "base/arena.h"
#include "base/cursor.h"
#include "base/table.h"
#include "base/vector.h"
#include "elf/note.h"

#include <reckon/symbol.h>

#define STORED_MAGIC UINT64_C(0x53454d414e4b4552) /* "REKNAMES" */
enum {
    STORED_VERSION = 2,
    STORED_PLAIN = 0,
    STORED_ZSTD = 1,
    STORED_GZIP = 2,
    STORED_TEXTS = 1,
    STORED_SYMBOLS = 2,
    STORED_FUNCTIONS = 3,
    STORED_MODULE = 4,
    STORED_FRAMES_MAX = 257,
};
#define STORED_RATIO 32u
#define STORED_MADE 64u
#define STORED_BYTES_MAX (UINT64_C(16) << 20) /* of a section */

struct stored_head {
    uint64_t magic;
    uint16_t version, packing;
    uint32_t reserved;
    uint64_t bytes;
};
_Static_assert(sizeof(struct stored_head) == 24, "no padding");

struct stored_module {
    uint32_t kind, path;
    int32_t pid;
    uint64_t inode;
    struct build_id id;
    uint32_t next;   /* of the same path: index + 1; 0: none */
    size_t first, n; /* answers */
};

struct stored {
    unsigned char *body;
    const char **texts, **plain; /* plain: as people write it */
    uint32_t text_n, symbol_n, function_n;
    struct stored_symbol {
        uint32_t text, bytes;
    } * symbols;
    struct stored_function {
        uint32_t text, declared_file, declared_line;
    } * functions;
    VECTOR(struct stored_module) modules;
    VECTOR(struct stored_place {
        uint64_t offset;
        const unsigned char *at; /* what follows the offset */
    })
    places;
    struct table by_path; /* hash → index of the newest */
    struct arena demangled;
    const unsigned char *end;
};

/* What is stored of an offset. */
struct stored_answer {
    bool exact;              /* of this very offset; else of one in the same function */
    struct rk_symbol symbol; /* both names mangled; with a miss, the name is a place and `mangled` NULL */
    const char *plain;       /* the symbol's name as people write it */
    uint32_t miss;           /* of the lines */
    uint32_t frame_n;
    struct cursor frames;
};

struct stored_frame {
    const char *function, *plain, *file, *declared_file; /* NULL: unknown */
    uint32_t line, column, declared_line;
};

/* Takes n bytes apart, and copies them. 0; -EBADMSG; -EOPNOTSUPP: of another version, or packed by a library that is not
 * here; -ENOMEM. */
int stored_open(const void *bytes, size_t n, struct stored **ret);
struct stored *stored_close(struct stored *stored);

/* What is stored of that module, or NULL. */
const struct stored_module *stored_find(const struct stored *stored, const struct rk_module *module);

/* What is known of an offset; false: nothing. */
bool stored_ask(const struct stored *stored, const struct stored_module *module, uint64_t offset,
                struct stored_answer *ret);

/* The answer's next frame, innermost first. */
struct stored_frame stored_frame_next(const struct stored *stored, struct stored_answer *answer);

#endif

/* Lines and inlined functions of addresses on stdin, one in hexadecimal a line, for tests/oracle/lines:
 *
 *     oracle-lines FILE [THREADS]      0x1144 inner /src/p.c:2:70 outer /src/p.c:3:72 work /src/p.c:4:52
 *
 * with tabs between them, since names have blanks.
 */
#include "elf/elf.h"
#include "sys/file.h"

#include <reckon/reckon.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_number(uint32_t n)
{
    char digits[12], *at = digits + sizeof digits;
    *--at = '\0';
    do
        *--at = (char)('0' + n % 10);
    while (n /= 10);
    putchar_unlocked(':');
    fputs_unlocked(at, stdout);
}

/* printf(3) would be a third of what a million addresses cost. */
static void put_frame(const char *function, const char *file, uint32_t line, uint32_t column)
{
    putchar_unlocked('\t');
    fputs_unlocked(function ? function : "??", stdout);
    putchar_unlocked('\t');
    fputs_unlocked(file ? file : "??", stdout);
    put_number(line);
    put_number(column);
}

int main(int argc, char **argv)
{
    struct rk_symbolizer_options options = {.size = sizeof options, .flags = RK_SYMBOLIZER_MANGLED};
    struct rk_sources_options threads = {.size = sizeof threads,
                                         .threads = argc > 2 ? (uint32_t)atoi(argv[2]) : 1};
    struct rk_module module = {
        .size = sizeof module, .kind = RK_MODULE_FILE, .path = argv[1], .name = argv[1]};
    struct rk_error e = {.size = sizeof e};
    struct rk_symbolizer *symbolizer = NULL;
    struct rk_sources *s = NULL;
    struct elf *elf = NULL;
    uint64_t *addresses = NULL, *offsets = NULL;
    size_t n = 0, room = 0;
    char line[64];
    int root = sys_root_open(NULL);

    if (argc < 2 || elf_open_at(root, argv[1], &elf, &e) < 0) {
        fprintf(stderr, "%s\n", argc < 2 ? "oracle-lines FILE [THREADS]" : e.what);
        return 1;
    }
    bool placed = elf->type != ELF_TYPE_RELOCATABLE;
    options.flags |= placed ? 0 : RK_SYMBOLIZER_ADDRESSES; /* which are those that the kernel would give it */
    if (rk_symbolizer_open(&options, &symbolizer, &e) < 0) {
        fprintf(stderr, "%s\n", e.what);
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        if (n == room) {
            room = room ? 2 * room : 4096;
            addresses = reallocarray(addresses, room, sizeof *addresses);
            offsets = reallocarray(offsets, room, sizeof *offsets);
            if (!addresses || !offsets)
                return 1;
        }
        addresses[n] = strtoull(line, NULL, 16);
        offsets[n] = addresses[n];
        n += !placed || elf_offset(elf, addresses[n], &offsets[n]) == 0;
    }
    if (rk_symbolizer_sources(symbolizer, &module, offsets, n, &threads, &s, &e) < 0) {
        fprintf(stderr, "%s\n", e.what);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        printf("%#" PRIx64, addresses[i]);
        for (uint32_t f = s->first[i]; f < s->first[i + 1]; f++)
            put_frame(s->function[f], s->file[f], s->line[f], s->column[f]);
        putchar_unlocked('\n');
    }
    rk_sources_free(s);
    rk_symbolizer_free(symbolizer);
    elf_close(elf);
    sys_close(root);
    free(addresses);
    free(offsets);
    return 0;
}

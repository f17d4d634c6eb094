/*
 * Names from a symbol table: how long the first question takes, which loads it, and how many a second after that.
 *
 *     bench-names LOOKUPS [LIBRARY]      a line each: path, seconds to load, lookups a second, how many named, of how many
 *
 * Without a library: one with 35,000 functions is made up, of which only the table is read; then libLLVM, if installed.
 */
#include <reckon/reckon.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTIONS = 35000, BYTES = 64, NAME = 48, BATCH = 4096, ROUNDS = 5 };

static double now(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* header, one segment, names, symbols, sections; the code is a hole. 0: made at `path`. */
static int make(char *path)
{
    enum { CODE = 0x10000, CODE_BYTES = FUNCTIONS * BYTES };
    const uint64_t names_at = CODE + CODE_BYTES, symbols_at = names_at + (uint64_t)FUNCTIONS * NAME + 64;
    const uint64_t sections_at = symbols_at + (FUNCTIONS + 1) * sizeof(Elf64_Sym);
    Elf64_Ehdr header = {.e_type = ET_DYN,
                         .e_machine = EM_X86_64,
                         .e_version = 1,
                         .e_phoff = sizeof header,
                         .e_shoff = sections_at,
                         .e_ehsize = sizeof header,
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 1,
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 4};
    Elf64_Phdr segment = {.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = CODE, .p_vaddr = CODE};
    Elf64_Shdr sections[4] = {
        {0},
        {.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR, .sh_addr = CODE, .sh_offset = CODE},
        {.sh_type = SHT_STRTAB, .sh_offset = names_at, .sh_size = symbols_at - names_at},
        {.sh_type = SHT_SYMTAB, .sh_offset = symbols_at, .sh_size = sections_at - symbols_at, .sh_link = 2}};
    Elf64_Sym symbol = {.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), .st_shndx = 1, .st_size = BYTES};
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (!file)
        return -1;
    memcpy(header.e_ident, "\177ELF\2\1\1", 7);
    segment.p_filesz = segment.p_memsz = sections[1].sh_size = CODE_BYTES;
    sections[3].sh_entsize = sizeof symbol;
    fwrite(&header, sizeof header, 1, file);
    fwrite(&segment, sizeof segment, 1, file);
    fseek(file, (long)names_at + 1, SEEK_SET);
    for (int i = 0; i < FUNCTIONS; i++)
        fprintf(file, "%0*d%c", NAME - 1, i, 0);
    fseek(file, (long)(symbols_at + sizeof symbol), SEEK_SET);
    for (int i = 0; i < FUNCTIONS; i++) {
        symbol.st_name = (Elf64_Word)(1 + i * NAME);
        symbol.st_value = (Elf64_Addr)(CODE + i * BYTES);
        fwrite(&symbol, sizeof symbol, 1, file);
    }
    fwrite(sections, sizeof sections, 1, file);
    return fclose(file);
}

static int measure(const char *name, const char *path, uint64_t first, uint64_t bytes, size_t lookups)
{
    static uint64_t offsets[BATCH];
    static struct rk_symbol symbols[BATCH];
    struct rk_module module = {.size = sizeof module, .kind = RK_MODULE_FILE, .path = path, .name = path};
    struct rk_symbolizer_options options = {.size = sizeof options, .flags = RK_SYMBOLIZER_MANGLED};
    double load = 1e9, rate = 0;
    size_t named = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct rk_symbolizer *s = NULL;
        uint64_t seed = 88172645463325252u, spent = 0;
        named = 0;
        if (rk_symbolizer_open(&options, &s, NULL) < 0)
            return 1;
        double before = now(CLOCK_THREAD_CPUTIME_ID);
        rk_symbolizer_resolve(s, &module, &first, 1, symbols);
        double took = now(CLOCK_THREAD_CPUTIME_ID) - before;
        load = took < load ? took : load;
        if (symbols[0].miss && symbols[0].miss != RK_MISS_NO_SYMBOL && symbols[0].miss != RK_MISS_STRIPPED) {
            printf("%s: %s\n", path, rk_miss_text(symbols[0].miss));
            return 1;
        }
        double sum = 0;
        for (; spent < lookups; spent += BATCH) {
            for (int i = 0; i < BATCH; i++) {
                seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
                offsets[i] = first + (seed >> 16) % bytes;
            }
            before = now(CLOCK_THREAD_CPUTIME_ID);
            rk_symbolizer_resolve(s, &module, offsets, BATCH, symbols);
            sum += now(CLOCK_THREAD_CPUTIME_ID) - before;
            for (int i = 0; i < BATCH; i++)
                named += symbols[i].name != NULL;
        }
        double now_rate = (double)spent / sum;
        rate = now_rate > rate ? now_rate : rate;
        rk_symbolizer_free(s);
    }
    printf("%s\t%.6f\t%.0f\t%zu\t%zu\n", name, load, rate, named, (lookups + BATCH - 1) / BATCH * BATCH);
    return 0;
}

/* Where its code lies in the file: the executable segment. */
static int code_of(const char *path, uint64_t *ret_first, uint64_t *ret_bytes)
{
    FILE *file = fopen(path, "re");
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    int found = -1;

    if (file && fread(&header, sizeof header, 1, file) == 1 &&
        fseek(file, (long)header.e_phoff, SEEK_SET) == 0)
        for (int i = 0; i < header.e_phnum && found < 0 && fread(&segment, sizeof segment, 1, file) == 1; i++)
            if (segment.p_type == PT_LOAD && segment.p_flags & PF_X && segment.p_filesz) {
                *ret_first = segment.p_offset;
                *ret_bytes = segment.p_filesz;
                found = 0;
            }
    if (file)
        fclose(file);
    return found;
}

int main(int argc, char **argv)
{
    static const char *const large[] = {"/usr/lib/x86_64-linux-gnu/libLLVM-15.so.1",
                                        "/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1"};
    size_t lookups = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000000;
    const char *folder = getenv("TMPDIR");
    char made[4096];
    uint64_t first, bytes;
    int status = 0;

    if (argc > 2)
        return code_of(argv[2], &first, &bytes) < 0 || measure(argv[2], argv[2], first, bytes, lookups);
    snprintf(made, sizeof made, "%s/reckon-bench-names-XXXXXX", folder && *folder ? folder : "/tmp");
    if (make(made) < 0 || code_of(made, &first, &bytes) < 0) {
        perror(made);
        return 1;
    }
    status = measure("35,000 functions", made, first, bytes, lookups);
    unlink(made);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        if (code_of(large[i], &first, &bytes) == 0)
            status |= measure(strrchr(large[i], '/') + 1, large[i], first, bytes, lookups);
    return status;
}

/*
 * Real binaries with some of their bytes changed, most of them where headers, tables and names lie: whatever they say
 * then, reading them ends soon, within bounds, and without a crash.
 *
 *     mutate COUNT FILE...       COUNT mutations in all, the same ones each time
 */
#include "mutate.h"

#include "elf/section.h"
#include "elf/symtab.h"
#include "sys/file.h"
#include "unwind/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 25, ADDRESSES = 500 };

static uint64_t *ruled; /* addresses that had a table, over all processes */

/* A place worth changing: headers, and the sections that are read here; else anywhere. */
static size_t place(struct elf *elf, size_t n)
{
    static const char *const names[] = {".eh_frame_hdr",  ".eh_frame",   ".symtab",
                                        ".dynsym",        ".strtab",     ".note.gnu.build-id",
                                        ".gnu_debugdata", ".debug_frame"};
    const struct elf_section *section;
    uint64_t choice = next_random() % 16;

    if (choice < 4)
        return next_random() % 1024 % n;
    if (choice < 6 && elf->sections_at < n)
        return elf->sections_at + next_random() % (n - elf->sections_at);
    if (choice < 14 && elf_section_find(elf, names[choice - 6], &section) == 0 && section->bytes &&
        section->offset + section->bytes <= n)
        return section->offset + next_random() % section->bytes;
    return next_random() % n;
}

static void use_elf(struct elf *elf)
{
    static const uint32_t types[] = {ELF_SECTION_SYMTAB, ELF_SECTION_DYNSYM};
    static const char *const names[] = {".debug_frame", ".debug_info", ".gnu_debugdata"};
    struct build_id id;
    struct elf *inside = NULL;
    const struct elf_section *section;

    elf_build_id(elf, &id);
    for (int i = 0; i < 2; i++) {
        struct symtab table = {0};
        if (symtab_load(elf, types[i], &table) == 0)
            for (uint32_t k = 0; k < table.n; k++) {
                struct elf_symbol symbol = symtab_at(&table, k);
                if (symbol.name < table.names_bytes)
                    fuzz_touch_text(table.names + symbol.name);
            }
        symtab_free(&table);
    }
    for (int i = 0; i < 3; i++) {
        void *bytes;
        size_t n;
        if (elf_section_find(elf, names[i], &section) == 0 &&
            elf_section_load(elf, section, 1 << 26, &bytes, &n) == 0)
            free(bytes);
    }
    if (elf_open_debugdata(elf, &inside) == 0)
        elf_close(inside);
}

static void use_tables(const char *path, uint32_t machine, size_t n)
{
    static uint64_t words[512];
    struct rk_module module = {.size = sizeof module, .path = path};
    struct rk_unwinder *unwinder;
    struct rk_unwinder_options options = {.size = sizeof options, .machine = machine, .cache_slots = 64};
    struct tables tables;

    HOLDS(rk_unwinder_open(&options, &unwinder, NULL) == 0);
    HOLDS(tables_load(&tables, unwinder->root, &module, machine, NULL) == 0);
    for (int i = 0; i < ADDRESSES; i++) {
        uint64_t offset = next_random() % n;
        struct stack stack = {(const unsigned char *)words, 0x7000, sizeof words, true};
        struct frame frame = {.known = UINT32_MAX, .pc = offset};
        struct rule rule;
        bool outermost;
        for (size_t k = 0; k < CFI_COLUMNS; k++)
            frame.reg[k] = 0x7000 + k * 8;
        HOLDS(unwinder_rule(unwinder, &tables, offset, &rule) == 0);
        HOLDS(rule.kind != RULE_NONE && rule.kind <= RULE_BAD);
        *ruled += rule.kind < RULE_GUESS;
        if (tables.reason == RK_UNWIND_FINE)
            HOLDS(unwinder_run(unwinder, &tables, offset, offset, &frame, &stack, &outermost) >= 0);
    }
    tables_free(&tables);
    rk_unwinder_free(unwinder);
}

static void one(const char *from, uint64_t number)
{
    FILE *file = fopen(from, "re");
    HOLDS(file && fseek(file, 0, SEEK_END) == 0);
    size_t n = (size_t)ftell(file);
    unsigned char *bytes = malloc(n);
    rewind(file);
    HOLDS(bytes && fread(bytes, 1, n, file) == n);
    fclose(file);
    struct elf *elf = NULL;
    HOLDS(elf_open_memory(bytes, n, from, &elf, NULL) == 0);
    uint32_t machine = elf->machine;
    state = number * UINT64_C(0x9e3779b97f4a7c15) + 1;
    uint64_t changes = 1 + next_random() % 48;
    size_t at[48];
    for (uint64_t i = 0; i < changes; i++)
        at[i] = place(elf, n);
    elf_close(elf);
    for (uint64_t i = 0; i < changes; i++)
        bytes[at[i]] = next_random() % 3 ? (unsigned char)next_random() : 0xff;

    double begin = now();
    elf = NULL;
    if (elf_open_memory(bytes, n, from, &elf, NULL) == 0)
        use_elf(elf);
    elf_close(elf);
    int fd = memfd_create("mutated", MFD_CLOEXEC);
    char path[64];
    HOLDS(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    use_tables(path, machine, n);
    close(fd);
    free(bytes);
    if (now() - begin > SECONDS_MAX) {
        fprintf(stderr, "mutation %llu of %s took %.1f s\n", (unsigned long long)number, from, now() - begin);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct rlimit memory = {MEMORY_MAX, MEMORY_MAX};
    uint64_t count = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    int failed = 0;

    ruled = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    HOLDS(ruled != MAP_FAILED);
    for (uint64_t i = 0; i < count; i += BATCH) {
        pid_t pid = fork();
        int status;
        HOLDS(pid >= 0);
        if (pid == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
            setrlimit(RLIMIT_AS, &memory);
#else
            (void)memory;
#endif
            alarm(120);
            for (uint64_t k = i; k < i + BATCH && k < count; k++)
                one(argv[2 + k % (uint64_t)(argc - 2)], k);
            exit(0);
        }
        HOLDS(waitpid(pid, &status, 0) == pid);
        if (status) {
            fprintf(stderr, "mutations %llu … %llu: status %#x\n", (unsigned long long)i,
                    (unsigned long long)i + BATCH, (unsigned)status);
            failed++;
        }
    }
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    printf("%llu mutations of %d files, %llu addresses with a table, %d batches failed, at most %ld MB\n",
           (unsigned long long)count, argc - 2, (unsigned long long)*ruled, failed, used.ru_maxrss / 1024);
    return failed || *ruled < count; /* what reads nothing proves nothing */
}

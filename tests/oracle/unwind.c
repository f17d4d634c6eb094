/*
 * Unwinds every stack of a recording twice, by the library and by elfutils' libdw, and compares frame by frame.
 *
 *     oracle-unwind [-v] FILE SHARE [MAIN]      exit 1 where fewer than SHARE percent are the same, or fewer than MAIN
 *                                               percent reach main by name
 *
 * The differences are counted by what became of them; -v shows each, and stacks that broke.
 */
#include "../live/live.h"

#include "elf/section.h"
#include "sys/file.h"

#include <elfutils/libdwfl.h>
#include <unistd.h>

enum { FRAMES = 1024, MAPPINGS = 4096 };

/* The kernel's number of sp; all before it are taken. */
#if defined(__x86_64__)
enum { KERNEL_SP = 7 };
#elif defined(__aarch64__)
enum { KERNEL_SP = 31 };
#else
#error "the order of registers of this machine is not known here"
#endif

struct frames {
    uint64_t pcs[FRAMES];
    int n;
};

/* The process that libdw knows at the moment. */
static struct {
    Dwfl *dwfl;
    int32_t pid;
    const struct rk_sample *sample;
} oracle;

static struct seen {
    int32_t pid;
    struct rk_mapping mapping;
    char path[512];
} seen[MAPPINGS];
static size_t seen_n;
static char vdso_path[TEMPORARY];

static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                         .find_debuginfo = dwfl_standard_find_debuginfo};

static pid_t next_thread(Dwfl *dwfl, void *context, void **thread)
{
    (void)dwfl;
    *thread = context;
    return 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *context, void **thread)
{
    (void)dwfl;
    (void)tid;
    *thread = context;
    return true;
}

static bool read_memory(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *context)
{
    (void)dwfl;
    (void)context;
    const struct rk_sample *s = oracle.sample;
    uint64_t at = address - s->regs_user[KERNEL_SP];
    if (s->stack_used < 8 || at > s->stack_used - 8)
        return false;
    memcpy(ret, s->stack + at, sizeof *ret);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *context)
{
    (void)context;
#if defined(__x86_64__)
    static const int order[17] = {0,  3,  2,  1,  4,  5,  6,  7, 9,
                                  10, 11, 12, 13, 14, 15, 16, 8}; /* of what was taken */
    Dwarf_Word regs[17];
    for (int i = 0; i < 17; i++)
        regs[i] = oracle.sample->regs_user[order[i]];
    return dwfl_thread_state_registers(thread, 0, 17, regs);
#else /* x0 … x30, sp, pc, in both; pc is no register of DWARF's */
    Dwarf_Word regs[32];
    for (int i = 0; i < 32; i++)
        regs[i] = oracle.sample->regs_user[i];
    dwfl_thread_state_register_pc(thread, oracle.sample->regs_user[32]);
    return dwfl_thread_state_registers(thread, 0, 32, regs);
#endif
}

static const Dwfl_Thread_Callbacks thread_callbacks = {.next_thread = next_thread,
                                                       .get_thread = get_thread,
                                                       .memory_read = read_memory,
                                                       .set_initial_registers = set_registers};

static int each_frame(Dwfl_Frame *state, void *context)
{
    struct frames *f = context;
    Dwarf_Addr pc;
    bool activation;

    if (f->n == FRAMES || !dwfl_frame_pc(state, &pc, &activation))
        return DWARF_CB_ABORT;
    if (activation && f->n > 0) /* a handler's return address, which we take as it is */
        f->pcs[f->n - 1]++;
    f->pcs[f->n++] = pc - !activation;
    return DWARF_CB_OK;
}

static void write_vdso(void)
{
    struct elf *elf;
    int fd = mkstemp(temporary(vdso_path, "oracle-vdso-XXXXXX"));
    CHECK(fd >= 0 && elf_open_vdso(&elf) == 0);
    CHECK(write(fd, elf->bytes, elf->size) == (ssize_t)elf->size);
    close(fd);
    elf_close(elf);
}

/* What libdw is told of a process: each file once, with the bias of its first executable mapping. */
static void tell(int32_t pid)
{
    if (oracle.dwfl)
        dwfl_end(oracle.dwfl);
    oracle.dwfl = dwfl_begin(&callbacks);
    oracle.pid = pid;
    CHECK(oracle.dwfl);
    int root = sys_root_open(NULL);
    dwfl_report_begin(oracle.dwfl);
    for (size_t i = 0; i < seen_n; i++) {
        const char *path = strcmp(seen[i].path, "[vdso]") ? seen[i].path : vdso_path;
        struct elf *elf = NULL;
        uint64_t address;
        if (seen[i].pid != pid || path[0] != '/' || elf_open_at(root, path, &elf, NULL) < 0)
            continue;
        uint64_t offset = path == vdso_path ? 0 : seen[i].mapping.file_offset;
        if (elf_address(elf, offset, &address) == 0)
            dwfl_report_elf(oracle.dwfl, path, path, -1, seen[i].mapping.start - address, true);
        elf_close(elf);
    }
    sys_close(root);
    dwfl_report_end(oracle.dwfl, NULL, NULL);
    dwfl_attach_state(oracle.dwfl, NULL, pid, &thread_callbacks, &oracle);
}

static void note(const struct rk_record *r)
{
    struct rk_mapping m = {.size = sizeof m};
    struct rk_comm c = {.size = sizeof c};

    if (r->type == RK_RECORD_COMM && r->misc & RK_MISC_COMM_EXEC && rk_record_comm(r, &c) == 0) {
        for (size_t i = 0; i < seen_n; i++)
            if (seen[i].pid == c.pid)
                seen[i].pid = -1;
        oracle.pid = oracle.pid == c.pid ? -1 : oracle.pid;
    }
    if (rk_record_mapping(r, &m) < 0 || m.pid <= 0)
        return;
    CHECK(seen_n < MAPPINGS);
    struct seen *s = &seen[seen_n++];
    *s = (struct seen){m.pid, m, ""};
    snprintf(s->path, sizeof s->path, "%s", m.path);
    oracle.pid = oracle.pid == m.pid ? -1 : oracle.pid;
}

/* Whether one of the frames is of a function called main. */
static bool has_main(struct rk_symbolizer *symbolizer, const struct rk_image *image, int32_t pid,
                     const struct frames *f)
{
    struct rk_module module = {.size = sizeof module};
    struct rk_symbol symbol;
    struct rk_place place;

    for (int i = f->n - 1; i >= 0; i--)
        if (rk_image_find(image, pid, &f->pcs[i], 1, &place) == 0 && place.module != RK_NO_MODULE &&
            rk_image_module_get(image, place.module, &module) == 0 &&
            rk_symbolizer_resolve(symbolizer, &module, &place.offset, 1, &symbol) == 0 && symbol.name &&
            !strcmp(symbol.name, "main"))
            return true;
    return false;
}

/* Whether it runs in code that no table is about, where both guess: the kernel builds arm64's vDSO without. */
static bool has_no_table(const struct rk_image *image, int32_t pid, const struct frames *f)
{
#ifdef __aarch64__
    const bool none = true;
#else
    const bool none = false;
#endif
    struct rk_module module = {.size = sizeof module};
    struct rk_place place;

    return none && rk_image_find(image, pid, &f->pcs[0], 1, &place) == 0 && place.module != RK_NO_MODULE &&
           rk_image_module_get(image, place.module, &module) == 0 && module.kind == RK_MODULE_VDSO;
}

static void show(const struct frames *ours, const struct frames *theirs,
                 const struct rk_unwind_status *status)
{
    printf("ours %d (end %u: %s), theirs %d (%s)\n", ours->n, status->end,
           rk_unwind_reason_text(status->reason), theirs->n, dwfl_errmsg(-1));
    for (int i = 0; i < ours->n || i < theirs->n; i++)
        printf("  %3d %#18" PRIx64 " %#18" PRIx64 "\n", i, i < ours->n ? ours->pcs[i] : 0,
               i < theirs->n ? theirs->pcs[i] : 0);
}

int main(int argc, char **argv)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *stream;
    struct rk_image *image;
    struct rk_unwinder *unwinder;
    const struct rk_record *r;
    static struct frames ours, theirs;
    uint64_t n = 0, same = 0, frames = 0, ends[4] = {0}, other_ends[4] = {0}, shorter = 0, longer = 0,
             mains = 0, guessed = 0;
    bool verbose = argc > 1 && !strcmp(argv[1], "-v");
    double wanted_mains = argc == 4 + verbose ? strtod(argv[3 + verbose], NULL) : -1;
    struct rk_symbolizer *symbolizer;

    if (argc != 3 + verbose && wanted_mains < 0)
        return 2;
    write_vdso();
    OK(rk_stream_file(argv[1 + verbose], &stream, &e));
    OK(rk_image_open(&image, &e));
    OK(rk_unwinder_open(NULL, &unwinder, &e));
    OK(rk_symbolizer_open(NULL, &symbolizer, &e));
    while (rk_stream_next(stream, &r) == 1) {
        struct rk_sample s = {.size = sizeof s};
        struct rk_unwind_status status = {.size = sizeof status};
        note(r);
        CHECK(rk_image_feed(image, r) >= 0);
        if (rk_stream_sample(stream, r, &s) < 0 || !s.regs_user || s.stack_used < 8)
            continue;
        ours.n = rk_unwinder_sample(unwinder, image, &s, ours.pcs, FRAMES, &status);
        CHECK(ours.n > 0);
        if (oracle.pid != s.pid)
            tell(s.pid);
        oracle.sample = &s;
        theirs.n = 0;
        dwfl_getthread_frames(oracle.dwfl, s.pid, each_frame, &theirs);
        n++;
        frames += (uint64_t)ours.n;
        ends[status.end]++;
        mains += wanted_mains >= 0 && has_main(symbolizer, image, s.pid, &ours);
        if (ours.n == theirs.n && !memcmp(ours.pcs, theirs.pcs, (size_t)ours.n * sizeof *ours.pcs)) {
            same++;
            if (verbose && status.end == RK_UNWIND_BROKEN)
                show(&ours, &theirs, &status);
            continue;
        }
        guessed += has_no_table(image, s.pid, &ours);
        other_ends[status.end]++;
        shorter += ours.n < theirs.n;
        longer += ours.n > theirs.n;
        if (verbose)
            show(&ours, &theirs, &status);
    }
    unlink(vdso_path);
    double share = n ? 100.0 * (double)same / (double)n : 0;
    printf("%" PRIu64 " stacks, %" PRIu64 " frames: %.3f %% as libdw's; whole %" PRIu64
           ", cut by the dump %" PRIu64 ", broken %" PRIu64 "; of %" PRIu64
           " that differ, ours are longer in %" PRIu64 ", shorter in %" PRIu64 "; whole %" PRIu64
           ", cut %" PRIu64 ", broken %" PRIu64 "; in a vDSO without tables %" PRIu64 "\n",
           n, frames, share, ends[0], ends[1], ends[3], n - same, longer, shorter, other_ends[0],
           other_ends[1], other_ends[3], guessed);
    share = n > guessed ? 100.0 * (double)same / (double)(n - guessed) : 100;
    double main_share = n ? 100.0 * (double)mains / (double)n : 0;
    if (wanted_mains >= 0)
        printf("%" PRIu64 " (%.3f %%) reach main\n", mains, main_share);
    rk_symbolizer_free(symbolizer);
    rk_unwinder_free(unwinder);
    rk_image_free(image);
    rk_stream_free(stream);
    dwfl_end(oracle.dwfl);
    return n == 0 || share < strtod(argv[2 + verbose], NULL) || main_share < wanted_mains;
}

/*
 * reckon symbolize: addresses → functions, files and lines, as addr2line(1) does, but of many addresses at a time.
 *
 * Addresses from standard input are answered in batches. A batch ends where nothing more is to be read for now, so that
 * a program may write an address, wait for the answer, and write the next.
 */
#include "symbolize.h"

#include "command.h"
#include "handles.h"
#include "options.h"
#include "print.h"
#include "view.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 8, WORTH_THREADS = 1000, READ_BYTES = 1 << 16, WORD_MAX = 256 };

static const struct option table[] = {
    {'p', 'p', "pid", "PID", "addresses are those of this process as it runs, and the kernel's"},
    {'e', 'e', "exe", "FILE", "addresses are those of this program or library, as nm(1) shows them"},
    {'a', 'a', "addresses", NULL, "print each address before its frames"},
    {'P', 'P', "pretty", NULL, "a line per frame, and why a name is missing"},
    {'s', 's', "basenames", NULL, "files without their directories"},
    {'I', 0, "no-inline", NULL, "only the function that has a symbol, not those inlined into it"},
    {'D', 0, "no-demangle", NULL, "names of C++ and Rust as the file has them"},
    {'j', 0, "json", NULL, "one JSON object per address, a line each"},
    VIEW_NAMES_OPTIONS,
    {0},
};

struct work {
    struct symbolize symbolize;
    const struct options *options;
    uint64_t *addresses;
    size_t n;
    uint64_t line; /* of standard input; 0: words */
    struct rk_symbolizer_options where;
};

/* 0, or STATUS_USAGE with the reason printed. */
static int take(struct work *w, const char *word)
{
    char safe[WORD_MAX], *end;
    const char *digits = word[0] == '0' && (word[1] == 'x' || word[1] == 'X') ? word + 2 : word;
    const char *why = NULL;

    errno = 0;
    uint64_t address = strtoull(digits, &end, 16);
    if (!strchr("0123456789abcdefABCDEF", digits[0]) || !digits[0] || *end)
        why = !w->line && strchr(word, '/') ? "is not a hexadecimal address: a program is named by --exe"
                                            : "is not a hexadecimal address";
    else if (errno)
        why = "has more than 64 bits";
    else if (!w->symbolize.exe && !w->symbolize.pid && !w->where.vmlinux && !w->where.kallsyms &&
             address >> 56 != 0xff)
        why = "is not the kernel's: say whose it is, with --pid or --exe";
    if (!why) {
        w->addresses[w->n++] = address;
        return 0;
    }
    print_safe(word, safe, sizeof safe);
    if (w->line)
        return options_wrong(w->options, "line %" PRIu64 ": '%s' %s", w->line, safe, why);
    return options_wrong(w->options, "'%s' %s", safe, why);
}

static int answer(struct work *w)
{
    const struct symbolize *s = &w->symbolize;
    struct rk_sources_options how = RK_INIT(how);
    struct rk_error e = RK_INIT(e);
    struct rk_sources *sources = NULL;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    if (w->n == 0)
        return 0;
    if (w->n >= WORTH_THREADS && cpus > 1)
        how.threads = cpus < THREADS_MOST ? (uint32_t)cpus : THREADS_MOST;
    int rc =
        s->image
            ? rk_symbolizer_image(s->symbolizer, s->image, s->pid, w->addresses, w->n, &how, &sources, &e)
            : rk_symbolizer_sources(s->symbolizer, &s->module, w->addresses, w->n, &how, &sources, &e);
    if (rc < 0)
        return print_error("symbolize", &e);
    symbolize_print(s, w->addresses, sources, stdout);
    rk_sources_free(sources);
    w->n = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    fprintf(stderr, "reckon symbolize: writing failed: %s\n", strerror(errno));
    return STATUS_FAILED;
}

static int take_words(struct work *w)
{
    for (int i = 0; i < w->options->rest_n; i++) {
        int status = take(w, w->options->rest[i]);
        if (status == 0 && w->n == SYMBOLIZE_BATCH)
            status = answer(w);
        if (status == STATUS_USAGE) /* what came before the mistake is answered */
            answer(w);
        if (status)
            return status;
    }
    return answer(w);
}

/* Words between white space, which may end in the next piece; `carry` keeps what has no end yet. */
struct carry {
    char text[WORD_MAX];
    size_t n;
};

static int end_word(struct work *w, struct carry *carry)
{
    if (carry->n == 0)
        return 0;
    carry->text[carry->n] = '\0';
    carry->n = 0;
    int status = take(w, carry->text);
    return status == 0 && w->n == SYMBOLIZE_BATCH ? answer(w) : status;
}

static int take_piece(struct work *w, struct carry *carry, const char *piece, size_t n)
{
    int status = 0;

    for (size_t i = 0; i < n && status == 0; i++) {
        if (piece[i] == ' ' || (piece[i] >= '\t' && piece[i] <= '\r')) {
            status = end_word(w, carry);
            w->line += piece[i] == '\n';
        } else if (carry->n + 1 < sizeof carry->text) {
            carry->text[carry->n++] = piece[i] ? piece[i] : '?';
        } /* what is longer is wrong whatever follows */
    }
    return status;
}

static bool more_is_there(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, 0) > 0;
}

static int take_input(struct work *w)
{
    char *piece = malloc(READ_BYTES);
    struct carry carry = {.n = 0};
    int status = piece ? 0 : STATUS_FAILED;

    if (!piece)
        fprintf(stderr, "reckon symbolize: out of memory\n");
    w->line = 1;
    while (status == 0) {
        ssize_t n = read(STDIN_FILENO, piece, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fprintf(stderr, "reckon symbolize: standard input: %s\n", strerror(errno));
            status = STATUS_FAILED;
        } else if (n == 0) {
            status = end_word(w, &carry);
            break;
        } else {
            status = take_piece(w, &carry, piece, (size_t)n);
            if (status == 0 && !more_is_there())
                status = answer(w);
        }
    }
    free(piece);
    /* What came before a mistake is still answered. */
    int answered = status == STATUS_FAILED ? 0 : answer(w);
    return status ? status : answered;
}

/* The file as a module; what can't be read is said at once, not address by address. */
static int open_program(struct work *w)
{
    struct symbolize *s = &w->symbolize;
    char *path = realpath(s->exe, NULL);
    uint64_t nowhere = 0;
    struct rk_symbol symbol;

    if (!path) {
        fprintf(stderr, "reckon symbolize: %s: %s\n", s->exe, strerror(errno));
        return STATUS_FAILED;
    }
    s->exe = path; /* freed with the work */
    const char *slash = strrchr(path, '/');
    s->module = (struct rk_module){.size = sizeof s->module,
                                   .kind = RK_MODULE_FILE,
                                   .path = path,
                                   .name = slash && slash[1] ? slash + 1 : path};
    int rc = rk_symbolizer_resolve(s->symbolizer, &s->module, &nowhere, 1, &symbol);
    const char *why = rc < 0 ? strerror(-rc) : NULL;
    if (rc == 0 && (symbol.miss == RK_MISS_NO_FILE || symbol.miss == RK_MISS_BAD_FILE ||
                    symbol.miss == RK_MISS_UNSUPPORTED))
        why = rk_miss_text(symbol.miss);
    if (!why)
        return 0;
    fprintf(stderr, "reckon symbolize: %s: %s\n", path, why);
    return STATUS_FAILED;
}

static int open_process(struct work *w)
{
    struct symbolize *s = &w->symbolize;
    struct rk_error e = {.size = sizeof e};

    if (rk_image_open(&s->image, &e) < 0)
        return print_error("symbolize", &e);
    int rc = rk_image_feed_process(s->image, NULL, s->pid);
    if (rc == 0)
        return 0;
    fprintf(stderr, "reckon symbolize: process %d: %s\n", (int)s->pid,
            rc == -ESRCH ? "there is none" : strerror(-rc));
    if (rc == -EACCES || rc == -EPERM)
        fprintf(stderr, "  fix: as its user, or root: sudo reckon symbolize --pid %d\n", (int)s->pid);
    return STATUS_FAILED;
}

static int run(struct work *w, bool mangled)
{
    struct symbolize *s = &w->symbolize;
    struct rk_symbolizer_options options = w->where;
    struct rk_error e = {.size = sizeof e};

    options.flags =
        (s->exe || options.vmlinux ? RK_SYMBOLIZER_ADDRESSES : 0u) | (mangled ? RK_SYMBOLIZER_MANGLED : 0u);
    if (s->exe) /* it is asked again and again: unpacked once, it stays */
        options.lines_bytes = UINT64_MAX;
    w->addresses = malloc(SYMBOLIZE_BATCH * sizeof *w->addresses);
    if (!w->addresses) {
        fprintf(stderr, "reckon symbolize: out of memory\n");
        return STATUS_FAILED;
    }
    if (rk_symbolizer_open(&options, &s->symbolizer, &e) < 0)
        return print_error("symbolize", &e);
    s->module = (struct rk_module){
        .size = sizeof s->module, .kind = RK_MODULE_KERNEL, .path = "[kernel]", .name = "[kernel]"};
    int status = s->exe ? open_program(w) : s->pid ? open_process(w) : 0;
    if (status)
        return status;
    return w->options->rest_n ? take_words(w) : take_input(w);
}

int verb_symbolize(int argc, char **argv)
{
    struct options o = {
        .verb = "symbolize",
        .usage = "[--pid PID | --exe FILE] [options] [ADDRESS...]",
        .about =
            "Names addresses: function, then file:line, each on a line, for an address and for every "
            "function\n"
            "that it was inlined into. Addresses are hexadecimal; without any they are read from standard\n"
            "input. With neither --pid nor --exe they are the kernel's.",
        .table = table,
    };
    struct work w = {.options = &o, .where.size = sizeof w.where};
    bool mangled = false;
    uint64_t pid = 0;
    int id;

    options_begin(&o, argc, argv);
    while ((id = options_next(&o)) > 0)
        switch (id) {
        case 'p':
            if (options_number(&o, "--pid", 1, INT32_MAX, &pid) < 0)
                return STATUS_USAGE;
            break;
        case 'e':
            w.symbolize.exe = o.value;
            break;
        case 'a':
            w.symbolize.with_address = true;
            break;
        case 'P':
            w.symbolize.pretty = true;
            break;
        case 's':
            w.symbolize.base_names = true;
            break;
        case 'I':
            w.symbolize.no_inline = true;
            break;
        case 'D':
            mangled = true;
            break;
        case 'j':
            w.symbolize.json = true;
            break;
        case VIEW_SYMFS:
            w.where.symfs = o.value;
            break;
        case VIEW_VMLINUX:
            w.where.vmlinux = o.value;
            break;
        case VIEW_KALLSYMS:
            w.where.kallsyms = o.value;
            break;
        }
    if (id < 0)
        return options_status(id);
    if (pid && w.symbolize.exe)
        return options_wrong(&o, "--pid and --exe exclude each other");
    if (w.symbolize.json && (w.symbolize.pretty || w.symbolize.with_address))
        return options_wrong(&o, "--json has its own form, without --pretty and --addresses");
    if ((w.where.vmlinux || w.where.kallsyms) && (pid || w.symbolize.exe))
        return options_wrong(&o,
                             "--vmlinux and --kallsyms name the kernel's addresses, without --pid and --exe");
    if (w.where.symfs && !pid)
        return options_wrong(&o, "--symfs is for the files of a process: --pid");
    w.symbolize.pid = (int32_t)pid;
    const char *given = w.symbolize.exe;
    int status = run(&w, mangled);
    free(w.addresses);
    rk_symbolizer_free(w.symbolize.symbolizer);
    rk_image_free(w.symbolize.image);
    if (w.symbolize.exe != given)
        free((void *)(uintptr_t)w.symbolize.exe);
    return status;
}

/*
 * Breakpoints: an event whenever an address is read, written or executed.
 *
 *     mem:0x601040  mem:0x601040/8:w  mem:jiffies  mem:/opt/prog:counter@1234:rw
 *
 * The address is a number, a symbol of the kernel, or a symbol of a file: in a program that is not position-independent
 * it lies where it was linked, else @ and a running process (or @self) say where. The length is that of the symbol
 * where it is 1, 2, 4 or 8, and 4 otherwise; to execute, the kernel wants the size of a long.
 *
 * What x86's debug registers can't do is refused here, where it can be pointed at; other processors take more (arm64 any
 * 1 to 8 bytes), and their kernels say no themselves.
 */
#include "base/abi.h"
#include "base/text.h"
#include "event/modifier.h"
#include "event/number.h"
#include "event/parse.h"
#include "event/place.h"

#include <errno.h>
#include <inttypes.h>

enum { READ = 1, WRITE = 2, EXECUTE = 4 }; /* HW_BREAKPOINT_R, _W, _X */

#if defined(__x86_64__) || defined(__i386__)
#define IS_X86 true
#else
#define IS_X86 false
#endif

/* "rwx" in any order, each at most once; 0: it is not that. */
static uint32_t access_of(const char *text, size_t n)
{
    uint32_t access = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t one = text[i] == 'r' ? READ : text[i] == 'w' ? WRITE : text[i] == 'x' ? EXECUTE : 0;
        if (!one || (access & one))
            return 0;
        access |= one;
    }
    return access;
}

/* path:symbol[@pid] at `at`. */
static int in_file(struct parser *p, const char *at, struct part *symbol, uint64_t *ret, uint64_t *ret_size)
{
    struct part path, pid = {0};
    struct place place;
    uint64_t more;
    int rc = part_take(p, at, "the path of a program or library", "", &path);

    if (rc < 0)
        return rc;
    if (*path.end != ':')
        return parse_fail(p, path.end, "expected ':' and a symbol of the file");
    rc = part_take(p, path.end + 1, "a symbol of the file", "@/", symbol);
    char *full = rc == 0 ? place_path(p, &path, &rc) : NULL;
    if (!full)
        return rc;
    size_t n = part_offset(symbol, &more);
    rc = place_in_file(p, full, at, symbol->text, n, &place);
    if (rc == 0 && *symbol->end == '@') {
        rc = part_take(p, symbol->end + 1, "the number of a process", "/", &pid);
        if (rc == 0)
            rc = place_in_process(p, full, at, pid.text, pid.n, &place, ret);
        symbol->end = pid.end;
    } else if (rc == 0 && !place.fixed) {
        return parse_refuse(
            p, symbol->text, -EINVAL, RK_CAUSE_UNSUPPORTED,
            "start it and say which process: mem:PATH:SYMBOL@PID",
            "%.100s is position-independent: where %.*s lies is known only in a process that runs it", full,
            (int)(n < 60 ? n : 60), symbol->text);
    } else if (rc == 0) {
        *ret = place.address;
    }
    if (rc == 0) {
        *ret += more;
        *ret_size = place.size;
    }
    return rc;
}

static int take_address(struct parser *p, struct part *part, uint64_t *ret, uint64_t *ret_size)
{
    const char *at = p->at + strlen("mem:");
    uint64_t more = 0;

    if (*at == '/' || *at == '.' || *at == '\'' || *at == '"')
        return in_file(p, at, part, ret, ret_size);
    int rc = part_take(p, at, "an address, a symbol of the kernel, or path:symbol", "/", part);
    if (rc < 0)
        return rc;
    rc = number_parse(part->text, part->n, ret);
    if (rc == -ERANGE)
        return parse_fail(p, part->text, "an address has 64 bits");
    if (rc < 0) {
        size_t n = part_offset(part, &more);
        rc = place_in_kernel(p, part->text, n, ret);
        *ret += more;
    }
    return rc;
}

static int take_length(struct parser *p, struct part *part, uint64_t *ret)
{
    struct part length;

    if (*part->end != '/' || part->end[1] < '0' || part->end[1] > '9') /* else terms, or their mistake */
        return 0;
    int rc = part_take(p, part->end + 1, "a length of 1 to 8 bytes", "/", &length);
    if (rc < 0)
        return rc;
    if (number_parse(length.text, length.n, ret) < 0 || *ret < 1 || *ret > 8)
        return parse_fail(p, length.text, "a breakpoint is 1 to 8 bytes long");
    part->end = length.end;
    return 1;
}

/* :rwx at `part->end`; else modifiers must be there, which stay for the caller. 0 or -EINVAL with p->e filled. */
static int take_access(struct parser *p, struct part *part, uint32_t *ret)
{
    struct modifiers modifiers;
    const char *letters = part->end + 1;
    char shown[16];
    size_t wrong;

    if (*part->end != ':')
        return 0;
    size_t n = name_bytes(letters);
    uint32_t got = access_of(letters, n);
    if (got) {
        *ret = got;
        part->end = letters + n;
        return 0;
    }
    if (n == 0 || modifiers_parse(letters, n, &modifiers, &wrong) == 0)
        return 0;
    const char *at = letters + (strchr("rwx", letters[0]) ? strspn(letters, "rwx") : wrong);
    if (at == letters + n) /* rr */
        return parse_fail(p, letters, "each of r, w and x may stand there once");
    return parse_fail(p, at, "expected r, w, x or modifiers (" MODIFIER_LETTERS "), got '%s'",
                      text_show(shown, sizeof shown, at, 1));
}

/* Whether the processor can watch that. `said`: its length, in the text, or NULL. */
static int check(struct parser *p, const struct part *address, const char *said, const char *end,
                 const struct rk_event *event)
{
    uint64_t length = event->config2;
    uint32_t access = event->bp_type;

    if ((access & EXECUTE) && access != EXECUTE)
        return parse_fail(p, end - 1, "x stands alone: a breakpoint is executed, or read and written");
    if (!IS_X86)
        return 0;
    if (access == EXECUTE && length != sizeof(long))
        return parse_fail(p, said, "to execute, the length is %zu, or left out", sizeof(long));
    if (access == EXECUTE)
        return 0;
    if (access == READ)
        return parse_fail(p, end - 1, "this processor can't watch reads alone: write rw");
    if (length & (length - 1))
        return parse_fail(p, said, "the length is 1, 2, 4 or 8 bytes");
    if (event->config1 % length)
        return parse_fail(p, said ? said : address->text,
                          "the address %#" PRIx64 " is not a multiple of the length, %" PRIu64
                          ": write a smaller one, as in mem:%#" PRIx64 "/1",
                          event->config1, length, event->config1);
    return 0;
}

int read_breakpoint(struct parser *p)
{
    uint64_t address = 0, size = 0, length = 0;
    uint32_t access = READ | WRITE;
    struct part part = {0};
    int rc;

    if (strncmp(p->at, "mem:", 4) != 0)
        return 0;
    rc = take_address(p, &part, &address, &size);
    if (rc < 0)
        return rc;
    const char *at_length = part.end + 1;
    int said = take_length(p, &part, &length);
    if (said < 0)
        return said;
    rc = take_access(p, &part, &access);
    if (rc < 0)
        return rc;
    struct event_item *item = parse_add(p, &rc);
    if (!item)
        return rc;
    if (!said)
        length = access & EXECUTE                                   ? sizeof(long)
                 : size == 1 || size == 2 || size == 4 || size == 8 ? size
                                                                    : 4;
    item->event.type = PERF_BREAKPOINT;
    item->event.config1 = address;
    item->event.config2 = length;
    item->event.bp_type = access;
    rc = check(p, &part, said ? at_length : NULL, part.end, &item->event);
    if (rc < 0)
        return rc;
    item->body = parse_text(p, "mem:%#" PRIx64 "/%" PRIu64 ":%s%s%s", address, length,
                            access & READ ? "r" : "", access & WRITE ? "w" : "", access & EXECUTE ? "x" : "");
    if (!item->body)
        return -ENOMEM;
    p->at = part.end;
    return 1;
}

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 6000 /* a message with a path in it, before it is made to fit */
/* No struct is larger: such a size was never set. Reading or clearing so many bytes would end the program. */
#define GREATEST_SIZE 4096u

/* A caller that forgot to set the size of its rk_error gets the struct of the first release, no more. */
#define FIRST_SIZE ((uint32_t)sizeof(struct rk_error))

const char *rk_version(void)
{
    return RK_VERSION;
}

uint32_t rk_version_number(void)
{
    return RK_VERSION_NUMBER;
}

const char *rk_cause_name(uint32_t cause)
{
    static const char *const names[] = {
        [RK_CAUSE_UNKNOWN] = "unknown",
        [RK_CAUSE_ARGUMENT] = "argument",
        [RK_CAUSE_SYNTAX] = "syntax",
        [RK_CAUSE_NO_EVENT] = "no-event",
        [RK_CAUSE_NO_PMU] = "no-pmu",
        [RK_CAUSE_UNSUPPORTED] = "unsupported",
        [RK_CAUSE_KERNEL_OLD] = "kernel-old",
        [RK_CAUSE_PARANOID] = "paranoid",
        [RK_CAUSE_CAPABILITY] = "capability",
        [RK_CAUSE_SECCOMP] = "seccomp",
        [RK_CAUSE_NO_PROCESS] = "no-process",
        [RK_CAUSE_NOT_YOURS] = "not-yours",
        [RK_CAUSE_NO_CPU] = "no-cpu",
        [RK_CAUSE_DESCRIPTORS] = "descriptors",
        [RK_CAUSE_MLOCK] = "mlock",
        [RK_CAUSE_RATE] = "rate",
        [RK_CAUSE_MEMORY] = "memory",
        [RK_CAUSE_BUSY] = "busy",
        [RK_CAUSE_STARVED] = "starved",
        [RK_CAUSE_FORKED] = "forked",
        [RK_CAUSE_NO_FILE] = "no-file",
        [RK_CAUSE_BAD_FILE] = "bad-file",
        [RK_CAUSE_NO_SPACE] = "no-space",
        [RK_CAUSE_NO_COMMAND] = "no-command",
        [RK_CAUSE_MISSING_LIBRARY] = "missing-library",
        [RK_CAUSE_RACE] = "race",
    };

    return cause < sizeof names / sizeof *names ? names[cause] : "unknown";
}

const char *rk_stage_name(uint32_t stage)
{
    static const char *const names[] = {
        [RK_STAGE_NONE] = "none",       [RK_STAGE_HOST] = "host",     [RK_STAGE_EVENT] = "event",
        [RK_STAGE_TARGET] = "target",   [RK_STAGE_OPEN] = "open",     [RK_STAGE_MAP] = "map",
        [RK_STAGE_CONTROL] = "control", [RK_STAGE_READ] = "read",     [RK_STAGE_STREAM] = "stream",
        [RK_STAGE_CAPTURE] = "capture", [RK_STAGE_IMAGE] = "image",   [RK_STAGE_SYMBOL] = "symbol",
        [RK_STAGE_PROFILE] = "profile", [RK_STAGE_EXPORT] = "export",
    };

    return stage < sizeof names / sizeof *names ? names[stage] : "unknown";
}

/* Cuts at a whole UTF-8 character, so that a cut message is still text. */
static void cut_text(char *text, size_t room, int wanted)
{
    if (wanted < 0 || (size_t)wanted < room)
        return;
    size_t n = room - 1;
    while (n > 0 && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
        n--;
    if (n > 0 && (unsigned char)text[n - 1] >= 0xc0)
        n--;
    text[n] = '\0';
}

/* What is longer than its room loses its middle, which is some path: how it begins and why it failed stand at the ends. */
static void fit_text(char *to, size_t room, const char *whole, size_t n)
{
    static const char gap[] = "…";
    const size_t head = room / 2 - sizeof gap;

    if (n < room) {
        memcpy(to, whole, n + 1);
        return;
    }
    memcpy(to, whole, head + 1);
    cut_text(to, head + 1, (int)n);
    size_t at = strlen(to);
    memcpy(to + at, gap, sizeof gap);
    at += sizeof gap - 1;
    const char *tail = whole + n - (room - 1 - at);
    while (((unsigned char)*tail & 0xc0) == 0x80)
        tail++;
    memcpy(to + at, tail, (size_t)(whole + n - tail) + 1);
}

/* The bytes of the caller's rk_error that may be written. */
static uint32_t error_room(const struct rk_error *e)
{
    return e->size && e->size <= GREATEST_SIZE ? e->size : FIRST_SIZE;
}

int error_give(struct rk_error *e, const struct rk_error *from)
{
    if (e) {
        uint32_t size = error_room(e);
        memcpy(e, from, size < sizeof *from ? size : sizeof *from);
        if (size >= sizeof e->size)
            e->size = size;
    }
    return from->code;
}

static int fail_list(struct rk_error *e, int code, uint32_t stage, uint32_t cause, const char *remedy,
                     const char *format, va_list list)
{
    if (!e)
        return code;
    struct rk_error full = {
        .size = sizeof full, .code = code, .stage = stage, .cause = cause, .pid = -1, .cpu = -1};
    char whole[LONGEST];
    int n = vsnprintf(whole, sizeof whole, format, list);
    cut_text(whole, sizeof whole, n);
    fit_text(full.what, sizeof full.what, whole, strlen(whole));
    if (remedy)
        cut_text(full.remedy, sizeof full.remedy, snprintf(full.remedy, sizeof full.remedy, "%s", remedy));
    return error_give(e, &full);
}

int fail(struct rk_error *e, int code, uint32_t stage, uint32_t cause, const char *remedy, const char *format,
         ...)
{
    va_list list;

    va_start(list, format);
    fail_list(e, code, stage, cause, remedy, format, list);
    va_end(list);
    return code;
}

int fail_memory(struct rk_error *e, uint32_t stage)
{
    return fail(e, -ENOMEM, stage, RK_CAUSE_MEMORY, NULL, "out of memory");
}

int fail_argument(struct rk_error *e, uint32_t stage, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    fail_list(e, -EINVAL, stage, RK_CAUSE_ARGUMENT, NULL, format, list);
    va_end(list);
    return -EINVAL;
}

int fail_null(struct rk_error *e, uint32_t stage, const char *function, const char *argument)
{
    return fail_argument(e, stage, "%s: %s is NULL", function, argument);
}

/* A caller's struct may be shorter than ours; a field is set only where all of it fits. */
#define HAS(e, field) ((e) && error_room(e) >= offsetof(struct rk_error, field) + sizeof(e)->field)

void fail_event(struct rk_error *e, const char *event)
{
    if (HAS(e, event))
        cut_text(e->event, sizeof e->event, snprintf(e->event, sizeof e->event, "%s", event));
}

void fail_slot(struct rk_error *e, int32_t pid, int32_t cpu)
{
    if (!HAS(e, cpu))
        return;
    e->pid = pid;
    e->cpu = cpu;
}

void fail_position(struct rk_error *e, uint32_t position)
{
    if (HAS(e, position))
        e->position = position;
}

int options_take(void *to, size_t size, const void *from)
{
    uint32_t ours = (uint32_t)size, theirs;

    memset(to, 0, size);
    if (from) {
        memcpy(&theirs, from, sizeof theirs);
        if (theirs < sizeof theirs || theirs > GREATEST_SIZE)
            return -EINVAL;
        for (size_t i = size; i < theirs; i++)
            if (((const unsigned char *)from)[i])
                return -E2BIG;
        memcpy(to, from, theirs < size ? theirs : size);
    }
    memcpy(to, &ours, sizeof ours);
    return 0;
}

int options_reserved(uint64_t value, const char *name, uint32_t stage, struct rk_error *e)
{
    return value ? fail_argument(e, stage, "%s.reserved is %#jx; it must be 0", name, (uintmax_t)value) : 0;
}

int options_check(void *to, size_t size, const void *from, const char *name, uint32_t stage,
                  struct rk_error *e)
{
    int rc = options_take(to, size, from);

    if (rc == -EINVAL)
        return fail_argument(e, stage, "struct %s: size is %u; set .size = sizeof(struct %s)", name,
                             *(const uint32_t *)from, name);
    if (rc == -E2BIG)
        return fail(e, rc, stage, RK_CAUSE_ARGUMENT, "update libreckon",
                    "struct %s: the program sets an option that this libreckon (%s) does not know", name,
                    RK_VERSION);
    return rc;
}

int result_give(void *to, const void *from, size_t size)
{
    uint32_t theirs;

    if (!to)
        return -EINVAL;
    memcpy(&theirs, to, sizeof theirs);
    if (theirs < sizeof theirs || theirs > GREATEST_SIZE)
        return -EINVAL;
    if (theirs > size)
        memset((char *)to + size, 0, theirs - size);
    memcpy(to, from, theirs < size ? theirs : size);
    memcpy(to, &theirs, sizeof theirs);
    return 0;
}

#include "record.h"

#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int wrong(int status)
{
    (void)status;
    return OPTIONS_BAD;
}

/* ---- registers ---- */

int record_take_registers(const struct options *o, struct record_options *r)
{
    size_t n = strcspn(o->value, ":");
    bool user = n == 4 && memcmp(o->value, "user", 4) == 0;
    struct utsname name;
    uint64_t mask = 0;

    if (!user && !(n == 4 && memcmp(o->value, "intr", 4) == 0))
        return wrong(options_wrong(o, "--regs: '%s' is neither user[:NAMES] nor intr[:NAMES]", o->value));
    uname(&name);
    int rc = rk_register_mask(name.machine, o->value[n] ? o->value + n + 1 : "", &mask);
    if (rc == -ENOENT)
        return wrong(
            options_wrong(o, "--regs: no such register in '%s'; x86-64 has ip, sp, ax ..., arm64 x0 ... pc",
                          o->value + n + 1));
    if (rc < 0)
        return wrong(options_wrong(o, "--regs: the registers of %s are not known", name.machine));
    *(user ? &r->regs_user : &r->regs_intr) |= mask;
    r->sample |= user ? RK_SAMPLE_REGS_USER : RK_SAMPLE_REGS_INTR;
    return 0;
}

/* ---- branches ---- */

#define BRANCH_KINDS 0x3ff8u /* of the bits below, those that choose branches */

/* perf's names. */
static const struct {
    const char *name;
    uint32_t bit;
} branch_words[] = {
    {"u", RK_BRANCHES_USER},
    {"k", RK_BRANCHES_KERNEL},
    {"hv", RK_BRANCHES_HYPERVISOR},
    {"any", RK_BRANCHES_ANY},
    {"any_call", RK_BRANCHES_ANY_CALL},
    {"any_ret", RK_BRANCHES_ANY_RETURN},
    {"ind_call", RK_BRANCHES_INDIRECT_CALL},
    {"abort_tx", RK_BRANCHES_ABORT},
    {"in_tx", RK_BRANCHES_IN_TRANSACTION},
    {"no_tx", RK_BRANCHES_NO_TRANSACTION},
    {"cond", RK_BRANCHES_CONDITIONAL},
    {"stack", RK_BRANCHES_CALL_STACK},
    {"ind_jmp", RK_BRANCHES_INDIRECT_JUMP},
    {"call", RK_BRANCHES_CALL},
    {"no_flags", RK_BRANCHES_NO_FLAGS},
    {"no_cycles", RK_BRANCHES_NO_CYCLES},
    {"save_type", RK_BRANCHES_TYPE},
    {"hw_index", RK_BRANCHES_INDEX},
    {"priv", RK_BRANCHES_PRIVILEGE},
    {"counter", RK_BRANCHES_COUNTERS},
};

int record_take_branches(const struct options *o, struct record_options *r)
{
    uint64_t bits = 0;

    for (const char *at = o->value; *at || at == o->value; at += *at == ',') {
        size_t n = strcspn(at, ","), i = 0;
        for (; i < sizeof branch_words / sizeof *branch_words; i++)
            if (strlen(branch_words[i].name) == n && memcmp(branch_words[i].name, at, n) == 0)
                break;
        if (i == sizeof branch_words / sizeof *branch_words)
            return wrong(
                options_wrong(o,
                              "-j: '%.*s' is none of any, any_call, any_ret, ind_call, ind_jmp, call, "
                              "cond, stack, in_tx, no_tx, abort_tx, save_type, no_flags, no_cycles, "
                              "hw_index, priv, counter, u, k, hv",
                              (int)n, at));
        bits |= branch_words[i].bit;
        at += n;
    }
    if (!(bits & BRANCH_KINDS)) /* only where */
        bits |= RK_BRANCHES_ANY;
    r->branches |= bits;
    r->sample |= RK_SAMPLE_BRANCH_STACK;
    return 0;
}

/* ---- clocks ---- */

int record_take_clock(const struct options *o, struct record_options *r)
{
    static const struct {
        const char *name, *short_name;
        int32_t clock;
    } clocks[] = {{"monotonic", "mono", CLOCK_MONOTONIC},
                  {"monotonic_raw", "raw", CLOCK_MONOTONIC_RAW},
                  {"realtime", "real", CLOCK_REALTIME},
                  {"boottime", "boot", CLOCK_BOOTTIME},
                  {"tai", "tai", CLOCK_TAI}};
    const char *name = strncmp(o->value, "CLOCK_", 6) == 0 ? o->value + 6 : o->value;

    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (strcasecmp(name, clocks[i].name) == 0 || strcasecmp(name, clocks[i].short_name) == 0) {
            r->clock_set = true;
            r->clock = clocks[i].clock;
            return 0;
        }
    return wrong(
        options_wrong(o, "-k: '%s' is none of monotonic, monotonic_raw, realtime, boottime, tai", o->value));
}

/* ---- sizes and times ---- */

/* A number and what is behind it; false: no number above 0, or too large a one. */
static bool take_size(const char *text, uint64_t *ret, const char **ret_unit)
{
    char *end;
    unsigned long long n;

    errno = 0;
    n = strtoull(text, &end, 10);
    if (errno || end == text || *text == '-' || n == 0 || n > UINT64_C(1) << 40)
        return false;
    *ret = n;
    *ret_unit = end;
    return true;
}

/* B, K, M, G as a factor; 0: something else. */
static uint64_t bytes_of(const char *unit)
{
    static const char letters[] = "BKMG";
    const char *at = *unit && !unit[1] ? strchr(letters, *unit & ~32) : NULL;

    return at ? UINT64_C(1) << (10 * (at - letters)) : 0;
}

int record_take_ring(const struct options *o, struct record_options *r)
{
    const uint64_t most = UINT64_C(1) << 30;
    const char *unit;
    uint64_t n, bytes = 0;

    if (take_size(o->value, &n, &unit))
        bytes = *unit ? n * bytes_of(unit) : n * (uint64_t)sysconf(_SC_PAGESIZE);
    if (bytes == 0 || bytes > most)
        return wrong(options_wrong(
            o, "-m: '%s' is neither a number of pages nor a size like 512K or 4M, up to 1G", o->value));
    r->ring_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    while (r->ring_bytes < bytes)
        r->ring_bytes *= 2;
    return 0;
}

int record_take_switch(const struct options *o, struct record_options *r)
{
    const char *unit;
    uint64_t n;

    r->switches = true;
    if (strcmp(o->value, "signal") == 0)
        return 0;
    if (take_size(o->value, &n, &unit)) {
        if (strcmp(unit, "s") == 0 || strcmp(unit, "m") == 0 || strcmp(unit, "h") == 0) {
            r->switch_ms = n * (*unit == 's' ? 1000 : *unit == 'm' ? 60000 : 3600000);
            return 0;
        }
        if (bytes_of(unit)) {
            r->switch_bytes = n * bytes_of(unit);
            return 0;
        }
    }
    return wrong(options_wrong(
        o, "--switch-output: '%s' is neither signal, nor a size (100M), nor a time (30s)", o->value));
}

int record_take_seconds(const struct options *o, const char *what, uint64_t *ret_ms)
{
    char *end;
    double seconds = strtod(o->value, &end);

    if (end == o->value || *end || !(seconds >= 0.001 && seconds <= 1e6))
        return wrong(
            options_wrong(o, "%s: '%s' is not a number of seconds from 0.001 to 1000000", what, o->value));
    *ret_ms = (uint64_t)(seconds * 1000 + 0.5);
    return 0;
}

int record_take_delay(const struct options *o, int64_t *ret_ms)
{
    uint64_t ms;

    if (strcmp(o->value, "-1") == 0) {
        *ret_ms = -1;
        return 0;
    }
    if (options_number(o, "-D", 0, 1000000000, &ms) < 0)
        return OPTIONS_BAD;
    *ret_ms = (int64_t)ms;
    return 0;
}

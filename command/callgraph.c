#include "callgraph.h"

#include "print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* perf_event_attr.branch_sample_type */

#define BYTES 16384u
#define BYTES_MAX 65528u /* a record's size has 16 bits; the kernel cuts what does not fit */

static int bad(char *why, size_t n, const char *text)
{
    if (n > 0)
        snprintf(
            why, n,
            "--call-graph %s: fp, lbr, dwarf[,BYTES] or auto[,BYTES], with BYTES a multiple of 8 up to %u",
            text, BYTES_MAX);
    return -EINVAL;
}

int callgraph_parse(const char *text, struct callgraph *ret, char *why, size_t why_n)
{
    static const struct {
        const char *name;
        enum callgraph_mode mode;
    } modes[] = {
        {"fp", CALLGRAPH_FP}, {"lbr", CALLGRAPH_LBR}, {"dwarf", CALLGRAPH_DWARF}, {"auto", CALLGRAPH_AUTO}};
    const char *comma = text ? strchr(text, ',') : NULL;
    size_t n = !text ? 0 : comma ? (size_t)(comma - text) : strlen(text);
    struct callgraph mine = {text ? CALLGRAPH_NONE : CALLGRAPH_AUTO, BYTES, ret->keep};

    for (size_t i = 0; text && i < sizeof modes / sizeof *modes; i++)
        if (n == strlen(modes[i].name) && memcmp(text, modes[i].name, n) == 0)
            mine.mode = modes[i].mode;
    if (mine.mode == CALLGRAPH_NONE || (comma && mine.mode < CALLGRAPH_DWARF))
        return bad(why, why_n, text);
    if (comma) {
        char *end;
        errno = 0;
        unsigned long long bytes = strtoull(comma + 1, &end, 10);
        if (errno || *end || comma[1] < '0' || comma[1] > '9' || bytes == 0 || bytes % 8 || bytes > BYTES_MAX)
            return bad(why, why_n, text);
        mine.bytes = (uint32_t)bytes;
    }
    *ret = mine;
    return 0;
}

void callgraph_settle(struct callgraph *c)
{
    if (c->mode >= CALLGRAPH_DWARF && rk_unwinder_registers(RK_MACHINE_HERE) == 0) {
        fprintf(
            stderr,
            "reckon record: call chains by frame pointers: reckon does not unwind stacks of this machine\n");
        c->mode = CALLGRAPH_FP;
    }
}

void callgraph_ask(const struct callgraph *c, struct rk_set_options *options)
{
    if (c->mode == CALLGRAPH_NONE)
        return;
    options->sample |= RK_SAMPLE_CALLCHAIN;
    if (c->mode == CALLGRAPH_FP)
        return;
    if (c->mode == CALLGRAPH_LBR) {
        options->sample |= RK_SAMPLE_BRANCH_STACK;
        options->branches |=
            RK_BRANCHES_USER | RK_BRANCHES_CALL_STACK | RK_BRANCHES_NO_FLAGS | RK_BRANCHES_NO_CYCLES;
        options->exclude |= RK_EXCLUDE_CHAIN_USER;
        return;
    }
    options->sample |= RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER;
    options->regs_user = rk_unwinder_registers(RK_MACHINE_HERE);
    options->stack_user = c->bytes;
    if (c->mode == CALLGRAPH_DWARF)
        options->exclude |= RK_EXCLUDE_CHAIN_USER; /* the user's part is found here */
    if (c->keep)
        options->records |=
            RK_RECORDS_DATA_MAPS; /* perf reads unwind tables through the mappings that they lie in */
}

bool callgraph_unwinds(const struct callgraph *c)
{
    return c->mode >= CALLGRAPH_DWARF && !c->keep;
}

void callgraph_close(const struct callgraph *c, uint64_t max_stack, const struct rk_capture_stats *stats)
{
    uint64_t all = stats->stacks_whole + stats->stacks_cut + stats->stacks_broken;
    char text[40];

    if (stats->stacks_cut + stats->stacks_broken == 0)
        return;
    fprintf(stderr, "  stacks:  %.1f %% whole", 100.0 * (double)stats->stacks_whole / (double)all);
    if (stats->stacks_cut)
        fprintf(stderr, ", %s cut after %u bytes", print_count(stats->stacks_cut, text, sizeof text),
                c->bytes);
    if (stats->stacks_cut && max_stack)
        fprintf(stderr, " or %s", print_some(max_stack, "frame", text, sizeof text));
    if (stats->stacks_broken)
        fprintf(stderr, ", %s broken", print_count(stats->stacks_broken, text, sizeof text));
    if (stats->stacks_joined)
        fprintf(stderr, "; %s of these go on by frame pointers",
                print_count(stats->stacks_joined, text, sizeof text));
    fprintf(stderr, "\n");
    if (stats->stacks_cut > all / 100 && c->bytes < BYTES_MAX && !max_stack)
        fprintf(stderr, "  fix: --call-graph %s,%u\n", c->mode == CALLGRAPH_AUTO ? "auto" : "dwarf",
                c->bytes * 4 < BYTES_MAX ? c->bytes * 4 : BYTES_MAX);
}

/*
 * How reckon record takes call chains: --call-graph MODE[,BYTES].
 *
 *     fp      the kernel follows frame pointers; short where a binary keeps none
 *     lbr     the CPU's own record of calls, for the program's frames
 *     dwarf   registers and BYTES of stack, unwound by the binaries' own tables while recording
 *     auto    both: by the tables, by frame pointers where a module has none or the stack is longer than BYTES
 */
#ifndef COMMAND_CALLGRAPH_H
#define COMMAND_CALLGRAPH_H

#include <reckon/reckon.h>
#include <stdbool.h>

enum callgraph_mode {
    CALLGRAPH_NONE,
    CALLGRAPH_FP,
    CALLGRAPH_LBR,
    CALLGRAPH_DWARF,
    CALLGRAPH_AUTO,
};

struct callgraph {
    enum callgraph_mode mode;
    uint32_t bytes; /* of stack, per sample */
    bool keep;      /* stacks are stored as they are */
};

/* NULL: auto. 0; or -EINVAL and what is wrong, in `why`. */
int callgraph_parse(const char *text, struct callgraph *ret, char *why, size_t why_n);

/* Once, before anything is opened. On a machine whose stacks can't be unwound it chooses frame pointers, and says so. */
void callgraph_settle(struct callgraph *callgraph);

/* What the set is asked for. */
void callgraph_ask(const struct callgraph *callgraph, struct rk_set_options *options);

/* Whether the capture unwinds. */
bool callgraph_unwinds(const struct callgraph *callgraph);

/* The closing line's part: how stacks ended, and what to do about those that were cut. */
void callgraph_close(const struct callgraph *callgraph, uint64_t max_stack,
                     const struct rk_capture_stats *stats);

#endif

/*
 * BPF programs that are loaded: a KSYMBOL record for each of their functions, named as the kernel names them in its own
 * records and in kallsyms. They may be unloaded by the time that someone looks for their names.
 */
#include "sys/bpf.h"
#include "record/encode.h"
#include "world/world.h"

#include <errno.h>
#include <stdio.h>

#define MODE_KERNEL 1
#define KIND_BPF 1
#define PROGRAMS_MAX 100000 /* ids are given once each: this ends in any case */

static int put_function(struct world *w, const struct sys_bpf_program *program, uint32_t i)
{
    char name[64];
    const unsigned char *t = program->tag;
    struct rk_record from = {.misc = MODE_KERNEL, .pid = -1};
    struct rk_ksymbol symbol = {.size = sizeof symbol,
                                .address = program->starts[i],
                                .length = program->bytes[i],
                                .kind = KIND_BPF,
                                .name = name};

    /* Only the first one's name is told; the others' is perf's word for them. */
    const char *own = i ? "F" : program->name;
    snprintf(name, sizeof name, "bpf_prog_%02x%02x%02x%02x%02x%02x%02x%02x%s%s", t[0], t[1], t[2], t[3], t[4],
             t[5], t[6], t[7], *own ? "_" : "", own);
    return world_put(w, encode_ksymbol(w->layout, &from, &symbol, w->buffer, sizeof w->buffer));
}

int world_bpf(struct world *w)
{
    struct sys_bpf_program program;
    uint32_t id = 0;
    int r = 0;

    for (uint32_t n = 0; r == 0 && n < PROGRAMS_MAX && sys_bpf_next(id, &id) == 0; n++) {
        if (sys_bpf_program(id, &program) < 0)
            continue; /* unloaded meanwhile */
        for (uint32_t i = 0; r == 0 && i < program.n; i++)
            if (program.starts[i] && program.bytes[i])
                r = put_function(w, &program, i);
    }
    return r;
}

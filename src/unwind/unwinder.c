/*
 * Opening and closing, and what happens when the cache does not know an address.
 */
#include "unwind/unwinder.h"

#include "base/error.h"
#include "base/unset.h"
#include "sys/file.h"
#include "unwind/signal.h"

#include <errno.h>

enum {
    SLOTS = 65536,
    SLOTS_MAX = 1 << 26,
    SET_BYTES = 64,
};

static int open_cache(struct rule_cache *cache, uint32_t slots)
{
    uint32_t bits = 4; /* of the sets' number */

    while (bits < 24 && RULE_WAYS << bits < slots)
        bits++;
    size_t bytes = sizeof *cache->slots * RULE_WAYS << bits;
    cache->slots = aligned_alloc(SET_BYTES, bytes);
    if (!cache->slots)
        return -ENOMEM;
    memset(cache->slots, 0, bytes);
    cache->shift = 64 - bits;
    return 0;
}

int rk_unwinder_open(const struct rk_unwinder_options *options, struct rk_unwinder **ret, struct rk_error *e)
{
    struct rk_unwinder_options o;

    if (!ret)
        return fail_null(e, RK_STAGE_IMAGE, "rk_unwinder_open", "ret");
    int rc = options_check(&o, sizeof o, options, "rk_unwinder_options", RK_STAGE_IMAGE, e);
    if (rc == 0)
        rc = options_reserved(o.reserved, "rk_unwinder_options", RK_STAGE_IMAGE, e);
    if (rc < 0)
        return rc;
    if (o.cache_slots > SLOTS_MAX)
        return fail_argument(e, RK_STAGE_IMAGE, "cache_slots is %u; the most is %u", o.cache_slots,
                             (unsigned)SLOTS_MAX);
    const struct machine *machine = machine_of(o.machine);
    if (!machine)
        return fail(e, -EOPNOTSUPP, RK_STAGE_IMAGE, RK_CAUSE_UNSUPPORTED, NULL,
                    "cannot unwind stacks of machine %u: only those of x86-64, arm64 and riscv64", o.machine);
    struct rk_unwinder *unwinder = calloc(1, sizeof *unwinder);
    if (!unwinder)
        return fail_memory(e, RK_STAGE_IMAGE);
    unwinder->machine = machine;
    budget_session(&unwinder->budget, 0);
    unwinder->root = sys_root_open(o.root);
    if (unwinder->root < 0) {
        rc = fail(e, unwinder->root, RK_STAGE_IMAGE, RK_CAUSE_NO_FILE, NULL, "%s: %s", o.root ? o.root : "/",
                  strerror(-unwinder->root));
        rk_unwinder_free(unwinder);
        return rc;
    }
    if (open_cache(&unwinder->cache, o.cache_slots ? o.cache_slots : SLOTS) < 0) {
        rk_unwinder_free(unwinder);
        return fail_memory(e, RK_STAGE_IMAGE);
    }
    *ret = unwinder;
    return 0;
}

struct rk_unwinder *rk_unwinder_free(struct rk_unwinder *unwinder)
{
    if (unwinder) {
        if (unwinder->root >= 0)
            sys_close(unwinder->root);
        rk_image_free(unwinder->image);
        for (size_t i = 0; i < unwinder->modules.n; i++)
            if (unwinder->modules.items[i]) {
                tables_free(unwinder->modules.items[i]);
                free(unwinder->modules.items[i]);
            }
        vector_free(&unwinder->modules);
        free(unwinder->cache.slots);
        free(unwinder);
    }
    return NULL;
}

int unwinder_tables(struct rk_unwinder *unwinder, const struct rk_image *image, uint32_t module,
                    struct tables **ret)
{
    while (unwinder->modules.n <= module)
        if (!vector_push(&unwinder->modules))
            return -ENOMEM;
    if (!unwinder->modules.items[module]) {
        struct rk_module about = {.size = sizeof about};
        int rc = rk_image_module_get(image, module, &about);
        if (rc < 0)
            return rc;
        struct tables *tables = malloc(sizeof *tables);
        if (!tables)
            return -ENOMEM;
        rc = tables_load(tables, unwinder->root, &about, unwinder->machine->number, &unwinder->budget);
        if (rc < 0) {
            free(tables);
            return rc;
        }
        unwinder->modules.items[module] = tables;
    }
    *ret = unwinder->modules.items[module];
    return 0;
}

static struct rule without_table(const struct rk_unwinder *unwinder, const struct tables *tables,
                                 uint64_t address)
{
    for (uint32_t i = 0; i < tables->plt_n; i++)
        if (address >= tables->plts[i].start && address < tables->plts[i].end)
            return rule_of_plt(unwinder->machine, address - tables->plts[i].start);
    bool entry = address >= tables->entry.start && address < tables->entry.end;
    int16_t why = budget_spent(&tables->budget) ? RK_UNWIND_BUDGET : RK_UNWIND_NO_CFI;
    return (struct rule){.kind = RULE_GUESS, .cfa = why, .flags = entry ? RULE_ENTRY : 0};
}

int unwinder_rule(struct rk_unwinder *unwinder, struct tables *tables, uint64_t offset, struct rule *ret)
{
    const struct cfi_section *section;
    UNSET struct cfi_entry entry;
    UNSET struct cfi_row row;
    uint64_t address;

    if (tables->reason != RK_UNWIND_FINE || tables_address(tables, offset, &address) < 0) {
        *ret = (struct rule){.kind = RULE_GUESS,
                             .cfa = (int16_t)(tables->reason ? tables->reason : RK_UNWIND_NO_CFI)};
        return 0;
    }
    int rc = tables_find(tables, unwinder->root, address, &section, &entry);
    if (signal_has(&tables->signal, address)) { /* found meanwhile, perhaps */
        *ret = (struct rule){.kind = RULE_RUN};
        return 0;
    }
    if (rc == -ENOENT) {
        *ret = without_table(unwinder, tables, address);
        return 0;
    }
    if (rc == 0)
        rc = cfi_row(section, &entry, address, &row);
    if (rc < 0 && rc != -EBADMSG)
        return rc;
    *ret = rc < 0 ? (struct rule){.kind = RULE_BAD, .cfa = RK_UNWIND_BAD_CFI}
                  : rule_of(unwinder->machine, section, &entry, &row);
    return 0;
}

int unwinder_run(struct rk_unwinder *unwinder, struct tables *tables, uint64_t offset, uint64_t lookup,
                 struct frame *frame, const struct stack *stack, bool *ret_outermost)
{
    const struct machine *machine = unwinder->machine;
    const struct cfi_section *section;
    UNSET struct cfi_entry entry;
    UNSET struct cfi_row row;
    uint64_t address = 0;

    if (tables_address(tables, offset, &address) < 0)
        return RK_UNWIND_NO_CFI;
    bool signal = signal_has(&tables->signal, address);
    int rc = signal ? 0 : tables_find(tables, unwinder->root, address, &section, &entry);
    if (signal || (rc == 0 && entry.signal && machine != &machine_x86_64)) {
        *ret_outermost = false;
        return signal_leave(frame, machine, stack);
    }
    if (rc == 0)
        rc = cfi_row(section, &entry, address, &row);
    if (rc < 0)
        return rc == -EBADMSG ? RK_UNWIND_BAD_CFI : rc == -ENOENT ? RK_UNWIND_NO_CFI : rc;
    return frame_leave(frame, machine, section, &entry, &row, stack, lookup - address, ret_outermost);
}

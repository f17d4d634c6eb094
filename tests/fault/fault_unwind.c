/* Stacks through a module with tables of each kind: sorted, unsorted, for debuggers; of a file that is not there. */
#include "fault.h"
#include "tree.h"

static int prepare(void)
{
    static const char maps[] = "00010000-00020000 r-xp 00000000 08:02 17  /lib/sorted\n"
                               "00020000-00030000 r-xp 00000000 08:02 18  /lib/unsorted\n"
                               "00030000-00040000 r-xp 00000000 08:02 19  /lib/debug\n"
                               "00040000-00050000 r-xp 00000000 08:02 20  /lib/gone\n";
    return copy("frames", "lib/sorted") < 0 || copy("frames.unsorted", "lib/unsorted") < 0 ||
                   copy("frames.debug", "lib/debug") < 0 || put_text("proc/7/maps", maps) < 0 ||
                   put_text("proc/7/task/7/comm", "seven\n") < 0
               ? -1
               : 0;
}

static int scenario(uint64_t *digest)
{
    struct rk_unwinder_options options = {
        .size = sizeof options, .root = ".", .machine = RK_MACHINE_X86_64, .cache_slots = 64};
    struct rk_unwinder *unwinder = NULL;
    struct rk_image *image = NULL;
    int rc = 0;

    NEW(image, rk_image_open(&image, e));
    HOT(rk_image_feed_process(image, ".", 7));
    NEW(unwinder, rk_unwinder_open(&options, &unwinder, e));
    /* Addresses in each module, with a table or without: the table is looked for in every place. */
    for (uint64_t module = 0x10000; module <= 0x40000; module += 0x10000)
        for (uint64_t at = 0x3c0; at < 0x800; at += 0x44) {
            uint64_t regs[17] = {0}, words[16] = {0}, pcs[16];
            struct rk_sample sample = {.size = sizeof sample,
                                       .present = RK_SAMPLE_REGS_USER | RK_SAMPLE_STACK_USER,
                                       .pid = 7,
                                       .regs_user_abi = 2,
                                       .regs_user_mask = rk_unwinder_registers(RK_MACHINE_X86_64),
                                       .regs_user = regs,
                                       .stack = (const unsigned char *)words,
                                       .stack_bytes = sizeof words,
                                       .stack_used = sizeof words};
            struct rk_unwind_status status = {.size = sizeof status};
            regs[6] = 0x7010;
            regs[7] = 0x7000;
            regs[8] = module + at;
            int n = 0;
            HOT(n = rk_unwinder_sample(unwinder, image, &sample, pcs, 16, &status));
            *digest = fault_fold(*digest, pcs, (size_t)n * sizeof *pcs);
            *digest = fault_fold(*digest, &status.end, 8);
        }
end:
    EXPECT(rk_unwinder_free(unwinder) == NULL);
    EXPECT(rk_image_free(image) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "unwind", .prepare = prepare, .run = scenario}, argc,
                      argv);
}

/* The same of a recording that holds stacks as they were: they are unwound meanwhile, by the files that ran. */
#include "profile.h"
#include "recording.h"

static struct fault_scenario scenario = {
    .name = "stacks", .run = profile_scenario, .repeats = 2, .one_error = true, .absorbed_memory = PAGES};

static int prepare(void)
{
    if (rk_unwinder_registers(RK_MACHINE_HERE) == 0) {
        scenario.skip = "stacks of this machine are not unwound";
        return 0;
    }
    return make_stacks();
}

int main(int argc, char **argv)
{
    scenario.prepare = prepare;
    return fault_main(&scenario, argc, argv);
}

/* `reckon report` and `reckon export`: a recording made into a profile, with names, and written out. */
#include "profile.h"
#include "recording.h"

int main(int argc, char **argv)
{
    return fault_main(
        &(struct fault_scenario){
            .name = "profile", .prepare = make_recording, .run = profile_scenario, .absorbed_memory = PAGES},
        argc, argv);
}

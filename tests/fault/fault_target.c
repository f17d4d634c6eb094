/* Who is measured: CPUs, a process, and a command from its birth to its end. No child may be left, whatever fails. */
#include "fault.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int scenario(uint64_t *digest)
{
    struct rk_host *host = NULL;
    struct rk_target *cpus = NULL, *process = NULL, *thread = NULL, *both = NULL, *never = NULL,
                     *command = NULL;
    struct rk_command_options options = {
        .size = sizeof options, .flags = RK_COMMAND_STD_FDS, .in = 0, .out = 1, .err = 2, .directory = "/"};
    struct rk_exit end = {.size = sizeof end};
    char *argv[] = {"sh", "-c", "exit 3", NULL};
    int rc = 0;

    NEW(host, rk_host_open(NULL, &host, e));
    NEW(cpus, rk_target_cpus(host, "0", &cpus, e));
    NEW(process, rk_target_process(getpid(), &process, e));
    NEW(thread, rk_target_thread(getpid(), &thread, e));
    NEW(both, rk_target_processes((int32_t[]){getpid(), getppid()}, 2, &both, e));
    NEW(never, rk_target_command(argv, NULL, &never, e)); /* freed before it starts */
    NEW(command, rk_target_command(argv, &options, &command, e));
    TRY(rk_target_start(command, e));
    while (rc == 0)
        HOT(rk_target_wait(command, 5, &end));
    *digest = fault_fold(*digest, &end.status, sizeof end.status);
    rc = 0;
end:
    EXPECT(rk_target_free(cpus) == NULL);
    EXPECT(rk_target_free(process) == NULL);
    EXPECT(rk_target_free(thread) == NULL);
    EXPECT(rk_target_free(both) == NULL);
    EXPECT(rk_target_free(never) == NULL);
    if (command && rc < 0) /* whatever stands between us and its end: it must not outlive the run */
        while (rk_target_wait(command, -1, NULL) == -EINTR)
            ;
    EXPECT(rk_target_free(command) == NULL);
    EXPECT(rk_host_free(host) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "target", .run = scenario}, argc, argv);
}

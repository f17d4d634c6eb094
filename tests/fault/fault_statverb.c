/*
 * `reckon stat`, the whole verb, with the command's own allocations and calls: two runs of a command to a file, as a table
 * and as JSON; a process by its threads, in intervals. Where it says success, the file has its end.
 */
#include "command.h"
#include "fault.h"
#include "run.h"
#include "victim.h"

#include <errno.h>
#include <stdlib.h>

/* Reasons and notes that can't be kept are left out; the host's answers mean less; a table without its reasons. */
#define ABSORBED 200

static int quietly(char **argv, int argc)
{
    fault_pause(true);
    int saved = dup(2);
    FILE *errors = freopen("/dev/null", "we", stderr);
    fault_pause(false);
    int status = errors ? verb_stat(argc, argv) : -1;

    fault_pause(true);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    fault_pause(false);
    return status;
}

/* Whether the file ends as it must. */
static bool ends_with(const char *path, const char *end)
{
    char text[4096] = "";
    FILE *file = fopen(path, "re");
    size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0, k = strlen(end);

    if (file)
        fclose(file);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static int table(uint64_t *digest)
{
    char *argv[] = {"-r", "2", "-o", "out", "-e", "page-faults,cycles", "sh", "-c", "exit 0", NULL};
    int status = quietly(argv, sizeof argv / sizeof *argv - 1);

    if (status != 0)
        return -EIO;
    EXPECT(ends_with("out", "\n\n"));
    *digest = 1;
    return 0;
}

static int json(uint64_t *digest)
{
    char *argv[] = {"--json", "-o", "out", "-e", "page-faults,cycles", "sh", "-c", "exit 0", NULL};
    int status = quietly(argv, sizeof argv / sizeof *argv - 1);

    if (status != 0)
        return -EIO;
    EXPECT(ends_with("out", "}\n"));
    *digest = 1;
    return 0;
}

static struct victim victim;

static int attached(uint64_t *digest)
{
    char pid[16];
    char *argv[] = {"--per-thread", "--timeout", "20",          "-I", "5", "-o",
                    "out",          "-e",        "page-faults", "-p", pid, NULL};

    victim_start(&victim, false);
    snprintf(pid, sizeof pid, "%d", victim.pid);
    int status = quietly(argv, sizeof argv / sizeof *argv - 1);
    EXPECT(victim_work(&victim));
    victim_end(&victim);
    (void)digest;
    return status == 0 ? 0 : -EIO;
}

/* The signals' pipe is made once and stays: it is no leak of a run. */
static int shield(void)
{
    run_shield(0);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--victim"))
        return victim_main(false);
    struct fault_scenario scenarios[] = {
        {.name = "stat table", .run = table},
        {.name = "stat json", .run = json},
        {.name = "stat attached", .run = attached},
    };
    int rc = 0;

    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        scenarios[i].absorbed_memory = ABSORBED;
        scenarios[i].prepare = shield;
        scenarios[i].repeats = 2;
        scenarios[i].one_error = true;
        rc |= fault_main(&scenarios[i], argc, argv);
    }
    return rc;
}

/*
 * `reckon compare`, the whole verb: its words, parameters and hooks, two rounds of two commands, the table and JSON. The
 * status must say each failure; what it prints goes to a file whose end must be there when it says success.
 */
#include "command.h"
#include "fault.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reasons and notes that can't be kept are left out; the host's answers mean less. */
#define ABSORBED 96

static int quietly(char **argv, int argc, const char *out)
{
    int saved[2] = {dup(1), dup(2)};
    FILE *to = freopen(out, "we", stdout), *errors = freopen("/dev/null", "we", stderr);
    int status = to && errors ? verb_compare(argc, argv) : -1;

    fflush(stdout);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    close(saved[0]);
    close(saved[1]);
    return status;
}

static int scenario(uint64_t *digest)
{
    char *argv[] = {"-r",
                    "2",
                    "--seed",
                    "3",
                    "-L",
                    "x",
                    "a,b",
                    "-e",
                    "page-faults,cycles",
                    "--prepare",
                    "true",
                    "--json",
                    "sh -c 'exit 0' {x}",
                    NULL};
    int status = quietly(argv, sizeof argv / sizeof *argv - 1, "compare.out");

    if (status != 0)
        return -EIO;
    char text[3] = "";
    FILE *f = fopen("compare.out", "re");
    bool ends = f && fseek(f, -3, SEEK_END) == 0 && fread(text, 1, 3, f) == 3 && memcmp(text, "]}\n", 3) == 0;
    if (f)
        fclose(f);
    EXPECT(ends || fault_pending() || !f);
    *digest = 1;
    return 0;
}

/* The signals' pipe is made once and stays: it is no leak of a run. */
static int shield(void)
{
    run_shield(0);
    return 0;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "compare",
                                               .run = scenario,
                                               .prepare = shield,
                                               .absorbed_memory = ABSORBED,
                                               .repeats = 2,
                                               .one_error = true},
                      argc, argv);
}

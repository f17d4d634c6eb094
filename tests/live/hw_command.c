/*
 * The command on hardware events: `reckon stat` counts a program exactly, `reckon record` takes as many
 * samples as its cycles call for, `reckon dump` shows each, `reckon report` names where they are.
 *
 * The measured program is this one: `hw_command spin ROUNDS`.
 */
#include "live.h"

#include <fcntl.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define PERIOD 1000000

static char self[4096], text[1 << 20]; /* what the last command printed, both streams */

static void run(char *const argv[])
{
    int out = open("output", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), status = -1;
    CHECK(out >= 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        personality(ADDR_NO_RANDOMIZE); /* where things lie must not change how much is done */
        dup2(out, 1);
        dup2(out, 2);
        execv(argv[0], argv);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    ssize_t n = pread(out, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    close(out);
    if (status != 0)
        FAIL("%s %s: status %d\n%s", argv[0], argv[1], status, text);
}

/* Counts one event of `spin rounds`. */
static uint64_t count(const char *reckon, char *event, char *rounds)
{
    char key[64];
    run((char *[]){(char *)reckon, "stat", "--json", "-e", event, self, "spin", rounds, NULL});
    snprintf(key, sizeof key, "\"event\":\"%s\",\"value\":", event);
    const char *at = strstr(text, key);
    CHECK(at);
    return strtoull(at + strlen(key), NULL, 10);
}

static uint64_t lines_with(const char *what)
{
    uint64_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

int main(int argc, char **argv)
{
    char *reckon = getenv("RECKON");
    if (argc == 3) {
        spin(strtoull(argv[2], NULL, 10));
        return 0;
    }
    if (!reckon)
        SKIP("RECKON does not say where the command is");
    struct rk_host *host = NULL;
    CHECK(rk_host_open(NULL, &host, NULL) == 0);
    rk_set_free(live_self(host, "{instructions:u,cycles:u}", NULL)); /* skips where there are none */
    bool alone = live_leaves_kernel_out(host);
    rk_host_free(host);
    CHECK(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
    char work[TEMPORARY];
    CHECK(mkdtemp(temporary(work, "reckon-hw-XXXXXX")) && chdir(work) == 0);

    /* As many digits each time: reading them is counted too. */
    uint64_t few = count(reckon, "instructions:u", "00000001");
    if (alone)
        SAME_COUNT(count(reckon, "instructions:u", "00000001"), few);
    SAME_COUNT(count(reckon, "instructions:u", "05000001") - few, 10000000);

    uint64_t cycles = count(reckon, "cycles:u", "20000000");
    run((char *[]){reckon, "record", "-e", "cycles:u", "-c", "1000000", "-o", "data", self, "spin",
                   "20000000", NULL});
    run((char *[]){reckon, "dump", "--json", "data", NULL});
    SAME_COUNT(lines_with("\"type\":\"SAMPLE\""), cycles / PERIOD);
    run((char *[]){reckon, "report", "--csv", "data", NULL});
    const char *first = strchr(text, '\n'); /* behind the columns' names */
    if (!first || strncmp(first + 1, "spin,", 5) != 0)
        FAIL("the hottest function is not spin:\n%.400s", text);
    CHECK(unlink("data") == 0 && unlink("output") == 0 && chdir("/") == 0 && rmdir(work) == 0);
    return 0;
}

/*
 * Runs commands one after another, where there is no shell:
 *
 *     sequence COMMAND... ';' COMMAND...      all of them; the status of the first that failed, or 0.
 *                                             `say WORD` prints it
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char **words)
{
    int status = 0;

    if (strcmp(words[0], "say") == 0)
        return puts(words[1]) < 0 || fflush(stdout) != 0;
    pid_t pid = fork();
    if (pid == 0) {
        execv(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    char **words = argv + 1;
    int status = 0;

    for (int i = 1; i <= argc; i++)
        if (i == argc || strcmp(argv[i], ";") == 0) {
            argv[i] = NULL;
            int this = words[0] ? run(words) : 0;
            status = status ? status : this;
            words = argv + i + 1;
        }
    return status;
}

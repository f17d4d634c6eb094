/*
 * reckon: the command. A verb per file; this one only finds it.
 */
#include "command.h"

#include "options.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct verb {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *about;
} verbs[] = {
    {"stat", verb_stat, "count what a command, a process or the machine does"},
    {"compare", verb_compare, "run commands in turn and say whether they differ"},
    {"record", verb_record, "run a command and sample where its time goes, into perf.data"},
    {"report", verb_report, "show the hottest functions of a recording"},
    {"diff", verb_diff, "show what changed from one recording to another"},
    {"merge", verb_merge, "make one profile of several recordings"},
    {"export", verb_export, "write a recording's profile in another tool's format"},
    {"archive", verb_archive, "make a recording that can be read on another machine"},
    {"dump", verb_dump, "show a recording's records, as text or JSON lines"},
    {"symbolize", verb_symbolize, "name addresses: function, file, line, inlined functions"},
    {"list", verb_list, "what can be counted here"},
    {"doctor", verb_doctor, "can I measure here, and if not, what is the smallest fix"},
};
#define VERB_N (sizeof verbs / sizeof *verbs)

static void print_usage(FILE *to)
{
    fputs(
        "usage: reckon VERB [options] ...\n\nreckon counts and samples what programs do to the machine.\n\n",
        to);
    for (size_t i = 0; i < VERB_N; i++)
        fprintf(to, "  %-9s %s\n", verbs[i].name, verbs[i].about);
    fputs("\n  reckon VERB --help   the options of a verb\n  reckon --version     the version\n"
          "\nStart with:  reckon stat COMMAND     or:  reckon record -g COMMAND && reckon report\n",
          to);
}

/* Without stdio: starting a program that only says its version should cost nothing. */
static int print_version(void)
{
    static const char text[] = "reckon " RK_VERSION "\n";
    if (write(STDOUT_FILENO, text, sizeof text - 1) == (ssize_t)(sizeof text - 1))
        return 0;
    perror("reckon --version");
    return STATUS_FAILED;
}

/* The verb that most likely was meant. */
static const char *nearest_verb(const char *word)
{
    const char *best = NULL;
    unsigned best_apart = 0;

    for (size_t i = 0; i < VERB_N; i++) {
        unsigned apart = options_apart(word, strlen(word), verbs[i].name);
        if (apart && (!best || apart < best_apart)) {
            best = verbs[i].name;
            best_apart = apart;
        }
    }
    return best;
}

/* Whoever closed standard input or an output shall have it closed, and not what is opened first in its place: messages
 * would be written into a recording. Opened the wrong way round, it fails as before. */
static void keep_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            _exit(STATUS_FAILED);
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";

    keep_standard_streams();
    signal(SIGCHLD, SIG_DFL); /* ignored, as a parent may hand it on, it would lose how a command ended */
    if (strcmp(word, "--version") == 0)
        return print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        print_usage(stdout);
        if (fflush(stdout) == 0)
            return 0;
        perror("reckon --help");
        return STATUS_FAILED;
    }
    for (size_t i = 0; i < VERB_N; i++)
        if (strcmp(word, verbs[i].name) == 0)
            return verbs[i].run(argc - 2, argv + 2);
    if (argc < 2) {
        print_usage(stderr);
        return STATUS_USAGE;
    }
    const char *nearest = nearest_verb(word);
    fprintf(stderr, "reckon: no verb '%s'%s%s%s\n  help: reckon --help\n", word,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    return STATUS_USAGE;
}

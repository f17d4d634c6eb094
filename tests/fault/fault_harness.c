/*
 * The harness must find what it is there to find: small scenarios, one right, the others each with one
 * well-known mistake, that must be reported.
 */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum mistake {
    NONE,
    LEAK_MEMORY, /* on the error path */
    LEAK_FILE,   /* on the error path */
    NOT_CHECKED, /* a NULL is used */
    INTERRUPTED, /* EINTR is taken for a failure */
    SHORT_READ,  /* half a file is taken for a whole one */
    EMPTY_ERROR, /* fails without saying why */
    WRONG_CODE,  /* … or says another code than it returns */
    RESULT_SET,  /* *ret is not untouched */
    LEFT_CHILD,  /* nobody waits for it */
    SWALLOWED,   /* out of memory, and success all the same */
    ENDLESS,     /* waits for ever */
    MISTAKES,
} mistake;

static int give(struct rk_error *e, int code)
{
    e->code = mistake == WRONG_CODE ? code - 1 : code;
    e->stage = RK_STAGE_HOST;
    snprintf(e->what, sizeof e->what, "%s", mistake == EMPTY_ERROR ? "" : "it did not work");
    return code;
}

static int load(int fd, char *buffer, size_t size)
{
    size_t got = 0;
    for (;;) {
        ssize_t n = read(fd, buffer + got, size - got);
        if (n < 0 && (errno != EINTR || mistake == INTERRUPTED))
            return -errno;
        if (n >= 0)
            got += (size_t)n;
        if (n == 0 || (n > 0 && mistake == SHORT_READ))
            return (int)got;
    }
}

/* NOLINTBEGIN(clang-analyzer-*): the mistakes below are made on purpose */

/* The function under test: the text of a file. */
static int slurp(const char *path, char **ret, struct rk_error *e)
{
    char *text = malloc(64);
    while (!text && mistake == ENDLESS)
        pause();
    if (!text && mistake == SWALLOWED) {
        *ret = strdup("");
        return 0;
    }
    if (!text && mistake != NOT_CHECKED)
        return give(e, -ENOMEM);
    memset(text, 0, 64);
    if (mistake == RESULT_SET)
        *ret = text;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        int rc = give(e, -errno);
        if (mistake != LEAK_MEMORY)
            free(text);
        return rc;
    }
    int n = load(fd, text, 63);
    if (n >= 0 || mistake != LEAK_FILE)
        close(fd);
    if (n < 0) {
        free(text);
        return give(e, n);
    }
    *ret = text;
    return 0;
}

static int prepare(void)
{
    int fd = open("file", O_WRONLY | O_CREAT, 0600);
    int rc = fd < 0 || write(fd, "a text of some length\n", 22) != 22 ? -errno : 0;
    close(fd);
    return rc;
}

static int scenario(uint64_t *digest)
{
    char *text = NULL;
    int rc = 0;
    NEW(text, slurp("file", &text, e));
    *digest = fault_fold(0, text, strlen(text));
    if (mistake == LEFT_CHILD && fork() == 0)
        _exit(0);
end:
    free(text);
    return rc;
}

/* NOLINTEND(clang-analyzer-*) */

int main(void)
{
    int bad = 0;
    for (mistake = NONE; mistake < MISTAKES; mistake++) {
        char name[32];
        snprintf(name, sizeof name, "mistake %d", (int)mistake);
        struct fault_scenario s = {.name = name, .prepare = prepare, .run = scenario, .limit_s = 5};
        int expected = mistake != NONE;
        if (fault_main(&s, 1, (char *[]){name, NULL}) != expected) {
            printf("FAIL: %s should %s\n", name, expected ? "have been found" : "be all right");
            bad = 1;
        }
    }
    return bad;
}

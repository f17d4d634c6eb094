/*
 * A command's text taken apart into words as sh does it, without sh.
 */
#ifndef COMMAND_COMPARE_WORDS_H
#define COMMAND_COMPARE_WORDS_H

#include <stddef.h>

struct words_error {
    size_t position; /* byte in the text */
    const char *what;
};

/*
 * Words apart by blanks; 'single' and "double" quotes and backslashes as in sh. What sh would expand or act upon
 * (| & ; < > ( ) $ ` * ? [ # ~ VAR=value, a new line) is refused unless quoted: the words are exactly those that sh
 * would make, or there are none. *ret ends with NULL and is freed by one free(). The number of words, at least 1;
 * -EINVAL and *e, or -ENOMEM.
 */
int words_split(const char *text, char ***ret, struct words_error *e);

/* {"sh", "-c", text, NULL}, freed by one free(); -ENOMEM. */
int words_shell(const char *text, char ***ret);

#endif

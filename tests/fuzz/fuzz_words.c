/*
 * Texts of `reckon compare`: a command's words, a list and a scan of parameters, and their replacement. The words
 * together are never longer than the text; each result is used to its last byte.
 */
#include "fuzz.h"

#include "compare_parameter.h"
#include "compare_words.h"

#include <errno.h>
#include <string.h>

static void split(const char *text)
{
    struct words_error e = {0};
    size_t length = strlen(text), bytes = 0;
    char **words = NULL;
    int n = words_split(text, &words, &e);

    if (n < 0) {
        HOLDS(n == -EINVAL && !words && e.what && e.position <= length);
        return;
    }
    HOLDS(n >= 1 && !words[n]);
    for (int i = 0; i < n; i++)
        bytes += strlen(words[i]) + 1;
    HOLDS(bytes <= length + 1);
    free(words);
}

static void use(struct parameter *p, const char *text)
{
    HOLDS(p->n >= 1 && p->n <= PARAMETER_VALUES);
    HOLDS(parameter_combinations(p, 1, PARAMETER_VALUES) == p->n);
    for (size_t i = 0; i < p->n; i++)
        fuzz_touch_text(p->values[i]);
    char *replaced = parameter_replace(text, p, 1, p->n - 1);
    HOLDS(replaced);
    HOLDS(strlen(replaced) <= strlen(text) + strlen(text) / 3 * strlen(p->values[p->n - 1]));
    free(replaced);
    parameter_free(p);
}

/* The text's lines: a command, a name, a list, min, max, delta. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parameter p;
    const char *what = NULL, *line[6];
    char *text = malloc(size + 1);

    HOLDS(text);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    split(text); /* with its new lines, too */
    char *rest = text;
    for (int i = 0; i < 6; i++) {
        char *part = strsep(&rest, "\n");
        line[i] = part ? part : "";
    }
    split(line[0]);
    int rc = parameter_list(line[1], line[2], &p, &what);
    if (rc == 0)
        use(&p, line[0]);
    else
        HOLDS(rc == -EINVAL && what);
    rc = parameter_scan(line[1], line[3], line[4], *line[5] ? line[5] : NULL, &p, &what);
    if (rc == 0)
        use(&p, line[0]);
    else
        HOLDS(rc == -EINVAL && what);
    free(text);
    return 0;
}

/*
 * Counts the words of a text that it makes up: the program of most answers in reckon-cookbook(7).
 *
 *     cc -O2 -g -o words words.c              finds a word by a walk along the list of all words
 *     cc -O2 -g -DHASH -o words-hash words.c  finds it by its hash
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HASH
#define LISTS 4096
#else
#define LISTS 1
#endif

struct word {
    struct word *next;
    char text[12];
    unsigned count;
};

static struct word *lists[LISTS];

static unsigned hash(const char *text)
{
    unsigned h = 0;
    while (*text)
        h = h * 31 + (unsigned char)*text++;
    return h;
}

__attribute__((noinline)) static struct word *find(const char *text)
{
    struct word *w = lists[hash(text) % LISTS];
    while (w && memcmp(w->text, text, sizeof w->text) != 0)
        w = w->next;
    return w;
}

__attribute__((noinline)) static void add(const char *text)
{
    struct word *w = find(text);
    if (!w) {
        struct word **list = &lists[hash(text) % LISTS];
        w = calloc(1, sizeof *w);
        if (!w)
            abort();
        memcpy(w->text, text, sizeof w->text);
        w->next = *list;
        *list = w;
    }
    w->count++;
}

/* The next word of the text: one of 4000. */
static void make(char text[12])
{
    static unsigned state = 1;
    state = state * 1103515245 + 12345;
    memset(text, 0, 12);
    for (unsigned n = state >> 16, i = 0; i < 3; i++, n /= 16)
        text[i] = (char)('a' + n % 16);
}

__attribute__((noinline)) static void read_text(unsigned words)
{
    char text[12];
    for (unsigned i = 0; i < words; i++) {
        make(text);
        add(text);
    }
}

__attribute__((noinline)) static unsigned look_up(unsigned words)
{
    char text[12];
    unsigned found = 0;
    for (unsigned i = 0; i < words; i++) {
        make(text);
        found += find(text) != NULL;
    }
    return found;
}

int main(int argc, char **argv)
{
    unsigned words = argc > 1 ? (unsigned)atoi(argv[1]) : 100000;
    read_text(words);
    printf("%u words, %u of %u found again\n", words, look_up(words / 5), words / 5);
    return 0;
}

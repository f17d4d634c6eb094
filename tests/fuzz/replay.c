/*
 * A fuzz target without a fuzzer: replays the files of its corpus, and from each seed (those that the fuzzer found
 * are such already) makes what goes wrong most often: every beginning of it (evenly spread ones where it is
 * long), and copies in which one byte is another. All is decided by the input alone, so that a failure can be
 * had again.
 *
 * A target with a mutator of its own (mutate_*.h) has that one tried as well, MUTATIONS times for a seed, one upon the other.
 *
 *     fuzz_record corpus/record        replays and varies
 *     fuzz_record -1 crash-file ...    only these files, as they are
 *
 * The input is in a block of its own size, so that reading beyond it is seen by ASan and valgrind.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MUTATIONS 128 /* of a file, by the target's own mutator */
#define CUTS 256      /* beginnings tried of a file */
#define FLIPS 512     /* bytes changed of a file, one at a time */

static void try_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    HOLDS(copy);
    if (size)
        memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);

/* In libFuzzer's place: a byte is another, or the end is cut off or doubled. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
    static unsigned number;
    unsigned n = number++ * 2654435761u;

    if (size == 0)
        return 0;
    if (n % 16 == 0 && size + size / 2 <= max) {
        memcpy(data + size, data + size - size / 2, size / 2);
        return size + size / 2;
    }
    if (n % 16 == 1 && size > 1)
        return size - size / 8 - 1;
    data[n / 16 % size] = (uint8_t)(n >> 24);
    return size;
}

/* Eight mutations upon each other, then again from the seed. */
static size_t mutate(const uint8_t *seed, size_t size)
{
    size_t max = size * 2 + 4096, n = 0;
    uint8_t *data = malloc(max);

    HOLDS(data);
    for (unsigned i = 0; LLVMFuzzerCustomMutator && i < MUTATIONS; i++) {
        if (i % 8 == 0)
            memcpy(data, seed, n = size);
        n = LLVMFuzzerCustomMutator(data, n, max, i);
        HOLDS(n <= max);
        try_input(data, n);
    }
    free(data);
    return LLVMFuzzerCustomMutator ? MUTATIONS : 0;
}

static size_t vary(uint8_t *data, size_t size)
{
    size_t cuts = size < CUTS ? size : CUTS, flips = size < FLIPS ? size : FLIPS;
    for (size_t i = 0; i < cuts; i++)
        try_input(data, size * i / cuts);
    for (size_t i = 0; i < flips; i++) {
        static const uint8_t with[] = {0x00, 0xff, 0x80, 0x7f, 0x01, 0x40};
        size_t at = size * i / flips;
        uint8_t was = data[at];
        data[at] = was == with[i % sizeof with] ? (uint8_t)~was : with[i % sizeof with];
        try_input(data, size);
        data[at] = was;
    }
    return 1 + cuts + flips + mutate(data, size);
}

static size_t replay_file(const char *path, int varied)
{
    FILE *f = fopen(path, "rb");
    size_t size = 0, tried = 1;
    uint8_t *data = malloc(1 << 20);
    if (!f || !data) {
        printf("%s: %s\n", path, strerror(errno));
        exit(1);
    }
    size = fread(data, 1, 1 << 20, f);
    fclose(f);
    try_input(data, size);
    if (varied)
        tried = vary(data, size);
    free(data);
    return tried;
}

/* What the fuzzer found is named by its SHA-1. */
static int found_by_fuzzer(const char *name)
{
    return strlen(name) == 40 && strspn(name, "0123456789abcdef") == 40;
}

static int visible(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

int main(int argc, char **argv)
{
    size_t files = 0, tried = 0;
    int plain = argc > 1 && !strcmp(argv[1], "-1");
    for (int i = 1 + plain; i < argc; i++) {
        struct stat st;
        struct dirent **list;
        if (stat(argv[i], &st) < 0 || !S_ISDIR(st.st_mode)) {
            tried += replay_file(argv[i], !plain);
            files++;
            continue;
        }
        int n = scandir(argv[i], &list, visible, alphasort);
        for (int k = 0; k < n; k++) {
            char path[4096];
            snprintf(path, sizeof path, "%s/%s", argv[i], list[k]->d_name);
            tried += replay_file(path, !plain && !found_by_fuzzer(list[k]->d_name));
            files++;
            free(list[k]);
        }
        if (n >= 0)
            free(list);
    }
    printf("%zu files, %zu inputs\n", files, tried);
    return files == 0; /* a corpus that is not there proves nothing */
}

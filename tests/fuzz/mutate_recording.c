/*
 * Recordings that lie: truncated, bits flipped, sizes of nothing and of more than there is, numbers that can't be. Whatever
 * they say, each is read to its end or refused with the place, soon, in memory that goes with its size, and every record
 * that comes out can be written.
 *
 *     mutate_recording COUNT FILE...       COUNT mutations in all, the same ones each time; files and pipes
 */
#include "mutate.h"

#include <errno.h>
#include <reckon/export.h>
#include <reckon/image.h>
#include <reckon/stream.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 25, KINDS = 7 };

/* Over all processes. */
static struct told {
    uint64_t refused, damaged, read, records;
} * told;

static int swallow(void *context, const void *data, size_t n)
{
    (void)context;
    fuzz_touch(data, n);
    return 0;
}

/* A word that some size, count or offset is unlikely to be. */
static uint64_t odd_number(size_t n)
{
    const uint64_t numbers[] = {0,
                                1,
                                7,
                                n,
                                n - 8,
                                UINT64_C(136) * 10000000,
                                UINT64_C(1) << 31,
                                UINT64_C(1) << 62,
                                UINT64_C(1) << 63,
                                UINT64_MAX,
                                UINT64_MAX - 7,
                                next_random()};
    return numbers[next_random() % (sizeof numbers / sizeof *numbers)];
}

static void put(unsigned char *bytes, size_t n, size_t at, uint64_t value, size_t width)
{
    if (at + width <= n)
        memcpy(bytes + at, &value, width);
}

/* Where the records of a file begin, and end; of a pipe, all behind its front. */
static void find_data(const unsigned char *bytes, size_t n, size_t *begin, size_t *end)
{
    uint64_t words[7] = {0};

    *begin = 16;
    *end = n;
    if (n < sizeof words)
        return;
    memcpy(words, bytes, sizeof words);
    if (words[1] == 16 || words[5] >= n || words[6] > n - words[5])
        return; /* a pipe */
    *begin = (size_t)words[5];
    *end = (size_t)(words[5] + words[6]);
}

/* One of its records, the same chance for each. */
static size_t some_record(const unsigned char *bytes, size_t begin, size_t end)
{
    size_t found = begin, seen = 0;

    for (size_t at = begin; at + 8 <= end;) {
        uint16_t size;
        memcpy(&size, bytes + at + 6, sizeof size);
        if (next_random() % ++seen == 0)
            found = at;
        if (size < 8)
            break;
        at += size;
    }
    return found;
}

/* Changes it; how many bytes are left. */
static size_t change(unsigned char *bytes, size_t n, uint64_t kind)
{
    size_t begin, end, at;

    find_data(bytes, n, &begin, &end);
    switch (kind) {
    case 0: /* cut off */
        return next_random() % n;
    case 1: /* bits of the front */
        for (uint64_t i = 1 + next_random() % 8; i; i--)
            bytes[next_random() % (begin < 16 ? 16 : begin)] ^= (unsigned char)(1u << next_random() % 8);
        return n;
    case 2: /* bits of records */
        for (uint64_t i = 1 + next_random() % 32; i; i--)
            bytes[begin + next_random() % (end - begin)] ^= (unsigned char)(1u << next_random() % 8);
        return n;
    case 3: /* a record's size, or its type */
        at = some_record(bytes, begin, end);
        put(bytes, n, next_random() % 4 ? at + 6 : at, odd_number(n), 2);
        return n;
    case 4: /* a word of a record */
        at = some_record(bytes, begin, end);
        put(bytes, n, at + 8 + next_random() % 16 * 8, odd_number(n), 8);
        return n;
    case 5: /* a word of the header, its attributes */
        put(bytes, n, next_random() % (begin / 8 ? begin / 8 : 1) * 8, odd_number(n), 8);
        return n;
    default: /* what stands behind the records: the features, their sizes, texts, build-ids */
        if (end == n)
            end = n / 2;
        for (uint64_t i = 1 + next_random() % 8; i; i--)
            put(bytes, n, end + next_random() % (n - end), odd_number(n), 1u << next_random() % 4);
        return n;
    }
}

/* Reads all of it as dump does. */
static void use(const char *path, uint64_t number)
{
    static const char *const formats[] = {"text", "json"};
    const struct rk_sink sink = {sizeof sink, 0, swallow, NULL};
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *stream = NULL;
    struct rk_image *image = NULL;
    const struct rk_record *record;
    uint64_t wrong = 0;
    int r = rk_stream_file(path, &stream, &e);

    if (r < 0) {
        HOLDS(r != -ENOMEM && e.code == r && e.what[0]);
        told->refused++;
        return;
    }
    HOLDS(rk_image_open(&image, &e) == 0);
    while ((r = rk_stream_next(stream, &record)) != 0) {
        if (r < 0) {
            HOLDS(r != -ENOMEM && rk_stream_explain(stream, &e) == 0);
            if (!strstr(e.what, " offset ") && !strstr(e.what, " at byte ")) {
                fprintf(stderr, "no offset is told, %d: %s\n", r, e.what);
                abort();
            }
            wrong++;
            if (r != -EBADMSG)
                break;
            continue;
        }
        HOLDS(rk_image_feed(image, record) != -ENOMEM);
        HOLDS(rk_record_export(stream, record, formats[number & 1], &sink, NULL, &e) != -ENOMEM);
        told->records++;
        rk_stream_release(stream);
    }
    struct rk_loss loss = {.size = sizeof loss};
    HOLDS(rk_stream_loss(stream, RK_NO_EVENT, &loss) == 0);
    *(wrong ? &told->damaged : &told->read) += 1;
    rk_image_free(image);
    rk_stream_free(stream);
}

static void one(const char *from, uint64_t number)
{
    FILE *file = fopen(from, "re");
    HOLDS(file && fseek(file, 0, SEEK_END) == 0);
    size_t n = (size_t)ftell(file);
    unsigned char *bytes = malloc(n);
    rewind(file);
    HOLDS(bytes && n > 200 && fread(bytes, 1, n, file) == n);
    fclose(file);
    state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    n = change(bytes, n, next_random() % KINDS);

    int fd = memfd_create("mutated", MFD_CLOEXEC);
    char path[64];
    HOLDS(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    free(bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    double begin = now();
    use(path, number);
    close(fd);
    if (now() - begin > SECONDS_MAX * 5) {
        fprintf(stderr, "mutation %llu of %s took %.1f s\n", (unsigned long long)number, from, now() - begin);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct rlimit memory = {MEMORY_MAX / 2, MEMORY_MAX / 2};
    uint64_t count = argc > 2 ? strtoull(argv[1], NULL, 10) : 0;
    int failed = 0;

    told = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    HOLDS(told != MAP_FAILED);
    for (uint64_t i = 0; i < count; i += BATCH) {
        pid_t pid = fork();
        int status;
        HOLDS(pid >= 0);
        if (pid == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
            setrlimit(RLIMIT_AS, &memory);
#else
            (void)memory;
#endif
            alarm(280);
            for (uint64_t k = i; k < i + BATCH && k < count; k++)
                one(argv[2 + k % (uint64_t)(argc - 2)], k);
            exit(0);
        }
        HOLDS(waitpid(pid, &status, 0) == pid);
        if (status) {
            fprintf(stderr, "mutations %llu … %llu: status %#x\n", (unsigned long long)i,
                    (unsigned long long)i + BATCH, (unsigned)status);
            failed++;
        }
    }
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    printf("%llu mutations of %d recordings: %llu refused, %llu with damaged records, %llu read, %llu "
           "records; %d batches "
           "failed, at most %ld MB\n",
           (unsigned long long)count, argc - 2, (unsigned long long)told->refused,
           (unsigned long long)told->damaged, (unsigned long long)told->read,
           (unsigned long long)told->records, failed, used.ru_maxrss / 1024);
    return failed || told->records < count; /* what reads nothing proves nothing */
}

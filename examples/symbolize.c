/*
 * Names addresses of a process: function, file and line.
 *
 *     symbolize PID ADDRESS...      addresses in hexadecimal; PID 0: this program
 */
#include <reckon/reckon.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    struct rk_error e = RK_INIT(e);
    struct rk_sources *s;
    uint64_t addresses[64];
    size_t n = 0;

    while (n < 64 && (int)n + 2 < argc)
        addresses[n] = strtoull(argv[n + 2], NULL, 16), n++;
    if (argc < 2 || rk_symbolizer_process(NULL, atoi(argv[1]), addresses, n, NULL, &s, &e) < 0)
        return fprintf(stderr, "%s\n%s\n", e.what, e.remedy), 1;

    for (size_t i = 0; i < n; i++) {
        if (!s->symbol[i].name)
            printf("%#" PRIx64 ": %s\n", addresses[i], rk_miss_text(s->symbol[i].miss));
        for (uint32_t f = s->first[i]; s->symbol[i].name && f < s->first[i + 1]; f++)
            printf("%#" PRIx64 " %s at %s:%" PRIu32 "\n", addresses[i], s->function[f],
                   s->file[f] ? s->file[f] : "??", s->line[f]);
    }
    rk_sources_free(s);
    return 0;
}

/* A BPF program that was loaded before the recording, and is unloaded after it, has its name in the file. */
#include "bpf.h"
#include "session.h"

/* Whether a file of /proc begins with a number, hexadecimal, that is not 0. */
static bool begins_with_number(const char *path)
{
    FILE *file = fopen(path, "re");
    unsigned long long first = 0;
    bool has = file && fscanf(file, "%llx", &first) == 1 && first;
    if (file)
        fclose(file);
    return has;
}

int main(int argc, char **argv)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options, .frequency = 1000, .records = RK_RECORDS_PROFILE};
    static char self[4096];
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    struct rk_capture *c;
    struct rk_stream *st;
    struct rk_image *image;
    struct rk_symbolizer *symbolizer;
    const struct rk_record *r;
    uint64_t address = 0;
    (void)argv;

    if (argc > 1)
        return 0;
    use_directory_and_self(self, sizeof self);
    int program = load_bpf("earlier");
    if (program < 0)
        SKIP("BPF programs can't be loaded here: %s", strerror(-program));
    char *words[] = {self, "child", NULL};
    struct session s = session_open("cpu-clock", words, &options);
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_close(c, NULL, &e));
    session_wait(&s, 0);
    session_close(&s);
    close(program);

    OK(rk_stream_file("data", &st, &e));
    OK(rk_image_open(&image, &e));
    OK(rk_symbolizer_open(NULL, &symbolizer, &e));
    while (rk_stream_next(st, &r) == 1) {
        struct rk_ksymbol symbol = {.size = sizeof symbol};
        CHECK(rk_image_feed(image, r) >= 0);
        if (rk_record_ksymbol(r, &symbol) == 0 && strstr(symbol.name, "_earlier")) {
            CHECK(symbol.kind == 1 && symbol.flags == 0 && symbol.length > 0 &&
                  !strncmp(symbol.name, "bpf_prog_", 9) && strlen(symbol.name) == 9 + 16 + 8);
            address = symbol.address + 1;
        }
    }
    if (!address && !begins_with_number("/proc/kallsyms"))
        SKIP("addresses of the kernel are hidden here");
    if (!address && !begins_with_number("/proc/sys/net/core/bpf_jit_enable"))
        SKIP("BPF programs are not compiled here");
    CHECK(address);
    struct rk_place place;
    struct rk_module module = {.size = sizeof module};
    struct rk_symbol symbol;
    OK(rk_image_find(image, 1, &address, 1, &place));
    OK(rk_image_module(image, place.module, &module));
    EQUAL(module.kind, RK_MODULE_KERNEL_CODE);
    OK(rk_symbolizer_resolve(symbolizer, &module, &place.offset, 1, &symbol));
    CHECK(symbol.name && strstr(symbol.name, "_earlier") && symbol.distance == 1);
    rk_symbolizer_close(symbolizer);
    rk_image_close(image);
    rk_stream_close(st);
    unlink("data");
    return 0;
}

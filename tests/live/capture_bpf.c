/*
 * BPF programs have their names in a recording: one that was loaded before it and is unloaded after it; one that the
 * recorded program loads, runs and unloads, which nobody could look up afterwards.
 */
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

static int child(void)
{
    int program = load_bpf("within");

    if (program < 0 || run_bpf(program, 300) < 0)
        return 1;
    close(program);
    return 0;
}

static void record(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_set_options options = {
        .size = sizeof options, .frequency = 1000, .records = RK_RECORDS_PROFILE | RK_RECORDS_CODE};
    struct rk_capture_options co = {.size = sizeof co, .path = "data"};
    static char self[4096];
    char *words[] = {self, "child", NULL};
    struct rk_capture *c;

    use_directory_and_self(self, sizeof self);
    int program = load_bpf("earlier");
    if (program < 0)
        SKIP("BPF programs can't be loaded here: %s", strerror(-program));
    struct session s = session_open("cpu-clock", words, &options);
    OK(rk_capture_open(s.host, s.set, s.target, &co, &c, &e));
    OK(rk_target_start(s.target, &e));
    while (rk_capture_step(c, 20) == 1)
        ;
    OK(rk_capture_finish(c, NULL, &e));
    rk_capture_free(c);
    session_wait(&s, 0);
    session_close(&s);
    close(program);
}

/* What the file says of a program: an address in it, 0 where there is none. */
static uint64_t told(struct rk_image *image, const char *name)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_stream *st;
    const struct rk_record *r;
    uint64_t address = 0;

    OK(rk_stream_file("data", &st, &e));
    while (rk_stream_next(st, &r) == 1) {
        struct rk_ksymbol symbol = {.size = sizeof symbol};
        CHECK(r->type != RK_RECORD_TEXT_POKE);
        CHECK(rk_image_feed(image, r) >= 0);
        if (rk_record_ksymbol(r, &symbol) == 0 && strstr(symbol.name, name) && !symbol.flags) {
            CHECK(symbol.kind == 1 && symbol.length > BPF_ADDITIONS &&
                  !strncmp(symbol.name, "bpf_prog_", 9) && strlen(symbol.name) == 9 + 16 + strlen(name));
            address = symbol.address + 1;
        }
    }
    rk_stream_free(st);
    return address;
}

static void named(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_image *image;
    struct rk_symbolizer *symbolizer;
    struct rk_place place;
    struct rk_module module = {.size = sizeof module};
    struct rk_symbol symbol;

    OK(rk_image_open(&image, &e));
    OK(rk_symbolizer_open(NULL, &symbolizer, &e));
    uint64_t address = told(image, "_earlier");
    if (!address && !begins_with_number("/proc/kallsyms"))
        SKIP("addresses of the kernel are hidden here");
    if (!address && !begins_with_number("/proc/sys/net/core/bpf_jit_enable"))
        SKIP("BPF programs are not compiled here");
    CHECK(address);
    OK(rk_image_find(image, 1, &address, 1, &place));
    OK(rk_image_module_get(image, place.module, &module));
    EQUAL(module.kind, RK_MODULE_KERNEL_CODE);
    OK(rk_symbolizer_resolve(symbolizer, &module, &place.offset, 1, &symbol));
    CHECK(symbol.name && strstr(symbol.name, "_earlier") && symbol.distance == 1);
    rk_symbolizer_free(symbolizer);
    rk_image_free(image);
    OK(rk_image_open(&image, &e));
    CHECK(told(image, "_within"));
    rk_image_free(image);
}

/* The program, which is gone, had most of its loader's time, by its name. */
static void sampled(void)
{
    struct rk_error e = {.size = sizeof e};
    struct rk_profile *profile;
    struct rk_profile_summary summary = {.size = sizeof summary};
    struct rk_aggregate *a;
    uint64_t within = 0;

    OK(rk_profile_file("data", NULL, &profile, NULL, &e));
    OK(rk_profile_summary(profile, &summary));
    OK(rk_profile_aggregate(profile, RK_PER_FUNCTION, &a, &e));
    for (size_t i = 0; i < a->n; i++)
        if (strstr(a->name[i], "_within"))
            within += a->self_samples[i];
    printf("%" PRIu64 " of %" PRIu64 " samples in the program\n", within, summary.samples);
    CHECK(within > 0 && within * 4 > summary.samples);
    rk_aggregate_free(a);
    rk_profile_free(profile);
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return child();
    record();
    named();
    sampled();
    unlink("data");
    return 0;
}

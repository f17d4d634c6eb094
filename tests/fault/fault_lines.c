/* Lines and inlined functions: of a file with its debug information, of compressed ones, of a split unit with its .dwo, of
 * the kernel, whose vmlinux is there but has no _text, of a module of it. */
#include "debug.h"
#include "fault.h"

#include <string.h>
#include <sys/stat.h>

static int prepare(void)
{
    static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81000040 T do_work\n";
    static const char *const directories[] = {"lib",
                                              "proc",
                                              "src",
                                              "usr",
                                              "usr/lib",
                                              "usr/lib/debug",
                                              "usr/lib/debug/boot",
                                              "usr/lib/debug/lib",
                                              "usr/lib/debug/lib/modules",
                                              "usr/lib/debug/lib/modules/1",
                                              "usr/lib/debug/lib/modules/1/kernel"};
    for (size_t i = 0; i < sizeof directories / sizeof *directories; i++)
        mkdir(directories[i], 0755);
    return copy("gcc5", "lib/gcc5") < 0 || copy("cpp", "lib/cpp") < 0 || copy("zlib", "lib/zlib") < 0 ||
                   copy("split", "lib/split") < 0 || copy("split-s.dwo", "src/split-s.dwo") < 0 ||
                   copy("gcc5", "usr/lib/debug/boot/vmlinux-1") < 0 ||
                   copy("ko", "usr/lib/debug/lib/modules/1/kernel/snd-hda.ko") < 0 ||
                   put("proc/kallsyms", kallsyms, strlen(kallsyms)) < 0
               ? -1
               : 0;
}

static int scenario(uint64_t *digest)
{
    static const char *const paths[] = {"/lib/gcc5", "/lib/cpp",  "/lib/zlib", "/lib/split",
                                        "[kernel]",  "[snd_hda]", "/lib/gcc5"};
    struct rk_symbolizer_options options = {.size = sizeof options, .root = ".", .lines_bytes = 1};
    struct rk_symbolizer *symbolizer = NULL;
    struct rk_sources *sources = NULL;
    int rc = 0;

    NEW(symbolizer, rk_symbolizer_open(&options, &symbolizer, e));
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++) {
        struct rk_module module = {.size = sizeof module, .path = paths[k], .name = paths[k]};
        uint64_t offsets[64];
        bool kernel = paths[k][0] == '[', ko = kernel && paths[k][1] == 's';
        module.kind = ko ? RK_MODULE_KERNEL_MODULE : kernel ? RK_MODULE_KERNEL : RK_MODULE_FILE;
        if (kernel)
            module.build_id_bytes = 20;
        if (ko) {
            memset(module.build_id, 0xab, 20);
            module.start = UINT64_C(0xffffffff81000000);
        }
        for (uint64_t i = 0; i < 64; i++)
            offsets[i] = kernel ? UINT64_C(0xffffffff81000000) + 16 * i : 0x200 + 40 * (63 - i);
        NEW(sources, rk_symbolizer_sources(symbolizer, &module, offsets, 64, NULL, &sources, e));
        for (size_t i = 0; i < sources->frame_n; i++) {
            const char *said = sources->function[i] ? sources->function[i] : "?";
            *digest = fault_fold(*digest, said, strlen(said));
            *digest = fault_fold(*digest, &sources->line[i], sizeof sources->line[i]);
        }
        sources = rk_sources_free(sources);
    }
end:
    rk_sources_free(sources);
    EXPECT(rk_symbolizer_free(symbolizer) == NULL);
    return rc;
}

/* absorbed: libdeflate that can't be loaded is not there, which is said, for each section. */
int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "lines",
                                               .prepare = prepare,
                                               .run = scenario,
                                               .absorbed_memory = 3,
                                               .repeats = 3,
                                               .one_error = true},
                      argc, argv);
}

/* Mappings of a process, and the names of addresses: of a stripped file with its debug file, of the kernel. */
#include "fault.h"
#include "tree.h"

#define DEBUG_PATH "usr/lib/debug/.build-id/00/112233445566778899aabbccddeeff01234567.debug"
#define ID "\x00\x11\x22\x33\x44\x55\x66\x77\x88\x99\xaa\xbb\xcc\xdd\xee\xff\x01\x23\x45\x67"

static int prepare(void)
{
    static const char maps[] = "00400000-00402000 r-xp 00000000 08:02 17  /lib/stripped\n"
                               "00500000-00502000 r-xp 00000000 08:02 18  /lib/labels\n";
    static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81000040 T do_work\n"
                                   "ffffffffc0001000 t ext4_open\t[ext4]\n";
    static const char notes[] = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0" ID;
    return copy("labels.stripped", "lib/stripped") < 0 || copy("labels", "lib/labels") < 0 ||
                   copy("labels.debug", DEBUG_PATH) < 0 || put_text("proc/7/maps", maps) < 0 ||
                   put_text("proc/7/task/7/comm", "seven\n") < 0 ||
                   put_text("proc/7/task/8/comm", "eight\n") < 0 || put_text("proc/kallsyms", kallsyms) < 0 ||
                   put("sys/kernel/notes", notes, sizeof notes - 1) < 0
               ? -1
               : 0;
}

static int scenario(uint64_t *digest)
{
    struct rk_symbolizer_options options = {.size = sizeof options, .root = "."};
    struct rk_symbolizer *symbolizer = NULL;
    struct rk_image *image = NULL;
    int rc = 0;

    NEW(image, rk_image_open(&image, e));
    HOT(rk_image_feed_process(image, ".", 7));
    HOT(rk_image_feed_build_id(image, "/lib/labels", (const unsigned char *)ID, 20));
    HOT(rk_image_feed_build_id(image, "[kernel.kallsyms]", (const unsigned char *)ID, 20));
    NEW(symbolizer, rk_symbolizer_open(&options, &symbolizer, e));
    static const uint64_t addresses[] = {0x400600, 0x500600, 0xffffffff81000044, 0x10};
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++) {
        struct rk_place place;
        struct rk_symbol symbol = {0};
        struct rk_module module = {.size = sizeof module};
        HOT(rk_image_find(image, 7, &addresses[i], 1, &place));
        if (place.module == RK_NO_MODULE)
            continue;
        HOT(rk_image_module_get(image, place.module, &module));
        HOT(rk_symbolizer_resolve(symbolizer, &module, &place.offset, 1, &symbol));
        EXPECT(!symbol.name == (symbol.miss != RK_MISS_NONE));
        const char *said = symbol.name ? symbol.name : rk_miss_text(symbol.miss);
        *digest = fault_fold(*digest, said, strlen(said));
        *digest = fault_fold(*digest, &symbol.distance, sizeof symbol.distance);
    }
    const char *comm = rk_image_comm(image, 7, 8);
    *digest = fault_fold(*digest, comm, strlen(comm));
end:
    EXPECT(rk_symbolizer_free(symbolizer) == NULL);
    EXPECT(rk_image_free(image) == NULL);
    return rc;
}

int main(int argc, char **argv)
{
    return fault_main(&(struct fault_scenario){.name = "names", .prepare = prepare, .run = scenario}, argc,
                      argv);
}
